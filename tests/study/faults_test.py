"""A full disk in the middle of a study, and a migration that is killed at every step.

Programs under test are named by YOSIDA, STUDY_TOOL and STUDY_FAULT (ctest sets them).
"""
import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import unittest

TOOL = os.environ["STUDY_TOOL"]
TRACE = ('{"iteration":[0],"lambda":[[0.5]],"train":["NaN"],"validation":[1.0],"test":[null],"primal_residual":[0.0],'
         '"dual_residual":[0.0],"train_gradients":[0],"validation_gradients":[0],"hessian_products":[0],'
         '"loss_evaluations":[0],"inner_solves":[0],"factorisations":[0.0],"seconds":[0.0]}')


class Faults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="yosida-faults-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.study = self.folder / "study.db"

    def run_tool(self, *arguments, fault=None):
        environment = dict(os.environ)
        if fault:
            environment.update(YOSIDA_FAULT=fault, LD_PRELOAD=os.environ["STUDY_FAULT"],
                               ASAN_OPTIONS="verify_asan_link_order=0")
        return subprocess.run([TOOL, *map(str, arguments)], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, encoding="utf-8")

    def succeed(self, *arguments):
        done = self.run_tool(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)

    def export(self, study):
        return subprocess.run([os.environ["YOSIDA"], "study", "export", study, "--format", "json", "--traces",
                               "--without-times"], stdout=subprocess.PIPE, check=True, timeout=120).stdout

    def query(self, study, sql):
        database = sqlite3.connect(study)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def files(self):
        return sorted(file.name for file in self.folder.iterdir())


class FullDisk(Faults):
    def test_what_was_stored_is_kept_and_the_study_goes_on_with_room(self):
        reference = self.folder / "reference.db"
        self.succeed("run", reference, 60, 2, 1)
        # Each of the three in turn is the file that has no room: the commit, the checkpoint, the making.
        for number, fault in enumerate(["full write -wal 100", "full write {study} 6", "full write -journal 1"]):
            with self.subTest(fault):
                study = self.folder / f"study{number}.db"
                done = self.run_tool("run", study, 60, 2, 1, fault=fault.replace("{study}", study.name))
                stored = 0
                if "-journal" not in fault:
                    stored, = self.query(study, "SELECT count(*) FROM run")[0]
                    self.assertEqual(self.query(study, "PRAGMA integrity_check"), [("ok",)])
                    self.assertGreater(stored, 3)
                # A checkpoint without room loses nothing: all is in the -wal file.
                if "{study}" not in fault:
                    self.assertEqual(done.returncode, 4, done.stderr)
                    for words in [str(study), "the disk is full", "make room", "start again", "kept"]:
                        self.assertIn(words, done.stderr)
                    self.assertLess(stored, 60)
                self.succeed("run", study, 60, 2, 1)
                self.assertEqual(self.export(study), self.export(reference))


class KilledMigration(Faults):
    runs = 40

    def make_schema_1(self):
        database = sqlite3.connect(self.study)
        database.executescript("""
            PRAGMA journal_mode = WAL; PRAGMA application_id = 1500476260; PRAGMA user_version = 1;
            CREATE TABLE run (key TEXT NOT NULL PRIMARY KEY, method TEXT NOT NULL, seed INTEGER NOT NULL,
                              spec TEXT NOT NULL, status TEXT NOT NULL, outcome TEXT NOT NULL, trace TEXT NOT NULL,
                              seconds REAL NOT NULL, finished TEXT NOT NULL) STRICT;""")
        for i in range(self.runs):
            database.execute("INSERT INTO run VALUES (?, 'sho', ?, ?, 'converged', '{}', ?, 0.5, '2026-01-31T12:00:00Z')",
                             (f"{i:064x}", i, f'{{"seed":{i}}}', TRACE))
        database.commit()
        database.close()

    def test_killed_at_every_step_the_next_start_does_it_again(self):
        # The copy, its sync and its name; the transaction; the change of the file at the end.
        faults = [f"kill {operation} {ending} {number}"
                  for operation, ending, numbers in [("write", ".part", [1, 2, 5]), ("sync", ".part", [1]),
                                                     ("link", ".schema1", [1]), ("write", "-wal", [1, 2, 7, 20]),
                                                     ("sync", "-wal", [1]), ("write", "study.db", [1, 3])]
                  for number in numbers]
        for fault in faults:
            with self.subTest(fault):
                for file in self.folder.iterdir():
                    file.unlink()
                self.make_schema_1()
                done = self.run_tool("update", self.study, fault=fault)
                self.assertEqual(done.returncode, -signal.SIGKILL, f"was not killed: {done.stderr}")
                self.succeed("update", self.study)
                self.assertEqual(self.query(self.study, "PRAGMA user_version"), [(2,)])
                self.assertEqual(self.query(self.study, "PRAGMA integrity_check"), [("ok",)])
                self.assertEqual(self.query(self.study, "SELECT key, seed, typeof(trace) FROM run ORDER BY key"),
                                 [(f"{i:064x}", i, "blob") for i in range(self.runs)])
                self.assertEqual(self.query(str(self.study) + ".schema1", "SELECT key, trace FROM run ORDER BY key"),
                                 [(f"{i:064x}", TRACE) for i in range(self.runs)])
                self.assertEqual(self.files(), ["study.db", "study.db.schema1"])


class WholeFile(Faults):
    """A result is on the disk before it gets its name, and its name is before the program ends."""

    def setUp(self):
        super().setUp()
        self.succeed("run", self.study, 4, 1)

    def write(self, fault=None):
        environment = dict(os.environ)
        if fault:
            environment.update(YOSIDA_FAULT=fault, LD_PRELOAD=os.environ["STUDY_FAULT"],
                               ASAN_OPTIONS="verify_asan_link_order=0")
        return subprocess.run([os.environ["YOSIDA"], "study", "export", "study.db", "--out", "runs.csv"], cwd=self.folder,
                              env=environment, timeout=120).returncode

    def test_killed_before_the_bytes_are_on_the_disk(self):
        (self.folder / "runs.csv").write_text("old")
        self.assertEqual(self.write("kill sync .yosida-part 1"), -signal.SIGKILL)
        self.assertEqual((self.folder / "runs.csv").read_text(), "old")
        self.assertIn("runs.csv.yosida-part", self.files())
        self.assertEqual(self.write(), 0)
        self.assertEqual(self.files(), ["runs.csv", "study.db"])

    def test_killed_before_the_name_is_on_the_disk(self):
        self.assertEqual(self.write(f"kill sync {self.folder.name} 1"), -signal.SIGKILL)
        whole = (self.folder / "runs.csv").read_text()
        self.assertEqual(self.write(), 0)
        self.assertEqual((self.folder / "runs.csv").read_text(), whole)


if __name__ == "__main__":
    unittest.main()
