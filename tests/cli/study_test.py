"""yosida study: list, show, export, prune."""
import copy
import csv
import hashlib
import io
import json
import os
import pathlib
import resource
import sqlite3
import subprocess
import unittest
import zlib

from yosida_cli import Cli, strict_json

# A program of the tests that stores given records by the library.
TOOL = os.environ["STUDY_TOOL"]


def point(iteration, validation, lambdas=(0.5,)):
    return {"iteration": iteration, "lambda": list(lambdas), "validation": validation, "seconds": 0.25 * iteration}


def run(method="sho", seed=0, status="converged", validation=0.1 + 0.2, lambdas=(-1.5,), **more):
    """A record; what is decimal in it must come back to the last digit."""
    record = {"method": method, "seed": seed, "spec": {"method": method, "seed": seed, "budget": {"gradients": 100}},
              "status": status,
              "outcome": {"message": "done, \"well\"", "iterations": 3, "best_iteration": 2,
                          "best": {"lambda": list(lambdas), "loss": {"train": 1e-300, "validation": 0.25, "test": None}},
                          "final": {"lambda": list(lambdas), "loss": {"train": 1 / 3, "validation": validation, "test": None}},
                          "work": {"train_gradients": 12, "paper_count": 20, "gradient_equivalents": 20.5}},
              "program": "0.1.0", "data_sha256": "d" * 64, "seconds": 0.5, "finished": "2026-01-31T12:00:00Z",
              "trace": [point(0, 1.0, lambdas), point(1, 0.25, lambdas), point(2, validation, lambdas)]}
    record.update(more)
    return record


def failed(**more):
    return run(status="failed", outcome={"error": "out of memory"}, trace=[], **more)


def key(record):
    return hashlib.sha256(json.dumps(record["spec"], separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()


class Study(Cli):
    file = "study.db"

    def fill(self, *records, file=None):
        self.write("records.json", json.dumps(records))
        subprocess.run([TOOL, "fill", file or self.file, "records.json"], cwd=self.folder, check=True, timeout=60)
        (self.folder / "records.json").unlink()

    def study(self, command, *arguments, code=0):
        return self.yosida("study", command, self.file, *arguments, code=code).stdout

    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.study("export", *arguments))))

    def count(self):
        database = sqlite3.connect(self.folder / self.file)
        try:
            return database.execute("SELECT count(*) FROM run").fetchone()[0]
        finally:
            database.close()


