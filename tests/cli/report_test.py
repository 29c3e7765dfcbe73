"""yosida report: the page's numbers are those of the study, and whatever a study holds, page and figures stay whole."""
import csv
import hashlib
import html.parser
import io
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import unittest
import xml.etree.ElementTree

from yosida_cli import Cli, strict_json

# A program of the tests that stores given records by the library.
TOOL = os.environ["STUDY_TOOL"]
HOSTILE = "</script><script>alert(1)</script>\"'&<!-- größer \u2028 \U0001f36a"


class Page(html.parser.HTMLParser):
    """The data of a page as a browser finds it, and the elements that could load something."""

    def __init__(self, text):
        super().__init__()
        self.data, self.inside, self.loads = "", False, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.inside = tag == "script" and attributes.get("id") == "data"
        self.loads += [value for name, value in attributes.items() if name in ("src", "href") and not value.startswith(("#", "data:"))]

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.data += data


class Report(Cli):
    def compare(self, *arguments, study="small.study"):
        self.yosida("compare", "--data", "spectra", "--quiet", "--study", study, "--seeds", 3, *arguments)

    def data(self, file):
        page = Page(self.read(file))
        self.assertEqual(page.loads, [], "what a page loads from elsewhere")
        return strict_json(page.data)

    def report(self, study="small.study", *arguments):
        self.yosida("report", study, "--out", "page.html", *arguments)
        return self.data("page.html")

    def runs(self, *arguments, study="small.study"):
        return list(csv.DictReader(io.StringIO(self.yosida("study", "export", study, *arguments).stdout)))

    def fill(self, records, study="small.study"):
        self.write("records.json", json.dumps(records))
        subprocess.run([TOOL, "fill", study, "records.json"], cwd=self.folder, check=True, timeout=60)
        (self.folder / "records.json").unlink()

    def figures(self, folder="figures"):
        """The figures by their names; each must be XML that refers to nothing."""
        found = {}
        for file in sorted((self.folder / folder).iterdir()):
            root = xml.etree.ElementTree.parse(file).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            for element in root.iter():
                self.assertNotIn(element.tag.split("}")[1], ["script", "image", "use", "a", "foreignObject"])
                self.assertFalse([name for name in element.attrib if "href" in name or name.startswith("on")])
            found[file.name] = "".join(root.itertext())
        return found


def number(text):
    return float(text) if text else None


