#!/usr/bin/env python3
"""What `my-hpo` costs beside a grid of exact solves, on ridge: beside_grid.py PROGRAM [--before PROGRAM] [--repeats N]

    bench/beside_grid.py build/release/yosida
    PYTHONPATH=build/release/python bench/beside_grid.py --in-process

Shapes are training rows × columns with half as many rows to validate, the built-in spectra among them, held out and in 5
folds. Programs and methods take turns. Each line has, of either method, the least of the search's own seconds, the median
processor seconds of the whole process, and the work in gradient equivalents; then the ratios, the search over the grid.

A process of a few milliseconds spends them on loading: its search meets every instruction for the first time, and the search of
the grid meets few of them 41 times. With --in-process the Python package does all runs in one process; each line has the least
seconds of the search and of the whole call.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

SHAPES = [(100, 10), (500, 50), (1000, 784), (5000, 200), (200, 5000)]
GRID = ["--method", "grid", "--trials", "41"]


def table(draw, rows, columns):
    weights = draw.normal(size=columns) * np.exp(-np.arange(columns) / 20)
    x = draw.normal(size=(rows, columns)) * np.exp(-np.arange(columns) / columns)
    return x, x @ weights + draw.normal(size=rows)


def write(folder, rows, columns):
    x, y = table(np.random.default_rng(rows + columns), rows + rows // 2, columns)
    for name, part in (("train", slice(0, rows)), ("valid", slice(rows, None))):
        np.save(folder / f"{name}.npy", x[part])
        np.save(folder / f"{name}_y.npy", y[part])


def measured(command):
    with subprocess.Popen([*command, "--quiet", "--json", "-"], stdout=subprocess.PIPE) as child:
        result = json.loads(child.stdout.read())
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return result["seconds"], usage.ru_utime + usage.ru_stime, result["work"]["gradient_equivalents"]


def compare(name, programs, data, repeats):
    commands = {(program, method): [program, "tune", *data, *(GRID if method == "grid" else []), "--threads", "1"]
                for program in programs for method in ("my-hpo", "grid")}
    seen = {key: [] for key in commands}
    for _ in range(repeats):
        for key, command in commands.items():
            seen[key].append(measured(command))
    for program in programs:
        clock, process, work = {}, {}, {}
        for method in ("my-hpo", "grid"):
            runs = seen[program, method]
            clock[method] = 1000 * min(run[0] for run in runs)
            process[method] = 1000 * statistics.median(run[1] for run in runs)
            work[method] = runs[0][2]
        both = " | ".join(f"{of['my-hpo']:.3g} | {of['grid']:.3g} | {of['my-hpo'] / of['grid']:.2f}" for of in (clock, process, work))
        print(f"| {name} | {both} |", flush=True)


def compare_in_process(name, rows, columns, folds, repeats):
    import yosida
    yosida.set_threads(1)
    x, y = table(np.random.default_rng(rows + columns), rows + rows // 2, columns)
    search, whole = {"my-hpo": [], "grid": []}, {"my-hpo": [], "grid": []}
    for _ in range(repeats):
        for method, settings in (("my-hpo", None), ("grid", {"trials": 41})):
            begin = time.perf_counter()
            found = yosida.tune(x, y, method=method, settings=settings, folds=folds, trace=False)
            whole[method].append(1000 * (time.perf_counter() - begin))
            search[method].append(1000 * found.solver_seconds)
    both = " | ".join(f"{of['my-hpo']:.3g} | {of['grid']:.3g} | {of['my-hpo'] / of['grid']:.2f}"
                      for of in ({method: min(seen) for method, seen in each.items()} for each in (search, whole)))
    print(f"| {name} | {both} |", flush=True)


def in_process(repeats):
    print("| rows × columns | search ms | grid ms | ratio | call ms | grid's | ratio |\n" + "|---" * 7 + "|")
    for folds in (None, 5):
        for rows, columns in [(34, 699), *SHAPES]:
            few = repeats if rows * columns > 1e5 else 20 * repeats
            compare_in_process(f"{rows} × {columns}{', 5 folds' if folds else ''}", rows, columns, folds, few)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath, nargs="?")
    parser.add_argument("--in-process", action="store_true")
    parser.add_argument("--before", type=os.path.abspath)
    parser.add_argument("--repeats", type=int, default=11)
    options = parser.parse_args()
    if options.in_process:
        return in_process(options.repeats)
    if options.program is None:
        parser.error("which program?")
    programs = [program for program in (options.before, options.program) if program]
    print("| rows × columns | search ms | grid ms | ratio | process ms | grid's | ratio | work | grid's | ratio |\n" + "|---" * 10 + "|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for folds in ([], ["--folds", "5"]):
            text = ", 5 folds" if folds else ""
            compare("spectra, 34 × 699" + text, programs, ["--data", "spectra", *folds], options.repeats)
            for rows, columns in SHAPES:
                write(folder, rows, columns)
                parts = ("train",) if folds else ("train", "valid")
                data = [word for part in parts
                        for word in (f"--{part}", folder / f"{part}.npy", f"--{part}-target", folder / f"{part}_y.npy")]
                compare(f"{rows} × {columns}{text}", programs, [*data, *folds], options.repeats)


if __name__ == "__main__":
    main()