class List(Study):
    def test_one_line_for_each_run_and_a_summary(self):
        runs = [run("sho", 1), run("my-hpo:epsilon=1e-6", 10), run("my-hpo:epsilon=1e-6", 9), failed(method="sho", seed=2)]
        self.fill(*runs)
        lines = self.study("list").splitlines()
        self.assertEqual(lines[0].split(),
                         ["key", "method", "seed", "status", "validation", "lambda", "work", "seconds", "finished", "data", "model"])
        self.assertEqual([line.split()[:9] for line in lines[1:5]], [
            [key(runs[2])[:8], "my-hpo:epsilon=1e-6", "9", "converged", "0.3", "-1.5", "20.5", "0.5", "2026-01-31T12:00:00Z"],
            [key(runs[1])[:8], "my-hpo:epsilon=1e-6", "10", "converged", "0.3", "-1.5", "20.5", "0.5", "2026-01-31T12:00:00Z"],
            [key(runs[0])[:8], "sho", "1", "converged", "0.3", "-1.5", "20.5", "0.5", "2026-01-31T12:00:00Z"],
            [key(runs[3])[:8], "sho", "2", "failed", "-", "-", "-", "0.5", "2026-01-31T12:00:00Z"]])
        self.assertRegex(lines[-1], r"^4 runs \(3 converged, 1 failed\), 2 methods, 4 seeds; study.db: [\d.]+ KiB$")

    def test_data_and_model_stand_in_each_line(self):
        self.yosida("compare", "--data", "spectra", "--methods", "my-hpo", "--seeds", 1, "--quiet", "--study", self.file)
        self.write("x.csv", "y,a,b\n" + "".join(f"{i % 2},{(i * 7) % 11 + i % 2},{i % 5}\n" for i in range(60)))
        self.yosida("compare", "--train", "x.csv", "--target", "y", "--model", "logistic", "--methods", "my-hpo", "--seeds", 1,
                    "--quiet", "--study", self.file)
        lines = self.study("list").splitlines()
        self.assertEqual(lines[0].split()[-2:], ["data", "model"])
        self.assertCountEqual([line.split()[-2:] for line in lines[1:3]], [["spectra", "ridge"], ["x.csv", "logistic"]])

    def test_filters(self):
        self.fill(run("sho", 1), run("sho:alpha=1", 1), run("sho-code", 1), run("sho", 2), failed(seed=3))
        for arguments, count in [(["--method", "sho"], 4), (["--method", "sho:alpha=1"], 1), (["--seed", 1], 3),
                                 (["--status", "failed"], 1), (["--method", "sho", "--seed", 1], 2), (["--seed", 77], 0)]:
            with self.subTest(arguments):
                self.assertRegex(self.study("list", *arguments).splitlines()[-1], rf"^{count} runs?\b.* match; ")

    def test_every_status_that_is_stored(self):
        self.fill(run(status="exhausted"), failed(seed=1))
        self.assertRegex(self.study("list", "--status", "exhausted").splitlines()[-1], "^1 run ")
        self.assertRegex(self.study("prune", "--status", "exhausted", "--dry-run"), "would remove 1 run\n$")
        for status in ["converged", "iteration_limit", "work_limit", "time_limit", "diverged"]:
            self.study("list", "--status", status)
        self.refused("study", "list", self.file, "--status", "stopped", names=["--status", "stopped"])

    def test_many_lambdas(self):
        self.fill(run(lambdas=[0.25, 1, 2]))
        self.assertIn("0.25 … (3)", self.study("list"))

    def test_names_may_hold_anything_and_steer_no_terminal(self):
        name = "ein größeres λ\n\x1b[2J\x7f\x85"
        self.fill(run(name))
        lines = self.study("list").splitlines()
        self.assertEqual(len(lines), 4)
        self.assertIn(r"ein größeres λ\x0a\x1b[2J\x7f\xc2\x85", lines[1])
        # The columns stand under each other, whatever the bytes of a letter.
        self.assertEqual(lines[1].index("converged"), lines[0].index("status"))
        self.assertNotIn("\x1b", self.study("show", key(run(name))[:8]))
        self.assertEqual(self.rows()[0]["method"], name)

    def test_empty_study(self):
        self.fill()
        self.assertRegex(self.study("list"), r"^0 runs, 0 methods, 0 seeds; ")

    def test_leaves_the_file_alone(self):
        self.fill(run())
        before = self.files()
        for command in [["list"], ["show", key(run())], ["export"]]:
            self.study(*command)
        self.assertEqual(self.files(), before)


class Show(Study):
    def test_everything(self):
        record = run("sho:alpha=0.05", 7)
        self.fill(record, run("other"))
        text = self.study("show", key(record)[:10])
        for line in [f"run: {key(record)}", "method: sho:alpha=0.05", "seed: 7", "status: converged", "seconds: 0.5",
                     "finished: 2026-01-31T12:00:00Z", "program: 0.1.0", "data sha256: " + "d" * 64, "trace: 3 points",
                     "  first: iteration 0, validation 1, lambda -1.5", "  best: iteration 1, validation 0.25, lambda -1.5",
                     "  last: iteration 2, validation 0.3, lambda -1.5"]:
            self.assertIn(line, text.splitlines())
        spec, outcome = text.split("\nspec\n")[1].split("\n\ntrace")[0].split("\n\noutcome\n")
        self.assertEqual(strict_json(spec), record["spec"])
        self.assertEqual(strict_json(outcome), record["outcome"])
        self.assertIn('\n  "final": {\n    "lambda": [', outcome)
        # Loss 1, 0.25, 0.3 on a logarithmic scale.
        self.assertEqual(text.splitlines()[-1], "  █▁▂")

    def test_a_failed_run(self):
        self.fill(failed())
        text = self.study("show", key(failed()))
        self.assertIn("out of memory", text)
        self.assertIn("trace: none", text)

    def test_trace(self):
        self.fill(run(lambdas=[0.1, 0.7]))
        rows = list(csv.DictReader(io.StringIO(self.study("show", key(run()), "--trace"))))
        self.assertEqual([row["iteration"] for row in rows], ["0", "1", "2"])
        self.assertEqual([float(row["validation"]) for row in rows], [1.0, 0.25, 0.1 + 0.2])
        self.assertEqual([(float(row["lambda.0"]), float(row["lambda.1"])) for row in rows], [(0.1, 0.7)] * 3)
        self.assertEqual({row["train"] for row in rows}, {""})

    def test_no_such_run_and_several(self):
        runs = [run(seed=seed) for seed in range(40)]
        self.fill(*runs)
        self.refused("study", "show", self.file, "0123456789abcdef", names=[self.file, "0123456789abcdef"])
        self.refused("study", "show", self.file, "no key", names=["no key"])
        first = key(runs[0])[0]
        same = [key(record) for record in runs if key(record)[0] == first]
        message = self.refused("study", "show", self.file, first, names=["several"])
        self.assertGreaterEqual(sum(each in message for each in same), 2)