class Numbers(Report):
    """Real runs: what the page says is what study export says."""

    def setUp(self):
        super().setUp()
        self.compare("--methods", "sho:alpha=0.05,my-hpo-c,my-hpo,grid", "--budget-gradients", 300, "--oracle")
        self.page = self.report("small.study", "--figures", "figures")
        self.problem, = self.page["problems"]
        self.rows = {row["label"]: row for row in self.problem["rows"]}

    def test_rows(self):
        exported = self.runs()
        self.assertEqual(self.page["runs"], 12)
        self.assertEqual(self.page["title"], "small.study")
        self.assertEqual(list(self.rows), ["sho", "my-hpo-c", "grid", "my-hpo"])
        self.assertEqual((self.problem["name"], self.problem["measures"]),
                         ("spectra", ["scaled_loss", "loss", "r_squared", "rmse", "mae", "deviance_explained"]))
        for label, row in self.rows.items():
            runs = [run for run in exported if run["spec.method"] == label]
            well = [run for run in runs if run["status"] not in ("diverged", "failed")]
            self.assertEqual(row["runs"], len(runs))
            self.assertEqual(row["diverged"], len(runs) - len(well))
            self.assertEqual(sum(row["statuses"].values()), len(runs))
            self.assertEqual(row["certified"], sum(run["certificate.verdict"].startswith("certified") for run in runs))
            cells = {f"{which}.{measure}.{part}": row[which][measure][part] for which in ["final", "best"]
                     for measure in self.problem["measures"] for part in ["train", "validation", "test"]}
            cells |= {"final.gap": row["gap"], "final.lambda_gap": row["lambda_gap"], "best.gap": row["best_gap"],
                      "best.lambda_gap": row["best_lambda_gap"], "work.paper_count": row["gradients"],
                      "work.gradient_equivalents": row["work"], "seconds": row["seconds"], "iterations": row["iterations"]}
            for column, cell in cells.items():
                with self.subTest(f"{label} {column}"):
                    values = [float(run[column]) for run in well]
                    if not values:
                        self.assertIsNone(cell)
                        continue
                    # Sums are taken in another order here: a few units of the last place.
                    self.assertAlmostEqual(cell["mean"] / (statistics.fmean(values) or 1), 1 if any(values) else 0, delta=1e-12)
                    self.assertAlmostEqual(cell["deviation"], statistics.stdev(values), delta=1e-9 * (abs(cell["mean"]) + 1e-9))
                    self.assertEqual(cell["median"], statistics.median(values))
                    self.assertEqual(cell["count"], len(values))

    def test_results(self):
        labels = list(self.rows)
        exported = {(run["spec.method"], run["seed"]): run for run in self.runs()}
        self.assertEqual(len(self.problem["results"]), 12)
        for row, seed, status, penalty, validation, certificate, residual, sentence in self.problem["results"]:
            run = exported[labels[row], str(seed)]
            self.assertEqual(status, run["status"])
            self.assertEqual(penalty, number(run["final.lambda"]))
            self.assertEqual(validation, number(run["final.scaled_loss.validation"]))
            self.assertTrue(run["certificate.verdict"].startswith(certificate))
            self.assertEqual(residual, number(run["certificate.hypergradient"]))
            self.assertEqual(sentence, run["certificate.reason"])

    def test_curves(self):
        """Medians over the seeds, recomputed from the traces, at every point that the page has."""
        labels = list(self.rows)
        outcomes = {run["key"]: run for run in self.runs()}
        traces = {}
        for point in self.runs("--traces"):
            traces.setdefault(point["key"], []).append(point)
        self.assertEqual(len(self.problem["curves"]), 4)
        for curve in self.problem["curves"]:
            keys = [key for key, run in outcomes.items() if run["spec.method"] == labels[curve["row"]]]
            self.assertEqual(curve["seeds"], 3)
            self.assertEqual(curve["iterations"], sorted(curve["iterations"]))
            for place, iteration in enumerate(curve["iterations"]):
                values = []
                for key in keys:
                    run = outcomes[key]
                    past = [point for point in traces[key] if int(point["iteration"]) <= iteration]
                    ended = run["status"] == "diverged" and iteration > int(traces[key][-1]["iteration"])
                    if past and past[-1]["validation"] and not ended:
                        scale = float(run["final.scaled_loss.validation"]) / float(run["final.loss.validation"])
                        values.append(scale * float(past[-1]["validation"]))
                self.assertEqual(curve["running"][place], len(values))
                for name, expected in [("median", statistics.median), ("low", min), ("high", max)]:
                    shown = curve[name][place]
                    # Curves have six digits.
                    self.assertIsNone(shown) if not values else self.assertAlmostEqual(shown / expected(values), 1, delta=1e-5)

    def test_responses(self):
        response = self.problem["responses"][0]
        self.assertEqual([each["seed"] for each in self.problem["responses"]], [0, 1, 2])
        run = next(run for run in self.runs() if run["seed"] == "0")
        self.assertAlmostEqual(response["oracle"][0], float(run["oracle.lambda"]), delta=1e-4)
        self.assertEqual(len(response["curve"]), 25, "the trials of grid")
        self.assertEqual([path["search"] for path in response["paths"]], [False, False, True, False])

    def test_work_to_the_oracle(self):
        for label, row in self.rows.items():
            self.assertEqual([each["gap"] for each in row["work_to"]], [0.01, 0.001], label)
            self.assertTrue(all(each["of"] == 3 for each in row["work_to"]))
        self.assertEqual(self.rows["my-hpo"]["work_to"][1]["reached"], 3)
        self.assertEqual(self.rows["sho"]["work_to"][0], {"gap": 0.01, "reached": 0, "of": 3, "median": None})

    def test_figures(self):
        figures = self.figures()
        self.assertEqual(sorted(figures), ["spectra-convergence.svg"])
        for label in self.rows:
            self.assertIn(label, figures["spectra-convergence.svg"])
        self.assertIn("gradient equivalents", figures["spectra-convergence.svg"])
        self.assertIn("gap to the oracle", figures["spectra-convergence.svg"])

    def test_figure_has_the_colours_of_the_page(self):
        page, svg = self.read("page.html"), self.read("figures/spectra-convergence.svg")
        for row in self.problem["rows"]:
            colour = re.search(rf"--series-{row['colour']}: (#\w+);", page).group(1)
            self.assertIn(f'stroke="{colour}"', svg, row["label"])


