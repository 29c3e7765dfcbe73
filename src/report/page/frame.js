// What all charts share: a frame that follows the width of its place, axes, zoom, a tooltip, words for those who do not see it, and
// ways to save it.

const MARGIN = {top: 12, right: 24, bottom: 46, left: 62};
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

const LEAST_BOX = 8;  // pixels: what is less is a click
const FLAT_BOX = 24;  // what is flatter is meant along one axis

class Frame {
  /** `draw` is called whenever the frame has another size or shows another part. `saved` gives what files hold: `legend()` entries
   * with text and look, `csv()` rows of cells, `name()` what the problem is called. */
  constructor(name, description, draw, saved, right_margin = MARGIN.right) {
    this.right_margin = right_margin;
    this.draw = draw;
    this.zoom = null;  // {x: [low, high], y: [low, high]}, what the reader has drawn a box around
    this.scales = null;
    this.svg = d3.create("svg").attr("aria-hidden", "true");
    this.tooltip = element("div", {class: "tooltip", hidden: ""});
    this.speech = element("div", {class: "unseen", "aria-live": "polite"});
    this.node = element("div", {class: "chart", tabindex: "0", role: "application", "aria-label": `${name}. ${description}`},
        this.svg.node(), this.tooltip, this.speech);
    const clip = fresh_name("clip");
    this.clip_box = this.svg.append("clipPath").attr("id", clip).append("rect");
    this.grid = this.svg.append("g").attr("class", "grid");
    this.axes = this.svg.append("g").attr("class", "axes");
    this.plot = this.svg.append("g").attr("clip-path", `url(#${clip})`);
    this.overlay = this.svg.append("g").attr("class", "overlay unsaved");
    this.box = this.svg.append("rect").attr("class", "box unsaved").style("display", "none");
    this.tools = this.make_tools(name, saved);
    this.width = 0;
    new ResizeObserver(() => {
      if (this.measure_size()) draw();
    }).observe(this.node);
  }

  make_tools(name, saved) {
    const file = (ending) => `${file_part(saved.name())}-${name.split(" ")[0].toLowerCase()}.${ending}`;
    const picture = () => picture_of(this, name, saved.legend());
    const button = (kind, act) => push_button(kind, act, {"aria-label": `Save ${name} as ${kind}`});
    this.whole = push_button("Whole picture", () => this.show_part(null), {class: "whole"});
    this.whole.hidden = true;
    return element("div", {class: "chart-tools"},
        element("span", {class: "hint"}, "Drag to zoom"), this.whole, element("span", {class: "save-title"}, "Save as"),
        button("SVG", () => save_file(file("svg"), new Blob([picture().text], {type: "image/svg+xml"}))),
        button("PNG", () => pixels_of(picture(), (blob) => save_file(file("png"), blob))),
        button("CSV", () => save_file(file("csv"), csv_file(saved.csv()))));
  }

  /** What an axis goes over: the whole, or the part that the reader has chosen. */
  part_of(axis, whole) {
    return this.zoom?.[axis] ?? whole;
  }

  show_part(zoom) {
    this.forget_part();
    this.zoom = zoom;
    this.whole.hidden = zoom === null;
    this.draw();
    set_text(this.speech, zoom === null ? "the whole picture" : "a part of the picture; Escape shows the whole");
  }

  /** For a picture that becomes another: what was a part of it means nothing there. */
  forget_part() {
    this.zoom = null;
    this.whole.hidden = true;
    this.hide_tooltip();
    this.overlay.selectAll("*").remove();
  }

  /** Shows what lies between two places of the chart; flat boxes choose along one axis alone.
   * @param {number[]} corner
   * @param {number[]} opposite */
  show_box(corner, opposite) {
    const [[x0, y0], [x1, y1]] = [corner, opposite];
    const [wide, tall] = [Math.abs(x1 - x0), Math.abs(y1 - y0)];
    if (!this.scales || Math.max(wide, tall) < LEAST_BOX) return;
    const {x, y} = this.scales;
    const part = {x: [x.invert(Math.min(x0, x1)), x.invert(Math.max(x0, x1))], y: [y.invert(Math.max(y0, y1)), y.invert(Math.min(y0, y1))]};
    if (wide < FLAT_BOX && tall >= FLAT_BOX) part.x = this.part_of("x", x.domain());
    if (tall < FLAT_BOX && wide >= FLAT_BOX) part.y = this.part_of("y", y.domain());
    this.show_part(part);
  }