class Export(Study):
    def test_csv(self):
        records = [run("sho", 3), failed(method="sho", seed=1)]
        self.fill(*records)
        rows = self.rows()
        self.assertEqual([row["key"] for row in rows], [key(records[1]), key(records[0])])
        header = list(rows[0])
        self.assertEqual(header[:4], ["key", "method", "seed", "status"])
        self.assertEqual(header[-4:], ["program", "data_sha256", "seconds", "finished"])
        self.assertEqual(header[4:-4], sorted(header[4:-4]))
        error, done = rows
        self.assertEqual((error["error"], error["status"], error["final.loss.validation"]), ("out of memory", "failed", ""))
        self.assertEqual(float(done["final.loss.validation"]), 0.1 + 0.2)
        self.assertEqual(float(done["final.loss.train"]), 1 / 3)
        self.assertEqual(float(done["best.loss.train"]), 1e-300)
        self.assertEqual((done["best.lambda"], done["work.paper_count"], done["final.loss.test"]), ("-1.5", "20", ""))
        self.assertEqual((done["spec.budget.gradients"], done["message"]), ("100", "done, \"well\""))
        self.assertEqual((done["seconds"], done["finished"]), ("0.5", "2026-01-31T12:00:00Z"))

    def test_many_lambdas_have_a_column_each_in_their_order(self):
        self.fill(run(lambdas=[0.5 * j for j in range(12)]), run(seed=1))
        rows = self.rows()
        columns = [name for name in rows[0] if name.startswith("final.lambda")]
        self.assertEqual(columns, ["final.lambda", *(f"final.lambda.{j}" for j in range(12))])
        self.assertEqual((rows[0]["final.lambda.11"], rows[1]["final.lambda.11"], rows[1]["final.lambda"]), ("5.5", "", "-1.5"))

    def test_many_columns_take_no_longer_than_their_values(self):
        self.fill(*(run(seed=seed, lambdas=[0.5 * j for j in range(1500)]) for seed in range(10)))

        def seconds(*arguments):
            """Of the processor, at best: others use the machine too."""
            times = []
            for _ in range(3):
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                self.study("export", *arguments)
                times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
            return min(times)

        # The same values in another form. About as long; 30 times where each value looks for its column by name.
        self.assertLess(seconds(), 8 * max(seconds("--format", "json"), 0.01))

    def test_json(self):
        records = [run("b", 2**64 - 1), run("a\n", 5), run("b", 3)]
        self.fill(*records)
        exported = strict_json(self.study("export", "--format", "json"))
        self.assertEqual([each["method"] for each in exported], ["a\n", "b", "b"])
        self.assertEqual([each["seed"] for each in exported], [5, 3, 2**64 - 1])
        for each, record in zip(exported, [records[1], records[2], records[0]]):
            self.assertEqual(each, {"key": key(record), **{name: record[name] for name in record if name != "trace"}})

    def test_traces(self):
        self.fill(run(seed=1), run(seed=2, lambdas=[1, 2]), failed(seed=3))
        rows = self.rows("--traces")
        self.assertEqual([(row["seed"], row["iteration"]) for row in rows],
                         [(seed, iteration) for seed in "12" for iteration in "012"])
        self.assertEqual([(row["lambda.0"], row["lambda.1"]) for row in rows], [("-1.5", "")] * 3 + [("1.0", "2.0")] * 3)
        self.assertEqual([float(row["seconds"]) for row in rows], [0, 0.25, 0.5] * 2)
        one, two, none = strict_json(self.study("export", "--format", "json", "--traces"))
        self.assertEqual(one["trace"]["validation"], [1.0, 0.25, 0.1 + 0.2])
        self.assertEqual(one["trace"]["train"], [None] * 3)
        self.assertEqual(two["trace"]["lambda"], [[1, 2]] * 3)
        self.assertEqual(none["trace"]["iteration"], [])

    def test_without_times_equal_studies_give_equal_files(self):
        records = [run(method, seed) for method in ["sho", "hoag"] for seed in range(3)]
        later = copy.deepcopy(records[::-1])
        for number, record in enumerate(later):
            record.update(seconds=10.0 + number, finished="2027-01-01T00:00:00Z")
            for each in record["trace"]:
                each["seconds"] += 1.0
        self.fill(*records)
        self.fill(*later, file="later.db")
        for arguments in [["--format", "csv"], ["--format", "json"], ["--traces"], ["--format", "json", "--traces"]]:
            with self.subTest(arguments):
                both = [self.yosida("study", "export", file, *arguments, "--without-times").stdout
                        for file in [self.file, "later.db"]]
                self.assertEqual(*both)
                self.assertNotIn("seconds", both[0])
                self.assertNotEqual(*(self.yosida("study", "export", file, *arguments).stdout
                                      for file in [self.file, "later.db"]))

    def test_to_a_file(self):
        self.fill(run())
        self.assertEqual(self.study("export", "--out", "runs.csv"), "")
        self.assertEqual(self.read("runs.csv"), self.study("export"))
        self.refused("study", "export", self.file, "--out", self.file, names=["--out", "overwrite"])
        self.refused("study", "export", self.file, "--out", "no/folder.csv", names=["--out", "no/folder.csv"])
        self.refused("study", "export", self.file, "--format", "xml", names=["--format", "xml"])
        (self.folder / "round").symlink_to("round")
        self.refused("study", "export", self.file, "--out", "round", names=["--out", "round"])
        if os.path.exists("/dev/full"):
            self.yosida("study", "export", self.file, "--out", "/dev/full", code=4)

    def test_no_file_of_the_user_is_used_on_the_way(self):
        self.file = "runs.part"
        self.fill(run())
        self.write("runs.part-2", "mine")
        before = self.files()
        self.study("export", "--out", "runs")
        self.assertEqual(self.files(), {**before, "runs": self.study("export").encode()})

    def test_no_file_of_the_study_is_overwritten(self):
        self.fill(run())
        (self.folder / "link.db").symlink_to(self.file)
        for file in [self.file, "link.db"]:
            for ending in ["", "-wal", "-shm", "-journal", "-claims"]:
                with self.subTest(file + ending):
                    self.refused("study", "export", file, "--out", self.file + ending, names=["--out", "overwrite"])

    def test_permissions_are_those_of_any_new_file_or_of_the_one_replaced(self):
        self.fill(run())
        previous = os.umask(0o027)
        self.addCleanup(os.umask, previous)
        self.study("export", "--out", "new.csv")
        self.assertEqual((self.folder / "new.csv").stat().st_mode & 0o777, 0o640)
        (self.folder / "new.csv").chmod(0o604)
        self.study("export", "--out", "new.csv", "--format", "json")
        self.assertEqual((self.folder / "new.csv").stat().st_mode & 0o777, 0o604)

    def test_a_link_stays_and_its_target_is_replaced(self):
        self.fill(run())
        (self.folder / "folder").mkdir()
        for target, there in [("folder/old.csv", True), ("folder/new.csv", False)]:
            with self.subTest(target):
                if there:
                    self.write(target, "old")
                link = self.folder / f"{pathlib.Path(target).stem}.link"
                link.symlink_to(target)
                self.study("export", "--out", link.name)
                self.assertEqual(os.readlink(link), target)
                self.assertEqual(self.read(target), self.study("export"))
        self.assertEqual(sorted(os.listdir(self.folder / "folder")), ["new.csv", "old.csv"])

    def test_to_a_descriptor(self):
        """As /dev/stdout is one: not that itself, which root would lose where this fails."""
        self.fill(run())
        (self.folder / "stdout").symlink_to("/proc/self/fd/1")
        with open(self.folder / "direct.csv", "w") as out:
            subprocess.run([os.environ["YOSIDA"], "study", "export", self.file, "--out", "stdout"],
                           cwd=self.folder, stdout=out, check=True, timeout=60)
        self.assertTrue((self.folder / "stdout").is_symlink())
        self.assertEqual(self.read("direct.csv"), self.study("export"))

    def test_empty_study(self):
        self.fill()
        self.assertEqual(self.study("export", "--format", "json"), "[]\n")
        self.assertEqual(self.study("export"), "key,method,seed,status,program,data_sha256,seconds,finished\n")

    def test_what_was_read_as_the_documents_name_it(self):
        self.write("train.csv", "y,a\n" + "".join(f"{2 * i % 7},{i}\n" for i in range(30)))
        self.yosida("compare", "--train", "train.csv", "--target", "y", "--methods", "sho", "--max-iterations", 2,
                    "--study", self.file, "--quiet")
        of_file = hashlib.sha256((self.folder / "train.csv").read_bytes()).hexdigest()
        row = self.rows()[0]
        self.assertEqual(row["spec.data.files.train"], of_file)
        self.assertEqual(row["data_sha256"], hashlib.sha256(f'{{"train":"{of_file}"}}'.encode()).hexdigest())

    def test_the_trace_by_python_alone(self):
        self.fill(run())
        database = sqlite3.connect(self.folder / self.file)
        self.addCleanup(database.close)
        blob, = database.execute("SELECT trace FROM run WHERE key LIKE ?", (key(run())[:8] + "%",)).fetchone()
        trace = json.loads(zlib.decompress(blob))
        self.assertEqual(trace["validation"], [1.0, 0.25, 0.1 + 0.2])


