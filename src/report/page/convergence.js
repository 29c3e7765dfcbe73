// How far each method is above the oracle on its way, or its validation loss: the median over seeds, and the band from the smallest
// to the largest.

const X_AXES = {iterations: "iterations", work: "work in gradient equivalents", seconds: "seconds"};
const LEAST_GAP = 1e-5;  // on a logarithmic axis: what is less, 0 and below among it, lies on the lower edge
const TOOLTIP_LINES = 14;
const TOOLTIP_LINES_ON_A_PHONE = 7;

class Convergence {
  constructor(state) {
    this.state = state;
    this.frame = new Frame("Convergence", "Left and right arrow move the cursor, with shift faster; plus zooms, Escape shows the whole.",
        () => this.draw(), {
          name: () => state.problem.name,
          legend: () => this.visible_curves().map(({row}) => ({text: String(state.rows[row].label), ...state.styles[row], symbol: null})),
          csv: () => this.csv(),
        });
    this.legend = new Legend(state, () => this.curves().map((curve) => curve.row), (row) => this.highlight(row));
    this.note = element("p", {class: "caption"});
    const redraw = (choice) => {
      Object.assign(state, choice);
      this.frame.forget_part();
      this.draw();
    };
    this.quantity = radio_group("Shown", [["gap", "gap to the oracle"], ["loss", "validation loss"]], state.y, (y) => redraw({y}));
    this.node = element("div", {},
        element("div", {class: "controls"}, this.quantity,
            radio_group("against", [["iterations", "iterations"], ["work", "work"], ["seconds", "time"]], state.x,
                (x) => redraw({x})),
            check_box("log x", state.x_log, (x_log) => redraw({x_log})),
            check_box("log y", state.y_log, (y_log) => redraw({y_log})),
            check_box("bands", state.bands, (bands) => redraw({bands}))),
        element("div", {class: "with-legend"}, element("div", {class: "chart-place"}, this.frame.node, this.frame.tools, this.note),
            this.legend.node));
    this.cursor = null;  // in units of the x axis
    this.frame.listen({
      point: ([x]) => this.scales && this.stops.length > 0 && this.show_at(this.stop_near(this.scales.x.invert(this.within(x))), false),
      key: (name, is_far) => this.move(name, is_far ? 10 : 1),
      leave: () => this.leave(),
    });
    state.listeners.add(() => this.draw());
  }

  /** The curves in the units of the picture. */
  curves() {
    const {state} = this;
    const is_gap = state.y === "gap";
    const factor = is_gap ? 100 : state.curve_scale();
    const shown = (values) => list(values).map((value) => {
      if (!is_number(value)) return null;
      return factor * (is_gap && state.y_log ? Math.max(value, LEAST_GAP) : value);
    });
    return list(state.problem.curves).filter((curve) => state.rows[curve.row] && list(curve[state.x]).length > 0)
        .map((curve) => ({
          row: curve.row, seeds: curve.seeds, running: list(curve.running), xs: curve[state.x],
          median: shown(is_gap ? curve.gap : curve.median), low: shown(is_gap ? curve.gap_low : curve.low),
          high: shown(is_gap ? curve.gap_high : curve.high),
        })).filter(({median}) => median.length > 0);
  }

  visible_curves() {
    return this.curves().filter((curve) => this.state.is_visible(curve.row));
  }

  y_title() {
    return this.state.y === "gap" ? "gap to the oracle, %" : this.state.curve_title();
  }

