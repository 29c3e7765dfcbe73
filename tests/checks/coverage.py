#!/usr/bin/env python3
"""Which lines and branches of folders of src/ the tests reach: coverage.py BUILD FOLDER... [--scripts SCRIPT...]

    coverage.py build/release data problem solver tune study --scripts tests/cli/*_test.py tests/study/postgres_test.py

The sources of these folders are compiled once more with counters, and linked before the rest of the library to the objects of
test_FOLDER and of the program in the build tree, so that nothing else is built anew. The unit tests of each folder are run, and
then the scripts, with this program. gcovr (package gcovr) counts.
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
PYTHON = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable  # the one that packages are for


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
    subprocess.run([*kept, "-O1", "--coverage", "-fprofile-update=atomic", "-c", "-o", str(target)], cwd=entry["directory"], check=True)
    return target


def link_with(objects, build, target, program):
    """The target of the build tree, with these objects before its own."""
    commands = subprocess.run(["ninja", "-C", str(build), "-t", "commands", target], stdout=subprocess.PIPE, check=True,
                              encoding="utf-8").stdout.splitlines()
    link = next(line for line in reversed(commands) if f"-o {target} " in line)
    link = shlex.split(re.sub(r"^: && |&& :$| && cd .*$", "", link))
    place = link.index("-o")
    link[place + 1] = str(program)
    subprocess.run([*link[:place], *map(str, objects), *link[place:], "--coverage"], cwd=build, check=True)


def run(command, environment, folder):
    done = subprocess.run(list(map(str, command)), cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="replace")
    if done.returncode not in (0, 77):
        print(f"{' '.join(map(str, command))} has failed:\n{done.stdout[-1500:]}", flush=True)


def show(name, scratch, worst):
    report = scratch / "report.json"
    subprocess.run(["gcovr", "--root", str(ROOT), "--object-directory", str(scratch), "--filter", f"{ROOT}/src/{name}/", "--json",
                    str(scratch / f"{name}-lines.json"), "--json-summary", str(report), "--exclude-throw-branches",
                    "--gcov-ignore-parse-errors", str(scratch)], check=True, stdout=subprocess.DEVNULL)
    summary = json.loads(report.read_text())
    print(f"{name}: {summary['line_percent']:.1f} % of {summary['line_total']} lines, "
          f"{summary['branch_percent']:.1f} % of {summary['branch_total']} branches", flush=True)
    lines = {file["file"]: file["lines"] for file in json.loads((scratch / f"{name}-lines.json").read_text())["files"]}
    for file in sorted(summary["files"], key=lambda file: file["line_covered"] - file["line_total"])[:worst]:
        missed = sorted({line["line_number"] for line in lines[file["filename"]] if not line["count"] and not line["gcovr/noncode"]})
        if missed:
            print(f"  {file['filename']}: {len(missed)} of {file['line_total']} lines missed: {' '.join(map(str, missed))}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", nargs="+")
    parser.add_argument("--scripts", nargs="*", type=pathlib.Path, default=[])
    parser.add_argument("--worst", type=int, default=5, help="so many files of each folder, with the lines that are missed")
    options = parser.parse_args()
    build = options.build.resolve()
    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text()) if "CMakeFiles/yosida.dir" in entry["command"]]
    with tempfile.TemporaryDirectory(prefix="yosida-coverage-") as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "tests").mkdir()
        of_folder = {}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for name in options.folder:
                of_folder[name] = [pool.submit(compile_with_counters, entry, scratch) for entry in entries if f"/src/{name}/" in entry["file"]]
        of_folder = {name: [each.result() for each in objects] for name, objects in of_folder.items()}
        environment = {**os.environ, "YOSIDA": str(scratch / "yosida"), "TEST_STUDY": str(scratch / "tests/test_study"),
                       "STUDY_TOOL": str(build / "tests/study_tool"), "LD_LIBRARY_PATH": str(build)}
        for name, objects in of_folder.items():
            program = scratch / "tests" / f"test_{name}"
            link_with(objects, build, f"tests/test_{name}", program)
            run([program, "--gtest_brief=1", "--gtest_filter=-Postgres*"], environment, scratch)
        if options.scripts:
            link_with(sum(of_folder.values(), []), build, "yosida", scratch / "yosida")
        for script in options.scripts:
            run([PYTHON, "-B", script.resolve()], environment, scratch)
        for name in options.folder:
            show(name, scratch, options.worst)


if __name__ == "__main__":
    main()
