"""Studies that several builds of the program have worked on, and what problems are called."""
import hashlib
import json
import re
import sqlite3
import unittest

from yosida_cli import Cli, regression, strict_json

FEW = ["compare", "--data", "spectra", "--methods", "my-hpo,random", "--seeds", "2", "--max-iterations", "5", "--study", "s.study"]
REPRODUCE = ["reproduce", "--problem", "spectra", "--seeds", "1", "--study", "s.study"]
OTHER = "0.0.9+0123456789ab"


def rows_of(text):
    """The lines of a table without their times."""
    return [re.sub(r"\s+\S+$", "", line.rstrip()) for line in text.splitlines() if line.startswith("  ")]


class Study(Cli):
    def runs(self):
        return strict_json(self.yosida("study", "export", "s.study", "--format", "json").stdout)

    def contents(self):
        self.yosida("report", "s.study", "--out", "r.html")
        text = re.search(r'<script id="data" type="application/json">(.*?)</script>', self.read("r.html"), re.DOTALL)[1]
        return json.loads(text)


class Builds(Study):
    def make_older(self, build=OTHER, method="%"):
        """Gives the runs of a method to another build; None: to a version that did not say."""
        database = sqlite3.connect(self.folder / "s.study")
        for key, text in database.execute("SELECT key, spec FROM run WHERE method LIKE ?", [method]).fetchall():
            spec = json.loads(text)
            self.assertRegex(spec.pop("build"), r"^\d+\.\d+\.\d+\+[0-9a-f]{12}$")
            if build is not None:
                spec["build"] = build
            text = json.dumps(spec, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
            database.execute("UPDATE run SET spec = ?, key = ? WHERE key = ?", [text, hashlib.sha256(text.encode()).hexdigest(), key])
        database.commit()
        database.close()

    def test_the_same_build_goes_on_without_a_word(self):
        self.yosida(*FEW)
        again = self.yosida(*FEW)
        self.assertIn("4 runs were there, 0 runs were done now", again.stdout)
        self.assertNotIn("build", again.stderr)
        self.assertNotIn("build", self.yosida("study", "list", "s.study").stdout)
        self.assertEqual(len(self.contents()["builds"]), 1)

    def test_runs_of_another_build_stay_and_are_done_again(self):
        first = self.yosida(*FEW).stdout
        self.make_older()
        again = self.yosida(*FEW)
        for part in ["other builds", f"4 by {OTHER}", "done again", "--accept-builds"]:
            self.assertIn(part, again.stderr)
        self.assertIn("0 runs were there, 4 runs were done now", again.stdout)
        self.assertEqual(rows_of(again.stdout), rows_of(first), "this build alone is shown")
        runs = self.runs()
        self.assertEqual(len(runs), 8)
        self.assertEqual(sorted({run["spec"]["build"] for run in runs})[0], OTHER)
        lines = self.yosida("study", "list", "s.study").stdout.splitlines()
        self.assertEqual(lines[0].split()[-1], "build")
        self.assertEqual(sum(line.endswith(OTHER) for line in lines), 4)
        self.assertIn(f"build: {OTHER}", self.yosida("study", "show", "s.study", next(
            run["key"] for run in runs if run["spec"]["build"] == OTHER)).stdout)
        contents = self.contents()
        self.assertEqual([count for _, count in contents["builds"]], [4, 4])
        labels = [row["label"] for row in contents["problems"][0]["rows"]]
        self.assertEqual(len(labels), 4)
        self.assertIn(f"my-hpo build={OTHER}", labels)
        self.assertTrue(all(row["runs"] == 2 for row in contents["problems"][0]["rows"]))

    def test_accepted_runs_are_taken_as_they_are(self):
        first = self.yosida(*FEW).stdout
        for build, words in [(OTHER, f"4 by {OTHER}"), (None, "4 by an unknown build")]:
            with self.subTest(build):
                if build is None:
                    (self.folder / "s.study").unlink()
                    self.yosida(*FEW)
                self.make_older(build)
                again = self.yosida(*FEW, "--accept-builds")
                self.assertIn("4 runs were there, 0 runs were done now", again.stdout)
                self.assertIn(words, again.stderr)
                self.assertIn("taken as they are", again.stderr)
                self.assertEqual(rows_of(again.stdout), rows_of(first))
                self.assertEqual(len(self.runs()), 4)

    def test_what_nobody_has_done_is_done_beside_what_is_accepted(self):
        self.yosida(*FEW)
        self.make_older(method="random%")
        more = [*FEW, "--accept-builds"]
        more[more.index("--seeds") + 1] = "3"
        again = self.yosida(*more)
        self.assertIn("4 runs were there, 2 runs were done now", again.stdout)
        self.assertIn(f"2 by {OTHER}", again.stderr)

    def test_reproduce(self):
        first = self.yosida(*REPRODUCE).stdout
        self.make_older()
        count = len(self.runs())
        again = self.yosida(*REPRODUCE, "--accept-builds")
        self.assertIn(f"by {OTHER}", again.stderr)
        self.assertIn("0 runs were done now", again.stdout)
        self.assertEqual(rows_of(again.stdout), rows_of(first))
        again = self.yosida(*REPRODUCE)
        self.assertIn("0 runs were there", again.stdout)
        self.assertEqual(rows_of(again.stdout), rows_of(first))
        self.assertEqual(len(self.runs()), 2 * count)
        accepted = self.yosida(*REPRODUCE, "--accept-builds")
        self.assertNotIn("build", accepted.stderr, "its own are there")
        self.assertEqual(rows_of(accepted.stdout), rows_of(first))


class Names(Study):
    def compare(self, file, *arguments):
        return self.yosida("compare", "--train", file, "--target", "y", "--methods", "my-hpo", "--seeds", "1", "--study", "s.study",
                           *arguments)

    def names(self):
        return [problem["name"] for problem in self.contents()["problems"]]

    def test_problems_are_called_by_their_file(self):
        self.write_csv("prices.csv", *regression(40))
        self.compare("prices.csv")
        problem, = self.contents()["problems"]
        self.assertEqual((problem["name"], problem["title"]), ("prices.csv", "ridge on prices.csv"))
        self.assertEqual([name for name, _ in problem["files"]], ["train prices.csv"])
        self.assertEqual(self.yosida("study", "list", "s.study").stdout.splitlines()[0].split()[-2:], ["data", "model"])
        self.assertIn("prices.csv", self.yosida("study", "list", "s.study").stdout)
        # Another name of the same data is not another run; what comes last is what it is called.
        (self.folder / "prices.csv").rename(self.folder / "costs.csv")
        self.assertIn("1 run was there, 0 runs were done now", self.compare("costs.csv").stdout)
        self.assertEqual(self.names(), ["prices.csv"])

    def test_different_files_of_one_name_are_told_apart(self):
        for folder, rows in [("a", 40), ("b", 41)]:
            (self.folder / folder).mkdir()
            self.write_csv(f"{folder}/prices.csv", *regression(rows))
            self.compare(f"{folder}/prices.csv")
        digits = sorted(hashlib.sha256((self.folder / folder / "prices.csv").read_bytes()).hexdigest()[:8] for folder in "ab")
        self.assertEqual(sorted(self.names()), [f"prices.csv {each}" for each in digits])
        text = self.yosida("study", "list", "s.study").stdout
        for each in digits:
            self.assertIn(f"prices.csv {each}", text)


if __name__ == "__main__":
    unittest.main()
