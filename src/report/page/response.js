// Validation loss as a function of λ, and the way each method took to its answer.

class ResponsePicture {
  constructor(state) {
    this.state = state;
    this.frame = new Frame("Validation loss against λ",
        "Left and right arrow follow a path, up and down change it; plus zooms, Escape shows the whole.", () => this.draw(), {
          name: () => state.problem.name,
          legend: () => this.paths().map(({row}) => ({text: String(state.rows[row].label), ...state.styles[row], symbol: null})),
          csv: () => this.csv(),
        });
    this.legend = new Legend(state, () => this.rows(), (row) => this.highlight(row));
    this.finder = new MarkFinder(this.frame, (mark) => this.describe(mark));
    this.seed = select_box("Seed", (seed) => {
      state.seed = Number(seed);
      this.frame.forget_part();
      this.draw();
    });
    this.note = element("p", {class: "caption"}, "The thick line is the loss of weights trained to the end, as far as exact trials " +
        "show it; ◆ is the oracle. A path begins at a ring and ends at a dot: the loss of the weights a method had on its way. " +
        "The picture ends at the bounds of λ; an arrow shows where a path leaves it.");
    this.trust_note = element("p", {class: "caption"}, "The band is one standard error over the rows around the loss of the best run. " +
        "The bar below it holds the λ whose loss is within one standard error of the least, its dark part those by the standard " +
        "error of the difference. The rules min and 1se take the λ of the two lines.");
    this.node = element("div", {},
        element("div", {class: "controls"}, this.seed.node, check_box("log y", state.response_log, (is_log) => {
          state.response_log = is_log;
          this.frame.forget_part();
          this.draw();
        })),
        element("div", {class: "with-legend"}, element("div", {class: "chart-place"}, this.frame.node, this.frame.tools, this.note,
            this.trust_note),
            this.legend.node));
    state.listeners.add(() => this.draw());
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

  /** Points in the units of the picture, those that it can show. */
  shown(points) {
    const scale = this.state.curve_scale();
    return list(points).filter(([lambda, loss]) => is_number(lambda) && is_number(loss) && (!this.state.response_log || loss > 0))
        .map(([lambda, loss]) => [lambda, scale * loss]);
  }

  /** The loss around the best λ with its standard error, in the units of the picture: [λ, low, loss, high]. */
  trust() {
    const trust = this.response()?.trust;
    if (!trust || !is_number(trust.minimum)) return null;
    const scale = this.state.curve_scale();
    const points = list(trust.curve).filter(([lambda, loss, error]) => is_number(lambda) && is_number(loss) && is_number(error) &&
        (!this.state.response_log || loss > error))
        .map(([lambda, loss, error]) => [lambda, scale * (loss - error), scale * loss, scale * (loss + error)]);
    return points.length > 1 ? {...trust, points} : null;
  }

  paths() {
    const {state} = this;
    return list(this.response()?.paths).filter(({row}) => state.rows[row] && state.is_visible(row))
        .map(({row, points}) => ({row, points: this.shown(points)})).filter(({points}) => points.length > 0);
  }

  csv() {
    const {seed, curve, oracle} = this.response() ?? {};
    const around = list(this.trust()?.points);
    const named = [{name: "trained to the end", points: this.shown(curve)},
                   {name: "around the best", points: around.map(([lambda, , loss]) => [lambda, loss])},
                   {name: "less one standard error", points: around.map(([lambda, low]) => [lambda, low])},
                   {name: "plus one standard error", points: around.map(([lambda, , , high]) => [lambda, high])},
                   {name: "oracle", points: oracle ? this.shown([oracle]) : []},
                   ...this.paths().map(({row, points}) => ({name: String(this.state.rows[row].label), points}))];
    return [["path", "seed", "point", "lambda", this.state.curve_title()], ...d3.merge(named.map(({name, points}) =>
      points.map(([lambda, loss], place) => [name, seed, place, lambda, loss])))];
  }

  draw() {
    const {frame, state} = this;
    if (frame.width === 0) return;
    const response = this.response();
    const curve = this.shown(response?.curve);
    const paths = this.paths();
    const oracle = response?.oracle ? this.shown([response.oracle])[0] ?? null : null;
    const trust = this.trust();
    const scales = this.scales_for(curve, paths, oracle, trust);
    if (!scales) {
      this.finder.set_groups([]);
      frame.say_empty("Nothing to show for this seed.");
      return;
    }
    this.trust_note.hidden = !trust;
    const {x, y} = scales;
    const place = (point) => [x(point[0]), y(point[1])];
    frame.draw_axes(x, y, ["λ, the logarithm of the penalty", state.curve_title()]);
    frame.plot.selectAll("*").remove();
    if (trust) this.draw_trust(trust, x, y);
    frame.plot.append("path").attr("class", "exact").attr("d", d3.line()(curve.map(place)));
    for (const {row, points} of paths) this.draw_path(row, points.map(place));
    if (oracle) {
      frame.plot.append("path").attr("class", "oracle-mark").attr("d", symbol_path(d3.symbolDiamond, 130))
          .attr("transform", `translate(${place(oracle)})`);
    }
    const is_in_frame = (mark) => mark.x >= frame.left - 5 && mark.x <= frame.right + 5 && mark.y >= frame.top - 5 && mark.y <= frame.bottom + 5;
    const marks = (row, name, points) => points.map((point, step) =>
      ({x: x(point[0]), y: y(point[1]), row, name, point, step, of: points.length})).filter(is_in_frame);
    const left = (row, points) => this.draw_exits(row, points.map(place)).map((exit) =>
      ({...exit, row, name: String(state.rows[row].label), end: points[points.length - 1]}));
    this.finder.set_groups([
      ...paths.map(({row, points}) => [...marks(row, String(state.rows[row].label), points), ...left(row, points)]),
      marks(null, "trained to the end", curve),
      marks(null, "around the best", list(trust?.points).map(([lambda, , loss]) => [lambda, loss])),
      oracle ? marks(null, "oracle", [oracle]) : [],
    ]);
  }

  /** Losses far above those of the start and of the curve leave the frame, and so do the λ they are at, and those beyond the bounds. */
  scales_for(curve, paths, oracle, trust) {
    const {frame, state} = this;
    const around = d3.merge(list(trust?.points).map(([lambda, low, loss]) => [[lambda, low], [lambda, loss]]));
    const known = [...curve, ...(oracle ? [oracle] : []), ...around, ...d3.merge(paths.map(({points}) => points))];
    const y_extent = extent_of(known.map((point) => point[1]), state.response_log);
    if (!y_extent) return null;
    const usual = d3.max([...curve.map((point) => point[1]), ...paths.map(({points}) => points[0][1])]) ?? y_extent[1];
    const high = Math.min(y_extent[1], 2 * usual);
    const [least, most] = list(this.response()?.bounds).length === 2 ? this.response().bounds : [-Infinity, Infinity];
    const x_extent = extent_of(known.filter((point) => point[1] <= high).map((point) => Math.max(least, Math.min(point[0], most))), false);
    if (!x_extent) return null;
    const margin = (x_extent[1] - x_extent[0]) * 0.02;
    const whole_y = [state.response_log ? y_extent[0] / 1.15 : Math.min(0, y_extent[0]), high * 1.05];
    return {
      x: scale_over(false, frame.part_of("x", [x_extent[0] - margin, x_extent[1] + margin]), [frame.left, frame.right]),
      y: scale_over(state.response_log, frame.part_of("y", whole_y), [frame.bottom, frame.top]),
    };
  }

  /** A band of one standard error around the loss, the λ within one standard error of the least as a bar, and the λ of both rules. */
  draw_trust(trust, x, y) {
    const {frame} = this;
    const group = frame.plot.append("g").attr("class", "trust");
    group.append("path").attr("class", "trust-band")
        .attr("d", d3.area().x((point) => x(point[0])).y0((point) => y(point[1])).y1((point) => y(point[3]))(trust.points));
    group.append("path").attr("class", "trust-line").attr("d", d3.line()(trust.points.map((point) => [x(point[0]), y(point[2])])));
    const bar = (interval, kind, height) => {
      const [low, high] = list(interval).filter(is_number);
      if (high === undefined) return;
      group.append("rect").attr("class", kind).attr("x", x(low)).attr("width", Math.max(1, x(high) - x(low)))
          .attr("y", frame.bottom - height).attr("height", height);
    };
    bar(trust.interval, "trust-interval", 6);
    bar(trust.paired, "trust-paired", 6);
    const rules = [["min", trust.minimum, "end"], ["1se", trust.one_standard_error, "start"]];
    for (const [name, lambda, anchor] of rules.filter((rule) => is_number(rule[1]))) {
      group.append("line").attr("class", "trust-rule").attr("x1", x(lambda)).attr("x2", x(lambda))
          .attr("y1", frame.top).attr("y2", frame.bottom);
      group.append("text").attr("class", "level-name").attr("x", x(lambda) + (anchor === "end" ? -4 : 4)).attr("y", frame.top + 12)
          .attr("text-anchor", anchor).text(name);
    }
  }

  draw_path(row, places) {
    const style = this.state.styles[row];
    const group = this.frame.plot.append("g").datum(row).attr("class", "line way").attr("data-row", row).style("color", style.colour);
    group.append("path").attr("d", d3.line()(places)).attr("stroke-dasharray", style.dash);
    const [start, end] = [places[0], places[places.length - 1]];
    group.append("circle").attr("class", "start").attr("r", 4.5).attr("cx", start[0]).attr("cy", start[1]);
    group.append("circle").attr("r", 5).attr("cx", end[0]).attr("cy", end[1]);
  }

  /** An arrow where a path leaves the frame for the first time, and where for good; gives where they stand. */
  draw_exits(row, places) {
    const {left, right, top, bottom} = this.frame;
    /** @param {number[]} place */
    const is_inside = ([x, y]) => x >= left && x <= right && y >= top && y <= bottom;
    const exits = d3.range(1, places.length).filter((i) => is_inside(places[i - 1]) && !is_inside(places[i]));
    const is_lost = places.length > 0 && !is_inside(places[places.length - 1]);
    const shown = [...new Set([exits[0], ...(is_lost ? [exits[exits.length - 1]] : [])])].filter((i) => i !== undefined);
    return shown.map((i) => {
      const [[x0, y0], [x1, y1]] = [places[i - 1], places[i]];
      // How far along the step the frame ends, and on which side.
      const sides = [[x1 < left ? (left - x0) / (x1 - x0) : 2, 180], [x1 > right ? (right - x0) / (x1 - x0) : 2, 0],
                     [y1 < top ? (top - y0) / (y1 - y0) : 2, -90], [y1 > bottom ? (bottom - y0) / (y1 - y0) : 2, 90]];
      const [share, angle] = sides.reduce((nearest, side) => (side[0] < nearest[0] ? side : nearest));
      const [x, y] = [x0 + share * (x1 - x0), y0 + share * (y1 - y0)];
      this.frame.plot.append("path").datum(row).attr("class", "line exit").attr("d", "M4,0L-7,-6L-7,6Z")
          .attr("transform", `translate(${x},${y}) rotate(${angle})`).style("color", this.state.styles[row].colour);
      return {x, y};
    });
  }

  describe(mark) {
    if (mark.end) {
      return [
        element("div", {class: "tooltip-title", dir: "auto"}, `${mark.name} leaves the picture`),
        element("div", {}, `it ends at λ ${number_text(mark.end[0])}`),
        element("div", {}, `${this.state.curve_title()} ${number_text(mark.end[1])}`),
      ];
    }
    const title = mark.row === null ? mark.name : `${mark.name}, ${place_in_words(mark.step, mark.of)}`;
    return [
      element("div", {class: "tooltip-title", dir: "auto"}, title),
      element("div", {}, `λ ${number_text(mark.point[0])}`),
      element("div", {}, `${this.state.curve_title()} ${number_text(mark.point[1])}`),
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
