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


def golden(f, low, high):
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    while high - low > 1e-9:
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if f(a) < f(b) else (a, high)
    return min(f(low), f(high))


def minimum(f, low, high, points):
    """The least value of f on a grid, refined by golden section around the least point."""
    grid = np.linspace(low, high, points)
    values = [f(lam) for lam in grid]
    least = int(np.argmin(values))
    return min(values[least], golden(f, grid[max(least - 1, 0)], grid[min(least + 1, points - 1)]))


def tune(yosida, files, flags, folder):
    """The result and the refitted model of a short run: any λ will do, if it is not so small that
    w*(λ) is all rounding."""
    result, model = f"{folder}/result.json", f"{folder}/model.json"
    run(yosida, "tune", *files.flags(), *flags, "--method", "my-hpo-c", "--alpha", 0.001, "--beta", 0.001, "--delta", 0.1,
        "--max-iterations", 200, "--oracle", "--refit", "--json", result, "--save", model, "--quiet")
    with open(result) as file, open(model) as saved:
        return json.load(file), json.load(saved)


def check_predictions(yosida, name, files, expected, folder):
    """yosida predict on the test rows as they were exported; returns the table it wrote."""
    out = f"{folder}/predictions.csv"
    run(yosida, "predict", "--from", f"{folder}/model.json", "--data", files.test, "--out", out)
    table = read_table(out)[1]
    check(f"{name}: predict", relative(table[:, -1], expected), 1e-8)
    return table


def ridge(yosida, seed, x, y, intercept, folder):
    name = f"ridge, {x}, {intercept}, seed {seed}"
    files = spectra(yosida, seed, folder)
    raw = files.read()
    train, valid, test = pretreat(raw, x, y)
    result, model = tune(yosida, files, ["--x", x, "--y", y, intercept], folder)
    exact = Ridge(train, intercept == "--intercept")

    def valid_loss(lam):
        w, b = exact.weights(lam)
        return 0.5 * np.mean((valid.x @ w + b - valid.y) ** 2)

    oracle = result["oracle"]
    low, high = oracle["bounds"]
    # The program finds the curvature by 30 power iterations: a few per cent are enough for a bound.
    # With an intercept it is that of the centred features, as the intercept follows the weights.
    centred = train.x - (train.x.mean(axis=0) if intercept == "--intercept" else 0.0)
    kappa = np.linalg.norm(centred, 2) ** 2 / len(train.y)
    check(f"{name}: bounds", max(abs(low - np.log(1e-12 * kappa)), abs(high - np.log(10.0 * kappa))), 0.05)
    least = minimum(valid_loss, low, high, 4000)
    check(f"{name}: oracle, validation", abs(oracle["validation"] / least - 1.0), 1e-8)
    # Its λ by the loss it gives: where no penalty is needed the loss is flat and λ itself means nothing.
    check(f"{name}: oracle, lambda", abs(valid_loss(oracle["lambda"]) / least - 1.0), 1e-8)
    lam = result["lambda"][0]
    check(f"{name}: lambda_gap", abs(oracle["lambda_gap"] - (valid_loss(lam) / least - 1.0)), 1e-8)
    check(f"{name}: gap", abs(oracle["gap"] - (result["loss"]["validation"] / least - 1.0)), 1e-8)

    both = Part(np.vstack([train.x, valid.x]), np.concatenate([train.y, valid.y]))
    w, b = Ridge(both, intercept == "--intercept").weights(lam)
    check(f"{name}: refit", relative(model["weights"] + [model["intercept"]], [*w, b]), 1e-8)
    check(f"{name}: refit, test loss",
          abs(result["refit"]["loss"]["test"] / (0.5 * np.mean((test.x @ w + b - test.y) ** 2)) - 1.0), 1e-8)
    shift = raw[0].y.mean() if y == "center" else 0.0
    check_predictions(yosida, name, files, test.x @ w + b + shift, folder)


def logistic(yosida, seed, intercept, folder):
    name = f"logistic, {intercept}, seed {seed}"
    files = halves(spectra(yosida, seed, folder), f"{folder}/classes{seed}")
    train, valid, test = pretreat(files.read(), "standardize", "labels")
    problem = solvers.Problem(train, valid, test, solvers.Logistic, intercept == "--intercept")
    result, model = tune(yosida, files, ["--model", "logistic", intercept, "--bounds", "-12,3"], folder)

    def valid_loss(lam):
        return problem.data_loss(valid, *problem.inner_solve(lam))

    least = minimum(valid_loss, -12.0, 3.0, 121)
    oracle = result["oracle"]
    # Inner solves end at 1e-11 of the first gradient; the smallest curvature here is 2e⁻¹².
    check(f"{name}: oracle, validation", abs(oracle["validation"] / least - 1.0), 1e-6)
    check(f"{name}: oracle, lambda", abs(valid_loss(oracle["lambda"]) / least - 1.0), 1e-6)
    lam = result["lambda"][0]
    check(f"{name}: lambda_gap", abs(oracle["lambda_gap"] - (valid_loss(lam) / least - 1.0)), 1e-6)

    both = Part(np.vstack([train.x, valid.x]), np.concatenate([train.y, valid.y]))
    w, b = solvers.Problem(both, valid, test, solvers.Logistic, intercept == "--intercept").inner_solve(lam)
    check(f"{name}: refit", relative(model["weights"] + [model["intercept"]], [*w, b]), 1e-6)
    margin = test.x @ np.array(model["weights"]) + model["intercept"]
    table = check_predictions(yosida, name, files, 1.0 / (1.0 + np.exp(-margin)), folder)
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
