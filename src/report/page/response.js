// Validation loss as a function of λ, and the way each method took to its answer.

class ResponsePicture {
  constructor(state) {
    this.state = state;
    this.frame = new Frame("Validation loss against λ",
        "Left and right arrow follow a path, up and down change it.", () => this.draw());
    this.legend = new Legend(state, () => this.rows(), (row) => this.highlight(row));
    this.finder = new MarkFinder(this.frame, (mark) => this.describe(mark));
    this.seed = select_box("Seed", (seed) => {
      state.seed = Number(seed);
      this.draw();
    });
    this.note = element("p", {class: "caption"}, "The thick line is the loss of weights trained to the end, as far as exact trials " +
        "show it; ◆ is the oracle. A path begins at a ring and ends at a dot: the loss of the weights a method had on its way.");
    this.node = element("div", {},
        element("div", {class: "controls"}, this.seed.node, check_box("log y", state.response_log, (is_log) => {
          state.response_log = is_log;
          this.draw();
        })),
        element("div", {class: "with-legend"}, element("div", {class: "chart-place"}, this.frame.node, this.note),
            this.legend.node));
    state.listeners.add(() => this.draw());
  }

  measure() {
    return measure_text(this.state.problem.curve_measure ?? "loss");
  }

  responses() {
    return list(this.state.problem.responses);
  }

  response() {
    return this.responses().find((response) => response.seed === this.state.seed) ?? this.responses()[0] ?? null;
  }

  rows() {
    return [...new Set(d3.merge(this.responses().map((response) => list(response.paths).map((path) => path.row))))]
        .filter((row) => this.state.rows[row]).sort(d3.ascending);
  }

  update() {
    this.seed.fill(this.responses().map(({seed}) => [String(seed), String(seed)]), String(this.response()?.seed));
    this.legend.update();
    this.frame.measure_size();
    this.draw();
  }

  draw() {
    const {frame, state} = this;
    if (frame.width === 0) return;
    const response = this.response();
    const is_shown = ([lambda, loss]) => is_number(lambda) && is_number(loss) && (!state.response_log || loss > 0);
    const curve = list(response?.curve).filter(is_shown);
    const paths = list(response?.paths).filter(({row}) => state.rows[row] && state.is_visible(row))
        .map(({row, points}) => ({row, points: list(points).filter(is_shown)})).filter(({points}) => points.length > 0);
    const oracle = response?.oracle && is_shown(response.oracle) ? response.oracle : null;
    const scales = this.scales_for(curve, paths, oracle);
    if (!scales) {
      this.finder.set_groups([]);
      frame.say_empty("Nothing to show for this seed.");
      return;
    }
    const {x, y} = scales;
    const place = ([lambda, loss]) => [x(lambda), y(loss)];
    frame.draw_axes(x, y, ["λ, the logarithm of the penalty", `validation, ${this.measure()}`]);
    frame.plot.selectAll("*").remove();
    frame.plot.append("path").attr("class", "exact").attr("d", d3.line()(curve.map(place)));
    for (const {row, points} of paths) this.draw_path(row, points.map(place));
    if (oracle) {
      frame.plot.append("path").attr("class", "oracle-mark").attr("d", symbol_path(d3.symbolDiamond, 130))
          .attr("transform", `translate(${place(oracle)})`);
    }
    const marks = (row, name, points) => points.map((point, step) =>
      ({x: x(point[0]), y: y(point[1]), row, name, point, step, of: points.length})).filter((mark) => mark.y >= frame.top - 5);
    this.finder.set_groups([
      ...paths.map(({row, points}) => marks(row, String(state.rows[row].label), points)),
      marks(null, "trained to the end", curve),
      oracle ? marks(null, "oracle", [oracle]) : [],
    ]);
  }

  /** Losses far above those of the start and of the curve leave the frame, and so do the λ they are at. */
  scales_for(curve, paths, oracle) {
    const {frame, state} = this;
    const known = [...curve, ...(oracle ? [oracle] : []), ...d3.merge(paths.map(({points}) => points))];
    const y_extent = extent_of(known.map((point) => point[1]), state.response_log);
    if (!y_extent) return null;
    const usual = d3.max([...curve.map((point) => point[1]), ...paths.map(({points}) => points[0][1])]) ?? y_extent[1];
    const high = Math.min(y_extent[1], 2 * usual);
    const x_extent = extent_of(known.filter((point) => point[1] <= high).map((point) => point[0]), false);
    if (!x_extent) return null;
    const margin = (x_extent[1] - x_extent[0]) * 0.02;
    return {
      x: scale_over(false, [x_extent[0] - margin, x_extent[1] + margin], [frame.left, frame.right]),
      y: scale_over(state.response_log, [state.response_log ? y_extent[0] / 1.15 : Math.min(0, y_extent[0]), high * 1.05],
          [frame.bottom, frame.top]),
    };
  }

  draw_path(row, places) {
    const style = this.state.styles[row];
    const group = this.frame.plot.append("g").datum(row).attr("class", "line way").attr("data-row", row).style("color", style.colour);
    group.append("path").attr("d", d3.line()(places)).attr("stroke-dasharray", style.dash);
    const [start, end] = [places[0], places[places.length - 1]];
    group.append("circle").attr("class", "start").attr("r", 4.5).attr("cx", start[0]).attr("cy", start[1]);
    group.append("circle").attr("r", 5).attr("cx", end[0]).attr("cy", end[1]);
  }

  describe(mark) {
    const title = mark.row === null ? mark.name : `${mark.name}, ${place_in_words(mark.step, mark.of)}`;
    return [
      element("div", {class: "tooltip-title", dir: "auto"}, title),
      element("div", {}, `λ ${number_text(mark.point[0])}`),
      element("div", {}, `validation, ${this.measure()} ${number_text(mark.point[1])}`),
    ];
  }

  highlight(row) {
    this.frame.plot.selectAll(".line").classed("faded", (of) => row !== null && this.state.is_visible(row) && of !== row);
  }
}

function place_in_words(step, of) {
  if (step === 0) return "start";
  return step === of - 1 ? "end" : `point ${step + 1} of ${of}`;
}
