// What came of every step size: one mark for each seed, diverged ones on a strip of their own.

const STRIP = 34;
const NAME_HEIGHT = 14;
const NAME_LENGTH = 13;
const NAMES_BESIDE = 20;
const DENSE_FROM = 1000;

class StabilityPicture {
  constructor(state) {
    this.state = state;
    this.frame = new Frame("Stability", "Left and right arrow go from seed to seed, up and down from row to row.",
        () => this.draw(), {
          name: () => state.problem.name,
          legend: () => this.methods_of(this.series()).map((row) => ({text: String(row.method), colour: method_colour(row), dash: null,
            symbol: method_symbol(row)})),
          csv: () => this.csv(),
        }, 100);
    this.finder = new MarkFinder(this.frame, (mark) => this.describe(mark));
    this.methods = d3.select(element("ul", {class: "methods"}));
    this.note = element("p", {class: "caption"}, "One mark for each seed; × on the upper strip diverged or failed. " +
        "Dashed lines are medians of methods without a step size, each with its best settings.");
    this.node = element("div", {class: "chart-place"}, this.frame.node, this.frame.tools, this.methods.node(), this.note);
  }

  update() {
    this.frame.measure_size();
    this.draw();
  }

  /** Rows with a step and what came of them. */
  series() {
    return list(this.state.problem.stability)
        .filter((entry) => this.state.rows[entry.row] && is_number(entry.step) && entry.step > 0)
        .map((entry) => ({...entry, outcomes: list(entry.outcomes).map(([seed, value, status]) =>
          [seed, is_number(value) ? this.state.curve_scale() * value : null, status])}));
  }

  csv() {
    return [["method", "step", "seed", "status", this.state.curve_title()], ...d3.merge(this.series().map(({row, step, outcomes}) =>
      outcomes.map(([seed, value, status]) => [String(this.state.rows[row].label), step, seed, String(status), value ?? NaN])))];
  }

  /** One row of each method that has a step. */
  methods_of(series) {
    const rows = new Map();
    for (const {row} of series) if (!rows.has(this.state.rows[row].method)) rows.set(this.state.rows[row].method, this.state.rows[row]);
    return [...rows.values()];
  }

  /** Of each method without a step the row with the smallest median. */
  levels() {
    const {problem, rows} = this.state;
    const best = new Map();
    rows.forEach((row, index) => {
      const value = this.state.cell(row, "validation", problem.curve_measure, "final")?.median;
      if (is_number(row.step) || !is_number(value) || value <= 0 || best.get(row.method)?.value <= value) return;
      best.set(row.method, {row: index, value});
    });
    const scale = this.state.curve_scale();
    return [...best.values()].map(({row, value}) => ({row, value: scale * value}));
  }

  draw() {
    const {frame, state} = this;
    if (frame.width === 0) return;
    const series = this.series();
    const levels = this.levels();
    const values = d3.merge(series.map(({outcomes}) => outcomes.map((outcome) => outcome[1])));
    const y_extent = extent_of([...values, ...levels.map(({value}) => value)], true);
    const x_extent = extent_of(series.map(({step}) => step), true);
    if (!x_extent) {
      this.finder.set_groups([]);
      frame.say_empty("No method of this problem has a step size.");
      return;
    }
    const top = frame.top + STRIP;
    const steps = [...new Set(series.map(({step}) => step))];
    const x = scale_over(true, frame.part_of("x", [x_extent[0] / 1.7, x_extent[1] * 1.7]), [frame.left, frame.right]);
    const y = scale_over(true, frame.part_of("y", y_extent ? [y_extent[0] / 1.3, y_extent[1] * 1.3] : [0.1, 1]), [frame.bottom, top]);
    frame.draw_axes(x, y, ["step size α", `final ${state.curve_title()}`], top,
        steps.length <= 6 && !frame.zoom ? apart(steps, x) : undefined);
    frame.plot.selectAll("*").remove();
    frame.clip_box.attr("y", 0).attr("height", frame.bottom + 5);
    const is_seen = ({x: at, y: level}) => at > frame.left - 5 && at < frame.right + 5 && level < frame.bottom + 5;
    this.draw_strip(top);
    this.draw_levels(levels.filter(({value}) => y(value) >= top && y(value) <= frame.bottom), y);
    const neighbours = d3.nest().key(({step}) => step).rollup((entries) => entries.map(({row}) => row)).map(series);
    const groups = series.map((entry) => this.marks_of(entry, neighbours.get(entry.step), x, y)
        .filter((mark) => is_seen(mark) && (!mark.is_shown || mark.y > top - 5)));
    frame.plot.classed("dense", d3.sum(groups, (marks) => marks.length) > DENSE_FROM);
    groups.forEach((marks) => this.draw_marks(marks));
    this.finder.set_groups(groups);
    this.draw_methods(series);
  }

