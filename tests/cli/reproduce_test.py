"""yosida reproduce: its tables, its study, missing data, and what it refuses."""
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from yosida_cli import BINARY, TIMEOUT_SECONDS, Cli, strict_json, with_deviation

SPECTRA = ["reproduce", "--problem", "spectra", "--study", "s.study"]


def rows_of(text):
    """The lines of tables by their label."""
    return {re.split(r"  +", line.strip())[0]: line for line in text.splitlines() if line.startswith("  ")}


class ReproduceCase(Cli):
    def runs(self, study, *arguments):
        return strict_json(self.yosida("study", "export", study, "--format", "json", "--without-times", *arguments).stdout)

    def without_data(self, *arguments, code=0, **environment):
        """On a machine that has none of the data."""
        done = subprocess.run([BINARY, *map(str, arguments)], cwd=self.folder,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "YOSIDA_DATA": "", **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT_SECONDS, encoding="utf-8")
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done


class BuiltIn(ReproduceCase):
    def test_every_method_is_in_the_table_and_the_study(self):
        text = self.yosida(*SPECTRA, "--seeds", "3").stdout
        runs = self.runs("s.study")
        self.assertEqual({run["seed"] for run in runs}, {0, 1, 2})
        methods = {run["spec"]["method"] for run in runs}
        self.assertEqual(methods, {"sho", "my-hpo-c", "my-hpo-bt", "my-hpo-full", "random", "grid", "tpe", "gp-ei", "my-hpo"})
        settings = {(run["method"], str(run["spec"]["run"])) for run in runs}
        self.assertEqual(len(runs), 3 * len(settings))
        rows = rows_of(text)
        for method in methods:
            self.assertTrue(any(label.split()[0] == method for label in rows), f"{method} in\n{text}")
        self.assertNotIn("the paper", text, "spectra stands in for nobody")
        self.assertIn("yosida report s.study", text)
        # The table's numbers are those of the study.
        own = [run["outcome"]["final"]["scaled_loss"]["validation"] for run in runs if run["method"] == "my-hpo"]
        self.assertIn(with_deviation([100 * each for each in own]), rows["my-hpo"])

    def test_a_second_start_does_nothing_anew(self):
        self.yosida(*SPECTRA, "--seeds", "2", "--quiet")
        before = self.runs("s.study")
        text = self.yosida(*SPECTRA, "--seeds", "2").stdout
        self.assertRegex(text, rf"s\.study: {len(before)} runs were there, 0 runs were done now")
        self.assertEqual(self.runs("s.study"), before)
        self.yosida(*SPECTRA, "--seeds", "1", "--seed", "2", "--quiet")
        self.assertEqual(len(self.runs("s.study")), len(before) * 3 // 2)

    def test_results_do_not_depend_on_jobs(self):
        exports = []
        for jobs in [1, 3]:
            self.yosida("reproduce", "--problem", "spectra", "--seeds", "2", "--jobs", jobs, "--study", f"{jobs}.study", "--quiet")
            exports.append(self.runs(f"{jobs}.study", "--traces"))
        self.assertEqual(*exports)

    def test_interrupted_and_resumed(self):
        command = ["reproduce", "--problem", "spectra", "--seeds", "20", "--study", "s.study", "--quiet", "--jobs", "1"]
        process = subprocess.Popen([BINARY, *command], cwd=self.folder, stderr=subprocess.PIPE, encoding="utf-8")
        end = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < end and not (self.folder / "s.study-claims").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(process.returncode, 5, said)
        self.assertIn("the same command goes on", said)
        self.yosida(*command)
        self.yosida("reproduce", "--problem", "spectra", "--seeds", "20", "--study", "whole.study", "--quiet")
        self.assertEqual(self.runs("s.study"), self.runs("whole.study"))

    def test_another_pretreatment_is_another_problem(self):
        self.yosida(*SPECTRA, "--seeds", "1", "--quiet")
        text = self.yosida(*SPECTRA, "--seeds", "1", "--x", "standardize", "--y", "standardize").stdout
        self.assertIn("(spectra, standardize and y standardize)", text)
        models = {(run["spec"]["model"]["x"], run["spec"]["model"]["y"]) for run in self.runs("s.study")}
        self.assertEqual(models, {("minmax", "center"), ("standardize", "standardize")})


class Suites(ReproduceCase):
    """The field's benchmarks, in short forms that need no file."""

    def test_groups(self):
        text = self.yosida("reproduce", "--suite", "groups", "--seeds", "2", "--study", "g.study").stdout
        runs = self.runs("g.study")
        self.assertEqual({run["spec"]["problem"] for run in runs}, {"groups_elastic_net", "groups_sparse"})
        loss = {}
        for run in runs:
            if run["spec"]["problem"] == "groups_sparse":
                self.assertEqual(len(run["outcome"]["best"]["lambda"]), 2 if run["method"].startswith("grid") else 31)
                loss.setdefault(run["seed"], {})[run["method"].split(":")[0]] = run["outcome"]["best"]["loss"]["validation"]
        for seed, methods in loss.items():
            self.assertEqual(min(methods, key=methods.get), "my-hpo", f"seed {seed}: {methods}")
        self.assertRegex(text, r"my-hpo +[0-9.]+ ± [0-9.]+")
        self.assertRegex(text, r"random trials=100 .*2 of 2")

    def test_lassobench_beside_what_is_published(self):
        text = self.yosida("reproduce", "--suite", "lassobench", "--problem", "lassobench_medium_10", "--study", "l.study").stdout
        published = [float(value) for value in re.findall(r"published: .*?  +([0-9.]+)", text)]
        self.assertEqual(len(published), 8)
        ours = re.search(r"my-hpo, 30 iterations +([0-9.]+) .*? ([0-9]+) +[0-9.]+ +[0-9.]+ +\d of \d", text)
        self.assertLess(float(ours[1]), min(published))
        self.assertLessEqual(int(ours[2]), 60)
        penalties = {run["spec"]["model"]["lambda_per"] for run in self.runs("l.study")}
        self.assertEqual(penalties, {"feature", "shared"})
        again = self.yosida("reproduce", "--suite", "lassobench", "--problem", "lassobench_medium_10", "--study", "l.study").stdout
        self.assertRegex(again, "5 runs were there, 0 runs were done now")
        self.yosida("report", "l.study", "--out", "l.html")
        self.assertIn("LassoBench", (self.folder / "l.html").read_text())

    def test_missing_data_is_named_and_the_rest_runs(self):
        said = self.without_data("reproduce", "--suite", "bilevel", "--seeds", "1", code=2).stderr
        for name in ["bilevel_ijcnn1 is left out", "bilevel_covtype_part is left out", "bilevel_covtype is left out",
                     "bilevel_cleaning_5 is left out", "yosida data fetch mnist", "none of these problems is there"]:
            self.assertIn(name, said)

    def test_refusals(self):
        for arguments, names in [(["--suite", "lassobnch"], ["lassobnch", "lassobench, bilevel, groups"]),
                                 (["--suite", "groups", "--table", "2"], ["--table", "--suite"]),
                                 (["--suite", "groups", "--problem", "spectra"], ["spectra", "groups"]),
                                 (["--suite", "groups", "--x", "center"], ["--x", "groups_elastic_net"]),
                                 (["--suite", "lassobench", "--y", "center"], ["--y"]),
                                 (["--suite", "groups", "--seeds", "0"], ["seeds = 0"])]:
            with self.subTest(arguments):
                self.refused("reproduce", *arguments, names=names)


class MissingData(ReproduceCase):
    def test_is_named_and_the_rest_runs(self):
        done = self.without_data("reproduce", "--seeds", "1")
        for words in ["cookie is left out", "R package ppls", "mnist_regression is left out", "yosida data fetch mnist",
                      "mnist_classification is left out", "gtsrb is left out"]:
            self.assertIn(words, done.stderr)
        self.assertIn("Spectra", done.stdout)
        self.assertEqual({run["spec"]["problem"] for run in self.runs("reproduction.study")}, {"spectra"})

    def test_of_what_was_asked_for_is_an_error(self):
        said = self.without_data("reproduce", "--problem", "spectra,cookie", "--seeds", "1", code=2).stderr
        self.assertIn("problem cookie: ", said)
        self.assertIn("R package ppls", said)
        said = self.without_data("reproduce", "--table", "4", code=2).stderr
        self.assertIn("none of these problems", said)
        self.assertEqual(self.files(), {})

    def test_a_wrong_file_is_not_used(self):
        self.write("cookie.csv", "half a download")
        said = self.without_data("reproduce", "--problem", "cookie", "--data-dir", ".", code=2).stderr
        self.assertIn("cookie.csv", said)
        self.assertIn("must have 439057", said)
        pathlib.Path(self.folder / "cookie.csv").write_bytes(b"x" * 439057)
        said = self.without_data("reproduce", "--problem", "cookie", "--data-dir", ".", code=2).stderr
        self.assertIn("sha256", said)


class Refusals(ReproduceCase):
    def test_flags(self):
        for arguments, names in [(["--problem", "cokie"], ["cokie", "did you mean cookie?"]),
                                 (["--table", "1"], ["table = 1", "from 2 to 7"]),
                                 (["--table", "8"], ["table = 8"]),
                                 (["--table", "4", "--problem", "gtsrb"], ["gtsrb", "table 4"]),
                                 (["--seeds", "0"], ["seeds = 0"]),
                                 (["--seeds", "-1"], ["seeds = -1"]),
                                 (["--jobs", "0"], ["jobs = 0"]),
                                 (["--threads", "0"], ["threads"]),
                                 (["--x", "log"], ["log"]),
                                 (["--y", "log"], ["log"]),
                                 (["--study", "none/s.study"], ["none"]),
                                 (["--study", "."], ["."])]:
            with self.subTest(arguments):
                self.refused("reproduce", *arguments, names=names)

    def test_a_file_that_is_no_study(self):
        self.write("notes.txt", "important\n" * 100)
        self.refused("reproduce", "--problem", "spectra", "--study", "notes.txt", names=["notes.txt", "not a study"])


@unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("YOSIDA_DATA") or "/nowhere", "cookie.csv")),
                     "cookie.csv is not in YOSIDA_DATA")