  csv() {
    const {state} = this;
    const known = list(state.problem.curves).filter(({row}) => state.rows[row] && state.is_visible(row));
    const columns = ["iterations", "work", "seconds", "median", "low", "high", "gap", "gap_low", "gap_high", "running"];
    const factor = (column) => (["median", "low", "high"].includes(column) ? state.curve_scale() : column.startsWith("gap") ? 100 : 1);
    const titles = ["iterations", "work", "seconds", `${state.curve_title()} (median)`, "smallest", "largest", "gap in % (median)",
                    "smallest gap", "largest gap", "finite runs"];
    const cell = (curve, column, place) => {
      const value = list(curve[column])[place];
      return is_number(value) ? factor(column) * value : NaN;
    };
    return [["method", ...titles], ...d3.merge(known.map((curve) => d3.range(curve.iterations.length).map((place) =>
      [String(state.rows[curve.row].label), ...columns.map((column) => cell(curve, column, place))])))];
  }

  update() {
    this.quantity.hidden = !this.state.has_gaps;
    this.legend.update();
    this.frame.measure_size();
    this.draw();
  }

  draw() {
    const {frame, state} = this;
    if (frame.width === 0) return;
    const curves = this.visible_curves();
    this.drawn = curves;
    this.scales = this.scales_for(curves);
    if (!this.scales) {
      frame.say_empty(curves.length > 0 ? "No finite value to show." : "Every line is hidden.");
      set_text(this.note, "");
      return;
    }
    this.stops = this.find_stops();
    const {x, y} = this.scales;
    frame.draw_axes(x, y, [X_AXES[state.x], this.y_title()]);
    frame.plot.selectAll("*").remove();
    this.draw_oracle(y);
    if (state.bands) for (const curve of curves) this.draw_band(curve);
    for (const curve of curves) this.draw_line(curve);
    set_text(this.note, this.note_text(curves));
    if (this.cursor === null || this.stops.length === 0) this.leave();
    else this.show_at(this.cursor, false);
  }

  note_text(curves) {
    const seeds = d3.max(curves, (curve) => curve.seeds) ?? 0;
    const {common, is_all} = problem_seeds(this.state.problem);
    const over = common === 0 ? "the seeds of each row, which have none in common" :
      is_all ? plural(common, "seed") : `${plural(common, "common seed")}`;
    const band = seeds > 1 ? `Lines are medians over ${over}${this.state.bands ? ", bands go from the smallest to the largest" : ""}. ` : "";
    const edge = this.state.y === "gap" && this.state.y_log && curves.some(({low}) => low.includes(100 * LEAST_GAP)) ?
      `On the lower edge a method is within ${goal_text(LEAST_GAP)} of the oracle, or below it. ` : "";
    return band + edge + (this.scales.is_cut ? "Lines that leave the frame at the top go on above it. " : "");
  }

  /** Scales that show what converges: lines that blow up leave the frame instead of flattening the others, and on a linear axis the
   * first steps, far above all that follows, do too. */
  scales_for(curves) {
    const {state, frame} = this;
    const x_extent = extent_of(d3.merge(curves.map((curve) => curve.xs)), state.x_log);
    const medians = extent_of(d3.merge(curves.map((curve) => curve.median)), state.y_log);
    if (!x_extent || !medians) return null;
    const shown = d3.merge(curves.map((curve) => [...curve.median, ...(state.bands ? [...curve.low, ...curve.high] : [])]));
    const [low, high] = extent_of([...shown, this.oracle_value()], state.y_log);
    const top = Math.min(high, state.y_log ? 3 * Math.max(low, d3.max(curves, (curve) => curve.median.find(is_number))) :
      Math.max(low, 1.2 * d3.quantile(d3.merge(curves.map((curve) => curve.median)).filter(is_number).sort(d3.ascending), 0.7)));
    const whole_y = [state.y_log ? low / 1.1 : Math.min(low, 0), top];
    const room = Math.min(1.3, (x_extent[1] / x_extent[0]) ** 0.03);
    const whole_x = state.x_log ? [x_extent[0] / room, x_extent[1]] : [0, x_extent[1]];
    const y = scale_over(state.y_log, frame.part_of("y", whole_y), [frame.bottom, frame.top]);
    const x = scale_over(state.x_log, frame.part_of("x", whole_x), [frame.left, frame.right]);
    return {x, y, start: whole_x[0], is_cut: high > top};
  }