  draw_strip(top) {
    const {axes, left, right} = this.frame;
    axes.append("rect").attr("class", "strip").attr("x", left).attr("width", right - left).attr("y", this.frame.top)
        .attr("height", top - this.frame.top - 8);
    if (right - left > 360)  // on a phone the caption says it
      this.frame.axis_text(left + 6, this.frame.top + 11, "start", "diverged or failed").attr("class", "strip-name");
  }

  draw_levels(levels, y) {
    const {plot, axes, left, right, bottom} = this.frame;
    for (const {row, value} of levels) {
      plot.append("line").attr("class", "level").attr("x1", left).attr("x2", right).attr("y1", y(value)).attr("y2", y(value))
          .style("stroke", this.state.styles[row].colour);
    }
    const names = short_texts(levels.map(({row}) => String(this.state.rows[row].method)), NAME_LENGTH);
    const named = levels.map(({row, value}, index) => ({row, y: y(value), name: names[index]}));
    for (const {row, y: level, place, name} of spread(named, bottom)) {
      axes.append("path").attr("class", "leader").attr("d", `M${right},${level}L${right + 8},${place}`)
          .style("stroke", this.state.styles[row].colour);
      this.frame.axis_text(right + 11, place + 4, "start", name).attr("class", "level-name");
    }
  }

  /** Rows of one step stand side by side, and the seeds of a row beside each other. */
  marks_of({row, step, outcomes}, neighbours, x, y) {
    // As wide as the space between two steps of a factor of 1.7, which is also what the frame has beyond the outermost.
    const room = Math.min(120, 0.9 * (x(1.7) - x(1)) * 2);
    const width = Math.min(24, room / neighbours.length);
    const left = x(step) + (neighbours.indexOf(row) - neighbours.length / 2 + 0.1) * width;
    return outcomes.map(([seed, value, status], place) => {
      const is_shown = status === "ok" && is_number(value) && value > 0;
      return {row, step, seed, value, status, is_shown, x: left + 0.8 * width * (place + 0.5) / outcomes.length,
              y: is_shown ? y(value) : this.frame.top + 9 + 8 * (place % 2)};
    });
  }

  draw_marks(marks) {
    for (const mark of marks) {
      const style = this.state.styles[mark.row];
      const shape = mark.is_shown ? symbol_path(style.symbol, 38) : "M-4,-4L4,4M-4,4L4,-4";
      this.frame.plot.append("path").attr("class", mark.is_shown ? "mark" : "mark lost").attr("d", shape)
          .attr("transform", `translate(${mark.x},${mark.y})`).style("color", style.colour);
    }
  }

  draw_methods(series) {
    const methods = this.methods_of(series);
    this.methods.selectAll("li").data(methods, ({method}) => String(method)).join((entering) => entering.append((row) => {
      const icon = d3.create("svg").attr("class", "swatch").attr("viewBox", "-8 -8 16 16").attr("aria-hidden", "true");
      icon.append("path").attr("class", "mark").attr("d", symbol_path(method_symbol(row), 60)).style("color", method_colour(row));
      return element("li", {}, icon.node(), element("span", {dir: "auto"}, String(row.method)));
    }));
  }

  describe(mark) {
    return [
      element("div", {class: "tooltip-title", dir: "auto"}, String(this.state.rows[mark.row].label)),
      element("div", {}, `step ${number_text(mark.step)}, seed ${mark.seed}`),
      element("div", {}, mark.is_shown ? `${this.state.curve_title()} ${number_text(mark.value)}` : String(mark.status)),
    ];
  }
}

/** Of the steps those whose numbers do not touch. */
function apart(steps, x) {
  let last = -Infinity;
  return steps.slice().sort(d3.ascending).filter((step) => {
    const has_room = x(step) - last > 38;
    if (has_room) last = x(step);
    return has_room;
  });
}

/** Places for the names of the lowest levels, apart from each other, none below `bottom`. */
function spread(levels, bottom) {
  let last = bottom + NAME_HEIGHT;
  return levels.slice().sort((a, b) => d3.descending(a.y, b.y)).slice(0, NAMES_BESIDE).map((level) => {
    last = Math.min(level.y, last - NAME_HEIGHT);
    return {...level, place: last};
  });
}
