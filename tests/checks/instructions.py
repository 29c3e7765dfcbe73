"""How many instructions small runs of the command line take, against those of instructions.json: what makes a run
slower shows here, on a busy machine too. Under valgrind the processor is always the same one, so that kernels are; where
compiler or libraries are others than those of the file, nothing can be said and the check is skipped.

    python3 tests/checks/instructions.py build/release/yosida            # checks
    python3 tests/checks/instructions.py build/release/yosida --write    # writes instructions.json anew
"""
import json
import math
import os
import pathlib
import platform
import random
import re
import subprocess
import sys
import tempfile

BASELINE = pathlib.Path(__file__).with_name("instructions.json")
SLACK = 0.03
SKIPPED = 77
ENVIRONMENT = {**os.environ, "OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "1", "LC_ALL": "C"}


def dense_rows(rows, columns, target, seed):
    """Lines of a CSV file: columns that lean on each other, and a target made of ten of them."""
    draw = random.Random(seed)
    for _ in range(rows):
        common = draw.gauss(0, 1)
        x = [draw.gauss(0, 1) + 0.5 * common for _ in range(columns)]
        signal = sum((-1) ** j * x[j] for j in range(10)) / math.sqrt(10)
        yield ",".join(f"{value:.6f}" for value in [*x, target(signal, draw)]) + "\n"


def sparse_rows(rows, columns, entries, seed):
    """Lines of a LIBSVM file of two classes."""
    draw = random.Random(seed)
    for _ in range(rows):
        chosen = sorted({min(int(draw.paretovariate(0.5)), columns) for _ in range(entries)})
        signal = sum(math.sin(column) for column in chosen) + draw.gauss(0, 1)
        yield f"{1 if signal > 0 else -1} " + " ".join(f"{column}:{draw.uniform(0.5, 1.5):.4f}" for column in chosen) + "\n"


def number(signal, draw):
    return signal + draw.gauss(0, 0.5)


def two_classes(signal, draw):
    return int(signal + draw.gauss(0, 0.5) > 0)


def three_classes(signal, draw):
    return sum(signal + draw.gauss(0, 0.5) > limit for limit in (-0.5, 0.5))


# The name, the lines of its file, its ending and the flags. The eighth is all reading: it is refused behind the last row.
PROBLEMS = [
    ("ridge", lambda: dense_rows(400, 60, number, 1), "csv", ["--model", "ridge"]),
    ("ridge on folds", lambda: dense_rows(300, 40, number, 2), "csv", ["--model", "ridge", "--folds", "5"]),
    ("ridge, wide", lambda: dense_rows(80, 600, number, 3), "csv", ["--model", "ridge"]),
    ("lasso", lambda: dense_rows(200, 60, number, 4), "csv", ["--model", "lasso"]),
    ("logistic", lambda: dense_rows(600, 30, two_classes, 5), "csv", ["--model", "logistic"]),
    ("softmax", lambda: dense_rows(200, 12, three_classes, 6), "csv", ["--model", "softmax"]),
    ("sparse logistic", lambda: sparse_rows(400, 1000, 15, 7), "svm", ["--model", "logistic", "--x", "raw"]),
    ("reading CSV", lambda: dense_rows(3000, 60, number, 8), "csv", ["--model", "logistic"]),
]


def made_with(binary):
    """What decides how many instructions a run takes, beside our code."""
    def output(*command):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=True).stdout
    comment = output("readelf", "-p", ".comment", binary)
    libraries = sorted({pathlib.Path(path).resolve().name for path in re.findall(r"=> (/\S+)", output("ldd", binary))})
    return {"compiler": re.search(r"GCC: .*|clang .*", comment).group(0).strip(), "libc": " ".join(platform.libc_ver()),
            "valgrind": output("valgrind", "--version").strip(), "libraries": libraries}


def instructions(binary, file, flags):
    target = [] if file.suffix == ".svm" else ["--target", "-1"]
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", binary, "tune", "--train", file,
                           *target, "--threads", "1", "--quiet", *flags],
                          env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode not in (0, 2) or not counted:
        sys.exit(f"{' '.join(flags)}: the run failed:\n{done.stderr}")
    return int(counted.group(1))


def main():
    binary = sys.argv[1]
    try:
        found = made_with(binary)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: {error}")
        return SKIPPED
    if " avx2 " not in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        print("skipped: this processor has no AVX2")
        return SKIPPED
    writes = "--write" in sys.argv
    baseline = {} if writes else json.loads(BASELINE.read_text(encoding="utf-8"))
    if not writes and baseline["made with"] != found:
        print(f"skipped: the counts were made with {baseline['made with']}, this is {found}")
        return SKIPPED
    counts = {}
    slower = []
    with tempfile.TemporaryDirectory() as folder:
        for name, lines, ending, flags in PROBLEMS:
            file = pathlib.Path(folder, f"rows.{ending}")
            file.write_text("".join(lines()), encoding="utf-8")
            counts[name] = instructions(binary, file, flags)
            before = baseline.get("instructions", {}).get(name)
            change = counts[name] / before - 1 if before else 0.0
            print(f"{name:16} {counts[name] / 1e6:9.1f} million instructions {change:+8.2%}", flush=True)
            if change > SLACK:
                slower.append(f"{name}: {change:.1%} more instructions than in {BASELINE.name}, {SLACK:.0%} are allowed")
    if writes:
        BASELINE.write_text(json.dumps({"made with": found, "instructions": counts}, indent=1) + "\n", encoding="utf-8")
        return 0
    if slower:
        print("\n".join(slower))
        print("Where that is meant to be, write them anew: python3 tests/checks/instructions.py build/release/yosida --write")
    return bool(slower)


if __name__ == "__main__":
    sys.exit(main())
