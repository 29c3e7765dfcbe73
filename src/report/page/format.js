// Numbers and words, the same everywhere on the page.

const NONE = "–";

/** By its name, what the study's own table says of a measure: its title, and whether more of it is better. */
const MEASURES = new Map();

/** Called with the data before anything is drawn. */
function set_measures(measures) {
  MEASURES.clear();
  for (const measure of list(measures)) MEASURES.set(measure.name, measure);
}

function is_number(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/** What a list or a missing list holds. */
function list(values) {
  return Array.isArray(values) ? values : [];
}

function with_minus(text) {
  return text.replace(/-/g, "−");
}

/** As the command line prints numbers: so many digits that count, no zeros at the end. */
function number_text(value, digits = 4) {
  if (!is_number(value)) return NONE;
  if (Math.abs(value) >= 10 ** digits && Math.abs(value) < 1e9) return with_minus(String(Math.round(value)));
  const rounded = Number(value.toPrecision(digits));
  const is_plain = rounded === 0 || (Math.abs(rounded) >= 1e-5 && Math.abs(rounded) < 1e9);
  return with_minus(is_plain ? String(rounded) : rounded.toExponential().replace("e+", "e"));
}

/** A value and what it may be off by, each rounded to the second digit of the error, as the command line writes them: ["1480", "110"].
 * An error that is but rounding is 0. */
function with_error(value, error) {
  const exponent = (x, digits = 2) => (x === 0 ? -Infinity : Number(Math.abs(x).toExponential(digits - 1).split("e")[1]));
  if (!is_number(value) || !(error > 1e-9 * Math.abs(value))) return [number_text(value), "0"];
  const of_error = exponent(error);
  const first = Math.max(exponent(value), of_error);
  if (first >= 9 || of_error < -5) return [number_text(value, Math.min(first - of_error + 2, 17)), number_text(error, 2)];
  const decimals = 1 - of_error;
  const fixed = (x) => (decimals >= 0 ? x.toFixed(decimals) : String(Math.round(x * 10 ** decimals) / 10 ** decimals));
  return [with_minus(fixed(value).replace(/^-(?=[0.]*$)/, "")), fixed(error)];
}

/** Numbers side by side, with as many digits as it takes for no two that differ to look the same. */
function number_texts(values, digits = 4) {
  const texts = values.map((value) => number_text(value, digits));
  return digits >= 15 || new Set(texts).size === new Set(values).size ? texts : number_texts(values, digits + 1);
}

/** "42 s", "about 3 min", "about 2 h 10 min" */
function duration_text(seconds) {
  if (seconds < 60) return `${Math.max(1, Math.ceil(seconds))} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `about ${minutes} min` : `about ${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** Texts of at most so many characters: long ones lose their middle, since names mostly differ at an end. No two that differ become
 * the same. */
function short_texts(texts, length) {
  const taken = new Map();
  return texts.map((text) => {
    const characters = [...text];
    const tail = Math.floor((length - 1) / 2);
    const cut = characters.length <= length ? text :
      `${characters.slice(0, length - 1 - tail).join("")}…${characters.slice(characters.length - tail).join("")}`;
    let shown = cut;
    for (let number = 2; taken.has(shown) && taken.get(shown) !== text; ++number) shown = `${cut} (${number})`;
    taken.set(shown, text);
    return shown;
  });
}

/** A share as the command line writes it: 0.00 %, 16.81 %, 724.1 %, 1370 %. */
function percent_text(value) {
  if (!is_number(value)) return NONE;
  const percent = 100 * value;
  const exponent = percent === 0 ? 0 : Number(Math.abs(percent).toExponential(3).split("e")[1]);
  if (exponent >= 9) return `${number_text(percent, 3)}\u00a0%`;
  const text = percent.toFixed(exponent < 2 ? 2 : exponent < 3 ? 1 : 0).replace(/^-(?=[0.]*$)/, "");
  return `${with_minus(text)}\u00a0%`;
}

/** A share that was chosen, which has few digits: 1 %, 0.1 %. */
function goal_text(value) {
  return `${number_text(100 * value, 3)}\u00a0%`;
}

function count_text(value) {
  return is_number(value) ? with_minus(String(Math.round(value))) : NONE;
}

/** Every digit, for tooltips. */
function exact_text(cell) {
  if (!cell) return "";
  const parts = [`mean ${cell.mean}`];
  if (is_number(cell.deviation)) parts.push(`deviation ${cell.deviation}`);
  if (is_number(cell.median)) parts.push(`median ${cell.median}`);
  if (is_number(cell.count)) parts.push(cell.count === 1 ? "1 run" : `${cell.count} runs`);
  return parts.join(", ");
}

function measure_text(measure) {
  return MEASURES.get(measure)?.title ?? String(measure).replace(/_/g, " ");
}

function larger_is_better(measure) {
  return MEASURES.get(measure)?.larger_is_better ?? false;
}

/** A text whose direction of writing does not spread to the words around it. */
function isolated(text) {
  return `\u2068${text}\u2069`;
}

/** A count in words' company: 10,000. */
function grouped(count) {
  return Number(count).toLocaleString("en-GB");
}

function plural(count, one, many = `${one}s`) {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** "a, b and c" */
function joined(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** A time in UTC, as people write it; what is no time stays as it is. */
function time_text(iso) {
  const time = new Date(iso);
  if (!iso || Number.isNaN(time.getTime())) return iso ? String(iso) : NONE;
  return `${time.toLocaleDateString("en-GB", {day: "numeric", month: "long", year: "numeric", timeZone: "UTC"})}, ` +
      `${time.toISOString().slice(11, 16)} UTC`;
}

/** A cell of one run is sent as its number alone. */
function whole_cell(cell) {
  return typeof cell === "number" ? {mean: cell, deviation: 0, median: cell, count: 1} : cell ?? null;
}

/** A table of cells as a CSV file. Text that a spreadsheet would take for a formula is made text by an apostrophe. */
function csv_text(rows) {
  const written = (cell) => {
    if (typeof cell === "number") return Number.isFinite(cell) ? String(cell) : "";
    const text = /^[=+\-@\t\r]/.test(cell ?? "") ? `'${cell}` : String(cell ?? "");
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return rows.map((row) => `${row.map(written).join(",")}\r\n`).join("");
}

/** What speaks for a cell: the mean, or the median of the rest where runs of the row have diverged. */
function central(row, cell) {
  if (!cell) return null;
  const value = row.diverged > 0 ? cell.median : cell.mean;
  return is_number(value) ? value : null;
}
