#!/usr/bin/env python3
"""Kills a study again and again, starts it again each time, and compares the end with a study that was never killed.

    kill_test.py --kills 200 --fault FAULT_LIBRARY --yosida YOSIDA -- COMMAND ... {study} ...

COMMAND works on the study at {study} until it is done. A quarter of the kills come inside a commit (in the middle of
a write to the -wal file, or in place of its sync), a tenth inside a write to the study itself (a checkpoint, or
its making), and a fifth are power cuts: of what was written and not synced, each write is on the disk or is not. These
come by a library that is loaded into the process; the others come at random moments.

After every kill the file must be whole, and hold every run that it held before or that COMMAND had said to be stored
(by lines "stored N"; a command that prints none is not held to that). At the end the exports must be equal to the
last byte.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TIMEOUT_SECONDS = 300


class Check(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Check(message)


def runs_in(study):
    """How many runs the file holds; it must be whole, with keys that differ. Looks at a copy, as the killed left it."""
    if not study.exists() or study.stat().st_size == 0:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for ending in ["", "-wal", "-journal"]:
            side = pathlib.Path(str(study) + ending)
            if side.exists():
                shutil.copy(side, pathlib.Path(folder) / ("copy" + ending))
        database = sqlite3.connect(pathlib.Path(folder) / "copy")
        try:
            require(database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "integrity_check")
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'run'").fetchone():
                return 0
            count, keys = database.execute("SELECT count(*), count(DISTINCT key) FROM run").fetchone()
            require(count == keys, f"{count} runs with {keys} keys")
            return count
        finally:
            database.close()


class Killer:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.killed = {"random": 0, "commit": 0, "file": 0, "power": 0}
        self.seconds = 1.0  # that a study takes without kills

    def command(self, study):
        return [word.replace("{study}", str(study)) for word in self.options.command]

    def export(self, study):
        done = subprocess.run([self.options.yosida, "study", "export", str(study), "--format", "json", "--traces",
                               "--without-times"], stdout=subprocess.PIPE, timeout=TIMEOUT_SECONDS, check=True)
        return done.stdout

    def reference(self, study):
        start = time.monotonic()
        subprocess.run(self.command(study), stdout=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS, check=True)
        self.seconds = time.monotonic() - start
        return self.export(study), runs_in(study)

    def fault(self, plan, study):
        """Where inside the writing the kill is to come, in the words of the library."""
        if plan == "file":
            return f"kill write {study.name} {self.random.randint(1, 8)}"
        kind = self.random.choice(["write", "write", "sync"])
        if plan == "power":
            ending, most = self.random.choice([("-wal", 40), ("-wal", 40), (study.name, 4)])
            return f"power {kind} {ending} {self.random.randint(1, most)}"
        return f"kill {kind} -wal {self.random.randint(1, 60 if kind == 'write' else 20)}"

    def start(self, study, plan):
        """One start of the command; True where it came to its end."""
        before = runs_in(study)
        environment = dict(os.environ)
        if plan in ["commit", "file", "power"]:
            environment["YOSIDA_FAULT"] = self.fault(plan, study)
            environment["LD_PRELOAD"] = self.options.fault
            environment["ASAN_OPTIONS"] = "verify_asan_link_order=0"
        process = subprocess.Popen(self.command(study), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                                   encoding="utf-8")
        timeout = self.random.uniform(0, 0.3 * self.seconds) if plan == "random" else TIMEOUT_SECONDS
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            require(plan == "random", f"does not end: {errors}")
        if process.returncode == -signal.SIGKILL:
            self.killed[plan] += 1
        else:
            require(process.returncode == 0, f"exit code {process.returncode}: {errors}")
        said = [int(number) for number in re.findall(r"(?m)^stored (\d+)$", output)]
        stored = max([before, *said])
        count = runs_in(study)
        require(count >= stored, f"{stored} runs were stored, {count} are left")
        return process.returncode == 0

    def plan(self):
        """What the next start is to meet, or nothing where all kills have been made."""
        wanted = {"commit": self.options.kills // 4, "file": self.options.kills // 10, "power": self.options.kills // 5}
        wanted["random"] = self.options.kills - sum(wanted.values())
        plans = [plan for plan, kills in wanted.items() for _ in range(kills - self.killed[plan])]
        return self.random.choice(plans) if plans else None

    def run(self, folder):
        export, runs = self.reference(folder / "reference.db")
        require(runs > 0, "the command stores nothing")
        studies = 0
        while self.plan():
            studies += 1
            study = folder / f"study{studies}.db"
            while not self.start(study, self.plan()):
                pass
            require(runs_in(study) == runs, f"{runs_in(study)} runs where {runs} were to be done")
            require(self.export(study) == export, "the export differs from that of a study that was never killed")
            left = sorted(file.name for file in folder.glob(f"{study.name}*"))
            require(left == [study.name], f"files left beside the study: {left}")
        return studies, runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--fault", required=True, help="the library of tests/study/tool/fault.cpp")
    parser.add_argument("--yosida", required=True)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    options.seed = options.seed if options.seed is not None else random.SystemRandom().randrange(2**32)
    print(f"seed {options.seed}", flush=True)
    killer = Killer(options)
    with tempfile.TemporaryDirectory(prefix="yosida-kill-") as folder:
        try:
            studies, runs = killer.run(pathlib.Path(folder))
        except Check as failure:
            sys.exit(f"after {killer.killed}: {failure}")
    print(f"{sum(killer.killed.values())} kills ({killer.killed['random']} at random, {killer.killed['commit']} inside a "
          f"commit, {killer.killed['file']} inside a write to the study itself, {killer.killed['power']} power cuts), {studies} studies of {runs} runs: "
          "all whole and equal")


if __name__ == "__main__":
    main()