  /** The middle half of what is seen. */
  show_nearer() {
    const [width, height] = [(this.right - this.left) / 4, (this.bottom - this.top) / 4];
    this.show_box([this.left + width, this.top + height], [this.right - width, this.bottom - height]);
  }

  /** @param {number[]} place */
  within_frame(place) {
    const [x, y] = place;
    return [Math.max(this.left, Math.min(x, this.right)), Math.max(this.top, Math.min(y, this.bottom))];
  }

  begin_box(event) {
    if (event.button !== 0 || event.pointerType === "touch" || !this.scales) return;
    this.corner = this.within_frame(this.place_of(event));
    this.node.setPointerCapture(event.pointerId);
  }

  stretch_box(event) {
    const [x, y] = this.within_frame(this.place_of(event));
    const [x0, y0] = this.corner;
    this.box.style("display", Math.max(Math.abs(x - x0), Math.abs(y - y0)) < LEAST_BOX ? "none" : null)
        .attr("x", Math.min(x, x0)).attr("y", Math.min(y, y0)).attr("width", Math.abs(x - x0)).attr("height", Math.abs(y - y0));
  }

  end_box(event) {
    const corner = this.corner;
    this.corner = null;
    this.box.style("display", "none");
    if (corner && event) this.show_box(corner, this.within_frame(this.place_of(event)));
  }

  /** Whether the size has changed. */
  measure_size() {
    const width = Math.round(this.node.clientWidth) || this.width || 720;
    if (width === this.width) return false;
    this.width = width;
    this.height = Math.round(Math.min(390, Math.max(300, width * 0.5)));
    this.svg.attr("viewBox", `0 0 ${this.width} ${this.height}`).attr("width", this.width).attr("height", this.height);
    this.left = MARGIN.left;
    this.right = this.width - this.right_margin;
    this.top = MARGIN.top;
    this.bottom = this.height - MARGIN.bottom;
    return true;
  }

  /** Axes with their grid. The plot is cut at `top`, which may lie below the frame's own. */
  draw_axes(x, y, titles, top = this.top, x_ticks = ticks_of(x, (this.right - this.left) / 75)) {
    this.scales = {x, y};
    this.clip_box.attr("x", this.left - 5).attr("y", top - 5)
        .attr("width", this.right - this.left + 10).attr("height", this.bottom - top + 10);
    this.grid.selectAll("*").remove();
    this.axes.selectAll("*").remove();
    const y_ticks = ticks_of(y, (this.bottom - top) / 42);
    for (const tick of y_ticks)
      this.grid.append("line").attr("x1", this.left).attr("x2", this.right).attr("y1", y(tick)).attr("y2", y(tick));
    for (const tick of x_ticks)
      this.grid.append("line").attr("x1", x(tick)).attr("x2", x(tick)).attr("y1", top).attr("y2", this.bottom);
    const x_texts = tick_texts(x_ticks);
    const y_texts = tick_texts(y_ticks);
    x_ticks.forEach((tick, place) => this.axis_text(x(tick), this.bottom + 18, "middle", x_texts[place]));
    y_ticks.forEach((tick, place) => this.axis_text(this.left - 8, y(tick) + 4, "end", y_texts[place]));
    this.axes.append("line").attr("x1", this.left).attr("x2", this.right).attr("y1", this.bottom).attr("y2", this.bottom);
    this.axis_text((this.left + this.right) / 2, this.height - 8, "middle", titles[0]).attr("class", "axis-title");
    this.axis_text(0, 0, "middle", titles[1]).attr("class", "axis-title")
        .attr("transform", `translate(14,${(top + this.bottom) / 2}) rotate(-90)`);
  }

  axis_text(x, y, anchor, text) {
    return this.axes.append("text").attr("x", x).attr("y", y).attr("text-anchor", anchor).text(text);
  }

  /** Says in the middle of the frame why there is nothing to see. */
  say_empty(text) {
    this.hide_tooltip();
    this.scales = null;
    for (const layer of [this.grid, this.axes, this.plot, this.overlay]) layer.selectAll("*").remove();
    this.axis_text(this.width / 2, this.height / 2, "middle", text).attr("class", "empty");
  }

