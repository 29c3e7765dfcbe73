"""How long after Ctrl-C an answer is there: wall seconds, for each estimator, with folds, on 50 000 x 100 numbers.

    PYTHONPATH=build/release/python python3 bench/interrupts.py [--rows 50000] [--columns 100] [--folds 5]

Ctrl-C comes when a fit has taken so many seconds of processor time. A fit that has ended by then shows a dash, and one that has no answer
yet, while rows are prepared, shows KeyboardInterrupt.
"""

import argparse
import multiprocessing
import os
import signal
import threading
import time
import warnings

import numpy as np

import yosida

FITS = {
    "RidgeTuned": {}, "RidgeTuned, one penalty per feature": {"penalty_per": "feature"}, "LassoTuned": {}, "ElasticNetTuned": {},
    "LogisticTuned": {}, "LogisticTuned, five classes": {}, "SVCTuned": {}, "HuberTuned": {}, "PoissonTuned": {},
}


def rows_for(title, rows, columns):
    """Features that go together a little, and a target of the kind that the estimator takes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns)) + 0.5 * rng.normal(size=(rows, 1))
    margin = X @ rng.normal(size=columns) + 3.0 * rng.normal(size=rows)
    if title.endswith("classes"):
        return X, np.digitize(margin, np.quantile(margin, [0.2, 0.4, 0.6, 0.8]))
    if title.startswith(("Logistic", "SVC")):
        return X, (margin > 0).astype(int)
    return X, rng.poisson(np.exp(np.clip(0.05 * margin, -3, 3))).astype(float) if title.startswith("Poisson") else margin


def seconds_to_answer(title, X, y, folds, after):
    """From Ctrl-C to the end of fit(), and how it ended; nothing where fit() has ended before."""
    asked = []
    is_over = threading.Event()

    def ask(begin):
        while time.process_time() - begin < after:
            if is_over.wait(0.002):
                return
        asked.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    estimator = getattr(yosida, title.split(",")[0])(cv=folds, **FITS[title])
    thread = threading.Thread(target=ask, args=(time.process_time(),))
    thread.start()
    try:
        how = estimator.fit(X, y).status_
    except KeyboardInterrupt:
        how = "KeyboardInterrupt"
    end = time.perf_counter()
    is_over.set()
    thread.join()
    return f"{end - asked[0]:.2f} {how}" if asked and asked[0] < end else "-"


def line(title, arguments):
    warnings.simplefilter("ignore")
    X, y = rows_for(title, arguments.rows, arguments.columns)
    found = [seconds_to_answer(title, X, y, arguments.folds, after) for after in arguments.after]
    print(f"{title:38}" + "".join(f"{each:>24}" for each in found), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--after", type=float, nargs="+", default=[0.3, 0.6, 1.0], help="processor seconds")
    arguments = parser.parse_args()
    print(f"{'Ctrl-C after':38}" + "".join(f"{f'{after} s':>24}" for after in arguments.after))
    for title in FITS:
        process = multiprocessing.get_context("spawn").Process(target=line, args=(title, arguments))  # threads start anew
        process.start()
        process.join()


if __name__ == "__main__":
    main()
