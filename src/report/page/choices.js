// One problem on the page: its data as of now, and what the reader chose. Choices outlive new data, because rows are known by
// what they are, not by their place or label.

const VISIBLE_AT_FIRST = 12;

class ProblemState {
  /** `anchor` names its section. */
  constructor(problem, anchor) {
    this.anchor = anchor;
    this.listeners = new Set();
    this.visible = new Map();  // by key of the row
    this.is_selection = false;  // the reader has said which rows, so that new ones wait to be asked for
    this.measure = null;
    this.which = "final";
    this.sort = {column: null, is_descending: false};
    this.x = "iterations";
    this.x_log = true;
    this.y_log = true;
    this.bands = true;
    this.seed = null;
    this.response_log = true;
    this.update(problem);
  }

  update(problem) {
    this.problem = problem;
    this.rows = list(problem.rows);
    this.measures = list(problem.measures);
    if (!this.measures.includes(this.measure)) this.measure = this.measures.length > 0 ? this.measures[0] : null;
    this.has_paper = this.rows.some((row) => list(row.paper).length > 0);
    this.keys = row_keys(this.rows);
    this.styles = row_styles(this.rows);
    this.choose_first_rows();
  }

  /** The paper's losses are × 100; ours are, where they stand beside them. */
  scale(measure = this.measure) {
    return measure === this.measures[0] && this.has_paper ? 100 : 1;
  }

  cell(row, part, measure = this.measure, which = this.which) {
    return whole_cell(row[which]?.[measure]?.[part]);
  }

  /** The row with the best mean of what is shown; a method that diverges or fails is not called best. */
  best_row(part = "validation", measure = this.measure, which = this.which, rows = this.rows) {
    const sign = larger_is_better(measure) ? -1 : 1;
    const mean = (row) => this.cell(row, part, measure, which)?.mean;
    const able = rows.filter((row) => !(row.diverged > 0) && !(row.failed > 0) && is_number(mean(row)));
    const place = d3.scan(able, (a, b) => sign * (mean(a) - mean(b)));
    return place === undefined ? null : able[place];
  }

  is_visible(index) {
    return this.visible.get(this.keys[index]) === true;
  }

  show_only(indices) {
    const wanted = new Set(indices);
    this.keys.forEach((key, index) => this.visible.set(key, wanted.has(index)));
    this.is_selection = wanted.size < this.keys.length;
    this.notify();
  }

  toggle(index) {
    this.visible.set(this.keys[index], !this.is_visible(index));
    this.notify();
  }

  notify() {
    for (const listener of this.listeners) listener();
  }

  /** Rows by how much a reader wants to see them: the best of each method, then step sizes of the paper (what ends worst first,
   * for that is its story), then its other rows, then the rest. */
  ranked_rows() {
    const measure = this.measures[0];
    const sign = larger_is_better(measure) ? -1 : 1;
    const value = (index) => {
      const row = this.rows[index];
      const seen = this.cell(row, "validation", measure, "final")?.mean;
      return row.diverged > 0 || !is_number(seen) ? Infinity : sign * seen;
    };
    const order = d3.range(this.rows.length).sort((a, b) => d3.ascending(value(a), value(b)) || a - b);
    const methods = new Set();
    const rank = new Map(order.map((index) => {
      const row = this.rows[index];
      const is_first = !methods.has(row.method);
      methods.add(row.method);
      return [index, is_first ? 0 : list(row.paper).length === 0 ? 3 : is_number(row.step) ? 1 : 2];
    }));
    const worst_first = (a, b) => (rank.get(a) === 1 ? d3.descending(value(a), value(b)) : 0);
    return order.sort((a, b) => rank.get(a) - rank.get(b) || worst_first(a, b));
  }

  first_rows() {
    return this.ranked_rows().slice(0, VISIBLE_AT_FIRST);
  }

  /** Rows that are new are shown as long as there is room; what the reader chose stays. */
  choose_first_rows() {
    if (this.keys.every((key) => this.visible.has(key))) return;
    let room = this.is_selection ? 0 : VISIBLE_AT_FIRST - this.keys.filter((key) => this.visible.get(key)).length;
    for (const index of this.ranked_rows()) {
      if (this.visible.has(this.keys[index])) continue;
      this.visible.set(this.keys[index], room > 0);
      room -= 1;
    }
  }
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
