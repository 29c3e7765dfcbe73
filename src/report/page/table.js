// The headline table: what each method reached, what it cost, and whether it can be trusted.

const ROWS_AT_FIRST = 100;
const PARTS = ["train", "validation", "test"];
// The first three after the method fit on a phone beside it.
const COLUMN_ORDER = ["method", "validation", "gap", "work", "lambda", "test", "train", "lambda_gap"];

class ResultsTable {
  constructor(state) {
    this.state = state;
    this.shows_all = false;
    this.measure = select_box("Measure", (measure) => this.choose({measure}));
    this.controls = element("div", {class: "controls"}, this.measure.node,
        radio_group("Weights", [["final", "final"], ["best", "best"]], state.which, (which) => this.choose({which})),
        push_button("Save as CSV", () => save_file(`${file_part(state.problem.name)}-results.csv`, csv_file(this.csv())),
            {class: "quiet save"}));
    this.words = element("div", {class: "sentences"});
    this.caption = element("p", {class: "caption"});
    this.head = d3.select(element("tr", {}));
    this.body = d3.select(element("tbody", {}));
    this.more = push_button("", () => {
      this.shows_all = true;
      this.update();
    }, {class: "more"});
    this.scroller = element("div", {class: "scroller", role: "region", tabindex: "0", "aria-label": "Results of all methods"},
        element("table", {class: "results"}, element("thead", {}, this.head.node()), this.body.node()));
    this.node = element("div", {}, this.words, this.controls, this.scroller, this.more, this.caption);
  }

  choose(choice) {
    Object.assign(this.state, choice);
    this.update();
  }

  sort_by(column) {
    const {sort} = this.state;
    if (sort.column !== column) this.state.sort = {column, is_descending: false};
    else if (!sort.is_descending) this.state.sort = {column, is_descending: true};
    else this.state.sort = {column: null, is_descending: false};
    this.update();
  }

  update() {
    const {state} = this;
    this.measure.node.hidden = state.measures.length < 2;
    this.measure.fill(state.measures.map((measure) => [measure, measure_text(measure)]), state.measure);
    const columns = table_columns(state);
    const order = this.sorted_rows(columns);
    const shown = this.shows_all ? order : order.slice(0, ROWS_AT_FIRST);
    this.draw_head(columns);
    this.draw_body(columns, shown);
    this.more.hidden = shown.length === order.length;
    set_text(this.more, `Show all ${grouped(order.length)} rows`);
    set_text(this.caption, this.caption_text());
    d3.select(this.words).selectAll("p").data(result_sentences(state)).join("p").attr("dir", "auto").each(function(sentence) {
      set_text(this, sentence);
    });
  }

  /** The table as it is seen, each cell as its number. */
  csv() {
    const columns = table_columns(this.state);
    const cell = (column, row) => column.saved?.(row) ?? column.value(row) ?? "";
    return [columns.map((column) => column.csv_title ?? column.title), ...this.sorted_rows(columns).map((index) =>
      columns.map((column) => cell(column, this.state.rows[index])))];
  }

  sorted_rows(columns) {
    const {column, is_descending} = this.state.sort;
    const order = this.state.best_first();
    const chosen = columns.find((candidate) => candidate.key === column);
    if (!chosen) return order;
    const values = this.state.rows.map(chosen.value);
    const compare = is_descending ? d3.descending : d3.ascending;
    // What is not there comes last in both directions; what is equal stays best first.
    const place = new Map(order.map((index, at) => [index, at]));
    const is_missing = (index) => (values[index] === null || values[index] === undefined ? 1 : 0);
    return order.sort((a, b) => is_missing(a) - is_missing(b) || compare(values[a], values[b]) || place.get(a) - place.get(b));
  }

  draw_head(columns) {
    const table = this;
    const {sort} = this.state;
    this.head.selectAll("th").data(columns, (column) => column.key).join((entering) => entering.append((column) =>
      element("th", {scope: "col", class: column.class, title: column.help},
          push_button("", () => table.sort_by(column.key)))))
        .order()
        .attr("aria-sort", (column) => (sort.column !== column.key ? null : sort.is_descending ? "descending" : "ascending"))
        .each(function(column) {
          set_text(this.querySelector("button"), column.title);
        });
  }

