"""Laws: how one looks at a command changes no bit of its results. Threads, verbosity, traces, JSON, progress, a terminal or not,
the language and the time zone of the user: each command gives the same files, and prints the same results, under all of them.
"""
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile
import unittest

from yosida_cli import BINARY, Cli, classification, regression, strict_json, without_seconds

TIMEOUT_SECONDS = 120


def german(folder):
    """Variables of a language that writes 0,5 for a half, built here: a machine need not have one."""
    name = "de_DE.UTF-8"
    done = subprocess.run(["localedef", "-f", "UTF-8", "-i", "de_DE", str(folder / name)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) if shutil.which("localedef") else None
    if done is None or not (folder / name / "LC_NUMERIC").exists():
        raise unittest.SkipTest("the sources of languages are not installed (package locales)")
    return {"LOCPATH": str(folder), "LC_ALL": name, "LANG": name, "LANGUAGE": "de"}


class Laws(Cli):
    @classmethod
    def setUpClass(cls):
        cls.languages = tempfile.TemporaryDirectory(prefix="yosida-languages-")
        cls.addClassCleanup(cls.languages.cleanup)
        cls.german = german(pathlib.Path(cls.languages.name))

    def setUp(self):
        super().setUp()
        x, y = regression(120, 5)
        self.write_csv("train.csv", x, y)
        x, y = classification(120, 5)
        self.write_csv("classes.csv", x, y)
        self.write_csv("new.csv", x[:9])

    def run_in(self, folder, words, environment=None, terminal=False):
        """What the command leaves in its folder, by name."""
        for file in self.folder.glob("*.csv"):
            (folder / file.name).write_bytes(file.read_bytes())
        variables = {**os.environ, **(environment or {})}
        if terminal:
            master, slave = pty.openpty()
            process = subprocess.Popen([BINARY, *words], cwd=folder, env=variables, stdin=slave, stdout=slave, stderr=slave)
            os.close(slave)
            try:
                while os.read(master, 65536):
                    pass
            except OSError:
                pass  # closed by the other side
            os.close(master)
            code = process.wait(TIMEOUT_SECONDS)
        else:
            code = subprocess.run([BINARY, *words], cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=TIMEOUT_SECONDS).returncode
        self.assertEqual(code, 0, words)

    # Ways to look at the same command: words behind it, variables, a terminal.
    LOOKS = {
        "one thread": (["--threads", "1"], {}, False),
        "three threads": (["--threads", "3"], {}, False),
        "quiet": (["--quiet"], {}, False),
        "a terminal": ([], {"TERM": "xterm", "COLUMNS": "60"}, True),
        "another time zone": ([], {"TZ": "Asia/Kolkata"}, False),
        "no language": ([], {"LC_ALL": "C"}, False),
    }

    def under_all_looks(self, command, results, more=None):
        """`results` gives of a folder what must be equal; the command must leave the same in all."""
        with tempfile.TemporaryDirectory(prefix="yosida-laws-") as folder:
            truth = None
            looks = {"plain": ([], {}, False), **self.LOOKS, "a language with decimal commas": ([], self.german, False), **(more or {})}
            for number, (name, (words, environment, terminal)) in enumerate(looks.items()):
                place = pathlib.Path(folder) / str(number)
                place.mkdir()
                self.run_in(place, [*command, *words], environment, terminal)
                found = results(place)
                truth = truth if truth is not None else found
                with self.subTest(" ".join(command), look=name):
                    self.assertEqual(found, truth)

    def test_tune(self):
        traces = {"a trace": (["--trace", "trace.csv"], {}, False), "a thinned trace": (["--trace", "t.csv", "--trace-every", "7"], {}, False),
                  "no JSON, which may go elsewhere": (["--json", "/dev/null"], {}, False),
                  "the split kept": (["--save-split", "split.csv"], {}, False)}
        for data in [["--train", "train.csv", "--target", "y"], ["--train", "classes.csv", "--target", "y", "--method", "hoag"],
                     ["--train", "train.csv", "--target", "y", "--model", "lasso", "--folds", "3"]]:
            self.under_all_looks(["tune", *data, "--save", "model.json"], lambda place: (place / "model.json").read_bytes(), traces)

    def test_what_tune_says_as_json(self):
        self.under_all_looks(["tune", "--train", "train.csv", "--target", "y", "--oracle", "--json", "result.json"],
                             lambda place: without_seconds(strict_json((place / "result.json").read_text())),
                             {"a saved model": (["--save", "model.json"], {}, False)})

    def exported(self, place):
        done = subprocess.run([BINARY, "study", "export", "a.study", "--format", "json", "--traces", "--without-times"], cwd=place,
                              stdout=subprocess.PIPE, check=True, timeout=TIMEOUT_SECONDS)
        return done.stdout

    def test_compare_and_what_follows(self):
        compare = ["compare", "--train", "train.csv", "--target", "y", "--methods", "hoag,random,my-hpo", "--seeds", "2",
                   "--max-iterations", "4", "--study", "a.study"]
        self.under_all_looks(compare, self.exported, {"one job": (["--jobs", "1"], {}, False), "four jobs": (["--jobs", "4"], {}, False),
                                                      "another measure": (["--measure", "rmse"], {}, False)})

    def test_reproduce(self):
        reproduce = ["reproduce", "--problem", "spectra", "--seeds", "2", "--study", "a.study"]
        self.under_all_looks(reproduce, self.exported, {"one job": (["--jobs", "1"], {}, False), "four jobs": (["--jobs", "4"], {}, False)})

    def test_commands_that_print(self):
        self.run_in(self.folder, ["tune", "--train", "classes.csv", "--target", "y", "--save", "model.json", "--quiet"])
        self.run_in(self.folder, ["compare", "--train", "train.csv", "--target", "y", "--methods", "hoag,random", "--seeds", "2",
                                  "--max-iterations", "4", "--study", "a.study", "--quiet"])
        commands = [["predict", "--from", "model.json", "--data", "new.csv"], ["coefficients", "model.json"],
                    ["coefficients", "model.json", "--export", "c"], ["methods"], ["methods", "my-hpo"],
                    ["study", "list", "a.study"], ["study", "export", "a.study"], ["study", "export", "a.study", "--format", "json", "--traces"],
                    ["check-grad", "--train", "train.csv", "--target", "y"], ["report", "a.study", "--out", "-"], ["data", "list"]]
        for command in commands:
            texts = {}
            for name, environment in [("plain", {}), ("a time zone", {"TZ": "America/St_Johns"}), ("a language", self.german), ("none", {"LC_ALL": "C"})]:
                done = subprocess.run([BINARY, *command], cwd=self.folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT_SECONDS, encoding="utf-8")
                self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
                # A page says when it was made.
                texts[name] = [line for line in done.stdout.splitlines() if '"generated"' not in line] if command[0] == "report" else done.stdout
            for name, text in texts.items():
                with self.subTest(" ".join(command), look=name):
                    self.assertEqual(text, texts["plain"])


if __name__ == "__main__":
    unittest.main()