class Winner(Report):
    """A study whose means over different seeds name the wrong method."""

    def some(self, methods, *arguments):
        self.yosida("compare", "--data", "spectra", "--quiet", "--study", "small.study", "--methods", methods, *arguments)

    def losses(self, study, method, seeds):
        return [float(run["final.loss.validation"]) for run in self.runs(study=study)
                if run["spec.method"] == method and run["seed"] in seeds]

    def test_methods_are_compared_on_the_seeds_they_share(self):
        self.some("my-hpo", "--seeds", 12)
        by_seed = sorted(self.runs(), key=lambda run: float(run["final.loss.validation"]))
        easy = [run["seed"] for run in by_seed[:3]]
        hard = [run["seed"] for run in by_seed[-3:]]
        self.yosida("study", "prune", "small.study", *(word for run in self.runs() if run["seed"] not in easy + hard
                                                        for word in ("--key", run["key"])))
        for seed in easy:
            self.some("grid:trials=4", "--seed", seed, "--seeds", 1)
        # Over all of its seeds my-hpo looks worse than the coarse grid, which has the easy ones alone.
        mine, grid = self.losses("small.study", "my-hpo", easy + hard), self.losses("small.study", "grid", easy)
        self.assertGreater(statistics.fmean(mine), statistics.fmean(grid))
        problem, = self.report()["problems"]
        self.assertEqual(problem["seeds"], {"common": 3, "is_all": False})
        rows = {row["label"]: row for row in problem["rows"]}
        shown = {label: row["final"]["loss"]["validation"]["mean"] for label, row in rows.items()}
        self.assertAlmostEqual(shown["my-hpo"], statistics.fmean(self.losses("small.study", "my-hpo", easy)), delta=1e-12)
        self.assertLess(shown["my-hpo"], shown["grid"])
        self.assertEqual([rows["my-hpo"]["runs"], rows["grid"]["runs"]], [6, 3])

    def test_the_command_says_how_many_runs_it_asks_for(self):
        self.compare("--methods", "my-hpo,grid")
        self.assertEqual(self.report()["planned"] | {"seconds_left": None}, {"done": 6, "total": 6, "seconds_left": None})
        self.yosida("study", "prune", "small.study", "--method", "grid", "--seed", 1)
        self.assertEqual(self.report()["planned"]["done"], 5)


class Shapes(Report):
    def test_classification_has_no_scaled_loss(self):
        self.write("train.csv", "y,a,b\n" + "".join(f"{i % 2},{(i * 7) % 11 + i % 2},{i % 5}\n" for i in range(60)))
        self.yosida("compare", "--train", "train.csv", "--target", "y", "--model", "logistic", "--methods", "my-hpo,random",
                    "--seeds", 2, "--quiet", "--study", "small.study")
        problem, = self.report()["problems"]
        self.assertEqual((problem["measures"][0], problem["curve_measure"]), ("loss", "loss"))
        self.assertIn("accuracy", problem["measures"])
        self.assertIsNone(problem["oracle"])
        sha256 = hashlib.sha256((self.folder / "train.csv").read_bytes()).hexdigest()
        self.assertEqual(problem["files"], [["train train.csv", sha256]])
        self.assertEqual(problem["name"], "train.csv")

    def test_two_problems_in_one_study(self):
        self.compare("--methods", "my-hpo")
        self.compare("--methods", "my-hpo", "--x", "center")
        problems = self.report("small.study", "--figures", "figures")["problems"]
        self.assertEqual([problem["name"] for problem in problems], ["ridge on spectra", "ridge on spectra (2)"])
        self.assertEqual(sorted(self.figures()), ["ridge-on-spectra-2-convergence.svg", "ridge-on-spectra-convergence.svg"])

    def test_several_lambdas_have_no_response(self):
        self.compare("--methods", "my-hpo", "--lambda-per", "feature", "--max-iterations", 2)
        problem, = self.report()["problems"]
        self.assertEqual(problem["responses"], [])
        self.assertIsNone(problem["results"][0][3])

    def test_hostile_names_are_text(self):
        spec = {"problem": HOSTILE, "data": {"title": HOSTILE, "files": {HOSTILE: HOSTILE}}, "model": {"name": HOSTILE},
                "method": HOSTILE, "settings": {HOSTILE: HOSTILE, "alpha": "0.5"}}
        points = [{"iteration": i, "lambda": [-i], "validation": 1.0 / (i + 1), "seconds": i} for i in range(3)]
        self.fill([{"method": HOSTILE, "seed": seed, "spec": spec | {"seed": seed, "settings": {**spec["settings"], "b": HOSTILE * (1 + seed % 2)}},
                    "status": HOSTILE, "outcome": {"final": {"loss": {"validation": 0.5}}, "certificate": {"verdict": HOSTILE, "reason": HOSTILE}},
                    "program": HOSTILE, "data_sha256": HOSTILE, "seconds": 1, "finished": HOSTILE, "trace": points} for seed in range(4)])
        page = self.report("small.study", "--figures", "figures")
        problem, = page["problems"]
        self.assertEqual(problem["name"], HOSTILE)
        self.assertEqual(problem["rows"][0]["method"], HOSTILE)
        self.assertEqual(problem["results"][0][7], HOSTILE)
        self.assertNotIn("<script>alert", self.read("page.html"))
        figures = self.figures()
        self.assertEqual(len(figures), 1)
        self.assertTrue(all(name.isascii() and "/" not in name for name in figures), figures)

    def test_records_of_any_shape(self):
        shapes = [None, 1, "text", [], {}, [[]], {"final": 3, "work": [], "oracle": "no", "certificate": None},
                  {"final": {"loss": {"validation": "NaN"}, "lambda": {}}, "iterations": "many"}]
        self.fill([{"method": f"m:{number}", "seed": number, "spec": shape, "status": "", "outcome": shape, "program": "",
                    "data_sha256": "", "seconds": 0, "finished": "", "trace": []} for number, shape in enumerate(shapes)])
        page = self.report("small.study", "--figures", "figures")
        self.assertEqual(page["runs"], len(shapes))
        self.assertEqual(sum(len(problem["results"]) for problem in page["problems"]), len(shapes))
        self.assertEqual(self.figures(), {})

    def test_text_that_is_no_utf8(self):
        self.compare("--methods", "my-hpo")
        database = sqlite3.connect(self.folder / "small.study")
        database.execute("UPDATE run SET status = CAST(x'61ff62' AS TEXT)")
        database.commit()
        database.close()
        self.assertEqual(self.report()["problems"][0]["results"][0][2], "a\ufffdb")


