// Colour says which method, dash and shade which of its settings. The study says the colour of a method, which is the same on every
// page, in figures and in terminals; methods of one colour begin with another dash.

const COLOURS = 10;
const DASHES = [null, "7 3", "2 3", "10 3 2 3", "5 2", "1 4", "12 4", "8 2 2 2 2 2"];
const SHADES = [100, 76, 56];
const SYMBOLS = [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond, d3.symbolWye, d3.symbolStar];

function method_colour(row) {
  return `var(--series-${(row.colour ?? 0) % COLOURS})`;
}

function method_symbol(row) {
  return SYMBOLS[((row.colour ?? 0) + (row.turn ?? 0)) % SYMBOLS.length];
}

/** The outline of a symbol of so many square pixels. */
function symbol_path(symbol, size) {
  return d3.symbol().type(symbol).size(size)();
}

/** The look of each row: large steps first, so that the boldest step has the plainest line. */
function row_styles(rows) {
  const styles = new Array(rows.length);
  const methods = d3.nest().key((index) => String(rows[index].method)).entries(d3.range(rows.length));
  const alike = new Map();  // how many methods of the same colour and dash came before
  for (const {values: members} of methods) {
    const size = (index) => (is_number(rows[index].step) ? rows[index].step : -Infinity);
    members.sort((a, b) => d3.descending(size(a), size(b)) || a - b);
    const {colour: hue, turn} = rows[members[0]];
    const look = `${hue} ${turn}`;
    const before = alike.get(look) ?? 0;
    alike.set(look, before + 1);
    members.forEach((index, place) => {
      const share = SHADES[Math.floor(place / 2) % SHADES.length];
      const colour = method_colour(rows[index]);
      styles[index] = {
        colour: share === 100 ? colour : `color-mix(in oklab, ${colour} ${share}%, var(--ink))`,
        dash: DASHES[(place + (turn ?? 0) + before) % DASHES.length],
        symbol: method_symbol(rows[index]),
      };
    });
  }
  return styles;
}

/** A sample of a row's line, as it stands in legends, tables and tooltips. */
function swatch(style) {
  const node = d3.create("svg").attr("class", "swatch").attr("viewBox", "0 0 26 10").attr("aria-hidden", "true");
  node.append("line").attr("x1", 1).attr("x2", 25).attr("y1", 5).attr("y2", 5)
      .attr("stroke-dasharray", style.dash).style("stroke", style.colour);
  return node.node();
}
