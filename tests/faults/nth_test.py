#!/usr/bin/env python3
"""Faults on purpose: the N-th call of one kind fails, over tune, compare and report: nth_test.py [--all] [--kind malloc]

Whichever call it is, the program ends by itself, with an exit code that says what happened and a message, or as if nothing had
happened. A file that it was to write is whole or not there, and a study holds whole runs. Every N is tried with --all, some of them
else. The program is named by YOSIDA, the library of nth.cpp by YOSIDA_NTH_LIBRARY.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile

YOSIDA, LIBRARY = os.environ["YOSIDA"], os.environ["YOSIDA_NTH_LIBRARY"]
GOOD, NO_MEMORY, BAD_INPUT, NOT_WRITTEN = 0, 1, 2, 4
# What a call may end in. A library of others may end the process itself where it gets no memory before main() begins.
CODES = {"malloc": {GOOD, NO_MEMORY, BAD_INPUT, NOT_WRITTEN}, "write": {GOOD, BAD_INPUT, NOT_WRITTEN}, "sync": {GOOD, BAD_INPUT, NOT_WRITTEN},
         "read": {GOOD, BAD_INPUT, NOT_WRITTEN}}

COMMANDS = {
    "tune": ["tune", "--train", "train.csv", "--target", "y", "--save", "model.json", "--json", "result.json", "--trace", "trace.csv",
             "--quiet", "--threads", "1"],
    "compare": ["compare", "--train", "train.csv", "--target", "y", "--methods", "hoag", "--seeds", "2", "--max-iterations", "2", "--jobs", "1",
                "--study", "new.study", "--quiet"],
    "report": ["report", "old.study", "--out", "page.html"],
}


def run(folder, words, fault=None, count=None):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    if fault:
        environment.update(LD_PRELOAD=LIBRARY, YOSIDA_NTH=fault)
    if count:
        environment["YOSIDA_NTH_COUNT"] = str(count)
    return subprocess.run([YOSIDA, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, encoding="utf-8", errors="replace")


def check_files(folder):
    for name in ["model.json", "result.json"]:
        if (folder / name).exists():
            json.loads((folder / name).read_text())
    page = folder / "page.html"
    assert not page.exists() or page.read_text().rstrip().endswith("</html>"), "half a page"
    study = folder / "new.study"
    if study.exists() and study.stat().st_size:
        database = sqlite3.connect(study)
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "a damaged study"
        database.close()


def numbers(total, all_of_them, most):
    """All, or the first few and some of the rest: early calls are those of libraries, later ones of the work."""
    if all_of_them or total <= most:
        return range(1, total + 1)
    return sorted({*range(1, most // 4), *random.sample(range(1, total + 1), most - most // 4)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--kind", choices=CODES)
    parser.add_argument("--most", type=int, default=12, help="tries of each kind and command, without --all")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    random.seed(options.seed)
    print(f"seed {options.seed}", flush=True)
    failures = []
    with tempfile.TemporaryDirectory(prefix="yosida-nth-") as name:
        folder = pathlib.Path(name)
        rows = [[random.gauss(0, 1) for _ in range(4)] for _ in range(40)]
        (folder / "train.csv").write_text("a,b,c,y\n" + "".join(f"{a},{b},{c},{a - b + d}\n" for a, b, c, d in rows))
        done = run(folder, [*COMMANDS["compare"][:-2], "old.study", "--quiet"])
        assert done.returncode == 0, done.stderr
        for command, words in COMMANDS.items():
            for kind, codes in CODES.items():
                if options.kind not in (None, kind):
                    continue
                outputs = ["model.json", "result.json", "trace.csv", "page.html", *(f"new.study{end}" for end in ["", "-wal", "-shm", "-claims"])]

                def fresh():
                    for output in outputs:
                        (folder / output).unlink(missing_ok=True)

                fresh()
                assert run(folder, words, f"{kind} 0", folder / "count").returncode == 0
                total = int((folder / "count").read_text())
                tried = list(numbers(total, options.all, options.most))
                ends = {}
                for number in tried:
                    fresh()
                    done = run(folder, words, f"{kind} {number}")
                    ends[done.returncode] = ends.get(done.returncode, 0) + 1
                    try:
                        assert done.returncode in codes, f"exit code {done.returncode}"
                        assert done.returncode == 0 or done.stderr.strip(), "no message"
                        assert "internal error" not in done.stderr, "an internal error"
                        check_files(folder)
                    except (AssertionError, ValueError, sqlite3.Error) as error:
                        failures.append(f"{command}, {kind} {number}: {error}: {done.stderr.strip()[-300:]}")
                print(f"{command}: {len(tried)} of {total} calls of {kind} failed in turn: "
                      + ", ".join(f"{count} × {signal.Signals(-code).name if code < 0 else f'exit code {code}'}" for code, count in sorted(ends.items())),
                      flush=True)
    sys.exit("\n".join(failures) if failures else 0)


if __name__ == "__main__":
    main()
