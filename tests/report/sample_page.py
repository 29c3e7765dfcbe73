"""JSON as a report's page shows it, made up: python3 sample_page.py paper|hostile|empty|nulls|wide|long > data.json

The numbers look like those of a study and are the same at each call. The tests of the page and bench/report_page.py use them.
"""
import json
import math
import random
import sys

HOSTILE = [
    "<script>window.broken = 1</script>",
    "</script><script>window.broken = 2</script>",
    "<!-- <script> --> \" ' ` & &lt; \\ \\u003c {{data}} ${1}",
    "<img src=x onerror=\"window.broken = 3\">",
    "\u202eright to left\u202c שלום עולם مرحبا",
    "emoji 👩‍🔬🧪 and line ends \u2028 \u2029 \t tab",
    "long_" + "name" * 60,
    "javascript:window.broken=4",
]
MEASURES = ["scaled_loss", "loss", "r_squared"]
MEASURE_TABLE = [{"name": name, "title": title, "larger_is_better": larger} for name, title, larger in [
    ("loss", "loss", False), ("scaled_loss", "scaled loss", False), ("r_squared", "R²", True), ("accuracy", "accuracy", True)]]
# method, steps, work of a run, how fast, how far above the oracle it ends
METHODS = [
    ("sho", [0.05, 0.01, 0.005], 5000, 0.8, 0.35), ("my-hpo-c", [0.005, 0.01], 5000, 1.0, 0.06),
    ("my-hpo-bt", [0.1, 0.01, 0.005], 5200, 1.3, 0.03), ("my-hpo-full", [None], 900, 1.6, 0.02),
    ("random", [None], 5000, 0.5, 0.22), ("grid", [None], 5000, 0.5, 0.12), ("tpe", [None], 5000, 0.6, 0.15),
    ("gp-ei", [None], 5000, 0.7, 0.1), ("my-hpo", [None], 24, 3.0, 0.0004),
]
PROBLEMS = [
    ("cookie", "Cookie: fat of biscuit doughs from near-infrared spectra", 0.05, 1.2, "ridge", "34 / 17 / 19"),
    ("mnist_regression", "MNIST, digits as numbers", 0.236, 1.0, "ridge", "1000 / 1000 / 5000"),
    ("mnist_classification", "MNIST, 0 against 1", 0.044, 0.69, "logistic", "500 / 500 / 1000"),
    ("gtsrb", "GTSRB: 30 km/h signs against 80 km/h", 0.089, 0.69, "logistic", "1000 / 1000 / 1000"),
]


def cell(values):
    values = [value for value in values if value is not None]
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)) if len(values) > 1 else 0.0
    if len(values) == 1:
        return values[0]
    return {"mean": mean, "deviation": deviation, "median": median(values), "count": len(values)}


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else 0.5 * (values[middle - 1] + values[middle])


def colour_of(method):
    """Like the library's table: which colour, and which dash it begins with."""
    known = ["my-hpo", "sho", "hoag", "tpe", "grid", "random", "my-hpo-bt", "gp-ei", "my-hpo-c", "my-hpo-full"]
    return (known.index(method), 0) if method in known else (hash_of(method) % 10, 2)


