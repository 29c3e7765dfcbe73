"""The unit tests under the address and undefined-behaviour sanitizers: sanitizers.py [ctest arguments]

They are built in build/asan-ubsan, which is kept, so that a second run builds what has changed.
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
run("cmake", "--preset", "asan-ubsan")
run("cmake", "--build", "--preset", "asan-ubsan", "--target", "unit_tests", "--parallel", cores)
said = run("ctest", "--preset", "asan-ubsan", "-j", cores, "-R", "^(linalg|data|model|problem|search|solver|tune|study|report)/",
           "-E", f"{SLOW}|{PROGRAMS}", *sys.argv[1:],
           env={**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1"})
print(*said.strip().splitlines()[-4:], sep="\n")
