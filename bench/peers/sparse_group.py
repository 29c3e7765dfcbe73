#!/usr/bin/env python3
"""VF-iDCA's sparse group lasso, 30 groups of 20 and 31 λ, beside black-box searches of 100 trials.

    PYTHONPATH=build/release/python python3 bench/peers/sparse_group.py [--seeds N] [--first N] [--trials N]

As its generator: X standard normal, 600 columns, weights (1, 2, 3, 4, 5, 0, …) in each third of them, noise of half the
norm of the signal, 100 rows each to train, to validate and to test. The penalty has one λ for the norm of each group and
one for |w|. Random search and TPE look for all 31 in [1e-3, 10], as VF-iDCA's do; the grid has one λ for all groups and
one for |w|, ten values each. All train exactly, by the same solver.
"""
import argparse
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import yosida

BOUNDS = (float(np.log(1e-3)), float(np.log(10.0)))
GROUPS = np.repeat([f"g{k:02d}" for k in range(30)], 20)


def parts(seed, features=600, rows=100):
    random = np.random.RandomState(seed)
    x = random.randn(3 * rows, features)
    truth = np.zeros(features)
    for first in range(0, features, features // 3):
        truth[first:first + 5] = np.arange(1, 6)
    clean = x @ truth
    noise = random.randn(3 * rows)
    y = clean + noise * np.linalg.norm(clean) / np.linalg.norm(noise) / 2.0
    return [(x[i:i + rows], y[i:i + rows]) for i in range(0, 3 * rows, rows)]


def tuned(seed, method, settings, per=None):
    (x, y), valid, test = parts(seed)
    begin = time.process_time()
    found = yosida.tune(x, y, validation=valid, test=test, penalty="sparse-group-lasso", groups=GROUPS, penalty_per=per,
                        pretreatment="raw", target_pretreatment="raw", intercept=False, shrink=0, method=method,
                        settings=settings, bounds=BOUNDS, seed=seed, trace=False)
    losses = found.losses
    return losses["validation"]["loss"], losses["test"]["loss"], time.process_time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--trials", type=int, default=100)
    given = parser.parse_args()
    trials = {"trials": given.trials}
    contestants = {"my-hpo": ("my-hpo", {}, None), "grid, 2 λ": ("grid", trials, "shared"),
                   "random": ("random", trials, None), "TPE": ("tpe", trials, None)}
    results = {name: [] for name in contestants}
    for seed in range(given.first, given.first + given.seeds):
        for name, contestant in contestants.items():
            results[name].append(tuned(seed, *contestant))
        print(f"seed {seed}: " + "; ".join("{} {:.2f} (test {:.2f}, {:.2f} s)".format(name, *rows[-1])
                                           for name, rows in results.items()), flush=True)
    ours = np.array(results["my-hpo"])
    for name, rows in results.items():
        rows = np.array(rows)
        print(f"{name:10} validation {rows[:, 0].mean():7.2f}  test {rows[:, 1].mean():7.2f}  {rows[:, 2].mean():7.2f} s  "
              f"ours lower in {np.sum(ours[:, 0] < rows[:, 0])} of {given.seeds}, "
              f"at {100 * ours[:, 2].sum() / rows[:, 2].sum():.1f} % of its time")


if __name__ == "__main__":
    sys.exit(main())
