"""Processes that share rows (mpirun): the same bits on any number of them, one message of a failure, checkpoints.

A longer form kills processes at more random moments: YOSIDA_KILLS=100 python3 tests/cli/ranks_test.py Killed
"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from yosida_cli import BINARY, Cli, strict_json

MPIRUN = shutil.which("mpirun")
# Root may be who runs the tests, and there are fewer cores than processes.
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
           "OMPI_MCA_hwloc_base_binding_policy": "none"}
LIMIT_SECONDS = 100
KILLS = int(os.environ.get("YOSIDA_KILLS", "3"))


class Ranks(Cli):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, **ALLOWED, "XDG_CACHE_HOME": str(self.folder / "cache")}

    def command(self, ranks, *arguments):
        launcher = [MPIRUN, "-n", str(ranks)] if ranks else []
        return [*launcher, BINARY, *map(str, arguments)]

    def start(self, ranks, *arguments):
        return subprocess.Popen(self.command(ranks, *arguments), cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")

    def run_on(self, ranks, *arguments, code=0):
        process = self.start(ranks, *arguments)
        out, said = process.communicate(timeout=LIMIT_SECONDS)
        self.assertEqual(process.returncode, code, f"{ranks} ranks: {arguments}\n{out}\n{said}")
        return out, said

    def write_rows(self, rows, cols, name="x"):
        generator = np.random.default_rng(7)
        x = generator.normal(size=(rows, cols))
        y = (x @ np.linspace(1.0, -1.0, cols) + generator.logistic(size=rows) > 0).astype(float)
        np.save(self.folder / f"{name}.npy", x)
        np.save(self.folder / f"{name}-y.npy", y)
        return x, y

    def answer(self, ranks, *arguments):
        """All that a run has found: the bits of weights and losses, without its seconds."""
        out, said = self.run_on(ranks, "tune", "--quiet", "--json", "-", "--save", "model.json", *arguments)
        self.assertEqual(said, "")
        found = self.all_but_seconds(strict_json(out))
        model = self.read("model.json")
        (self.folder / "model.json").unlink()
        return json.dumps(found) + model

    def all_but_seconds(self, found):
        return {key: value for key, value in found.items() if "seconds" not in key}

    def long_run(self, *more, iterations=60, name="x"):
        return ["tune", "--quiet", "--train", f"{name}.npy", "--train-target", f"{name}-y.npy", "--model", "logistic", "--method", "hoag",
                "--lambda-per", "feature", "--max-iterations", iterations, *more]

    def processes_of(self, launcher, count):
        """Those that mpirun has started, once all of them run."""
        for _ in range(200):
            found = subprocess.run(["pgrep", "-P", str(launcher.pid)], stdout=subprocess.PIPE, encoding="utf-8", check=False)
            pids = [int(each) for each in found.stdout.split()]
            pids = [pid for pid in pids if os.path.exists(f"/proc/{pid}/exe") and
                    os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(shutil.which(BINARY) or BINARY)]
            if len(pids) == count:
                return pids
            time.sleep(0.05)
        return self.fail("mpirun has not started its processes")


@unittest.skipUnless(MPIRUN, "there is no mpirun")
class Shared(Ranks):
    # Every model, and every way to judge, weigh and penalise: what follows --model, and on how many it runs. Most of the rows judge
    # where they are 0.75 of all: those are shared then.
    OF_CLASSES = [("logistic --method hoag --max-iterations 5", [1, 2, 3, 4, 7]),
                  ("logistic --x minmax --penalty group-lasso --group one=0,1 --group two=2 --max-iterations 2", [4]),
                  ("logistic --x center --lambda-per feature --max-iterations 2 --no-intercept", [7]),
                  ("logistic --criterion loo --max-iterations 2", [2]), ("logistic --valid-fraction 0.75 --trust --max-iterations 2", [3]),
                  ("svm --x raw --penalty l1 --max-iterations 2", [3])]
    OF_THREE = [("softmax --max-iterations 2 --class-weights balanced", [2]),
                ("softmax --penalty elastic-net --lambda-per class --max-iterations 1", [3])]
    OF_NUMBERS = [("ridge --folds 4 --rule 1se --trust", [2]), ("ridge --criterion loo", [3]), ("ridge --criterion gcv --x difference", [2]),
                  ("ridge --folds 5 --repeats 2 --y standardize --float", [4]), ("ridge --valid-fraction 0.75 --trust", [7]),
                  ("lasso --max-iterations 2", [3]), ("elastic-net --max-iterations 2", [2]),
                  ("huber --y standardize --max-iterations 2 --unpenalised 1", [4]),
                  ("ridge --test-fraction 0.1 --refit --method random --max-iterations 3", [7])]

    def holds(self, data, settings):
        for setting, numbers in settings:
            run = [*data, "--model", *setting.split()]
            alone = self.answer(0, *run)
            for ranks in numbers:
                self.assertEqual(self.answer(ranks, *run), alone, f"{ranks} ranks, {setting}")

    def begin_silence(self):
        """Stops a process of a job. Returns what is called at last: others have ended the job then, with a message that names it."""
        self.write_rows(60_000, 8, "long")
        process = self.start(3, *self.long_run(iterations=100_000, name="long"))
        pids = self.processes_of(process, 3)
        time.sleep(1.0)
        os.kill(pids[1], signal.SIGSTOP)
        begin = time.monotonic()
        pool = ThreadPoolExecutor(1)
        ended = pool.submit(lambda: (process.communicate(timeout=LIMIT_SECONDS)[1], time.monotonic()))

        def check():
            said, end = ended.result()
            pool.shutdown()
            self.assertLess(end - begin, 30)
            self.assertNotEqual(process.returncode, 0)
            self.assertRegex(said, r"yosida: rank \d \(\S+, process \d+\) has not answered for 20 seconds")
            self.assertIn(f"process {pids[1]}", said)
        return check

    def test_same_bits_on_any_number_while_a_silent_process_ends_its_job(self):
        silence_is_noticed = self.begin_silence()  # nobody waits for the 20 seconds alone
        x, y = self.write_rows(46_000, 3)  # 34 500 to train on: from 32 768 on rows are shared
        for name, target, settings in (
                ("classes", y, self.OF_CLASSES), ("three", y + (x[:, 0] > 0), self.OF_THREE),
                ("numbers", x @ [1.0, 0.0, -1.0] + y, self.OF_NUMBERS),
                ("counts", np.floor(np.exp(0.3 * x[:, 0]) + y), [("poisson --max-iterations 2", [2])])):
            np.save(self.folder / f"{name}.npy", target)
            self.holds(["--train", "x.npy", "--train-target", f"{name}.npy"], settings)
        silence_is_noticed()

    def test_several_targets_are_refused(self):
        x, y = self.write_rows(40, 3)
        np.save(self.folder / "several.npy", np.column_stack([x[:, 0] + y, x[:, 1] - y]))
        _, said = self.run_on(2, "tune", "--train", "x.npy", "--targets", "several.npy", code=2)
        self.assertEqual(said.count("mpirun: does not go with several targets"), 1, said)

    def test_same_bits_with_columns_beside_the_features(self):
        x, y = self.write_rows(46_000, 2)
        rows = np.column_stack([x, y, np.arange(len(x)) % 4, np.arange(len(x)) // 3, 0.5 + (x[:, 0] > 0)])
        np.savetxt(self.folder / "rows.csv", rows, delimiter=",", fmt="%.6g", header="a,b,y,part,of,weight", comments="")
        data = ["--train", "rows.csv", "--target", "y"]
        self.holds([*data, "--ignore", "of", "--fold-column", "part", "--weights", "weight"], [("logistic --max-iterations 2", [3])])
        self.holds([*data, "--ignore", "part", "--group-rows", "of", "--weights", "weight"], [("logistic --max-iterations 2", [2])])

    def write_text(self, rows, target):
        """A CSV and a LIBSVM file of these rows."""
        x, y = self.write_rows(rows, 3)
        np.savetxt(self.folder / "rows.csv", np.column_stack([x, y]), delimiter=",", fmt="%.6f", header=f'"a",b,c,{target}', comments="")
        with open(self.folder / "rows.svm", "w", encoding="utf-8") as file:
            for row, label in zip(x, y):
                file.write(f"{int(label)} 1:{row[0]:.5f} 3:{row[2]:.5f}\n")

    def kept(self):
        return sorted(path.name for path in (self.folder / "cache").rglob("*.rows"))

    def test_text_files(self):
        self.write_text(44_000, "y")
        for data, numbers in ((["rows.csv", "--target", "y"], [1, 2, 3, 4, 7]), (["rows.svm"], [2, 7])):
            run = ["--train", *data, "--model", "logistic", "--method", "hoag", "--max-iterations", 3]
            alone = self.answer(0, *run)
            kept = None
            for ranks in numbers:
                self.assertEqual(self.answer(ranks, *run), alone, f"{ranks} ranks, {data}")
                # Each has kept its own pieces, and another number of ranks finds the same ones.
                self.assertTrue(ranks == 1 or len(self.kept()) > 1, self.kept())
                self.assertTrue(ranks == 1 or kept in (None, self.kept()), data)
                kept = self.kept() if ranks > 1 else None
            shutil.rmtree(self.folder / "cache", ignore_errors=True)

    def test_indices_from_zero_in_one_piece_alone(self):
        self.write_text(44_000, "y")
        with open(self.folder / "rows.svm", "a", encoding="utf-8") as file:
            file.write("1 0:0.25 3:1\n")
        run = ["--train", "rows.svm", "--model", "logistic", "--method", "hoag", "--max-iterations", 2]
        self.assertEqual(self.answer(3, *run), self.answer(0, *run))

    def test_shards_of_uneven_size(self):
        self.write_text(44_000, "y")
        header, *lines = self.read("rows.csv").splitlines(keepends=True)
        x, y = np.load(self.folder / "x.npy"), np.load(self.folder / "x-y.npy")
        for folder in ("text", "arrays", "targets"):
            (self.folder / folder).mkdir()
        cuts = [0, 10, 10, 30_000, 43_990, 44_000, 44_000]
        for i, (begin, end) in enumerate(zip(cuts, cuts[1:])):
            (self.folder / "text" / f"part-{2 * i + 1}.csv").write_text("".join([header, *lines[begin:end]]), encoding="utf-8")
            np.save(self.folder / "arrays" / f"part-{2 * i + 1}.npy", x[begin:end])
            np.save(self.folder / "targets" / f"part-{2 * i + 1}.npy", y[begin:end])
        (self.folder / "text" / "part-0.csv").write_text("", encoding="utf-8")
        run = ["--model", "logistic", "--method", "hoag", "--max-iterations", 3]
        text = self.answer(0, "--train", "rows.csv", "--target", "y", *run)
        for given in ("text", "text/part-*.csv", ",".join(f"text/part-{i}.csv" for i in (0, 1, 3, 5, 7, 9, 11))):
            same = text.replace('"rows.csv"', json.dumps(given))
            self.assertEqual(self.answer(0, "--train", given, "--target", "y", *run), same)
        for ranks in (2, 3):
            self.assertEqual(self.answer(ranks, "--train", "text", "--target", "y", *run), text.replace('"rows.csv"', '"text"'), ranks)
        arrays = ["--train", "arrays", "--train-target", "targets", *run]
        whole = self.answer(0, "--train", "x.npy", "--train-target", "x-y.npy", *run)
        whole = whole.replace('"x.npy"', '"arrays"').replace('"x-y.npy"', '"targets"')
        for ranks in (0, 2, 7):
            self.assertEqual(self.answer(ranks, *arrays), whole, ranks)
        np.save(self.folder / "targets" / "part-5.npy", y[:5])
        _, said = self.run_on(2, "tune", *arrays, code=2)
        self.assertIn("targets/part-5.npy: holds 5 rows but arrays/part-5.npy holds 29990", said)

    def test_one_message_where_a_line_is_bad(self):
        self.write_text(44_000, "y")
        lines = self.read("rows.csv").splitlines()
        for place, text, message in ((43_000, "1.5,2.5,oops,1", "rows.csv:43001: field 3"), (30_000, "", "rows.csv:30001: the line is blank"),
                                     (20_000, "1,2,3", "rows.csv:20001: expected 4 fields but found 3")):
            (self.folder / "rows.csv").write_text("\n".join([*lines[:place], text, *lines[place + 1:]]) + "\n", encoding="utf-8")
            _, said = self.run_on(3, "tune", "--train", "rows.csv", "--target", "y", "--model", "logistic", "--numeric", "a", code=2)
            self.assertEqual(said.count("yosida:"), 1, said)
            self.assertIn(message, said)

    def write_table(self, lines, name="all.csv", cuts=()):
        """The same lines as one file, and as shards p1.csv, p2.csv, …"""
        (self.folder / name).write_text("".join(lines), encoding="utf-8")
        for i, (begin, end) in enumerate(zip([1, *cuts], [*cuts, len(lines)])):
            (self.folder / f"p{i + 1}.csv").write_text("".join([lines[0], *lines[begin:end]]), encoding="utf-8")

    def test_text_of_all_rows_says_what_columns_are(self):
        """A level, a gap, a unit, a date or a decimal comma may stand in the share of one process alone."""
        draw = random.Random(11)
        lines = ["size;colour;day;price;open;note;kind\n"]
        for i in range(44_000):
            colour = "violet" if i == 43_990 else "" if i == 40_000 else draw.choice(["red", "green", "dark blue"])
            lines.append(f"{i % 17},{i % 7};{colour};2024-{1 + i % 12:02}-{1 + i % 28:02};{i % 91} kg;{'no' if i % 3 else 'yes'};"
                         f"row {i};{'ab'[draw.random() < 0.3 + i % 17 / 40]}\n")
        self.write_table(lines, cuts=(5, 5, 30_000))
        run = ["--target", "kind", "--model", "logistic", "--method", "hoag", "--max-iterations", 2]
        whole = self.answer(0, "--train", "all.csv", *run)
        self.assertIn("colour=violet", whole)
        for ranks in (2, 3, 4, 7):
            self.assertEqual(self.answer(ranks, "--train", "all.csv", *run), whole, ranks)
            # Pieces that each has read, and how: the next number of processes finds them.
            self.assertGreater(len(self.kept()), 3)
        shards = whole.replace('"all.csv"', '"p?.csv"')
        for ranks in (0, 3):
            self.assertEqual(self.answer(ranks, "--train", "p?.csv", *run), shards, ranks)
        self.assertEqual(*(self.run_on(ranks, "tune", "--train", "all.csv", *run)[0].split("certificate")[0].split(" s ")[0]
                           for ranks in (0, 2)))

    def test_test_rows_are_read_as_the_rows_to_train_on_were(self):
        draw = random.Random(5)
        lines = ["a,colour,y\n"] + [f"{draw.gauss(0, 1):.4f},{draw.choice('rgb')},{draw.random():.3f}\n" for _ in range(44_000)]
        self.write_table(lines, cuts=(43_000,))
        run = ["--train", "p1.csv", "--test", "p2.csv", "--target", "y", "--model", "ridge"]
        self.assertEqual(self.answer(3, *run), self.answer(0, *run))
        with open(self.folder / "p2.csv", "a", encoding="utf-8") as file:
            file.write("1,unseen,2\n")
        self.assertEqual(self.answer(2, *run), self.answer(0, *run))

    def test_what_is_wrong_with_a_column_is_said_once(self):
        lines = ["a,colour,y\n"] + [f"{i % 7}.5,{'rgb'[i % 3]},{i % 2}\n" for i in range(44_000)]
        for place, text, message in ((43_000, "oops,r,1\n", 'all.csv:43001: field 1 ("a") is "oops"'), (30_000, "1,r\n", "all.csv:30001: expected 3 fields"),
                                     (20_000, "\n", "all.csv:20001: the line is blank")):
            self.write_table([*lines[:place], text, *lines[place + 1:]])
            _, said = self.run_on(3, "tune", "--train", "all.csv", "--target", "y", "--model", "logistic", code=2)
            self.assertEqual(said.count("yosida:"), 1, said)
            self.assertIn(message, said)

    def test_refused_as_one_process_refuses_it(self):
        lines = ["a,b,y\n"] + [f"{i % 7}.5,{i % 5},{i % 2}\n" for i in range(44_000)]
        self.write_table(lines, cuts=(30_000,))
        other = ["b,a,y\n", *lines[30_000:]]
        for name, text, more in (("p2.csv", other, []), ("p2.csv", ["A title\n", lines[0], *lines[30_000:]], []), ("p2.csv", lines[30_000:], []),
                                 ("p2.csv", [line.replace(",", ";") for line in (lines[0], *lines[30_000:])], []),
                                 ("p?.csv", [], ["--max-memory", "900K"]), ("one.csv", lines[:1], [])):
            if text:
                (self.folder / name).write_text("".join(text), encoding="utf-8")
            run = ["tune", "--quiet", "--train", "one.csv" if name == "one.csv" else "p1.csv,p2.csv", "--target", "y", "--model", "logistic", *more]
            _, alone = self.run_on(0, *run, code=2)
            _, said = self.run_on(3, *run, code=2)
            self.assertIn(alone.strip(), said)

    def test_a_folder_for_kept_files_that_is_not_shared(self):
        """Each machine may have one of its own: then each process reads all of the text."""
        self.write_text(44_000, "y")
        own = self.folder / "own.sh"
        own.write_text('#!/bin/sh\nXDG_CACHE_HOME="$PWD/cache-$OMPI_COMM_WORLD_RANK" exec "$@"\n', encoding="utf-8")
        own.chmod(0o755)
        run = ["tune", "--quiet", "--train", "rows.csv", "--target", "y", "--model", "logistic", "--method", "hoag", "--max-iterations", 2,
               "--save", "model.json"]
        self.run_on(0, *run)
        alone = self.read("model.json")
        command = self.command(3, *run)
        command.insert(3, str(own))
        done = subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", timeout=LIMIT_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("model.json"), alone)

    def test_runs_of_a_study_are_spread(self):
        out, said = self.run_on(3, "compare", "--data", "spectra", "--methods", "grid,random", "--seeds", 6, "--study", "runs.study",
                                "--budget-gradients", 300)
        # A process that begins late finds runs that another has already done: which of the three counts they are in depends on time.
        ending = next(line for line in out.splitlines() if line.startswith("runs.study: "))
        self.assertEqual(sum(int(each) for each in re.findall(r"(\d+) runs?\b", ending)), 12, ending)
        self.run_on(0, "compare", "--data", "spectra", "--methods", "grid,random", "--seeds", 6, "--study", "one.study",
                    "--budget-gradients", 300)
        exports = [self.run_on(0, "study", "export", study, "--format", "json", "--traces", "--without-times")[0]
                   for study in ("runs.study", "one.study")]
        self.assertEqual(*exports)
        _, said = self.run_on(2, "compare", "--data", "spectra", "--methods", "grid", "--seeds", 2, code=2)
        self.assertEqual(said.count("--study: several processes"), 1, said)

    @unittest.skipUnless(shutil.which("mpicxx"), "there is no compiler of MPI")
    def test_slow_network_costs_what_it_says_and_changes_no_bit(self):
        """Each exchange waits for the rounds of its messages; there are two for each pass, however many processes there are."""
        library = self.folder / "slow_network.so"
        source = pathlib.Path(__file__).resolve().parent / "slow_network.cpp"
        subprocess.run(["mpicxx", "-std=c++20", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        self.write_rows(46_000, 3)
        run = ["tune", "--quiet", "--train", "x.npy", "--train-target", "x-y.npy", "--model", "logistic", "--method", "hoag",
               "--max-iterations", 2, "--save", "model.json"]
        self.run_on(0, *run)
        alone = self.read("model.json")
        counts = set()
        for ranks, rounds in ((2, 1), (4, 2)):
            self.environment.update({"OMPI_MCA_mca_base_env_list": f"LD_PRELOAD={library};YOSIDA_NETWORK=0.002"})
            _, said = self.run_on(ranks, *run)
            self.assertEqual(self.read("model.json"), alone)
            exchanges, inside = re.search(r"network: (\d+) exchanges of \d+ bytes in ([\d.]+) seconds", said).groups()
            counts.add(int(exchanges))
            self.assertGreaterEqual(float(inside), int(exchanges) * 0.002 * rounds)
        self.assertEqual(len(counts), 1, counts)

    def test_prints_once(self):
        self.write_rows(40_000, 3)
        out, said = self.run_on(3, "tune", "--train", "x.npy", "--train-target", "x-y.npy", "--model", "logistic")
        self.assertEqual(out.count("certificate"), 1, out)
        self.assertEqual(said, "")

    def test_one_message_where_rows_of_one_are_bad(self):
        x, _ = self.write_rows(40_000, 4)
        x[39_000, 2] = np.nan  # a row of the last process
        np.save(self.folder / "x.npy", x)
        _, said = self.run_on(3, "tune", "--train", "x.npy", "--train-target", "x-y.npy", "--json", "result.json", code=2)
        self.assertEqual(said.count("yosida:"), 1, said)
        self.assertIn("x.npy: row 39000", said)
        self.assertFalse((self.folder / "result.json").exists())

    def test_a_process_without_memory_is_named(self):
        self.write_rows(200_000, 100)
        limited = self.folder / "limited.sh"
        limited.write_text('#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] && ulimit -v 450000\nexec "$@"\n', encoding="utf-8")
        limited.chmod(0o755)
        command = self.command(3, "tune", "--train", "x.npy", "--train-target", "x-y.npy", "--model", "logistic", "--threads", "1")
        command.insert(3, str(limited))
        done = subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", timeout=30, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("yosida:"), 1, done.stderr)
        self.assertRegex(done.stderr, r"yosida: rank 1 \(\S+, process \d+\): .*there is not enough memory")

    def test_one_message_where_all_are_wrong(self):
        _, said = self.run_on(3, "tune", "--train", "nothing.csv", "--target", "y", code=2)
        self.assertEqual(said.count("there is no such file"), 1, said)
        _, said = self.run_on(2, "tune", "--nonsense", code=2)
        self.assertEqual(said.count("nonsense"), 1, said)


@unittest.skipUnless(MPIRUN, "there is no mpirun")
class Killed(Ranks):
    """kill -9 of one process at random moments; the same command on another number of ranks goes on."""

    def test_goes_on_to_the_same_bits(self):
        self.write_rows(60_000, 8)
        arguments = self.long_run("--json", "result.json", "--save", "model.json")
        self.run_on(0, *arguments)
        alone = self.result()
        draw = random.Random(3)
        killed = attempts = ended = 0
        while killed < KILLS or ended == 0:
            ranks = [2, 3, 4, 1][attempts % 4]
            attempts += 1
            process = self.start(ranks, *arguments, "--checkpoint", "run.checkpoint")
            if killed < KILLS:
                pids = self.processes_of(process, ranks)
                time.sleep(draw.uniform(0.0, 1.0))
                try:
                    os.kill(draw.choice(pids), signal.SIGKILL)
                except ProcessLookupError:  # it was done before
                    pass
            _, said = process.communicate(timeout=LIMIT_SECONDS)
            if process.returncode != 0:
                killed += 1
                self.assertIn("signal 9", said)
                continue
            # It came to its end, after some kills: the next one begins anew.
            ended += 1
            self.assertEqual(self.result(), alone)
            for name in ("run.checkpoint", "result.json", "model.json"):
                (self.folder / name).unlink()
        print(f"{killed} runs were ended by a kill, {ended} came to their end, to the same bits")

    def test_warning_signal(self):
        self.write_rows(60_000, 8)
        files = ["--json", "result.json", "--save", "model.json"]
        process = self.start(2, *self.long_run(*files, "--checkpoint", "run.checkpoint", iterations=100_000))
        self.processes_of(process, 2)
        checkpoint = self.folder / "run.checkpoint"
        while not checkpoint.exists():
            time.sleep(0.05)
        first = checkpoint.stat().st_mtime_ns  # what it holds may be of a time before the first iterate
        while checkpoint.stat().st_mtime_ns == first:
            time.sleep(0.05)
        process.send_signal(signal.SIGUSR1)  # mpirun hands it on
        _, said = process.communicate(timeout=LIMIT_SECONDS)
        self.assertEqual(process.returncode, 0, said)
        stopped = strict_json(self.read("result.json"))
        self.assertEqual(stopped["status"], "stopped")
        further = self.long_run(*files, iterations=stopped["iterations"] + 10)
        self.run_on(3, *further, "--checkpoint", "run.checkpoint")
        together = self.result()
        self.run_on(0, *further)
        self.assertEqual(together, self.result())

    def test_checkpoint_of_another_run(self):
        self.write_rows(40_000, 3)
        run = ["tune", "--quiet", "--train", "x.npy", "--train-target", "x-y.npy", "--checkpoint", "run.checkpoint"]
        self.run_on(0, *run, "--model", "logistic")
        _, said = self.run_on(2, *run, "--model", "logistic", "--seed", 5, code=2)
        self.assertIn("run.checkpoint: is the checkpoint of another run", said)
        whole = (self.folder / "run.checkpoint").read_bytes()
        (self.folder / "run.checkpoint").write_bytes(whole[:-20])
        _, said = self.run_on(0, *run, "--model", "logistic", code=2)
        self.assertIn("run.checkpoint: the checkpoint is damaged", said)

    def result(self):
        return json.dumps(self.all_but_seconds(strict_json(self.read("result.json")))) + self.read("model.json")


if __name__ == "__main__":
    unittest.main()
