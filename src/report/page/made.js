// How the study was made, and what the words mean.

const GLOSSARY = [
  ["validation", "The loss on the validation rows. Tuning tries to make it small; the test loss shows whether that was luck."],
  ["scaled loss", "The loss divided by the variance of the targets of the same rows: 0.5 is what predicting their mean gives."],
  ["oracle", "The best λ there is, found by an exhaustive search with weights trained to the end."],
  ["gap", "How much the validation loss of a run's own weights is above the oracle's. It can be negative: weights stopped early " +
      "may do better than any that are trained to the end."],
  ["λ gap", "The same for the weights that training to the end gives at the run's λ. It judges λ alone, and is never negative."],
  ["work", "Gradient equivalents: gradients, Hessian products, loss evaluations and factorisations, all counted in units of one " +
      "training gradient."],
  ["gradients", "What the paper counts: gradients and Hessian products alone."],
  ["work to 1 %", "Work until the validation loss is first within 1 % of the oracle's: the median over all runs, those that do not get " +
      "there counted as endless, and how many do."],
  ["common seeds", "The seeds that every row has a run of. Means, medians, gaps and curves are over these alone: another seed is another " +
      "split of the rows, and may be easier or harder."],
  ["test", "The loss on rows that neither training nor tuning has seen. It estimates the loss on new rows as long as nothing is chosen by it."],
  ["certified", "Computed from the data alone, whichever method answered: the slope of the validation loss in λ is 0 up to the " +
      "certificate's tolerance, and the weights are those of λ. Then no λ nearby is better."],
  ["diverged", "A run met a number that is not finite. It keeps its last finite weights; its row shows the median of the others."],
  ["keys", "A chart can be reached with Tab. Left and right move its cursor, with Shift in larger steps, Home and End go to its ends; " +
      "up and down change the row where there are separate points. Plus zooms in, Escape shows the whole and puts the cursor away."],
  ["band", "From the smallest to the largest value over the seeds that are still finite."],
];

class Made {
  constructor(node) {
    this.sessions = element("div", {});
    this.builds = element("div", {});
    this.files = element("div", {});
    node.append(this.sessions, this.builds, this.files, element("h3", {}, "Words"),
        element("dl", {class: "glossary"}, ...GLOSSARY.map(([word, meaning]) =>
          element("div", {}, element("dt", {}, word), element("dd", {}, meaning)))));
  }

  update(data, states) {
    const wanted = JSON.stringify([data.sessions, data.builds, states.map(({problem}) => problem.files)]);
    if (wanted === this.shown) return;
    this.shown = wanted;
    this.sessions.replaceChildren(element("h3", {}, "Commands"), ...this.commands(list(data.sessions)));
    this.builds.replaceChildren(...this.builds_table(list(data.builds)));
    const files = d3.merge(states.map(({problem}) => list(problem.files).map((file) => [problem.name, ...file])));
    this.files.replaceChildren(...(files.length > 0 ? [element("h3", {}, "Data"), this.table(["Problem", "Data", "sha256 or name"], files)] : []));
  }

  /** Results of different code do not belong together, so there is nothing to say of one build. */
  builds_table(builds) {
    if (builds.length < 2) return [];
    return [
      element("h3", {}, "Builds"),
      element("p", {}, "The runs of different builds stand in rows of their own: their code may decide otherwise."),
      this.table(["Build", "Runs"], builds),
    ];
  }

  commands(sessions) {
    if (sessions.length === 0) return [element("p", {}, "The study does not say which commands made it.")];
    return [
      element("p", {}, "To repeat it, give the same commands; runs that a study holds are not done again."),
      this.table(["Started", "Command", "Version", "Machine"],
          sessions.map(({started, command, program, machine}) => [time_text(started), command, program, machine])),
    ];
  }

  table(titles, rows) {
    const is_code = (title) => title === "Command" || title.startsWith("sha256");
    return element("div", {class: "scroller", role: "region", tabindex: "0", "aria-label": titles[1]},
        element("table", {class: "plain"},
            element("thead", {}, element("tr", {}, ...titles.map((title) => element("th", {scope: "col"}, title)))),
            element("tbody", {}, ...rows.map((row) => element("tr", {}, ...titles.map((title, place) =>
              element("td", {}, element(is_code(title) ? "code" : "span", {dir: "auto"}, String(row[place] ?? NONE)))))))));
  }
}