class Files(Report):
    def setUp(self):
        super().setUp()
        self.compare("--methods", "my-hpo")

    def test_the_name_of_the_study_unless_another_is_given(self):
        (self.folder / "sub").mkdir()
        os.rename(self.folder / "small.study", self.folder / "sub/small.study")
        text = self.yosida("report", "sub/small.study").stdout
        self.assertEqual(text, "small.html: 3 runs of sub/small.study\n")
        self.assertEqual(self.data("small.html")["runs"], 3)
        self.yosida("report", "sub/small.study")

    def test_the_same_on_standard_output(self):
        done = self.yosida("report", "small.study", "--out", "-")
        self.assertTrue(done.stdout.startswith("<!DOCTYPE html>"), done.stdout[:100])
        self.assertEqual(strict_json(Page(done.stdout).data)["runs"], 3)

    def test_a_name_that_was_not_given_replaces_reports_only(self):
        self.write("small.html", "<p>mine</p>")
        self.refused("report", "small.study", names=["small.html", "--out"])
        self.yosida("report", "small.study", "--out", "small.html")
        self.yosida("report", "small.study")

    def test_no_file_of_the_study_is_overwritten(self):
        for ending in ["", "-wal", "-claims"]:
            self.refused("report", "small.study", "--out", "small.study" + ending, names=["--out", "overwrite"])
        (self.folder / "figures").mkdir()
        (self.folder / "figures/spectra-convergence.svg").symlink_to("../small.study")
        self.refused("report", "small.study", "--out", "page.html", "--figures", "figures", names=["--figures", "overwrite"])

    def test_another_study_is_not_replaced(self):
        shutil.copy(self.folder / "small.study", self.folder / "other.study")
        self.refused("report", "small.study", "--out", "other.study", names=["--out other.study", "is a study"])

    def test_where_nothing_can_be_written(self):
        self.refused("report", "small.study", "--out", "no/page.html", names=["--out", "no/page.html"])
        self.refused("report", "small.study", "--figures", "no/figures", names=["--figures", "no/figures"])
        self.refused("report", "small.study", "--figures", "small.study", names=["--figures", "not a folder"])
        if os.path.exists("/dev/full"):
            self.yosida("report", "small.study", "--out", "/dev/full", code=4)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_that_is_only_read(self):
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        self.refused("report", "small.study", names=["small.html", "cannot be written"])

    def test_the_study_is_only_read(self):
        before = (self.folder / "small.study").read_bytes()
        self.yosida("report", "small.study")
        self.assertEqual((self.folder / "small.study").read_bytes(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["small.html", "small.study"])

    def test_a_study_without_runs(self):
        self.fill([], study="empty.study")
        self.refused("report", "empty.study", names=["empty.study", "no runs", "yosida compare"])

    def test_what_is_no_study(self):
        self.write("text.csv", "a,b\n" * 100)
        self.write("empty.db", "")
        for file, words in [("missing.db", "no such file"), (".", "is a directory"), ("text.csv", "not a study"), ("empty.db", "is empty")]:
            self.refused("report", file, names=[file, words])

    def test_a_damaged_run(self):
        database = sqlite3.connect(self.folder / "small.study")
        database.execute("UPDATE run SET trace = x'00' WHERE seed = 1")
        database.commit()
        database.close()
        self.refused("report", "small.study", names=["small.study", "damaged"])


if __name__ == "__main__":
    unittest.main()
