// Every run with its certificate. Drawn when it is opened, a page at a time: a study may have ten thousand.

const RUNS_PER_PAGE = 200;
const RUN_COLUMNS = [["Method", "first"], ["Seed"], ["Status", "words"], ["λ"], ["Validation"], ["Certificate", "words"], ["Residual"],
                     ["Why", "words"]];

class RunsTable {
  constructor(state) {
    this.state = state;
    this.page = 0;
    this.summary = element("summary", {});
    this.filter = element("input", {type: "search", placeholder: "method, status, reason …", oninput: () => {
      this.page = 0;
      this.draw();
    }});
    this.back = push_button("Previous", () => this.turn(-1));
    this.forth = push_button("Next", () => this.turn(1));
    this.place = element("span", {role: "status"});
    this.body = element("tbody", {});
    this.counts = element("p", {class: "counts"});
    this.details = element("details", {ontoggle: () => this.draw()}, this.summary,
        element("div", {class: "controls"}, element("label", {class: "select"}, element("span", {}, "Filter"), this.filter),
            this.place, this.back, this.forth),
        element("div", {class: "scroller", role: "region", tabindex: "0", "aria-label": "Every run"},
            element("table", {class: "runs"},
                element("thead", {}, element("tr", {}, ...RUN_COLUMNS.map(([title, kind]) =>
                  element("th", {scope: "col", class: kind}, title)))),
                this.body)));
    this.node = element("div", {}, this.counts, this.details);
  }

  turn(step) {
    this.page += step;
    this.draw();
  }

  results() {
    return list(this.state.problem.results);
  }

  update() {
    const results = this.results();
    set_text(this.summary, `Every run and its certificate (${grouped(results.length)})`);
    set_text(this.counts, this.counts_text(results));
    this.texts = null;
    this.draw();
  }

  counts_text(results) {
    const counts = d3.nest().key((result) => result[5] ?? "none").rollup((group) => group.length).map(results);
    const known = [["certified", "certified"], ["not certified", "not certified"], ["none", "without a certificate"]];
    const parts = known.filter(([word]) => counts.has(word)).map(([word, text]) => `${grouped(counts.get(word))} ${text}`);
    return results.length > 0 ? `Of ${plural(results.length, "run")}, ${joined(parts)}.` : "No run has ended yet.";
  }

  label_of(result) {
    return String(this.state.rows[result[0]]?.label ?? NONE);
  }

  matching() {
    const results = this.results();
    const words = this.filter.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) return results;
    this.texts ??= results.map((result) => [this.label_of(result), ...result.slice(1)].join(" ").toLowerCase());
    return results.filter((result, index) => words.every((word) => this.texts[index].includes(word)));
  }

  draw() {
    if (!this.details.open) return;
    const results = this.matching();
    const pages = Math.max(1, Math.ceil(results.length / RUNS_PER_PAGE));
    this.page = Math.max(0, Math.min(this.page, pages - 1));
    const first = this.page * RUNS_PER_PAGE;
    const shown = results.slice(first, first + RUNS_PER_PAGE);
    this.body.replaceChildren(...shown.map((result) => this.run_row(result)));
    this.back.disabled = this.page === 0;
    this.forth.disabled = this.page === pages - 1;
    const range = `${grouped(first + 1)} to ${grouped(first + shown.length)} of ${grouped(results.length)}`;
    set_text(this.place, results.length === 0 ? "nothing fits" : range);
  }

  run_row(result) {
    const [, seed, status, lambda, validation, certificate, residual, reason] = result;
    const number = (value) => element("td", {title: is_number(value) ? value : ""}, number_text(value));
    const state = certificate === "certified" ? "yes" : certificate === "not certified" ? "no" : "unknown";
    return element("tr", {},
        element("th", {scope: "row", class: "first"}, element("div", {class: "method"},
            element("span", {class: "name", dir: "auto"}, this.label_of(result)))),
        element("td", {}, String(seed)), element("td", {class: "words"}, String(status).replace(/_/g, " ")),
        number(lambda), number(is_number(validation) ? this.state.scale(this.state.measures[0]) * validation : null),
        element("td", {class: `words ${state}`}, certificate === "none" || !certificate ? NONE : String(certificate)),
        number(residual), element("td", {class: "words reason", dir: "auto"}, reason ?? ""));
  }
}
