#!/usr/bin/env python3
"""Studies in PostgreSQL: the contract of a store, and the command line, on a server of the test's own.

The programs under test are named by YOSIDA, STUDY_TOOL and TEST_STUDY (ctest sets them).
"""
import os
import pathlib
import subprocess
import tempfile
import time
import unittest
import urllib.request

from postgres_server import Server

YOSIDA, TOOL = os.environ["YOSIDA"], os.environ["STUDY_TOOL"]


def setUpModule():
    global SERVER
    # A server that is stopped in the middle must find all that it had said to have; the disk itself is not tested here.
    SERVER = Server("fsync=off", "max_connections=60").__enter__()
    unittest.addModuleCleanup(SERVER.__exit__)


class Contract(unittest.TestCase):
    def test_of_stores_and_claims(self):
        done = subprocess.run([os.environ["TEST_STUDY"], "--gtest_filter=*Postgres*", "--gtest_brief=1"], timeout=200,
                              env={**os.environ, "YOSIDA_TEST_POSTGRES": SERVER.uri}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("SKIPPED", done.stdout)
        count = int(done.stdout.split(" tests from")[0].rsplit(maxsplit=1)[-1])
        self.assertGreater(count, 20, done.stdout)


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="yosida-postgres-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.study = f"{SERVER.uri}&study={self._testMethodName}"

    def yosida(self, *arguments, code=0):
        done = subprocess.run([YOSIDA, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    def export(self, study):
        return self.yosida("study", "export", study, "--format", "json", "--traces", "--without-times")

    def compare(self, study):
        return self.yosida("compare", "--data", "spectra", "--methods", "hoag,random", "--seeds", "2", "--max-iterations", "5",
                           "--study", study)

    def test_the_same_runs_as_in_a_file(self):
        first = self.compare(self.study)
        self.assertIn("0 runs were there, 4 runs were done now", first)
        self.assertIn("4 runs were there, 0 runs were done now", self.compare(self.study))
        self.compare("study.db")
        self.assertEqual(self.export(self.study), self.export("study.db"))
        self.assertIn("4 runs", self.yosida("study", "list", self.study))
        self.yosida("report", self.study)
        self.assertIn(self._testMethodName, (self.folder / f"{self._testMethodName}.html").read_text())
        self.assertIn("removed 2 runs", self.yosida("study", "prune", self.study, "--method", "hoag"))
        self.assertIn("2 runs were there, 2 runs were done now", self.compare(self.study))

    def test_copies_go_both_ways(self):
        self.compare("study.db")
        self.assertIn("4 runs copied, 0 there before", self.yosida("study", "copy", "study.db", self.study))
        self.assertIn("0 runs copied, 4 there before", self.yosida("study", "copy", "study.db", self.study))
        self.yosida("study", "copy", self.study, "back.db")
        self.assertEqual(self.export("back.db"), self.export("study.db"))
        self.assertIn("4 runs were there", self.compare("back.db"))
        self.yosida("study", "copy", self.study, "study.db")
        self.yosida("study", "copy", "nowhere.db", self.study, code=2)
        self.yosida("study", "copy", "study.db", "study.db", code=2)

    def test_messages_name_the_place_and_no_password(self):
        secret = self.study.replace("yosida@", "yosida:secret@", 1)
        text = self.compare(secret)
        text += self.yosida("study", "list", secret) + self.yosida("study", "show", secret, "0000", code=2)
        text += SERVER.sql(f"SELECT command FROM {self._testMethodName}.session")
        self.assertNotIn("secret", text)
        self.assertIn(f"--study 'postgresql://yosida@/postgres?host=", text)
        self.assertIn("must be a name", self.yosida("study", "list", SERVER.uri + "&study=a-b", code=2))
        self.assertIn("has no study", self.yosida("study", "list", SERVER.uri + "&study=nothing", code=2))
        self.assertIn("cannot be opened", self.yosida("study", "list", "postgresql://yosida@/no?host=/nowhere", code=2))

    def test_a_reader_with_no_other_right_suffices_and_stops_nobody(self):
        self.compare(self.study)
        name = self._testMethodName
        SERVER.sql(f"CREATE ROLE looker LOGIN; GRANT USAGE ON SCHEMA {name} TO looker; "
                   f"GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO looker")
        reader = self.study.replace("yosida@", "looker@", 1)
        self.assertEqual(self.export(reader), self.export(self.study))
        self.yosida("study", "prune", reader, "--method", "hoag", code=2)
        dashboard = subprocess.Popen([YOSIDA, "dashboard", reader, "--port", "0"], stdout=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(dashboard.communicate)
        self.addCleanup(dashboard.kill)
        address = dashboard.stdout.readline().split("grows: ")[1].split()[0]
        with urllib.request.urlopen(address, timeout=30) as page:
            self.assertIn(b"<html", page.read())
        # It holds no lock between two looks, not even one of a table that is only read.
        locks = SERVER.sql("SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) "
                           "WHERE usename = 'looker' AND locktype = 'relation'")
        self.assertEqual(locks.strip(), "0")
        self.yosida("study", "prune", self.study, "--method", "hoag")
        self.assertIn("2 runs were done now", self.compare(self.study))

    def test_a_server_that_goes_away_and_comes_back(self):
        reference = self.folder / "reference.db"
        subprocess.run([TOOL, "run", str(reference), "40", "1", "1"], stdout=subprocess.DEVNULL, check=True, timeout=120)
        process = subprocess.Popen([TOOL, "run", self.study, "40", "2", "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   encoding="utf-8")
        time.sleep(0.7)
        SERVER.crash()
        SERVER.start()
        output, errors = process.communicate(timeout=150)
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("done 40 here", output)
        self.assertEqual(self.export(self.study), self.export(reference))


if __name__ == "__main__":
    unittest.main()