  /** Shows the tooltip beside a place of the chart, on the side where there is room. */
  show_tooltip(x, y, children, is_spoken) {
    this.tooltip.replaceChildren(...children);
    this.tooltip.hidden = false;
    const ratio = this.node.clientWidth / this.width;
    const [width, height] = [this.tooltip.offsetWidth, this.tooltip.offsetHeight];
    const place = x * ratio + 14 + width > this.node.clientWidth ? x * ratio - 14 - width : x * ratio + 14;
    this.tooltip.style.left = `${Math.max(0, Math.min(place, this.node.clientWidth - width))}px`;
    this.tooltip.style.top = `${Math.max(0, Math.min(y - height / 2, this.height - height))}px`;
    if (is_spoken) set_text(this.speech, children.map((child) => isolated(child.textContent)).join("; "));
  }

  hide_tooltip() {
    this.tooltip.hidden = true;
  }

  /** Where in the chart's own units an event happened. */
  place_of(event) {
    const box = this.svg.node().getBoundingClientRect();
    const ratio = this.width / box.width;
    return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
  }

  /** One way to listen: the pointer's place, keys that are names of moves, and the end of looking. */
  listen({point, key, leave}) {
    this.node.addEventListener("pointermove", (event) => {
      if (this.corner) this.stretch_box(event);
      else point(this.place_of(event));
    });
    this.node.addEventListener("pointerdown", (event) => {
      point(this.place_of(event));
      this.begin_box(event);
    });
    this.node.addEventListener("pointerup", (event) => this.end_box(event));
    this.node.addEventListener("pointercancel", () => this.end_box(null));
    this.node.addEventListener("dblclick", () => this.zoom && this.show_part(null));
    // A finger that is lifted has not left: what it pointed at can be read then.
    this.node.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && leave());
    this.node.addEventListener("blur", leave);
    this.node.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "Escape") {
        leave();
        if (this.zoom) this.show_part(null);
      } else if (event.key === "+") this.show_nearer();
      else if (key(event.key, event.shiftKey)) event.preventDefault();
    });
  }
}

/** A scale over what is there, with room where there is but one value. */
function scale_over(is_log, [low, high], range) {
  if (!(low < high)) [low, high] = is_log ? [low / 2, low * 2] : [low - 0.5, low + 0.5];
  const scale = (is_log ? d3.scaleLog() : d3.scaleLinear()).domain([low, high]).range(range);
  scale.is_log = is_log;
  return scale;
}

/** About `room` ticks. On a logarithmic axis 1, 2, 5 of each decade, or powers of ten where there are many. */
function ticks_of(scale, room) {
  const [low, high] = scale.domain();
  const count = Math.max(2, Math.floor(room));
  const decades = scale.is_log ? Math.log10(high / low) : 0;
  if (decades < 0.7) return d3.ticks(low, high, count);
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const step = Math.max(1, Math.ceil(decades / count));
  const factors = decades * 3 <= count ? [1, 2, 5] : decades * 2 <= count ? [1, 3] : [1];
  const ticks = [];
  for (let power = first; power <= last; ++power) {
    if (power % step !== 0) continue;
    for (const factor of factors) ticks.push(factor * 10 ** power);
  }
  return ticks.filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9));
}

/** Powers of ten that are far from 1 as such, all else with digits enough to be told apart. */
function tick_texts(values) {
  const plain = number_texts(values);
  const with_powers = values.map((value, place) => {
    const power = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
    if (value === 0 || (power <= 4 && power >= -3)) return plain[place];
    const digits = String(Math.abs(power)).split("").map((digit) => SUPERSCRIPTS[Number(digit)]).join("");
    const factor = number_text(Math.abs(value) / 10 ** power);
    return `${value < 0 ? "−" : ""}${factor === "1" ? "" : `${factor}·`}10${power < 0 ? "⁻" : ""}${digits}`;
  });
  return new Set(with_powers).size === new Set(values).size ? with_powers : plain;
}

/** Smallest and largest of the numbers that count, those above 0 on a logarithmic axis; null where there are none. */
function extent_of(values, is_log) {
  const [low, high] = d3.extent(values, (value) => (is_number(value) && (!is_log || value > 0) ? value : undefined));
  return low === undefined ? null : [low, high];
}
