"""The unit tests under the address and undefined-behaviour sanitizers: sanitizers.py [--all]

Without an argument those of the folders that touch memory: rows, files, losses and problems. They are built in
build/sanitize, which is kept, so that a second run builds what has changed. --all: all folders, in build/asan-ubsan.
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# These compute for long and touch no memory that other tests do not.
SLOW = (r"^search/.*(SamplerContract|GpEi|Tpe|TestFunctions|Functions)|^solver/.*(Contract|Oracle|ElasticNet|KFold|ReachesTheOptimum)"
        r"|^linalg/Kernels\.")
# Not unit tests, though they lie in the same folders.
PROGRAMS = r"^study/(kills|faults)$|^report/(page|live_page|whole_path)$"


def run(*command, **more):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", **more)
    if done.returncode != 0:
        print(*command)
        print(done.stdout[-20000:])
        sys.exit(1)
    return done.stdout


cores = str(os.cpu_count())
everything = "--all" in sys.argv[1:]
folders = ["linalg", "data", "model", "problem"]
tree = ROOT / "build" / ("asan-ubsan" if everything else "sanitize")
only = "" if everything else ";".join(["response", *folders])
run("cmake", "--preset", "asan-ubsan", "-B", str(tree), f"-DYOSIDA_FOLDERS={only}")
if everything:
    folders += ["search", "solver", "tune", "study", "report"]
run("cmake", "--build", str(tree), "--parallel", cores, "--target", *[f"test_{folder}" for folder in folders])
said = run("ctest", "--test-dir", str(tree), "--output-on-failure", "-j", cores, "-R", f"^({'|'.join(folders)})/",
           "-E", f"{SLOW}|{PROGRAMS}|^linalg/seam", env={**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1"})
print(*said.strip().splitlines()[-4:], sep="\n")