class Prune(Study):
    def setUp(self):
        super().setUp()
        self.runs = [run("sho", 1), run("sho:alpha=1", 2), run("hoag", 1, status="diverged"), failed(method="hoag", seed=2)]
        self.fill(*self.runs)

    def test_what_to_remove_must_be_said(self):
        self.refused("study", "prune", self.file, names=["--failed", "--method", "--key"])
        self.refused("study", "prune", self.file, "--dry-run", names=["--failed"])
        self.refused("study", "prune", self.file, "--status", "unknown", names=["--status", "unknown"])
        self.refused("study", "prune", self.file, "--key", "zz", names=["zz"])
        self.assertEqual(self.count(), 4)

    def test_failed(self):
        text = self.study("prune", "--failed")
        self.assertEqual(text, f"{key(self.runs[3])[:8]}  hoag  seed 2  failed\nremoved 1 run\n")
        self.assertEqual([row["status"] for row in self.rows()], ["diverged", "converged", "converged"])

    def test_filters_join(self):
        self.study("prune", "--method", "sho", "--seed", 2)
        self.assertEqual(self.count(), 3)
        self.study("prune", "--status", "diverged")
        self.assertEqual(self.count(), 2)
        self.assertEqual(self.study("prune", "--seed", 77), "removed 0 runs\n")
        self.study("prune", "--key", key(self.runs[0])[:8], "--key", key(self.runs[3])[:8])
        self.assertEqual(self.count(), 0)

    def test_dry_run(self):
        text = self.study("prune", "--method", "hoag", "--dry-run")
        self.assertRegex(text, r"would remove 2 runs\n$")
        self.assertEqual(self.count(), 4)

    def test_gives_back_the_space(self):
        self.fill(run("large", 0, outcome={"message": "x" * 1_000_000}))
        self.assertGreater((self.folder / self.file).stat().st_size, 1_000_000)
        self.study("prune", "--method", "large")
        self.assertLess((self.folder / self.file).stat().st_size, 100_000)
        self.assertEqual(list(self.files()), [self.file])


