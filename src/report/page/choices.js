// One problem on the page: its data as of now, and what the reader chose. Choices outlive new data, because rows are known by
// what they are, not by their place or label.

const VISIBLE_AT_FIRST = 12;

class ProblemState {
  /** `anchor` names its section. */
  constructor(problem, anchor) {
    this.anchor = anchor;
    this.listeners = new Set();
    this.shown = "first";  // which rows: all, none or the first choice
    this.chosen = new Map();  // but for these, by key, which the reader has shown or hidden
    this.is_unfinished = false;  // more runs were asked for than are there
    this.measure = null;
    this.which = "final";
    this.sort = {column: null, is_descending: false};
    this.x = "work";
    this.y = "gap";
    this.x_log = true;
    this.y_log = true;
    this.bands = false;
    this.seed = null;
    this.response_log = true;
    this.update(problem);
  }

  update(problem) {
    this.problem = problem;
    this.rows = list(problem.rows);
    this.measures = list(problem.measures);
    if (!this.measures.includes(this.measure)) this.measure = this.measures.length > 0 ? this.measures[0] : null;
    this.has_gaps = list(problem.curves).some((curve) => list(curve.gap).some(is_number));
    if (!this.has_gaps) this.y = "loss";
    this.keys = row_keys(this.rows);
    this.styles = row_styles(this.rows);
    this.first = new Set(this.first_rows().map((index) => this.keys[index]));
  }

  /** Of how many seeds every row has a run: rows are compared on these. */
  common_seeds() {
    return problem_seeds(this.problem).common;
  }

  /** The paper's losses are × 100; ours are, where they stand beside them, in tables and charts alike. */
  scale(measure = this.measure) {
    return measure === this.measures[0] && is_number(this.problem.factor) ? this.problem.factor : 1;
  }

  /** What curves, responses and stability are in, as it stands beside an axis. */
  curve_title() {
    const measure = this.problem.curve_measure ?? "loss";
    return `validation ${measure_text(measure)}${this.scale(measure) === 100 ? " × 100" : ""}`;
  }

  curve_scale() {
    return this.scale(this.problem.curve_measure);
  }

  cell(row, part, measure = this.measure, which = this.which) {
    return whole_cell(row[which]?.[measure]?.[part]);
  }

  /** The row with the best mean of what is shown, over the seeds that all rows have: where there is none, nothing is best. A method
   * that diverges or fails is not called best. */
  best_row(part = "validation", measure = this.measure, which = this.which, rows = this.rows) {
    if (this.common_seeds() === 0) return null;
    const sign = larger_is_better(measure) ? -1 : 1;
    const mean = (row) => this.cell(row, part, measure, which)?.mean;
    const able = rows.filter((row) => !(row.diverged > 0) && !(row.failed > 0) && is_number(mean(row)));
    const place = d3.scan(able, (a, b) => sign * (mean(a) - mean(b)));
    return place === undefined ? null : able[place];
  }

  is_visible(index) {
    const key = this.keys[index];
    return this.chosen.get(key) ?? (this.shown === "all" || (this.shown === "first" && this.first.has(key)));
  }

  /** All rows, none, the first choice, or only one. */
  show(which, only = null) {
    this.shown = which;
    this.chosen.clear();
    if (only !== null) this.chosen.set(this.keys[only], true);
    this.notify();
  }

  toggle(index) {
    this.chosen.set(this.keys[index], !this.is_visible(index));
    this.notify();
  }

  notify() {
    for (const listener of this.listeners) listener();
  }

  /** The best row first, those that diverged or failed behind the others; as they came where they cannot be compared. */
  best_first(measure = this.measure, which = this.which) {
    const order = d3.range(this.rows.length);
    if (this.common_seeds() === 0) return order;
    const sign = larger_is_better(measure) ? -1 : 1;
    const value = (index) => {
      const seen = central(this.rows[index], this.cell(this.rows[index], "validation", measure, which));
      return seen === null ? Infinity : sign * seen;
    };
    const faults = ({diverged, failed}) => (diverged > 0 || failed > 0 ? 1 : 0);
    return order.sort((a, b) => faults(this.rows[a]) - faults(this.rows[b]) || d3.ascending(value(a), value(b)) || a - b);
  }

  /** One row a method, its best. */
  first_rows() {
    const methods = new Set();
    return this.best_first(this.measures[0], "final").filter((index) => {
      const {method} = this.rows[index];
      const is_first = !methods.has(method);
      methods.add(method);
      return is_first;
    }).slice(0, VISIBLE_AT_FIRST);
  }
}

/** What the study says of the seeds of a problem's rows. */
function problem_seeds(problem) {
  return {common: problem.seeds?.common ?? 0, is_all: problem.seeds?.is_all ?? true};
}

function row_keys(rows) {
  const taken = new Set();
  return rows.map((row) => {
    const settings = Object.entries(row.settings ?? {}).sort((a, b) => d3.ascending(a[0], b[0]));
    let key = JSON.stringify([row.method, settings, row.budget ?? null]);
    if (taken.has(key)) key += JSON.stringify(row.label ?? taken.size);
    taken.add(key);
    return key;
  });
}