  /** Where a value of the x axis stands: 0, the start, at the left end of a logarithmic axis. */
  place_x(value) {
    const {x, start} = this.scales;
    const place = x(this.state.x_log ? Math.max(value, start) : value);
    return Math.max(-4 * this.frame.width, Math.min(place, 5 * this.frame.width));
  }

  oracle_value() {
    const {problem, y} = this.state;
    if (y === "gap") return null;
    const value = whole_cell(problem.oracle?.validation?.[problem.curve_measure])?.median;
    return is_number(value) ? this.state.curve_scale() * value : null;
  }

  draw_oracle(y) {
    const value = this.oracle_value();
    if (!is_number(value) || (this.state.y_log && value <= 0)) return;
    const {plot, left, right} = this.frame;
    plot.append("line").attr("class", "oracle").attr("x1", left).attr("x2", right).attr("y1", y(value)).attr("y2", y(value));
    plot.append("text").attr("class", "oracle-name").attr("x", left + 6).attr("y", y(value) - 5).text("oracle");
  }

  points_of(curve) {
    const positive = (value) => is_number(value) && (!this.state.y_log || value > 0);
    return d3.range(curve.xs.length).filter((i) => positive(curve.median[i]) && is_number(curve.xs[i]));
  }

  draw_band(curve) {
    const {y} = this.scales;
    const floor = y.domain()[0];
    const ceiling = y.domain()[1] * 1e3 + 1;  // far above the frame, for seeds that have blown up
    const area = d3.area()
        .x((i) => this.place_x(curve.xs[i]))
        .y0((i) => y(is_number(curve.low[i]) ? Math.max(curve.low[i], floor) : curve.median[i]))
        .y1((i) => y(is_number(curve.high[i]) ? Math.min(curve.high[i], ceiling) : ceiling));
    this.frame.plot.append("path").datum(curve.row).attr("class", "band").attr("d", area(this.points_of(curve)))
        .style("fill", this.state.styles[curve.row].colour);
  }

  draw_line(curve) {
    const {y} = this.scales;
    const style = this.state.styles[curve.row];
    const points = this.points_of(curve);
    const ceiling = this.frame.top - 4 * this.frame.height;  // browsers lose lines whose ends are too far away
    const place = (i) => [this.place_x(curve.xs[i]), Math.max(y(curve.median[i]), ceiling)];
    const group = this.frame.plot.append("g").datum(curve.row).attr("class", "line").attr("data-row", curve.row)
        .style("color", style.colour);
    group.append("path").attr("d", d3.line()(points.map(place))).attr("stroke-dasharray", style.dash);
    if (points.length === 0) return;
    const [end_x, end_y] = place(points[points.length - 1]);
    group.append("circle").attr("r", 3).attr("cx", end_x).attr("cy", end_y);
  }

  highlight(row) {
    this.frame.plot.selectAll(".line, .band").classed("faded", (of) => row !== null && this.state.is_visible(row) && of !== row);
    this.frame.plot.selectAll(".line").filter((of) => of === row).raise();
  }

  leave() {
    this.cursor = null;
    this.frame.overlay.selectAll("*").remove();
    this.frame.hide_tooltip();
  }

  within(x) {
    return Math.max(this.frame.left, Math.min(x, this.frame.right));
  }

  /** Where the cursor stops: at places that have a point, a few pixels apart. */
  find_stops() {
    const {left, right} = this.frame;
    const is_seen = (value) => is_number(value) && this.place_x(value) >= left - 1 && this.place_x(value) <= right + 1;
    const values = d3.merge(this.drawn.map((curve) => curve.xs)).filter(is_seen).sort(d3.ascending);
    const stops = [];
    let last = -Infinity;
    for (const value of values) {
      if (this.place_x(value) - last < 3) continue;
      last = this.place_x(value);
      stops.push(value);
    }
    const end = values[values.length - 1];
    if (stops.length > 0 && stops[stops.length - 1] !== end) stops[stops.length - 1] = end;
    return stops;
  }