class Refusals(Study):
    commands = [["list"], ["show", "0"], ["export"], ["prune", "--failed"]]

    def test_what_is_no_study(self):
        self.write("text.csv", "a,b\n1,2\n" * 100)
        self.write("empty.db", "")
        (self.folder / "folder").mkdir()
        sqlite3.connect(self.folder / "other.db").executescript("CREATE TABLE x (y)")
        for command, *rest in self.commands:
            for file, words in [("missing.db", "no such file"), ("folder", "is a directory"), ("text.csv", "not a study"),
                                ("empty.db", "is empty"), ("other.db", "another program")]:
                with self.subTest(f"{command} {file}"):
                    self.refused("study", command, file, *rest, names=[file, words])

    def test_newer_schema(self):
        self.fill(run())
        database = sqlite3.connect(self.folder / self.file)
        database.execute("PRAGMA user_version = 3")
        database.close()
        for command, *rest in self.commands:
            self.refused("study", command, self.file, *rest,
                         names=[f"{self.file}: study of schema 3, this program knows up to 2; use a newer yosida"])

    def test_usage(self):
        self.refused("study", "lst", self.file, names=["lst", "did you mean list?"])
        self.refused("study", "list", names=["file"])
        self.refused("study", "list", self.file, "--seed", "x", names=["--seed"])
        self.refused("study", "prune", self.file, "--failed", "--status", "failed", names=["--status"])


if __name__ == "__main__":
    unittest.main()
