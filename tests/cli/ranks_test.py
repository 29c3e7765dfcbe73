"""Processes that share rows (mpirun): the same bits on any number of them, one message of a failure, checkpoints.

A longer form kills processes at more random moments: YOSIDA_KILLS=100 python3 tests/cli/ranks_test.py Killed
"""
import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

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

    def long_run(self, *more, iterations=60):
        return ["tune", "--quiet", "--train", "x.npy", "--train-target", "x-y.npy", "--model", "logistic", "--method", "hoag",
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
    def test_same_bits_on_any_number(self):
        self.write_rows(46_000, 3)  # 34 500 to train on: from 32 768 on rows are shared
        x = ["--train", "x.npy", "--train-target", "x-y.npy"]
        for more, numbers in ((["--model", "logistic", "--method", "hoag", "--max-iterations", 5], [1, 2, 3, 4, 7]),
                              (["--model", "logistic"], [3]), (["--model", "ridge", "--folds", 3], [2]),
                              (["--model", "lasso", "--max-iterations", 2], [3]),
                              (["--model", "softmax", "--max-iterations", 2], [2])):
            alone = self.answer(0, *x, *more)
            for ranks in numbers:
                self.assertEqual(self.answer(ranks, *x, *more), alone, f"{ranks} ranks, {more}")

    def test_text_files(self):
        x, y = self.write_rows(44_000, 3)
        np.savetxt(self.folder / "rows.csv", np.column_stack([x, y]), delimiter=",", fmt="%.6f", header="a,b,c,y", comments="")
        with open(self.folder / "rows.svm", "w", encoding="utf-8") as file:
            for row, target in zip(x, y):
                file.write(f"{int(target)} 1:{row[0]:.5f} 3:{row[2]:.5f}\n")
        for data in (["rows.csv", "--target", "y"], ["rows.svm"]):
            run = ["--train", *data, "--model", "logistic", "--method", "hoag", "--max-iterations", 3]
            self.assertEqual(self.answer(3, *run), self.answer(0, *run), data)

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

    def test_one_message_where_all_are_wrong(self):
        _, said = self.run_on(3, "tune", "--train", "nothing.csv", "--target", "y", code=2)
        self.assertEqual(said.count("there is no such file"), 1, said)
        _, said = self.run_on(2, "tune", "--nonsense", code=2)
        self.assertEqual(said.count("nonsense"), 1, said)

    def test_silent_process_ends_the_job(self):
        self.write_rows(60_000, 8)
        process = self.start(3, *self.long_run(iterations=100_000))
        pids = self.processes_of(process, 3)
        time.sleep(1.0)
        os.kill(pids[1], signal.SIGSTOP)
        begin = time.monotonic()
        _, said = process.communicate(timeout=LIMIT_SECONDS)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertNotEqual(process.returncode, 0)
        self.assertRegex(said, r"yosida: rank \d \(\S+, process \d+\) has not answered for 20 seconds")
        self.assertIn(f"process {pids[1]}", said)


@unittest.skipUnless(MPIRUN, "there is no mpirun")
class Killed(Ranks):
    """kill -9 of one process at random moments; the same command on another number of ranks goes on."""

    def test_goes_on_to_the_same_bits(self):
        self.write_rows(60_000, 8)
        arguments = self.long_run("--json", "result.json", "--save", "model.json")
        self.run_on(0, *arguments)
        alone = self.result()
        draw = random.Random(3)
        killed = 0
        for attempt in range(KILLS + 1):
            ranks = [2, 3, 4, 1][attempt % 4]
            process = self.start(ranks, *arguments, "--checkpoint", "run.checkpoint")
            if attempt < KILLS:
                pids = self.processes_of(process, ranks)
                time.sleep(draw.uniform(0.0, 2.0))
                try:
                    os.kill(draw.choice(pids), signal.SIGKILL)
                except ProcessLookupError:  # it was done before
                    pass
            _, said = process.communicate(timeout=LIMIT_SECONDS)
            killed += process.returncode != 0
            if process.returncode != 0:
                self.assertIn("signal 9", said)
        self.assertEqual(process.returncode, 0, said)
        self.assertEqual(self.result(), alone)
        self.assertGreater(killed, 0)

    def test_warning_signal(self):
        self.write_rows(60_000, 8)
        files = ["--json", "result.json", "--save", "model.json"]
        process = self.start(2, *self.long_run(*files, "--checkpoint", "run.checkpoint", iterations=100_000))
        self.processes_of(process, 2)
        while not (self.folder / "run.checkpoint").exists():
            time.sleep(0.05)
        time.sleep(1.5)
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
