"""Where results go: a standard output that cannot be written, and the files that stand beside a result for a moment."""
import fcntl
import os
import subprocess
import unittest

from study_test import Study, key, run
from yosida_cli import BINARY, TIMEOUT_SECONDS, strict_json

TUNE = ["tune", "--data", "spectra", "--max-iterations", "2"]


class StandardOutput(Study):
    def setUp(self):
        super().setUp()
        # Enough for a table that does not fit into a buffer.
        self.fill(*(run(seed=seed) for seed in range(100)))

    def commands(self):
        return [["--help"], ["--version"], ["tune", "--help"], ["study", "list", "--help"], ["methods"], ["methods", "sho"],
                ["data", "list"], ["data", "info", "spectra"], ["study", "list", self.file], ["study", "list", self.file, "--seed", "3"],
                ["study", "show", self.file, key(run(seed=3))], ["study", "show", self.file, key(run(seed=3)), "--trace"],
                ["study", "export", self.file], ["study", "prune", self.file, "--seed", "3", "--dry-run"],
                ["report", self.file, "--out", "-"], ["report", self.file, "--out", "page.html"],
                ["dashboard", self.file, "--port", "0"], TUNE, [*TUNE, "--quiet", "--json", "-"],
                ["compare", "--data", "spectra", "--methods", "sho", "--max-iterations", "2", "--seeds", "1"],
                ["check-grad", "--data", "spectra"]]

    def test_full(self):
        for command in self.commands():
            with self.subTest(command), open("/dev/full", "w") as full:
                done = self.yosida(*command, stdout=full, code=4)
                self.assertRegex(done.stderr.splitlines()[-1], "^yosida: standard output: (No space left on device|cannot be written)$")

    def run_closed(self, command):
        """As `command >&-` does it in a shell."""
        return subprocess.run(["sh", "-c", '"$@" >&-', "sh", BINARY, *command], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=TIMEOUT_SECONDS, encoding="utf-8")

    def test_closed(self):
        for command in [["--help"], ["methods"], ["study", "list", self.file], TUNE]:
            with self.subTest(command):
                done = self.run_closed(command)
                self.assertEqual(done.returncode, 4)
                self.assertIn("yosida: standard output: ", done.stderr)

    def test_closed_is_no_place_for_another_file(self):
        self.assertEqual(self.run_closed([*TUNE, "--save", "model.json"]).returncode, 4)
        strict_json(self.read("model.json"))
        self.assertEqual(self.run_closed(["study", "export", self.file, "--out", "runs.csv"]).returncode, 0)
        self.assertEqual(self.read("runs.csv"), self.study("export"))


class SideFiles(Study):
    def setUp(self):
        super().setUp()
        self.fill(run())

    def export(self):
        self.study("export", "--out", "runs.csv")
        self.assertEqual(self.read("runs.csv"), self.study("export"))

    def test_what_the_killed_have_left_is_removed(self):
        for name in ["runs.csv.yosida-part", "runs.csv.yosida-part-2", "runs.csv.yosida-part-7"]:
            self.write(name, "half a ta")
        self.write("other.csv.yosida-part", "of another file")
        self.export()
        self.assertEqual(sorted(self.files()), ["other.csv.yosida-part", "runs.csv", self.file])

    def test_that_of_the_living_stays(self):
        for name in ["runs.csv.yosida-part", "runs.csv.yosida-part-2"]:
            file = open(self.folder / name, "w")
            self.addCleanup(file.close)
            fcntl.flock(file, fcntl.LOCK_EX)
        self.export()
        self.assertEqual(sorted(self.files()), ["runs.csv", "runs.csv.yosida-part", "runs.csv.yosida-part-2", self.file])

    def test_what_is_no_plain_file_is_left_alone(self):
        self.write("mine", "a file of the user")
        (self.folder / "runs.csv.yosida-part").symlink_to("mine")
        os.mkfifo(self.folder / "runs.csv.yosida-part-2")
        self.export()
        self.assertEqual(self.read("mine"), "a file of the user")
        self.assertTrue((self.folder / "runs.csv.yosida-part").is_symlink())

    def test_a_name_as_long_as_names_can_be(self):
        name = "r" * 255
        self.study("export", "--out", name)
        self.assertEqual(self.read(name), self.study("export"))
        self.assertEqual(sorted(self.files()), [name, self.file])


if __name__ == "__main__":
    unittest.main()