class Row:
    """A method with its settings on a problem: its runs, and all that the page is told of them."""

    def __init__(self, dice, index, label, method, step, work, speed, rest, oracle, start, seeds, points):
        self.index, self.label, self.method, self.step = index, label, method, step
        self.work, self.seeds, self.dice = work, seeds, dice
        unstable = method == "sho" and step is not None and step >= 0.01
        self.lost = {seed for seed in range(seeds) if unstable and (step >= 0.05 or seed % 3 == 0)}
        self.oracle = oracle
        self.ends = [None if seed in self.lost else oracle * (1 + rest * dice.lognormvariate(0, 0.5)) for seed in range(seeds)]
        self.lambdas = [-7.3 + 3 * rest * dice.gauss(0, 1) for _ in range(seeds)]
        self.path = self.make_path(start, speed, points)

    def make_path(self, start, speed, points):
        """For each point: iteration, work, seconds, and the loss of every seed (None where it has diverged)."""
        steps = max(2, int(self.work / 2))
        noise = [self.dice.uniform(0.8, 1.25) for _ in range(self.seeds)]
        path = []
        for place in range(points):
            iteration = 0 if place == 0 else max(place, round(math.exp(math.log(steps) * place / (points - 1))))
            losses = []
            for seed in range(self.seeds):
                if seed in self.lost:
                    loss = start * noise[seed] * math.exp(iteration / (20 + seed))
                    losses.append(loss if loss < 1e6 else None)
                else:
                    fading = (1 + iteration * speed * noise[seed]) ** -0.9 if place < points - 1 else 0.0
                    losses.append(self.ends[seed] + (start * noise[seed] - self.ends[seed]) * fading)
            path.append((iteration, iteration * self.work / steps, iteration * self.work / steps * 2e-5, losses))
        return path

    def json(self, measures, paper):
        done = [end for end in self.ends if end is not None]
        scale = {"scaled_loss": 1.0, "loss": 1.83, "r_squared": None, "accuracy": None}

        def cells(factor):
            def of(measure, part):
                shift = {"train": 0.8, "validation": 1.0, "test": 1.07}[part] * factor
                if scale[measure] is None:
                    return cell([1 - end * shift for end in done])
                return cell([end * shift * scale[measure] for end in done])
            return {measure: {part: of(measure, part) for part in ("train", "validation", "test")} for measure in measures}

        settings = {"alpha": str(self.step), "beta": "0.01"} if self.step else {}
        colour, turn = colour_of(self.method)
        ended = [self.lambdas[seed] for seed in range(self.seeds) if seed not in self.lost]
        return {
            "label": self.label, "method": self.method, "colour": colour, "turn": turn, "settings": settings, "budget": 5000, "runs": self.seeds,
            "diverged": len(self.lost), "failed": 0, "certified": len(done) if self.method == "my-hpo" else len(done) // 4,
            "final": cells(1.0), "best": cells(0.98),
            "gap": cell([end / self.oracle - 1 for end in done]), "lambda_gap": cell([(end / self.oracle - 1) / 2 for end in done]),
            "best_gap": cell([0.98 * end / self.oracle - 1 for end in done]),
            "best_lambda_gap": cell([(end / self.oracle - 1) / 3 for end in done]),
            "lambda": cell(ended), "best_lambda": cell(ended),
            "gradients": cell([self.work * 0.96] * len(done)), "work": cell([self.work + 0.5 * len(done)] * len(done)),
            "seconds": cell([self.work * 2e-5 * self.dice.uniform(0.9, 1.1) for _ in done]),
            "iterations": cell([self.work / 2] * len(done)),
            "work_to": [self.work_to(gap) for gap in (0.01, 0.001)], "paper": paper, "step": self.step,
            "statuses": {"diverged": len(self.lost), "work_limit": len(done)},
        }

    def work_to(self, gap):
        first = []
        for seed in range(self.seeds):
            reached = [work for _, work, _, losses in self.path
                       if losses[seed] is not None and losses[seed] <= (1 + gap) * self.oracle]
            first.append(reached[0] if reached else math.inf)
        reached = sum(1 for work in first if work < math.inf)
        return {"gap": gap, "reached": reached, "of": self.seeds, "median": median(first) if 2 * reached > self.seeds else None}

    def curve(self):
        known = [[loss for loss in losses if loss is not None] for *_, losses in self.path]
        digits = lambda value: float(f"{value:.6g}")
        pick = lambda of: [digits(of(losses)) if losses else None for losses in known]
        return {"row": self.index, "seeds": self.seeds, "iterations": [point[0] for point in self.path],
                "work": [digits(point[1]) for point in self.path], "seconds": [digits(point[2]) for point in self.path],
                "median": pick(median), "low": pick(min), "high": pick(max),
                **{f"gap{part}": pick(lambda losses, of=of: of(losses) / self.oracle - 1)
                   for part, of in (("", median), ("_low", min), ("_high", max))},
                "running": [len(losses) for losses in known]}

    def way(self, seed):
        points = []
        for place, (*_, losses) in enumerate(self.path[::4]):
            if losses[seed] is None:
                break
            share = place / (len(self.path) / 4)
            points.append([-1 + share * (self.lambdas[seed] + 1), losses[seed]])
        return {"row": self.index, "points": points}

    def results(self):
        for seed in range(self.seeds):
            if seed in self.lost:
                yield [self.index, seed, "diverged", self.lambdas[seed], None, "none", None, "the run diverged"]
            elif self.method == "my-hpo":
                yield [self.index, seed, "converged", self.lambdas[seed], self.ends[seed], "certified", 3.1e-9 * (seed + 1), "λ and weights agree"]
            else:
                yield [self.index, seed, "work_limit", self.lambdas[seed], self.ends[seed], "not certified", 0.012 * (seed + 1),
                       "the slope in λ is not 0 within its error"]


