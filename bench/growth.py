"""How the time and the memory of `yosida tune` grow with rows and columns: growth.py PROGRAM [--parts rows,folds,columns]

    python3 bench/growth.py build/release/yosida

Ridge, lasso and logistic regression on normal numbers: 10^4 to 10^6 rows of 100 columns with a fifth as many to validate,
the same rows in 5 folds, and 200 rows (50 to validate) of 10^3 to 10^6 columns. Each line has the seconds of the whole
process (the least of --repeats), its processor seconds, its peak memory beside the bytes of the files it maps, and by what
power of the size the processor seconds have grown since the line before: 1 is linear. Files of up to 2 GB are written to
--scratch, one size at a time, and removed again.
"""
import argparse
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MODELS = ("ridge", "lasso", "logistic")
SIZES = {"rows": (10**4, 10**5, 10**6), "folds": (10**4, 10**5, 10**6), "columns": (10**3, 10**4, 10**5, 10**6)}
SHAPES = {"rows": lambda n: (n, n // 5, 100), "folds": lambda n: (n, 0, 100), "columns": lambda d: (200, 50, d)}


def write(folder, part, size):
    """In a process of its own: a child begins with the peak memory of the process that starts it."""
    import numpy as np
    train, valid, columns = SHAPES[part](size)
    draw = np.random.default_rng(1)
    weights = np.zeros(columns)
    weights[:20] = draw.normal(size=20)
    for name, rows in (("train", train), ("valid", valid)):
        if not rows:
            continue
        x = np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=float, shape=(rows, columns))
        y = np.empty(rows)
        step = max(1, 10**6 // columns)
        for begin in range(0, rows, step):
            block = draw.normal(size=(min(step, rows - begin), columns))
            x[begin:begin + len(block)] = block
            y[begin:begin + len(block)] = block @ weights + 3.0 * draw.normal(size=len(block))
        x.flush()
        np.save(folder / f"{name}_number.npy", y)
        np.save(folder / f"{name}_class.npy", np.where(y > 0, 1.0, -1.0))


def measured(program, model, folder, files, part, threads):
    target = "class" if model == "logistic" else "number"
    data = itertools.chain.from_iterable((f"--{name}", folder / f"{name}.npy", f"--{name}-target", folder / f"{name}_{target}.npy") for name in files)
    command = [program, "tune", "--model", model, *data, *(["--folds", "5"] if part == "folds" else []), "--threads", str(threads),
               "--quiet", "--json", "-"]
    begin = time.perf_counter()
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE) as child:
        result = json.loads(child.stdout.read())
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return {"seconds": time.perf_counter() - begin, "processor": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss * 1024,
            "verdict": result["certificate"]["verdict"]}


def main():
    if sys.argv[1:2] == ["--write"]:
        return write(pathlib.Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--parts", default=",".join(SIZES))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--most", type=int, default=10**6, help="the largest size")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()))
    options = parser.parse_args()
    program = options.program.resolve()
    before = {}
    print("| model | by | size | s | processor s | peak MB | of the files | power | certificate |\n" + "|---" * 9 + "|")
    for part in options.parts.split(","):
        for size in (each for each in SIZES[part] if each <= options.most):
            with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
                subprocess.run([sys.executable, __file__, "--write", folder, part, str(size)], check=True)
                files = [name for name in ("train", "valid") if (pathlib.Path(folder) / f"{name}.npy").exists()]
                total = sum((pathlib.Path(folder) / f"{name}.npy").stat().st_size for name in files)
                for model in options.models.split(","):
                    runs = [measured(program, model, pathlib.Path(folder), files, part, options.threads) for _ in range(options.repeats)]
                    best = min(runs, key=lambda run: run["seconds"])
                    last = before.get((part, model))
                    power = f"{math.log(best['processor'] / last[1]) / math.log(size / last[0]):.2f}" if last else ""
                    before[part, model] = (size, best["processor"])
                    print(f"| {model} | {part} | {size} | {best['seconds']:.2f} | {best['processor']:.2f} | {best['peak'] / 1e6:.0f} | "
                          f"{best['peak'] / total:.2f} | {power} | {best['verdict']} |", flush=True)


if __name__ == "__main__":
    main()
