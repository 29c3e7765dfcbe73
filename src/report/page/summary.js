// What a reader wants to know first, in sentences made of the numbers below.

const NAMES_AT_MOST = 4;

function label(row) {
  return isolated(String(row.label));
}

/** Who won and by how much, and what the winner's test loss is. */
function summary_sentences(state) {
  return [best_sentence(state), test_sentence(state)].filter((sentence) => sentence !== null);
}

/** Who was quick, who diverged, what is certified. */
function result_sentences(state) {
  const ends = [diverged_sentence(state), certificate_sentence(state)].filter((sentence) => sentence !== null).join(" ");
  return [work_sentence(state), ends].filter((sentence) => sentence !== null);
}

/** On which seeds rows are compared, and which row has no more of them than these. */
function seeds_text(state) {
  const {common, is_all} = problem_seeds(state.problem);
  if (is_all) return `over ${plural(common, "seed")}`;
  const fewest = state.rows.filter((row) => row.runs === common);
  const why = fewest.length === 1 ? ` (${label(fewest[0])} has no more)` : "";
  return `over ${plural(common, "common seed")}${why}`;
}

function value_text(cell, scale) {
  const [value, deviation] = texts_of(cell, scale);
  return deviation ? `${value} ± ${deviation}` : value;
}

function best_sentence(state) {
  if (state.rows.length === 0) return "No run has ended yet.";
  if (state.common_seeds() === 0) return "The methods have no seed in common so far: nothing is called best.";
  const measure = state.measures[0];
  const best = state.best_row("validation", measure, "final");
  if (!best) return "No method ended well on every seed.";
  const scale = state.scale(measure);
  const cell = state.cell(best, "validation", measure, "final");
  const so_far = state.is_unfinished || !problem_seeds(state.problem).is_all ? " so far" : "";
  const text = `${label(best)} has the best validation ${measure_text(measure)}${so_far}: ${value_text(cell, scale)}` +
      `${scale === 100 ? " (× 100)" : ""} with its final weights, ${seeds_text(state)}.`;
  const rival = best_rival(state, best, measure);
  if (!rival) return text;
  const other = state.cell(rival, "validation", measure, "final");
  const difference = Math.abs(other.mean - cell.mean) / Math.abs(cell.mean);
  const comparison = difference < 0.0005 ? "less than 0.05 % apart" : `${percent_text(difference)} ${other.mean > cell.mean ? "more" : "less"}`;
  return `${text} The next method, ${label(rival)}, has ${value_text(other, scale)} (${comparison}).`;
}

/** The test loss of the winner, and what it may be used for. */
function test_sentence(state) {
  const measure = state.measures[0];
  const best = state.best_row("validation", measure, "final");
  const cell = best && state.cell(best, "test", measure, "final");
  if (!cell) return null;
  return `Its test ${measure_text(measure)} is ${value_text(cell, state.scale(measure))}: an estimate for new rows, as long as nobody chooses a ` +
      "method or a setting by it.";
}

/** The best row of another method. */
function best_rival(state, best, measure) {
  return state.best_row("validation", measure, "final", state.rows.filter((row) => row.method !== best.method));
}

/** The quickest method to the loosest goal, and the next. */
function work_sentence(state) {
  const [gap] = goals_of(state);
  if (gap === undefined) return null;
  const reached = state.rows.filter((row) => is_number(goal_of(row, gap)?.median))
      .sort((a, b) => goal_of(a, gap).median - goal_of(b, gap).median);
  const goal = `within ${goal_text(gap)} of the oracle's validation loss`;
  if (reached.length === 0) return `No method comes ${goal} in more than half of its runs.`;
  const [first] = reached;
  const work = goal_of(first, gap).median;
  const reaching = ({reached: count, of}) => (count === of ? `all ${of} runs get there` : `${count} of ${of} runs get there`);
  const text = `${label(first)} is ${goal} after ${number_text(work, 3)} gradient equivalents (median; ${reaching(goal_of(first, gap))})`;
  const next = reached.find((row) => row.method !== first.method);
  if (!next) return `${text}; no other method gets there in more than half of its runs.`;
  const other = goal_of(next, gap).median;
  const ratio = other > 1.05 * work && work > 0 ? `, ${number_text(other / work, 2)} times as much` : "";
  return `${text}; the next method, ${label(next)}, after ${number_text(other, 3)}${ratio} (${reaching(goal_of(next, gap))}).`;
}

function diverged_sentence(state) {
  const lost = state.rows.filter((row) => row.diverged > 0).sort((a, b) => b.diverged / b.runs - a.diverged / a.runs);
  const failed = d3.sum(state.rows, (row) => row.failed ?? 0);
  const failures = failed > 0 ? ` ${plural(failed, "run")} failed.` : "";
  if (lost.length === 0) return `No run diverged.${failures}`;
  const named = lost.slice(0, NAMES_AT_MOST).map((row) => `${label(row)} (${row.diverged} of ${row.runs})`);
  if (lost.length > NAMES_AT_MOST) named.push(plural(lost.length - NAMES_AT_MOST, "other row"));
  return `Diverged: ${joined(named)}.${failures}`;
}

function certificate_sentence(state) {
  const certified = state.rows.filter((row) => row.certified > 0).sort((a, b) => b.certified / b.runs - a.certified / a.runs);
  if (certified.length === 0) return null;
  const [most] = certified;
  const alike = certified.filter((row) => row.certified / row.runs === most.certified / most.runs);
  const named = alike.slice(0, NAMES_AT_MOST).map((row) => `${label(row)} (${row.certified} of ${row.runs})`);
  if (alike.length > NAMES_AT_MOST) named.push(plural(alike.length - NAMES_AT_MOST, "other row"));
  return `Most often certified: ${joined(named)}.`;
}

class Summary {
  constructor(node) {
    this.cards = d3.select(node);
  }

  update(states) {
    this.cards.selectAll(".card").data(states, (state) => state.problem.name)
        .join((entering) => entering.append(() => element("article", {class: "card"},
            element("h3", {}, element("a", {dir: "auto"})), element("div", {class: "sentences"}))))
        .order()
        .each(function(state) {
          const link = this.querySelector("a");
          link.setAttribute("href", `#${state.anchor}`);
          set_text(link, String(state.problem.name));
          d3.select(this).select(".sentences").selectAll("p").data(summary_sentences(state)).join("p").attr("dir", "auto")
              .each(function(sentence) {
                set_text(this, sentence);
              });
        });
  }
}