class Cookie(ReproduceCase):
    """The paper's claims on its own data, ten partitions, final weights."""

    def test_the_story_of_the_paper(self):
        text = self.yosida("reproduce", "--problem", "cookie", "--study", "c.study").stdout
        self.assertRegex(text, r"the paper +125\.2 ± 17\.08 +158 ± 33\.43")
        mean, diverged, gap = {}, {}, {}
        for run in self.runs("c.study"):
            method = run["method"]
            diverged.setdefault(method, 0)
            if run["status"] == "diverged":
                diverged[method] += 1
                continue
            final = run["outcome"]["final"]
            mean.setdefault(method, []).append(final["scaled_loss"]["validation"])
            gap.setdefault(method, []).append(final["lambda_gap"])
        mean = {method: sum(values) / len(values) for method, values in mean.items() if diverged[method] == 0}
        gap = {method: sum(values) / len(values) for method, values in gap.items() if diverged[method] == 0}
        self.assertEqual(diverged["sho:alpha=0.05"], 10)
        self.assertEqual(diverged["sho:alpha=0.01"], 10)
        best = {family: min(value for method, value in mean.items() if re.match(family, method))
                for family in ["sho", "my-hpo-(c|bt)"]}
        self.assertLess(best["my-hpo-(c|bt)"], 0.5 * best["sho"])
        self.assertEqual(min(gap, key=gap.get), "my-hpo")
        self.assertLess(gap["my-hpo"], 1e-6)
        self.assertLessEqual(mean["my-hpo"], 1.005 * min(mean.values()))


if __name__ == "__main__":
    unittest.main()