def problem(dice, name, title, oracle, start, model, parts, methods, seeds, points, has_paper, naming=None):
    measures = MEASURES if model == "ridge" else ["loss", "accuracy"]
    rows = []
    for method, steps, work, speed, rest in methods:
        for step in steps:
            label = f"{method} α={step}" if step and len(steps) > 1 else method
            rows.append(Row(dice, len(rows), naming(len(rows)) if naming else label, method, step, work, speed, rest, oracle, start,
                            seeds, points))
    paper = lambda row: [{"table": table, "train": [12.5 + table, 1.708], "validation": [15.799, 3.343], "test": [14.332, 4.032],
                          "gradients": 5000, "note": ""} for table in ((2, 4) if row.step == 0.01 else (4,))]
    bowl = [[x / 4, oracle * (1 + 0.02 * (x / 4 + 7.3) ** 2)] for x in range(-60, 21)]
    return {
        "name": name, "title": title,
        "about": [["model", model], ["rows", parts], ["features", "difference, minmax"], ["budget", "5000 gradients"]],
        "files": [[name, f"{abs(hash_of(name)):064x}"]], "measures": measures, "curve_measure": measures[0],
        "factor": 100 if has_paper else 1, "seeds": {"common": seeds, "is_all": True},
        "paper_tables": [2, 4] if has_paper else [], "paper_figure": 2 if has_paper else None,
        "oracle": {"lambda": cell([-7.3] * seeds), "validation": {measure: cell([oracle] * seeds) for measure in measures[:2]}},
        "rows": [row.json(measures, paper(row) if has_paper and row.method != "my-hpo" else []) for row in rows],
        "curves": [row.curve() for row in rows],
        "responses": [{"seed": seed, "curve": bowl, "oracle": [-7.3, oracle], "bounds": [-15, 5], "paths": [row.way(seed) for row in rows[:60]]}
                      for seed in range(min(3, seeds))],
        "stability": [{"row": row.index, "step": row.step,
                       "outcomes": [[seed, end, "diverged" if end is None else "ok"] for seed, end in enumerate(row.ends)]}
                      for row in rows if row.step],
        "results": [result for row in rows for result in row.results()],
    }


def hash_of(text):
    """The same in every process, unlike hash()."""
    value = 1469598103934665603
    for byte in text.encode():
        value = (value ^ byte) * 1099511628211 % 2 ** 255
    return value


def study(title, problems):
    rows = [row for each in problems for row in each["rows"]]
    return {"title": title, "generated": "2026-01-31T12:00:00Z", "program": "0.1.0", "runs": sum(row["runs"] for row in rows),
            "failed": 0, "diverged": sum(row["diverged"] for row in rows), "planned": None, "problems": problems,
            "measures": MEASURE_TABLE, "builds": [["0.1.0+0123456789ab", sum(row["runs"] for row in rows)]],
            "sessions": [{"started": "2026-01-31T11:48:02Z", "command": "yosida reproduce --seeds 10 --jobs 2", "program": "0.1.0",
                          "machine": "AMD EPYC 7B13, 2 cores, Linux 6.1"}]}


