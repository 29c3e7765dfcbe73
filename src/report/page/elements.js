// Pieces of the document. Texts of a study come in as text nodes and attribute values only, never as HTML.

/** An element; properties whose name starts with "on" are listeners, those that are null or false are left out. */
function element(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Sets a text only where it changes, so that what is read aloud or selected is left in peace. */
function set_text(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A name as text that may be broken where its words and settings end, and inside these only where nothing else helps. */
function breakable(text) {
  const parts = String(text).split(/(?<=[=_,:;/.-])/);
  return parts.flatMap((part, place) => (place === 0 ? [part] : [document.createElement("wbr"), part]));
}

let names_given = 0;
function fresh_name(prefix) {
  names_given += 1;
  return `${prefix}-${names_given}`;
}

/** A choice of a few, as a row of radio buttons. */
function radio_group(title, options, chosen, choose) {
  const name = fresh_name("choice");
  const labels = options.map(([value, text]) => element("label", {},
      element("input", {type: "radio", name, value, checked: value === chosen ? "" : null, onchange: () => choose(value)}),
      element("span", {}, text)));
  return element("fieldset", {class: "segments"}, element("legend", {}, title), ...labels);
}

function check_box(title, is_checked, choose) {
  return element("label", {class: "check"},
      element("input", {type: "checkbox", checked: is_checked ? "" : null, onchange: (event) => choose(event.target.checked)}),
      title);
}

/** A choice of many. `fill` may be called again with other options; it keeps the choice where it still stands. */
function select_box(title, choose) {
  const select = element("select", {onchange: () => choose(select.value)});
  const fill = (options, chosen) => {
    const wanted = JSON.stringify(options);
    if (select.dataset.options !== wanted) {
      select.dataset.options = wanted;
      select.replaceChildren(...options.map(([value, text]) => element("option", {value}, text)));
    }
    select.value = chosen;
  };
  return {node: element("label", {class: "select"}, element("span", {}, title), select), fill};
}

function push_button(text, act, properties = {}) {
  return element("button", {type: "button", onclick: act, ...properties}, text);
}

/** A part that is drawn when it comes near the window, and again at each update from then on. */
class LazyPart {
  constructor(node, draw) {
    this.node = node;
    this.draw = draw;
    this.is_seen = false;
    LazyPart.parts.add(this);
    LazyPart.by_node.set(node, this);
    LazyPart.observer.observe(node);
  }

  show() {
    if (this.is_seen) return;
    this.is_seen = true;
    LazyPart.observer.unobserve(this.node);
    this.node.classList.remove("waiting");
    this.draw();
  }

  update() {
    if (this.is_seen) this.draw();
  }

  /** Draws what nobody has come to yet, when there is time: Tab, search and links then find it. Not in a page of very many rows. */
  static show_in_time(then) {
    const next = [...LazyPart.parts].find((part) => !part.is_seen);
    if (!next) return then();
    const idle = window.requestIdleCallback ?? ((call) => setTimeout(call, 50));
    idle(() => {
      next.show();
      LazyPart.show_in_time(then);
    });
  }

  static show_all() {
    for (const part of LazyPart.parts) part.show();
  }
}
LazyPart.parts = new Set();
LazyPart.by_node = new WeakMap();
LazyPart.observer = new IntersectionObserver(
    (entries) => entries.forEach((entry) => entry.isIntersecting && LazyPart.by_node.get(entry.target).show()),
    {rootMargin: "500px 0px"});
