"""The oracle, its gaps, refitted models and predictions: the program against numpy.

    check_oracle.py path/to/yosida
"""
import json
import os
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are small

import numpy as np

import solvers
from data import Part, halves, pretreat, read_table, run, spectra

failures = 0


def check(what, difference, tolerance):
    global failures
    good = difference <= tolerance
    failures += not good
    print(f"{'ok   ' if good else 'WRONG'} {difference:8.1e} (at most {tolerance:g})  {what}", flush=True)


def relative(a, b):
    return float(np.linalg.norm(np.subtract(a, b)) / np.linalg.norm(b))


class Ridge:
    """w*(λ) in closed form for any λ, from one singular value decomposition."""

    def __init__(self, train, intercept):
        self.n = len(train.y)
        self.x_mean = train.x.mean(axis=0) if intercept else np.zeros(train.x.shape[1])
        self.y_mean = train.y.mean() if intercept else 0.0
        u, self.s, self.vt = np.linalg.svd(train.x - self.x_mean, full_matrices=False)
        self.z = u.T @ (train.y - self.y_mean)

    def weights(self, lam):
        w = self.vt.T @ (self.s * self.z / (self.s**2 + 2.0 * self.n * np.exp(lam)))
        return w, self.y_mean - self.x_mean @ w

    def largest_curvature(self):
        return self.s[0] ** 2 / self.n


def golden(f, low, high):
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    while high - low > 1e-9:
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if f(a) < f(b) else (a, high)
    return min(f(low), f(high)), 0.5 * (low + high)


def minimum(f, low, high, points):
    """The least value of f on a grid, refined by golden section around the least point."""
    grid = np.linspace(low, high, points)
    values = [f(lam) for lam in grid]
    least = int(np.argmin(values))
    refined, at = golden(f, grid[max(least - 1, 0)], grid[min(least + 1, points - 1)])
    return min((refined, at), (values[least], grid[least]))


def check_model(yosida, name, files, model, predict, folder):
    """yosida predict against predictions made here from the rows as they were exported."""
    run(yosida, "predict", "--from", model, "--data", files.test, "--out", f"{folder}/predictions.csv")
    header, table = read_table(f"{folder}/predictions.csv")
    check(f"{name}: predict", relative(table[:, -1], predict), 1e-9)
    return header, table


def ridge(yosida, seed, x, y, intercept, folder):
    name = f"ridge, {x}, {intercept}, seed {seed}"
    files = spectra(yosida, seed, folder)
    raw = files.read()
    train, valid, test = pretreat(raw, x, y)
    run(yosida, "tune", *files.flags(), "--x", x, "--y", y, intercept, "--max-iterations", 300, "--oracle", "--refit",
        "--json", f"{folder}/result.json", "--save", f"{folder}/model.json", "--quiet")
    with open(f"{folder}/result.json") as file:
        result = json.load(file)
    with open(f"{folder}/model.json") as file:
        model = json.load(file)

    exact = Ridge(train, intercept == "--intercept")

    def valid_loss(lam):
        w, b = exact.weights(lam)
        return 0.5 * np.mean((valid.x @ w + b - valid.y) ** 2)

    oracle = result["oracle"]
    low, high = oracle["bounds"]
    # The program finds the curvature by 30 power iterations: a few per cent are enough for a bound.
    kappa = exact.largest_curvature()
    check(f"{name}: bounds", max(abs(low - np.log(1e-12 * kappa)), abs(high - np.log(10.0 * kappa))), 0.05)
    least, at = minimum(valid_loss, low, high, 4000)
    check(f"{name}: oracle, validation", abs(oracle["validation"] / least - 1.0), 1e-8)
    # The minimum is flat: a relative rounding of 1e-15 in the loss moves it by the root of that.
    check(f"{name}: oracle, lambda", abs(oracle["lambda"] - at), 1e-5)
    lam = result["lambda"][0] if isinstance(result["lambda"], list) else result["lambda"]
    check(f"{name}: lambda_gap", abs(oracle["lambda_gap"] - (valid_loss(lam) / least - 1.0)), 1e-8)
    check(f"{name}: gap", abs(oracle["gap"] - (result["validation"]["loss"] / least - 1.0)), 1e-8)

    both = Part(np.vstack([train.x, valid.x]), np.concatenate([train.y, valid.y]))
    w, b = Ridge(both, intercept == "--intercept").weights(lam)
    check(f"{name}: refit", relative(model["weights"] + [model["intercept"]], [*w, b]), 1e-8)
    check(f"{name}: refit, test loss",
          abs(result["refit"]["test"]["loss"] / (0.5 * np.mean((test.x @ w + b - test.y) ** 2)) - 1.0), 1e-8)
    shift = raw[0].y.mean() if y == "center" else 0.0
    check_model(yosida, name, files, f"{folder}/model.json", test.x @ w + b + shift, folder)


def logistic(yosida, seed, intercept, folder):
    name = f"logistic, {intercept}, seed {seed}"
    files = halves(spectra(yosida, seed, folder), f"{folder}/classes{seed}")
    train, valid, test = pretreat(files.read(), "standardize", "labels")
    problem = solvers.Problem(train, valid, test, solvers.Logistic, intercept == "--intercept")
    run(yosida, "tune", *files.flags(), "--model", "logistic", intercept, "--max-iterations", 300, "--oracle", "--refit",
        "--bounds", "-12,3", "--json", f"{folder}/result.json", "--save", f"{folder}/model.json", "--quiet")
    with open(f"{folder}/result.json") as file:
        result = json.load(file)
    with open(f"{folder}/model.json") as file:
        model = json.load(file)

    def valid_loss(lam):
        return problem.data_loss(valid, *problem.inner_solve(lam))

    least, at = minimum(valid_loss, -12.0, 3.0, 121)
    oracle = result["oracle"]
    # Inner solves end at 1e-11 of the first gradient; the smallest curvature here is 2e⁻¹².
    check(f"{name}: oracle, validation", abs(oracle["validation"] / least - 1.0), 1e-6)
    check(f"{name}: oracle, lambda", abs(oracle["lambda"] - at), 1e-3)
    lam = result["lambda"][0] if isinstance(result["lambda"], list) else result["lambda"]
    check(f"{name}: lambda_gap", abs(oracle["lambda_gap"] - (valid_loss(lam) / least - 1.0)), 1e-6)

    both = Part(np.vstack([train.x, valid.x]), np.concatenate([train.y, valid.y]))
    w, b = solvers.Problem(both, valid, test, solvers.Logistic, intercept == "--intercept").inner_solve(lam)
    check(f"{name}: refit", relative(model["weights"] + [model["intercept"]], [*w, b]), 1e-6)
    margin = test.x @ np.array(model["weights"]) + model["intercept"]
    _, table = check_model(yosida, name, files, f"{folder}/model.json", 1.0 / (1.0 + np.exp(-margin)), folder)
    check(f"{name}: labels", np.sum(table[:, 0] != (margin >= 0.0)), 0)


def main(yosida):
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(3):
            for intercept in ("--no-intercept", "--intercept"):
                ridge(yosida, seed, "standardize", "center", intercept, folder)
                ridge(yosida, seed, "difference,minmax", "raw", intercept, folder)
                logistic(yosida, seed, intercept, folder)
    print(f"{failures} checks failed" if failures else "all checks hold")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