  draw_body(columns, order) {
    const {state} = this;
    const best = Object.fromEntries(PARTS.map((part) => [part, state.best_row(part)]));
    this.body.selectAll("tr").data(order, (index) => state.keys[index]).join("tr").order().each(function(index) {
      const row = state.rows[index];
      this.classList.toggle("winner", row === best.validation);
      this.replaceChildren(...columns.map((column) => column.draw(row, index, best)));
    });
  }

  caption_text() {
    const {state} = this;
    if (state.rows.length === 0) return "No run of this problem has ended yet.";
    const measure = measure_text(state.measure ?? "loss");
    const best = larger_is_better(state.measure) ? `largest mean validation ${measure}` : "smallest mean validation loss";
    const {common, is_all} = problem_seeds(state.problem);
    const over = common === 0 ? "all runs of a row" : is_all ? plural(common, "seed") : `the ${plural(common, "seed")} that every row has`;
    return [
      `${measure}${state.scale() === 100 ? ", × 100 as in the paper" : ""}: mean ± standard deviation over ${over}` +
          `${state.rows.some((row) => row.diverged > 0) ? ", the median of the rest where runs diverged." : "."}`,
      state.which === "final" ? "Weights at the end of a run." : "Weights with the smallest validation loss of a run.",
      common === 0 ? "The rows have no seed in common, so none is called best." :
        `★ marks the ${best} of a method that never diverged or failed; the best row stands first.`,
      "Headings sort.",
      "The test loss estimates the loss on new rows; to choose a method or a setting by it would spoil that.",
      shows_paper(state) ? "Below ours stand the paper's figures, with the number of their table (T)." : "",
    ].join(" ");
  }
}

function shows_paper(state) {
  return state.which === "final" && state.scale() === 100;
}

/** The columns that have something to show, each with its value for sorting and the cell of a row. */
function table_columns(state) {
  const is_final = state.which === "final";
  const quantity = (key, title, help, cell_of, text) => ({
    key, title, help,
    value: (row) => whole_cell(cell_of(row))?.mean ?? null,
    draw: (row) => element("td", {title: exact_text(whole_cell(cell_of(row)))}, text(whole_cell(cell_of(row))?.mean)),
  });
  const share = (key, title, help, some = "some") => ({
    key, title, help,
    value: (row) => (row.runs > 0 ? (row[key] ?? 0) / row.runs : null),
    csv_title: `${title}, share of runs`,
    draw: (row) => element("td", {class: row[key] > 0 ? some : "nought"}, `${row[key] ?? 0} of ${row.runs ?? 0}`),
  });
  const columns = [
    method_column(state),
    loss_column(state, "validation", "Validation", "what tuning makes small"),
    loss_column(state, "test", "Test", "an estimate for new rows, not for choosing a method or a setting"),
    loss_column(state, "train", "Train", "what training makes small"),
    lambda_column((row) => (is_final ? row.lambda : row.best_lambda)),
    share("diverged", "Diverged", "Runs that met a number that is not finite", "bad"),
    share("failed", "Failed", "Runs that ended in an error", "bad"),
    quantity("gap", "Gap", "How much the validation loss is above the oracle's", (row) => (is_final ? row.gap : row.best_gap),
        percent_text),
    quantity("lambda_gap", "λ gap", "How much more validation loss this λ costs than the best λ, both trained to the end",
        (row) => (is_final ? row.lambda_gap : row.best_lambda_gap), percent_text),
    ...goals_of(state).map((goal) => goal_column(goal)),
    quantity("gradients", "Gradients", "Gradients as the paper counts them", (row) => row.gradients, count_text),
    quantity("work", "Work", "Everything counted, in training gradients", (row) => row.work, count_text),
    quantity("seconds", "Seconds", "Of the method itself", (row) => row.seconds, (mean) => number_text(mean, 2)),
    share("certified", "Certified", "Runs whose answer cannot be bettered nearby"),
  ];
  const is_kept = (column) => column.key === "failed" ? state.rows.some((row) => row.failed > 0) :
    column.key === "method" || state.rows.some((row) => column.value(row) !== null);
  const place = ({key}) => (COLUMN_ORDER.includes(key) ? COLUMN_ORDER.indexOf(key) : COLUMN_ORDER.length);
  return columns.filter(is_kept).sort((a, b) => place(a) - place(b));
}