  stop_near(value) {
    const after = d3.bisectLeft(this.stops, value);
    const [before, next] = [this.stops[after - 1], this.stops[after]];
    if (before === undefined || next === undefined) return before ?? next;
    return this.place_x(value) - this.place_x(before) < this.place_x(next) - this.place_x(value) ? before : next;
  }

  move(name, step) {
    if (!this.scales || this.stops.length === 0) return false;
    const {stops} = this;
    const place = this.cursor === null ? -1 : d3.bisectRight(stops, this.cursor) - 1;
    const target = {ArrowRight: place + step, ArrowLeft: place - step, Home: 0, End: stops.length - 1}[name];
    if (target === undefined) return false;
    this.show_at(stops[Math.max(0, Math.min(target, stops.length - 1))], true);
    return true;
  }

  /** What each visible curve has at or before this place. */
  values_at(at) {
    const found = [];
    for (const curve of this.drawn) {
      const {xs} = curve;
      const i = d3.bisectRight(xs, at) - 1;
      if (i >= 0) found.push({curve, i, value: curve.median[i], has_ended: i === xs.length - 1 && at > xs[i]});
    }
    const size = (entry) => (is_number(entry.value) ? entry.value : Infinity);
    return found.sort((a, b) => d3.ascending(size(a), size(b)));
  }

  show_at(at, is_spoken) {
    this.cursor = at;
    const {y} = this.scales;
    const {overlay, top, bottom} = this.frame;
    const x_at = this.place_x(at);
    overlay.selectAll("*").remove();
    overlay.append("line").attr("class", "cursor").attr("x1", x_at).attr("x2", x_at).attr("y1", top).attr("y2", bottom);
    const values = this.values_at(at);
    for (const {curve, value, has_ended} of values) {
      if (has_ended || !is_number(value) || y(value) < top - 5 || y(value) > bottom) continue;
      overlay.append("circle").attr("r", 3.5).attr("cx", x_at).attr("cy", y(value))
          .style("fill", this.state.styles[curve.row].colour);
    }
    this.frame.show_tooltip(x_at, (top + bottom) / 2, this.tooltip_lines(at, values), is_spoken);
  }

  tooltip_lines(at, values) {
    const x_unit = {iterations: "iteration", work: "work", seconds: "seconds"}[this.state.x];
    const room = this.frame.width < 480 ? TOOLTIP_LINES_ON_A_PHONE : TOOLTIP_LINES;
    const lines = values.slice(0, room).map(({curve, i, value, has_ended}) => {
      const row = this.state.rows[curve.row];
      const unit = this.state.y === "gap" ? "\u00a0%" : "";
      const text = !is_number(value) ? "not finite" :
        this.state.y === "gap" && this.state.y_log && value <= 100 * LEAST_GAP ? `≤ ${number_text(100 * LEAST_GAP)}${unit}` :
        `${number_text(value)}${unit}`;
      const band = is_number(curve.low[i]) && is_number(curve.high[i]) && curve.seeds > 1 ?
        ` (${number_text(curve.low[i], 3)} to ${number_text(curve.high[i], 3)})` : "";
      const running = is_number(curve.running[i]) && curve.running[i] < curve.seeds ?
        `, ${curve.running[i]} of ${curve.seeds} finite` : "";
      return element("div", {class: "entry"}, swatch(this.state.styles[curve.row]),
          element("span", {class: "name", dir: "auto"}, String(row.label)),
          element("span", {class: "value"}, ` ${text}`,
              element("small", {}, `${band}${running}${has_ended ? ", ended" : ""}`)));
    });
    if (values.length > room) lines.push(element("div", {}, `and ${values.length - room} more`));
    return [element("div", {class: "tooltip-title"}, `${x_unit} ${number_text(at)}`), ...lines];
  }
}
