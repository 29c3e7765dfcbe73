#!/usr/bin/env python3
"""Many processes on one study, in a file and in PostgreSQL: each run is done once, nobody fails, and kills change nothing.

    many_processes_test.py [--processes 32] [--runs 96] [--kills 6]

With kills, a process that works is ended by SIGKILL at a random moment, again and again, and another is started in its
place. The end must be that of a study that one process made. The programs are named by YOSIDA and STUDY_TOOL.
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from postgres_server import Server

YOSIDA, TOOL = os.environ["YOSIDA"], os.environ["STUDY_TOOL"]
MILLISECONDS = 20
TIMEOUT_SECONDS = 280


def start(study, runs):
    return subprocess.Popen([TOOL, "run", study, str(runs), "1", str(MILLISECONDS)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, encoding="utf-8")


def export(study):
    return subprocess.run([YOSIDA, "study", "export", study, "--format", "json", "--traces", "--without-times"],
                          stdout=subprocess.PIPE, check=True, timeout=TIMEOUT_SECONDS).stdout


def done_by(process):
    output, errors = process.communicate(timeout=TIMEOUT_SECONDS)
    if process.returncode:
        sys.exit(f"a process failed: exit code {process.returncode}: {errors}")
    return int(re.search(r"done (\d+) here", output)[1])


def all_once(study, options):
    done = [done_by(process) for process in [start(study, options.runs) for _ in range(options.processes)]]
    if sum(done) != options.runs:
        sys.exit(f"{study}: {sum(done)} runs were done where there were {options.runs}")
    return sum(count > 0 for count in done)


def under_kills(study, options, chance):
    """The study is begun anew, under another name, as often as it takes."""
    kills = rounds = 0
    while kills < options.kills:
        rounds += 1
        name = study(rounds)
        processes = [start(name, options.runs) for _ in range(4)]
        while any(process.poll() is None for process in processes):
            time.sleep(chance.uniform(0.0, 0.15))
            place = chance.randrange(len(processes))
            if kills < options.kills and processes[place].poll() is None:
                processes[place].kill()
                processes[place].communicate()
                kills += 1
                processes[place] = start(name, options.runs)
        for process in processes:
            done_by(process)
        yield name
    print(f"{kills} kills of processes in {rounds} studies")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--runs", type=int, default=96)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="yosida-many-") as folder, Server("fsync=off") as server:
        folder = pathlib.Path(folder)
        reference = str(folder / "reference.db")
        done_by(start(reference, options.runs))
        truth = export(reference)
        for kind, study in [("SQLite", lambda name: str(folder / f"{name}.db")),
                            ("PostgreSQL", lambda name: f"{server.uri}&study=study_{name}")]:
            begin = time.monotonic()
            workers = all_once(study("all"), options)
            if export(study("all")) != truth:
                sys.exit(f"{kind}: the export is not that of one process")
            print(f"{kind}: {options.runs} runs, each once, by {workers} of {options.processes} processes in "
                  f"{time.monotonic() - begin:.1f} s", flush=True)
            for name in under_kills(study, options, chance):
                if export(name) != truth:
                    sys.exit(f"{kind}: after kills the export is not that of one process")


if __name__ == "__main__":
    main()
