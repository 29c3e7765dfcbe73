// A chart as a file: SVG and PNG as it is seen, in the light colours and with its legend, CSV with the numbers behind it.

const SAVED_STYLES = ["fill-opacity", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "paint-order", "font-size",
                      "font-weight"];
const SAVED_COLOURS = ["fill", "stroke"];
const LEGEND_LINE = 18;
const PNG_SCALE = 2;
const known_colours = new Map();

/** As every program reads it, whatever the browser calls a mixed colour. */
function as_hex(colour) {
  if (colour === "none" || colour === "") return colour;
  if (!known_colours.has(colour)) {
    const canvas = element("canvas", {width: 1, height: 1}).getContext("2d", {willReadFrequently: true});
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const bytes = [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
    known_colours.set(colour, `#${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`);
  }
  return known_colours.get(colour);
}

/** Styles become attributes: a picture on its own has no style sheet. */
function copy_with_styles(node) {
  const copy = node.cloneNode(false);
  if (copy.nodeType !== Node.ELEMENT_NODE) return copy;
  for (const name of ["class", "style", "data-row"]) copy.removeAttribute(name);
  if (!["g", "svg", "clipPath"].includes(copy.tagName)) {
    const style = getComputedStyle(node);
    for (const name of SAVED_COLOURS) copy.setAttribute(name, as_hex(style.getPropertyValue(name)));
    for (const name of SAVED_STYLES) copy.setAttribute(name, style.getPropertyValue(name));
  }
  for (const child of node.childNodes)
    if (!child.classList?.contains("unsaved")) copy.append(copy_with_styles(child));
  return copy;
}

/** Draws a legend below a chart; gives its height. */
function draw_legend(group, entries, left, top, width) {
  const texts = short_texts(entries.map(({text}) => text), 60);
  const longest = d3.max(texts, (text) => [...text].length) ?? 0;
  const columns = Math.max(1, Math.floor((width - left) / (52 + 6.6 * longest)));
  const lines = Math.ceil(entries.length / columns);
  entries.forEach(({colour, dash, symbol}, place) => {
    const x = left + Math.floor(place / lines) * (width - left) / columns;
    const y = top + LEGEND_LINE * (place % lines + 0.5);
    if (symbol) {
      group.append("path").attr("class", "mark").attr("d", symbol_path(symbol, 60)).attr("transform", `translate(${x + 13},${y})`)
          .style("color", colour);
    } else {
      group.append("line").attr("class", "saved-line").attr("x1", x).attr("x2", x + 26).attr("y1", y).attr("y2", y)
          .attr("stroke-dasharray", dash).style("stroke", colour);
    }
    group.append("text").attr("x", x + 34).attr("y", y + 4).text(texts[place]);
  });
  return lines * LEGEND_LINE + 10;
}

/** The text of an SVG file, and its size. */
function picture_of(frame, title, entries) {
  const {theme} = document.documentElement.dataset;
  document.documentElement.dataset.theme = "light";
  const legend = frame.svg.append("g");
  const height = frame.height + draw_legend(legend, entries, frame.left, frame.height, frame.width);
  const copy = copy_with_styles(frame.svg.node());
  legend.remove();
  document.documentElement.dataset.theme = theme;
  const size = {width: frame.width, height};
  const attributes = {xmlns: "http://www.w3.org/2000/svg", ...size, viewBox: `0 0 ${size.width} ${height}`,
                      "font-family": "system-ui, sans-serif"};
  for (const [name, value] of Object.entries(attributes)) copy.setAttribute(name, value);
  copy.removeAttribute("aria-hidden");
  d3.select(copy).insert("rect", ":first-child").attr("width", "100%").attr("height", "100%").attr("fill", "#ffffff");
  d3.select(copy).insert("title", ":first-child").text(title);
  // What XML cannot hold may stand in a name.
  const text = new XMLSerializer().serializeToString(copy)
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, " ");
  return {text, ...size};
}

/** The picture as pixels, twice as fine as on the screen. */
function pixels_of({text, width, height}, receive) {
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = element("canvas", {width: PNG_SCALE * width, height: PNG_SCALE * height});
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(receive, "image/png");
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

/** Hands a file to the reader. */
function save_file(name, blob) {
  const address = URL.createObjectURL(blob);
  element("a", {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** The name of a problem as part of a file's. */
function file_part(name) {
  return String(name).replace(/[^A-Za-z0-9_.]+/g, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 60) || "problem";
}

function csv_file(rows) {
  return new Blob([csv_text(rows)], {type: "text/csv;charset=utf-8"});
}
