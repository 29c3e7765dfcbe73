// The page: it is given data, once or again and again, and hands each problem to its section.

const MOST_ROWS_DRAWN_AHEAD = 400;

class Page {
  constructor() {
    this.sections = new Map();
    this.summary = new Summary(document.querySelector("#summary .cards"));
    this.made = new Made(document.querySelector("#made"));
    this.contents = d3.select("#contents ul");
    // The section that crosses a line in the upper half of the window is where the reader is.
    this.spy = new IntersectionObserver((entries) => this.mark_place(entries), {rootMargin: "-30% 0px -70% 0px"});
    for (const id of ["summary", "made"]) this.spy.observe(document.getElementById(id));
  }

  mark_place(entries) {
    for (const {target, isIntersecting: is_here} of entries)
      this.contents.selectAll("a").filter(`[href="#${target.id}"]`).attr("aria-current", is_here ? "true" : null);
  }

  update(data) {
    const problems = list(data.problems);
    set_measures(data.measures);
    const place = document.querySelector("#problems");
    const states = problems.map((problem, index) => {
      const name = String(problem.name ?? index);
      const known = this.sections.get(name);
      if (known) {
        known.state.update(problem);
        known.update();
        return known.state;
      }
      const section = new ProblemSection(new ProblemState(problem, `problem-${this.sections.size}`));
      this.sections.set(name, section);
      place.append(section.node);
      this.spy.observe(section.node);
      return section.state;
    });
    const {done, total} = data.planned ?? {};
    for (const state of states) state.is_unfinished = done < total;
    for (const {state, node} of this.sections.values()) node.hidden = !states.includes(state);
    // In the order of the data. What stands right is not touched: it may have the focus.
    states.map(({anchor}) => document.getElementById(anchor)).forEach((node, index) => {
      if (place.children[index] !== node) place.insertBefore(node, place.children[index] ?? null);
    });
    this.update_head(data);
    this.update_contents(states);
    this.summary.update(states);
    this.made.update(data, states);
  }

  /** Draws the rest of an ordinary page, and goes where its address says once that has its place. */
  finish() {
    const rows = d3.sum([...this.sections.values()], ({state}) => state.rows.length);
    if (rows > MOST_ROWS_DRAWN_AHEAD) return;
    LazyPart.show_in_time(() => {
      if (location.hash && scrollY > 0) document.querySelector(`#${CSS.escape(location.hash.slice(1))}`)?.scrollIntoView();
    });
  }

  update_head(data) {
    if (data.title) set_text(document.querySelector("#title"), String(data.title));
    const facts = [
      plural(data.runs ?? 0, "run"),
      data.diverged > 0 ? `${grouped(data.diverged)} diverged` : "none diverged",
      data.failed > 0 ? `${grouped(data.failed)} failed` : "none failed",
      plural(list(data.problems).length, "problem"),
    ];
    const {done, total} = data.planned ?? {};
    if (done < total) facts.push(`${grouped(done)} of ${grouped(total)} planned`);
    if (list(data.builds).length > 1) facts.push(`made by ${data.builds.length} builds of the program`);
    set_text(document.querySelector("#facts"), facts.join(" · "));
    const time = data.generated ? `, ${time_text(data.generated)}` : "";
    set_text(document.querySelector("#credit"), `Made by yosida ${data.program ?? ""}${time}.`);
    document.getElementById("nothing").hidden = list(data.problems).length > 0;
  }

  update_contents(states) {
    const links = [
      ["#summary", "In short"],
      ...states.map((state) => [`#${state.anchor}`, String(state.problem.name)]),
      ["#made", "How it was made"],
    ];
    const names = short_texts(links.map(([, text]) => text), 36);
    links.forEach((link, place) => link.push(names[place]));
    this.contents.selectAll("li").data(links, ([target]) => target)
        .join((entering) => entering.append(([target]) => element("li", {}, element("a", {href: target, dir: "auto"}))))
        .order()
        .each(function([, text, shown]) {
          set_text(this.firstChild, shown);
          this.firstChild.title = shown === text ? "" : text;
        });
  }
}

/** Light or dark: as the system says, until the reader says otherwise. */
class Theme {
  constructor(button) {
    this.button = button;
    this.system = matchMedia("(prefers-color-scheme: dark)");
    this.chosen = Theme.remembered();
    this.system.addEventListener("change", () => this.apply());
    button.addEventListener("click", () => {
      this.chosen = this.is_dark() ? "light" : "dark";
      Theme.remember(this.chosen);
      this.apply();
    });
    this.apply();
  }

  is_dark() {
    return (this.chosen ?? (this.system.matches ? "dark" : "light")) === "dark";
  }

  apply() {
    document.documentElement.dataset.theme = this.is_dark() ? "dark" : "light";
    set_text(this.button, this.is_dark() ? "Light" : "Dark");
    this.button.setAttribute("aria-label", this.is_dark() ? "Light colours" : "Dark colours");
  }

  // Where a browser keeps nothing for files, a choice lasts as long as the page.
  static remembered() {
    try {
      const theme = localStorage.getItem("yosida-theme");
      return theme === "dark" || theme === "light" ? theme : null;
    } catch {
      return null;
    }
  }

  static remember(theme) {
    try {
      localStorage.setItem("yosida-theme", theme);
    } catch {
      // Nothing is lost but the memory of it.
    }
  }
}

new Theme(document.querySelector("#theme"));
addEventListener("beforeprint", () => LazyPart.show_all());
const page = new Page();
if (document.body.dataset.mode === "live") {
  new LiveFeed(document.querySelector("#live"), (data) => page.update(data)).follow();
} else {
  page.update(JSON.parse(document.querySelector("#data").textContent));
  page.finish();
}
