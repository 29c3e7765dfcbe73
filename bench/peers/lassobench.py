#!/usr/bin/env python3
"""LassoBench's problems (weighted lasso, one λ per feature, five folds) beside the best objective in its
repository's own result files.

    PYTHONPATH=build/release/python python3 bench/peers/lassobench.py --data FOLDER [--method M] [--iterations N] [NAME ...]

As LassoBench: the training loss is 1/(2n)‖y − Xw‖² + Σ e^λj |w_j| without an intercept; 15 % of the rows are the test
part and the rest is cut into five folds, both as scikit-learn draws them by seed 42; the objective is the mean over
the folds of the mean squared error, for made data over that of the truth; λ stays in LassoBench's box. The search starts
at LassoCV's λ for all features. The objective is computed here anew by scikit-learn, to a tolerance of 1e-9.
"""
import argparse
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Lasso, LassoCV
from sklearn.model_selection import KFold, train_test_split

import yosida

REAL = {"breast_cancer": "breast-cancer_scale.txt.xz", "diabetes": "diabetes_scale.txt.xz", "dna": "dna.scale.xz"}
# rows, features, weights that are not 0
MADE = {"simple": (30, 60, 3), "medium": (50, 100, 5), "high": (150, 300, 15)}
COLUMNS = ("LassoCV", "adaptive", "random", "Sparse-HO", "HeSBO", "Hyperband", "TuRBO", "CMA-ES")
PUBLISHED = {
    "breast_cancer": (0.2618, 0.2623, 0.296, 0.2722, 0.2618, 0.2627, 0.2614, 0.2609),
    "diabetes": (0.6590, 0.6666, 0.6677, 0.6518, 0.6600, 0.6500, 0.6492, 0.6487),
    "dna": (0.306, 0.311, 0.387, 0.314, 0.3065, 0.353, 0.292, 0.335),
    "medium_10": (1.676, 1.521, 60.7, 1.232, 1.746, 4.53, 0.958, 1.078),
    "medium_3": (1.659, 2.487, 7.94, 0.731, 1.748, 1.95, 0.556, 0.490),
    "high_10": (2.487, 1.183, 69.4, 1.113, 2.663, 5.38, 0.904, 0.970),
    "high_3": (2.488, 1.326, 8.83, 0.768, 2.828, 2.50, 0.592, 0.643),
}


def made(rows, features, support, snr, correlation=0.6, seed=42):
    """An AR(1) process along the columns; the truth is ±1 at every so many-th column."""
    random = np.random.RandomState(seed)
    x = np.empty((rows, features))
    x[:, 0] = random.randn(rows)
    for j in range(1, features):
        x[:, j] = correlation * x[:, j - 1] + np.sqrt(1.0 - correlation**2) * random.randn(rows)
    truth = np.zeros(features)
    places = np.arange(0, features, features // support)[:support]
    truth[places] = (-1.0) ** np.arange(len(places))
    noise = random.randn(rows)
    clean = x @ truth
    return x, clean + noise * np.linalg.norm(clean) / np.linalg.norm(noise) / snr, truth


def load(folder, file):
    """A LIBSVM file, as scikit-learn reads it."""
    import io
    import lzma
    with lzma.open(os.path.join(folder, file)) as text:
        x, y = load_svmlight_file(io.BytesIO(text.read()))
    return np.asarray(x.todense()), y


def weights_at(x, y, alpha):
    """Minimises 1/(2n)‖y − Xw‖² + Σ α_j|w_j|: a plain lasso on columns over α_j."""
    plain = Lasso(alpha=1.0, fit_intercept=False, tol=1e-9, max_iter=1000000)
    return plain.fit(x / alpha, y).coef_ / alpha


def mse(x, y, w):
    return np.mean((x @ w - y) ** 2)


class Bench:
    def __init__(self, x, y, truth, decades):
        self.x, self.x_test, self.y, self.y_test = train_test_split(x, y, test_size=0.15, random_state=42)
        self.folds = list(KFold(5, shuffle=True, random_state=42).split(self.x))
        self.oracle = 1.0 if truth is None else mse(self.x, self.y, truth)
        self.test_oracle = 1.0 if truth is None else mse(self.x_test, self.y_test, truth)
        self.highest = np.log(np.max(np.abs(self.x.T @ self.y)) / len(self.y))
        self.lowest = self.highest - decades

    def objective(self, lam):
        alpha = np.exp(lam)
        return np.mean([mse(self.x[valid], self.y[valid], weights_at(self.x[train], self.y[train], alpha))
                        for train, valid in self.folds]) / self.oracle

    def test(self, lam):
        return mse(self.x_test, self.y_test, weights_at(self.x, self.y, np.exp(lam))) / self.test_oracle

    def shared(self):
        search = LassoCV(cv=self.folds, fit_intercept=False, tol=1e-6, max_iter=100000, n_alphas=100,
                         eps=np.exp(self.lowest - self.highest)).fit(self.x, self.y)
        return np.full(self.x.shape[1], np.clip(np.log(search.alpha_), self.lowest, self.highest))


def run(name, bench, method, iterations):
    begin = time.process_time()
    first = bench.shared()
    found = yosida.tune(
        bench.x, bench.y, penalty="l1", penalty_per="feature", folds=bench.folds, pretreatment="raw",
        target_pretreatment="raw", intercept=False, shrink=0, lambda0=float(first[0]),
        bounds=(float(bench.lowest), float(bench.highest)), method=method,
        budget={"iterations": iterations})
    lam = np.asarray(found.lambda_)
    published = PUBLISHED.get(name, ())
    value = bench.objective(lam)
    print(f"{name:14} start {bench.objective(first):.4f}  ours {value:.5f}  test {bench.test(lam):.4f} (LassoCV's "
          f"{bench.test(first):.4f})  {found.work['inner_solves']} evaluations, {time.process_time() - begin:.1f} s, "
          f"{found.status}; best published {min(published, default=float('nan'))} "
          f"({COLUMNS[int(np.argmin(published))] if published else 'none'})", flush=True)
    return not published or value <= min(published)


def problems(names, folder):
    for name in names:
        if name in REAL:
            x, y = load(folder, REAL[name])
            yield name, Bench(x, y, None, np.log(1e5))
        else:
            kind, snr = name.rsplit("_", 1)
            yield name, Bench(*made(*MADE[kind], float(snr)), np.log(1e2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=".", help="folder of the LIBSVM files")
    parser.add_argument("--method", default="hoag", help="hoag trains once in an iteration; my-hpo scans first")
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("names", nargs="*", default=list(PUBLISHED))
    given = parser.parse_args()
    good = [run(name, bench, given.method, given.iterations) for name, bench in problems(given.names, given.data)]
    print(f"at or below every published column: {sum(good)} of {len(good)}")


if __name__ == "__main__":
    sys.exit(main())