function method_column(state) {
  return {
    key: "method", title: "Method", class: "first", help: "A method with the settings in which its rows differ",
    value: (row) => String(row.label),
    draw: (row, index, best) => element("th", {scope: "row", class: "first", title: settings_text(row)},
        element("div", {class: "method"}, swatch(state.styles[index]),
            element("span", {class: "name", dir: "auto"}, ...breakable(row.label)),
            row === best.validation ? element("span", {class: "star", role: "img", "aria-label": "best"}, "★") : null)),
  };
}

function settings_text(row) {
  const settings = Object.entries(row.settings ?? {}).map(([name, value]) => `${name} = ${value}`);
  if (is_number(row.budget)) settings.push(`budget = ${row.budget}`);
  return [String(row.method), ...settings].join("\n");
}

/** The mean, and the deviation where there are several runs. */
function texts_of(cell, scale) {
  if (!is_number(cell?.mean)) return [NONE, null];
  return cell.count > 1 ? with_error(scale * cell.mean, scale * cell.deviation) : [number_text(scale * cell.mean), null];
}

/** Where a method ended: the mean, as far as each run has one λ. */
function lambda_column(cell_of) {
  return {
    key: "lambda", title: "λ", help: "The logarithm of the penalty, mean ± standard deviation",
    value: (row) => whole_cell(cell_of(row))?.mean ?? null,
    draw: (row) => {
      const cell = whole_cell(cell_of(row));
      const [value, deviation] = texts_of(cell, 1);
      return element("td", {title: exact_text(cell)}, value, deviation && element("span", {class: "aside"}, ` ± ${deviation}`));
    },
  };
}

function loss_column(state, part, title, use) {
  const cell_of = (row) => state.cell(row, part);
  return {
    key: part, title, help: `${measure_text(state.measure)} of the ${part} rows: ${use}`,
    csv_title: `${title} ${measure_text(state.measure)}${state.scale() === 100 ? " × 100" : ""}`,
    value: (row) => central(row, cell_of(row)),
    saved: (row) => (is_number(central(row, cell_of(row))) ? state.scale() * central(row, cell_of(row)) : ""),
    draw: (row, index, best) => {
      const scale = state.scale();
      const cell = cell_of(row);
      const best_cell = best[part] && cell_of(best[part]);
      const is_best = part !== "test" && cell && best_cell && !(row.diverged > 0) && !(row.failed > 0) &&
          number_text(scale * cell.mean) === number_text(scale * best_cell.mean);
      const has_median = row.diverged > 0 && central(row, cell) !== null;
      const [value, deviation] = has_median ? [number_text(scale * cell.median), null] : texts_of(cell, scale);
      const node = element("td", {title: exact_text(cell)}, element("span", {class: is_best ? "value best" : "value"}, value),
          has_median ? element("span", {class: "aside"}, " median") : null,
          deviation && element("span", {class: "aside"}, ` ± ${deviation}`));
      if (shows_paper(state)) node.append(...list(row.paper).map((result) => paper_line(result, part)));
      return node;
    },
  };
}

function paper_line(result, part) {
  const [mean, deviation] = list(result[part]);
  if (!is_number(mean)) return "";
  return element("span", {class: "paper", title: result.note || null}, element("span", {}, `T${result.table}`), ` ${number_text(mean)}`,
      is_number(deviation) ? element("span", {class: "deviation"}, ` ± ${number_text(deviation)}`) : null);
}

function goals_of(state) {
  const gaps = new Set();
  for (const row of state.rows) for (const goal of list(row.work_to)) gaps.add(goal.gap);
  return [...gaps].sort(d3.descending);
}

function goal_of(row, gap) {
  return list(row.work_to).find((goal) => goal.gap === gap) ?? null;
}

function goal_column(gap) {
  return {
    key: `work_to_${gap}`, title: `Work to ${goal_text(gap)}`,
    help: `Work until the validation loss is within ${goal_text(gap)} of the oracle's: the median over all runs, and how many get there`,
    value: (row) => goal_of(row, gap)?.median ?? null,
    draw: (row) => {
      const goal = goal_of(row, gap);
      if (!goal) return element("td", {}, NONE);
      const share = element("span", {class: goal.reached < goal.of ? "aside bad" : "aside"}, ` ${goal.reached} of ${goal.of}`);
      return element("td", {title: is_number(goal.median) ? `median ${goal.median}` : "more than half do not get there"},
          is_number(goal.median) ? number_text(goal.median, 3) : "", share);
    },
  };
}
