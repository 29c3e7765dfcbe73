#!/usr/bin/env python3
"""Every schema of a study that was ever written lies in tests/study/schemas and opens: it is read as it is, and continued.

A new schema, or a new table of one, gets a file there. YOSIDA names the program under test.
"""
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

YOSIDA = os.environ["YOSIDA"]
FILES = sorted((pathlib.Path(__file__).parent / "schemas").glob("*.db"))


class Schemas(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="yosida-schemas-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def yosida(self, *arguments):
        done = subprocess.run([YOSIDA, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_what_is_written_today_is_among_them(self):
        self.yosida("compare", "--data", "spectra", "--methods", "hoag", "--seeds", "1", "--max-iterations", "1", "--study", "new.db", "--quiet")

        def shape(path):
            database = sqlite3.connect(path)
            try:
                version, = database.execute("PRAGMA user_version").fetchone()
                return version, {" ".join(sql.split()) for sql, in database.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}
            finally:
                database.close()

        self.assertIn(shape(self.folder / "new.db"), [shape(path) for path in FILES])

    def test_each_is_read_as_it_is(self):
        self.assertGreaterEqual(len(FILES), 4)
        for path in FILES:
            with self.subTest(path.name):
                study = self.folder / path.name
                shutil.copy(path, study)
                runs = json.loads(self.yosida("study", "export", study, "--format", "json", "--traces"))
                # 2⁶² as it is, and −1 as the 64 bits that it stands for.
                self.assertEqual([run["seed"] for run in runs], [0, 2**62, 2**64 - 1])
                for run in runs:
                    self.assertEqual((run["method"], run["status"], run["outcome"]["final"]["lambda"]), ("sho:alpha=0.05", "converged", [0.5]))
                    self.assertEqual(run["trace"]["validation"], [1.0])
                self.assertIn("3 runs", self.yosida("study", "list", study))
                self.assertEqual(study.read_bytes(), path.read_bytes(), "reading changes nothing")

    def test_each_is_continued(self):
        for path in FILES:
            with self.subTest(path.name):
                study = self.folder / path.name
                shutil.copy(path, study)
                before = self.yosida("study", "export", study, "--format", "json", "--traces")
                self.yosida("study", "copy", study, "copy-of-" + path.name)
                self.yosida("compare", "--data", "spectra", "--methods", "hoag", "--seeds", "1", "--max-iterations", "1", "--study", study, "--quiet")
                self.assertIn("4 runs", self.yosida("study", "list", study))
                self.yosida("study", "prune", study, "--method", "hoag")
                strip = lambda text: [{name: run[name] for name in ["key", "seed", "outcome", "trace", "finished"]} for run in json.loads(text)]
                self.assertEqual(strip(self.yosida("study", "export", study, "--format", "json", "--traces")), strip(before))


if __name__ == "__main__":
    unittest.main()