def paper():
    dice = random.Random(1)
    return study("paper.study", [problem(dice, *each, METHODS, 10, 120, has_paper=True) for each in PROBLEMS])


def hostile():
    """Every text is an attack on the page or on its layout."""
    dice = random.Random(2)
    made = study(HOSTILE[1], [])
    for place in range(2):
        one = problem(dice, HOSTILE[place], HOSTILE[place + 1], 0.05, 1.0, "ridge", HOSTILE[6], METHODS[:4], 3, 30, has_paper=True,
                      naming=lambda index: HOSTILE[index % len(HOSTILE)] + str(index))
        one["about"] = [[text, text] for text in HOSTILE]
        one["files"] = [[text, text] for text in HOSTILE]
        for row, text in zip(one["rows"], HOSTILE):
            row["method"] = text
            row["settings"] = {"alpha": text}
            row["statuses"] = {"failed": 1}
            for result in row["paper"]:
                result["note"] = text
        for result, text in zip(one["results"], HOSTILE * 10):
            result[2] = result[7] = text
        made["problems"].append(one)
    made["sessions"] = [{"started": text, "command": text, "program": text, "machine": text} for text in HOSTILE]
    made["generated"] = HOSTILE[0]
    made["program"] = HOSTILE[3]
    return made


def empty():
    return study("empty.study", [])


def nulls():
    """Nothing is there, in several ways."""
    row = {"label": "sho", "method": "sho", "colour": 1, "turn": 0, "settings": {}, "budget": None, "runs": 1, "diverged": 1, "failed": 0, "certified": 0,
           "final": {"loss": {"train": None, "validation": None, "test": None}}, "best": {}, "gap": None, "lambda_gap": None,
           "best_gap": None, "best_lambda_gap": None, "lambda": None, "best_lambda": None, "gradients": None, "work": None, "seconds": None, "iterations": None,
           "work_to": [], "paper": [], "statuses": {}, "step": None}
    bare = {"factor": 1, "seeds": {"common": 0, "is_all": True}, "name": "bare", "title": None, "about": [], "files": [], "measures": [], "curve_measure": None, "paper_tables": [],
            "paper_figure": None, "oracle": None, "rows": [], "curves": [], "responses": [], "stability": [], "results": []}
    holes = {**bare, "name": "holes", "measures": ["loss"], "curve_measure": "loss", "rows": [row],
             "curves": [{"row": 0, "seeds": 1, "iterations": [0, 1], "work": [0, 1], "seconds": [0, 0], "median": [None, None],
                         "low": [None, None], "high": [None, None], "gap": [], "gap_low": [], "gap_high": [], "running": [0, 0]}],
             "responses": [{"seed": 0, "curve": [], "oracle": None, "bounds": None, "paths": [{"row": 0, "points": []}]}],
             "stability": [{"row": 0, "step": 0.05, "outcomes": [[0, None, "diverged"]]}],
             "results": [[0, 0, "diverged", None, None, "none", None, None]]}
    return {**study("nulls.study", [bare, holes]), "generated": None, "program": None, "sessions": None, "runs": 1, "diverged": 1}


def many(methods, seeds, points):
    """A study of methods × seeds runs on one problem."""
    dice = random.Random(3)
    kinds = [(f"method-{place % 12}", [round(0.5 / (1 + place), 6)], 5000, 1.0, 0.01 + place / methods) for place in range(methods)]
    one = problem(dice, "large", "Many runs", 0.05, 1.0, "ridge", "34 / 17 / 19", kinds, seeds, points, has_paper=False,
                  naming=lambda index: f"method-{index % 12} α={round(0.5 / (1 + index), 6)}")
    return study("large.study", [one])


SAMPLES = {"paper": paper, "hostile": hostile, "empty": empty, "nulls": nulls,
           "wide": lambda: many(1000, 10, 60), "long": lambda: many(10, 1000, 400)}

if __name__ == "__main__":
    json.dump(SAMPLES[sys.argv[1]](), sys.stdout, ensure_ascii=False)
