"""Seconds of `yosida tune`, whole process, against what one would run instead, in memory: speed.py PROGRAM [names]

Both take turns, three times each, in one run; the table has the medians. Peers: the loop that people write in numpy
for ridge (a Gram or kernel matrix, its eigenvectors, a grid of 100 penalties), scikit-learn's warm paths of logistic
regression and its lasso. Each is given the same rows, standardised, and the same validation rows. Data: MNIST from
the cache of `yosida data fetch mnist`, and normal features, 0.5 GB of files at a time in a temporary folder.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
import warnings

import numpy as np


def mnist():
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "yosida" / "mnist"

    def array(name):
        raw = (folder / name).read_bytes()
        shape = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(raw[3])]
        return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)

    x = array("train-images-idx3-ubyte").reshape(60000, -1) / 255.0
    order = np.random.default_rng(0).permutation(60000)
    return x[order], array("train-labels-idx1-ubyte").astype(float)[order]


def normal(rows, columns, noise, is_class=False):
    draw = np.random.default_rng(1)
    x = draw.normal(size=(rows, columns))
    m = x @ draw.normal(size=columns) / np.sqrt(columns) * 3
    if is_class:
        return x, np.where(draw.uniform(size=rows) < 1 / (1 + np.exp(-m)), 1.0, -1.0)
    return x, m + noise * draw.normal(size=rows)


def standardised(x, v):
    deviation = x.std(0)
    deviation[deviation == 0] = 1
    return (x - x.mean(0)) / deviation, (v - x.mean(0)) / deviation


def numpy_ridge(x, y, v, z):
    x, v = standardised(x, v)
    y, z = y - y.mean(), z - y.mean()
    n, d = x.shape
    if n >= d:
        values, u = np.linalg.eigh(x.T @ x / n)
        right, left = u.T @ (x.T @ y) / n, v @ u
    else:
        values, u = np.linalg.eigh(x @ x.T / n)
        right, left = u.T @ y / n, (v @ x.T) @ u
    values = np.maximum(values, 0)
    return min(0.5 * np.mean((left @ (right / (values + c)) - z) ** 2) for c in values[-1] * np.logspace(-8, 1, 100))


def sklearn_logistic(x, y, v, z):
    from sklearn.linear_model import LogisticRegression
    x, v = standardised(x, v)
    y, z = np.where(y > 0, 1, -1), np.where(z > 0, 1, -1)
    model, best = LogisticRegression(warm_start=True, max_iter=1000, tol=1e-5), np.inf
    for c in np.logspace(-5, 2, 20):
        model.set_params(C=c * 1000 / len(x)).fit(x, y)
        best = min(best, np.mean(np.logaddexp(0, -z * model.decision_function(v))))
    return best


def sklearn_lasso(x, y, v, z):
    from sklearn.linear_model import lasso_path
    x, v = standardised(x, v)
    y, z = y - y.mean(), z - y.mean()
    warnings.simplefilter("ignore")  # of smallest penalties that do not converge
    _, weights, _ = lasso_path(x, y, n_alphas=100, eps=1e-3)
    return min(0.5 * np.mean((v @ weights - z[:, None]) ** 2, axis=0))


def problems():
    images, digits = mnist()
    odd = np.where(digits % 2 == 1, 1.0, -1.0)
    wide, tall, flat = normal(400, 50000, 1.0), normal(600000, 100, 3.0), normal(600000, 100, 0.0, True)
    return {
        "ridge-1000x784": ("ridge", images[:2000], digits[:2000], 1000, numpy_ridge),
        "ridge-200x50000": ("ridge", *wide, 200, numpy_ridge),
        "ridge-500000x100": ("ridge", *tall, 500000, numpy_ridge),
        "ridge-50000x784": ("ridge", images, digits, 50000, numpy_ridge),
        "lasso-1000x784": ("lasso", images[:2000], digits[:2000], 1000, sklearn_lasso),
        "lasso-200x50000": ("lasso", *wide, 200, sklearn_lasso),
        "logistic-7390x784": ("logistic", images[:12665], odd[:12665], 7390, sklearn_logistic),
        "logistic-500000x100": ("logistic", *flat, 500000, sklearn_logistic),
        "logistic-50000x784": ("logistic", images, odd, 50000, sklearn_logistic),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("names", nargs="*", help="of problems; all where none is named")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(options, pathlib.Path(folder))


def compare(options, folder):
    print("| problem | yosida, process s | peer, in memory s | ratio | loss | of the peer | certificate |")
    print("|---|---|---|---|---|---|---|")
    for name, (model, x, y, count, peer) in problems().items():
        if options.names and name not in options.names:
            continue
        parts = {"train": (x[:count], y[:count]), "valid": (x[count:], y[count:])}
        command = [options.program, "tune", "--model", model, "--quiet", "--json", "-"]
        for part, (rows, targets) in parts.items():
            np.save(folder / f"{part}.npy", np.ascontiguousarray(rows))
            np.save(folder / f"{part}_y.npy", targets)
            command += [f"--{part}", folder / f"{part}.npy", f"--{part}-target", folder / f"{part}_y.npy"]
        ours, theirs = [], []
        for _ in range(options.repeats):
            begin = time.perf_counter()
            result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            ours.append(time.perf_counter() - begin)
            if not theirs or statistics.median(theirs) < 60:
                begin = time.perf_counter()
                loss = peer(*parts["train"], *parts["valid"])
                theirs.append(time.perf_counter() - begin)
        us, them = statistics.median(ours), statistics.median(theirs)
        print(f"| {name} | {us:.2f} | {them:.2f} | {them / us:.1f} | {result['loss']['validation']:.6g} | {loss:.6g} | "
              f"{result['certificate']['verdict']} |", flush=True)


if __name__ == "__main__":
    main()
