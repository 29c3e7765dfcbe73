#!/usr/bin/env python3
"""Which lines and branches of a folder its own unit tests reach: coverage.py BUILD FOLDER... [--worst 10]

The sources of src/FOLDER are compiled once more with counters, and linked before the rest of the library to the objects of
test_FOLDER of the build tree, so that nothing else is built anew. gcovr (package gcovr) counts. Lines that only the command
line's tests reach count as missed.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def compile_with_counters(entry, folder):
    words = shlex.split(entry["command"])
    while not words[0].endswith(("c++", "g++")):
        words.pop(0)
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MT", "-MF", "-include"):
            skip = True
        elif word not in ("-MD", "-Winvalid-pch", "-fpch-preprocess", "-O3", "-Werror", "-c") and "FORTIFY" not in word:
            kept.append(word)
    target = folder / (re.sub(r"[^A-Za-z0-9]", "_", os.path.relpath(entry["file"], ROOT)) + ".o")
    subprocess.run([*kept, "-O0", "--coverage", "-fprofile-update=atomic", "-c", "-o", str(target)], cwd=entry["directory"], check=True)
    return target


def measure(build, name, worst):
    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text())
               if f"/src/{name}/" in entry["file"] and "CMakeFiles/yosida.dir" in entry["command"]]
    link = subprocess.run(["ninja", "-C", str(build), "-t", "commands", f"tests/test_{name}"], stdout=subprocess.PIPE, check=True,
                          encoding="utf-8").stdout.splitlines()
    link = next(line for line in reversed(link) if f"-o tests/test_{name} " in line)
    link = shlex.split(re.sub(r"^: && |&& :$| && cd .*$", "", link))
    with tempfile.TemporaryDirectory(prefix="yosida-coverage-") as scratch:
        scratch = pathlib.Path(scratch)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(lambda entry: compile_with_counters(entry, scratch), entries))
        program = scratch / "test"
        link[link.index("-o") + 1] = str(program)
        place = link.index("-o")
        subprocess.run([*link[:place], *map(str, objects), *link[place:], "--coverage"], cwd=build, check=True)
        done = subprocess.run([str(program), "--gtest_brief=1", "--gtest_filter=-Postgres*"], cwd=scratch, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
        if done.returncode:
            sys.exit(f"{name}: the tests failed:\n{done.stdout[-2000:]}")
        report = scratch / "report.json"
        subprocess.run(["gcovr", "--root", str(ROOT), "--object-directory", str(scratch), "--filter", f"{ROOT}/src/{name}/", "--json-summary",
                        str(report), "--exclude-throw-branches", "--gcov-ignore-parse-errors", str(scratch)], check=True, stdout=subprocess.DEVNULL)
        summary = json.loads(report.read_text())
    print(f"{name}: {summary['line_percent']:.1f} % of {summary['line_total']} lines, "
          f"{summary['branch_percent']:.1f} % of {summary['branch_total']} branches", flush=True)
    for file in sorted(summary["files"], key=lambda file: file["line_covered"] - file["line_total"])[:worst]:
        if file["line_covered"] < file["line_total"]:
            print(f"  {file['filename']}: {file['line_total'] - file['line_covered']} of {file['line_total']} lines missed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", nargs="+")
    parser.add_argument("--worst", type=int, default=5)
    options = parser.parse_args()
    for name in options.folder:
        measure(options.build.resolve(), name, options.worst)


if __name__ == "__main__":
    main()
