// The rows of a problem as buttons that hide and show them. All legends of a problem say the same.

const FILTER_FROM = 16;

class Legend {
  /** `indices` gives the rows that the chart can show, `highlight` is told which one the reader points at (or null). */
  constructor(state, indices, highlight) {
    this.state = state;
    this.indices = indices;
    this.highlight = highlight;
    this.items = d3.select(element("ul", {}));
    this.filter = element("input", {type: "search", placeholder: "Filter", "aria-label": "Filter the legend",
                                    oninput: () => this.update()});
    this.tools = element("div", {class: "legend-tools"},
        push_button("all", () => state.show("all")),
        push_button("none", () => state.show("none")),
        push_button("one a method", () => state.show("first"), {title: "The best row of each method"}),
        this.filter);
    this.node = element("div", {class: "legend", role: "group", "aria-label": "Rows shown"}, this.tools, this.items.node());
    state.listeners.add(() => this.update());
  }

  update() {
    const {state} = this;
    const there = new Set(this.indices());
    const all = state.best_first(state.measures[0], "final").filter((index) => there.has(index));
    this.filter.hidden = all.length < FILTER_FROM;
    const words = this.filter.value.toLowerCase().split(/\s+/);
    const shown = all.filter((index) => {
      const label = String(state.rows[index].label).toLowerCase();
      return words.every((word) => label.includes(word));
    });
    const items = this.items.selectAll("li").data(shown, (index) => state.keys[index]).join((entering) => this.add(entering)).order();
    const legend = this;
    items.each(function(index) {
      const label = String(state.rows[index].label);
      const [toggle, only] = this.querySelectorAll("button");
      this.dataset.row = index;
      toggle.setAttribute("aria-pressed", state.is_visible(index));
      const name = toggle.querySelector(".name");
      if (name.textContent !== label) name.replaceChildren(...breakable(label));
      toggle.title = label;
      only.setAttribute("aria-label", `Only ${label}`);
      legend.paint(toggle, state.styles[index]);
    });
  }

  add(entering) {
    const {state, highlight} = this;
    const place = (node) => d3.select(node.closest("li")).datum();
    return entering.append(() => {
      const toggle = push_button("", () => state.toggle(place(toggle)), {
        class: "series",
        onpointerenter: () => highlight(place(toggle)), onpointerleave: () => highlight(null),
        onfocus: () => highlight(place(toggle)), onblur: () => highlight(null),
      });
      toggle.append(swatch({dash: null, colour: "none"}), element("span", {class: "name", dir: "auto"}));
      const only = push_button("only", () => state.show("none", place(only)), {class: "only"});
      return element("li", {}, toggle, only);
    });
  }

  paint(toggle, style) {
    d3.select(toggle).select("line").attr("stroke-dasharray", style.dash).style("stroke", style.colour);
  }
}
