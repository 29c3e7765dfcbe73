// The section of one problem: its parts, each drawn when it comes into sight.

class ProblemSection {
  constructor(state) {
    this.state = state;
    const {anchor} = state;
    this.title = element("h2", {id: `${anchor}-title`, dir: "auto"});
    this.about = element("dl", {class: "about"});
    this.node = element("section", {id: anchor, class: "problem", "aria-labelledby": `${anchor}-title`}, this.title, this.about);
    const rows = state.rows.length;
    this.parts = [
      this.part("Convergence", new Convergence(state), (problem) => list(problem.curves).length > 0, 540),
      this.part("Results", new ResultsTable(state), () => true, 240 + 36 * Math.min(rows, ROWS_AT_FIRST)),
      this.part("Validation loss against λ", new ResponsePicture(state), (problem) => list(problem.responses).length > 0, 540),
      this.part("Stability", new StabilityPicture(state), (problem) => list(problem.stability).length > 0, 520),
      this.part("Certificates", new RunsTable(state), () => true, 90),
    ];
    this.update();
  }

  part(title, view, is_there, height) {
    const place = element("div", {class: "waiting"});
    place.style.setProperty("--height", `${height}px`);
    const node = element("section", {class: "part"}, element("h3", {}, title), place);
    this.node.append(node);
    const lazy = new LazyPart(place, () => {
      if (!place.firstChild) place.append(view.node);
      view.update();
    });
    return {node, lazy, is_there};
  }

  update() {
    const {problem} = this.state;
    set_text(this.title, String(problem.title || problem.name));
    const pairs = list(problem.about).map(([name, value]) => [String(name), String(value)]);
    if (list(problem.paper_tables).length > 0) {
      const figure = is_number(problem.paper_figure) ? `, figure ${problem.paper_figure}` : "";
      pairs.push(["in the paper", `table ${joined(problem.paper_tables.map(String))}${figure}`]);
    }
    const wanted = JSON.stringify(pairs);
    if (this.about.dataset.shown !== wanted) {
      this.about.dataset.shown = wanted;
      this.about.replaceChildren(...pairs.map(([name, value]) =>
        element("div", {}, element("dt", {dir: "auto"}, name), element("dd", {dir: "auto"}, value))));
    }
    for (const {node, lazy, is_there} of this.parts) {
      node.hidden = !is_there(problem);
      lazy.update();
    }
  }
}
