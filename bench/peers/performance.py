"""How long `yosida tune` takes beside what one would run instead: performance.py PROGRAM [--problems a,b] [--out DOC]

    python3 bench/peers/performance.py build/release/yosida --setup --growth --out docs/performance.md

Every program is a process of its own that is given the same files. We and the peers take turns, --repeats times, and the
table has medians: seconds of the whole process, seconds of the fit in memory, peak memory, loss, and how far it is above
the least that any of them found. Peers with a BLAS run twice: as Debian installs it, and told which kernels fit the
processor (OPENBLAS_CORETYPE). A run over --patience seconds is ended, one over a quarter of that is not repeated, and a
peer that is not installed is said to be missing; --setup installs all of them (Debian, as root). Peers that need far more
than --patience on the large problems are not run on these.

--prepare writes the data to --scratch and ends. Runs are kept in --records as they end, and those that are there are not
made again, so measuring can be ended and taken up at any time; --seconds ends it after so many.

A peer may be below the optimum by luck. So numpy solves at our λ and beside it until rounding, where validation rows are one
set and rows are dense: the page says how far our loss is from the bottom.

--growth measures ourselves alone: by rows, columns, number of λ, folds and threads. Real data is looked for in
$YOSIDA_DATA (a9a, ijcnn1, reuters-moneyfx) and in the cache of `yosida data fetch mnist`.
"""
import argparse
import json
import lzma
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

PACKAGES = "python3-numpy python3-sklearn python3-optuna python3-matplotlib r-cran-glmnet liblinear-tools libdlib-dev g++".split()
FOLDS = 5


# ------------------------------------------------------------------------------------------------ data

def mnist():
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "yosida" / "mnist"

    def array(name):
        raw = (folder / name).read_bytes()
        shape = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(raw[3])]
        return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)

    x = array("train-images-idx3-ubyte").reshape(60000, -1) / 255.0
    order = np.random.default_rng(0).permutation(60000)
    return x[order], array("train-labels-idx1-ubyte").astype(float)[order]


def digits(count, target=lambda y: y):
    def make():
        x, y = mnist()
        return x[:count], target(y[:count])
    return make


def diabetes():
    from sklearn.datasets import load_diabetes
    return load_diabetes(return_X_y=True)


def is_odd(y):
    return np.where(y % 2 == 1, 1.0, -1.0)


def normal(rows, columns, noise, is_class=False, informative=None):
    def make():
        draw = np.random.default_rng(1)
        x = draw.normal(size=(rows, columns))
        w = draw.normal(size=columns)
        if informative:
            w[informative:] = 0
        m = x @ w / np.linalg.norm(w) * 3
        if is_class:
            return x, np.where(draw.uniform(size=rows) < 1 / (1 + np.exp(-m)), 1.0, -1.0)
        return x, m + noise * draw.normal(size=rows)
    return make


class Problem:
    """Rows that are made, of which the first `count` are for training (all of them with folds), or two LIBSVM files."""

    def __init__(self, model, make, count=None, files=None, data=None, is_large=False):
        self.model, self.make, self.count, self.files, self.is_large = model, make, count, files, is_large
        self.data = data  # what the data is called where problems share it

    def has_truth(self):
        """One set of validation rows that we and the peers treat alike, and an equation for the optimum."""
        return bool(self.count) and not self.files and self.model in ("ridge", "lasso", "logistic")

    def write(self, folder):
        if self.files:
            root = pathlib.Path(os.environ.get("YOSIDA_DATA", ""))
            for part, name in zip(("train", "valid"), self.files):
                if not (root / f"{name}.xz").exists():
                    return f"{name}.xz is not in $YOSIDA_DATA"
                (folder / part).write_bytes(lzma.decompress((root / f"{name}.xz").read_bytes()))
        else:
            x, y = self.make()
            for part, rows in (("train", slice(0, self.count)), ("valid", slice(self.count, None))):
                if self.count or part == "train":
                    np.save(folder / f"{part}.npy", np.ascontiguousarray(x[rows]))
                    np.save(folder / f"{part}_y.npy", y[rows])
        (folder / "problem.json").write_text(json.dumps({"model": self.model, "sparse": bool(self.files), "folds": not (self.count or self.files)}))
        return None

    def arguments(self, folder):
        if self.files:
            return ["--model", self.model, "--train", folder / "train", "--valid", folder / "valid"]
        parts = ("train", "valid") if self.count else ("train",)
        files = [word for part in parts for word in (f"--{part}", folder / f"{part}.npy", f"--{part}-target", folder / f"{part}_y.npy")]
        return ["--model", self.model, *files, *([] if self.count else ["--folds", str(FOLDS)])]


PROBLEMS = {
    "ridge 1000 × 784": Problem("ridge", digits(2000), 1000),
    "ridge 200 × 50 000": Problem("ridge", normal(400, 50000, 1.0), 200, is_large=True),
    "ridge 500 000 × 100": Problem("ridge", normal(600000, 100, 3.0), 500000, is_large=True),
    "ridge 50 000 × 784": Problem("ridge", digits(60000), 50000, is_large=True),
    "ridge 20 000 × 20 000": Problem("ridge", normal(25000, 20000, 3.0), 20000, is_large=True),
    "ridge 1000 × 784, 5 folds": Problem("ridge", digits(1000)),
    "logistic 500 × 784": Problem("logistic", digits(1000, is_odd), 500),
    "logistic 7390 × 784": Problem("logistic", digits(12665, is_odd), 7390),
    "logistic 50 000 × 784": Problem("logistic", digits(60000, is_odd), 50000, is_large=True),
    "logistic 500 000 × 100": Problem("logistic", normal(600000, 100, 0.0, True), 500000, is_large=True),
    "logistic 500 × 784, 5 folds": Problem("logistic", digits(500, is_odd)),
    "logistic a9a": Problem("logistic", None, files=("a9a", "a9a.t")),
    "logistic ijcnn1": Problem("logistic", None, files=("ijcnn1", "ijcnn1.t")),
    "logistic reuters": Problem("logistic", None, files=("reuters-moneyfx.trn", "reuters-moneyfx.tst")),
    "softmax 10 000 × 784 × 10": Problem("softmax", digits(20000), 10000),
    "lasso 1000 × 784": Problem("lasso", digits(2000), 1000),
    "lasso 200 × 50 000": Problem("lasso", normal(400, 50000, 1.0, informative=20), 200),
    "lasso 1 000 000 × 50": Problem("lasso", normal(1200000, 50, 3.0, informative=10), 1000000, is_large=True),
    "lasso 1000 × 784, 5 folds": Problem("lasso", digits(1000)),
    "elastic-net 1000 × 784": Problem("elastic-net", digits(2000), 1000),
    "elastic-net 442 × 10, 5 folds": Problem("elastic-net", diabetes),
}
SINGLES = ("logistic 50 000 × 784", "softmax 10 000 × 784 × 10")  # measured with --float, too


# ------------------------------------------------------------------------------------------------ peers, each in a process of its own

class Rows:
    """What a peer is given: standardised rows of both parts, as a user would prepare them (sparse ones as they are)."""

    def __init__(self, folder):
        self.folder = folder
        about = json.loads((folder / "problem.json").read_text())
        self.model, self.folds, self.is_sparse = about["model"], about["folds"], about["sparse"]
        if self.is_sparse:
            from sklearn.datasets import load_svmlight_files
            self.x, self.y, self.v, self.z = load_svmlight_files([str(folder / "train"), str(folder / "valid")])
            return
        self.x, self.y = np.load(folder / "train.npy"), np.load(folder / "train_y.npy")
        if not self.folds:
            self.v, self.z = np.load(folder / "valid.npy"), np.load(folder / "valid_y.npy")

    def standardised(self):
        if self.is_sparse:
            return self.x, self.v
        deviation = self.x.std(0)
        deviation[deviation == 0] = 1
        mean = self.x.mean(0)
        return (self.x - mean) / deviation, None if self.folds else (self.v - mean) / deviation

    def loss(self, prediction):
        """Of the validation rows: margins or logits of classes, else predictions."""
        if self.model == "logistic":
            return float(np.mean(np.logaddexp(0, -np.sign(self.z) * prediction)))
        if self.model == "softmax":
            top = prediction.max(1)
            return float(np.mean(np.log(np.exp(prediction - top[:, None]).sum(1)) + top - prediction[np.arange(len(self.z)), self.z.astype(int)]))
        return float(0.5 * np.mean((prediction - self.z) ** 2))


def numpy_grid(rows):
    """The loop people write for ridge: eigenvectors of a Gram or kernel matrix, 100 penalties."""
    x, v = rows.standardised()
    y, z = rows.y - rows.y.mean(), rows.z - rows.y.mean()
    n, d = x.shape
    if n >= d:
        values, u = np.linalg.eigh(x.T @ x / n)
        right, left = u.T @ (x.T @ y) / n, v @ u
    else:
        values, u = np.linalg.eigh(x @ x.T / n)
        right, left = u.T @ y / n, (v @ x.T) @ u
    values = np.maximum(values, 0)
    return min(0.5 * np.mean((left @ (right / (values + c)) - z) ** 2) for c in values[-1] * np.logspace(-8, 1, 100))


def ridge_cv(rows):
    from sklearn.linear_model import RidgeCV
    x, _ = rows.standardised()
    return RidgeCV(alphas=len(x) * np.logspace(-6, 2, 100), cv=FOLDS, scoring="neg_mean_squared_error").fit(x, rows.y).best_score_ * -0.5


def ridge_gcv(rows):
    """Leave-one-out in closed form: another criterion, which scikit-learn takes by default."""
    from sklearn.linear_model import RidgeCV
    x, _ = rows.standardised()
    RidgeCV(alphas=len(x) * np.logspace(-6, 2, 100)).fit(x, rows.y)


def ridge_grid(rows):
    from sklearn.linear_model import Ridge
    x, v = rows.standardised()
    return min(rows.loss(Ridge(alpha=len(x) * c).fit(x, rows.y).predict(v)) for c in np.logspace(-6, 2, 20))


def penalties(rows):
    """C of scikit-learn, from strong to weak penalties."""
    return np.logspace(-5, 2, 20) * 1000 / rows.x.shape[0]


def lbfgs_path(rows):
    from sklearn.linear_model import LogisticRegression
    x, v = rows.standardised()
    y = rows.y if rows.model == "softmax" else np.sign(rows.y)
    model, best = LogisticRegression(warm_start=True, max_iter=1000, tol=1e-5), np.inf
    for c in penalties(rows):
        best = min(best, rows.loss(model.set_params(C=c).fit(x, y).decision_function(v)))
    return best


def logistic_cv(rows):
    from sklearn.linear_model import LogisticRegressionCV
    x, _ = rows.standardised()
    model = LogisticRegressionCV(Cs=penalties(rows), cv=FOLDS, scoring="neg_log_loss", max_iter=1000).fit(x, rows.y)
    return -max(np.mean(scores, axis=0).max() for scores in model.scores_.values())


def lasso_path(rows):
    from sklearn.linear_model import lasso_path as path
    x, v = rows.standardised()
    _, weights, _ = path(x, rows.y - rows.y.mean(), n_alphas=100, eps=1e-3)
    return min(rows.loss(v @ w + rows.y.mean()) for w in weights.T)


def lasso_cv(rows):
    from sklearn.linear_model import LassoCV
    x, _ = rows.standardised()
    return LassoCV(cv=FOLDS, n_alphas=100).fit(x, rows.y).mse_path_.mean(1).min() * 0.5


def enet_path(rows):
    from sklearn.linear_model import enet_path as path
    x, v = rows.standardised()
    best = np.inf
    for share in (0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0):  # what the documentation of ElasticNetCV proposes
        _, weights, _ = path(x, rows.y - rows.y.mean(), l1_ratio=share, n_alphas=100)
        best = min(best, *(rows.loss(v @ w + rows.y.mean()) for w in weights.T))
    return best


def enet_cv(rows):
    from sklearn.linear_model import ElasticNetCV
    x, _ = rows.standardised()
    return ElasticNetCV(cv=FOLDS, l1_ratio=[0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0]).fit(x, rows.y).mse_path_.mean(-1).min() * 0.5


def optuna_tpe(rows):
    import optuna
    from sklearn.linear_model import LogisticRegression, Ridge
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    x, v = rows.standardised()

    def loss(trial):
        c = trial.suggest_float("c", 1e-6, 1e2, log=True)
        if rows.model == "ridge":
            return rows.loss(Ridge(alpha=len(x) * c).fit(x, rows.y).predict(v))
        return rows.loss(LogisticRegression(C=1 / c / x.shape[0], max_iter=1000, tol=1e-5).fit(x, rows.y).decision_function(v))

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(loss, n_trials=25)
    return study.best_value


GLMNET = """
suppressMessages(library(glmnet))
a <- commandArgs(TRUE); f <- a[1]; family <- a[2]; alpha <- as.numeric(a[3]); n <- as.integer(a[4]); m <- as.integer(a[5]); d <- as.integer(a[6])
read <- function(name, rows, columns) matrix(readBin(file.path(f, name), "double", rows * columns), rows, columns, byrow = TRUE)
x <- read("x.bin", n, d); y <- read("y.bin", n, 1)[, 1]
if (m > 0) { v <- read("v.bin", m, d); z <- read("z.bin", m, 1)[, 1] }
begin <- proc.time()[[3]]
if (m > 0) {
  fit <- glmnet(x, y, family = family, alpha = alpha, lambda.min.ratio = 1e-5)
  p <- predict(fit, v)
  loss <- if (family == "gaussian") colMeans((p - z)^2) / 2 else colMeans(log1p(exp(-z * p)))
} else loss <- cv.glmnet(x, y, family = family, alpha = alpha, nfolds = 5)$cvm / 2
cat(sprintf('{"seconds": %.6f, "loss": %.12g}', proc.time()[[3]] - begin, min(loss)))
"""


def glmnet(rows):
    """In R: the seconds are those of the fit."""
    parts = {"x": rows.x, "y": rows.y, **({} if rows.folds else {"v": rows.v, "z": rows.z})}
    for name, part in parts.items():
        np.ascontiguousarray(part, float).tofile(rows.folder / f"{name}.bin")
    family = "binomial" if rows.model == "logistic" else "gaussian"
    alpha = {"ridge": 0, "logistic": 0, "lasso": 1}[rows.model]
    shape = [rows.x.shape[0], 0 if rows.folds else rows.v.shape[0], rows.x.shape[1]]
    return json.loads(subprocess.run(["Rscript", "-e", GLMNET, rows.folder, family, str(alpha), *map(str, shape)], check=True, stdout=subprocess.PIPE).stdout)


DLIB = r"""
#include <dlib/svm.h>
#include <chrono>
#include <cstdio>
#include <fstream>
using Row = dlib::matrix<double, 0, 1>;
int main(int, char** a) {
  const long n = std::atol(a[2]), d = std::atol(a[3]);
  std::vector<Row> x(n, Row(d));
  std::vector<double> y(n);
  std::ifstream xs(std::string(a[1]) + "/x.bin", std::ios::binary), ys(std::string(a[1]) + "/y.bin", std::ios::binary);
  for (Row& row : x) xs.read(reinterpret_cast<char*>(&row(0)), 8 * d);
  ys.read(reinterpret_cast<char*>(y.data()), 8 * n);
  const auto begin = std::chrono::steady_clock::now();
  dlib::rr_trainer<dlib::linear_kernel<Row>> trainer;
  trainer.use_regression_loss_for_loo_cv();
  trainer.train(x, y);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f", seconds.count());
}
"""


def dlib(rows):
    """rr_trainer chooses among 100 penalties by leave-one-out errors: another criterion, so seconds alone can be compared."""
    x, _ = rows.standardised()
    np.ascontiguousarray(x).tofile(rows.folder / "x.bin")
    np.ascontiguousarray(rows.y - rows.y.mean()).tofile(rows.folder / "y.bin")
    done = subprocess.run([dlib_program(), rows.folder, *map(str, x.shape)], check=True, stdout=subprocess.PIPE)
    return {"seconds": float(done.stdout), "loss": math.nan}


def dlib_program():
    """Compiled once; where that fails, dlib is missing."""
    program = pathlib.Path(tempfile.gettempdir()) / "yosida_peer_dlib"
    if not program.exists():
        command = ["g++", "-O3", "-march=native", "-x", "c++", "-", "-o", program, "-ldlib", "-llapack", "-lblas"]
        subprocess.run(command, input=DLIB, text=True, check=True, capture_output=True)
    return program


def liblinear(rows):
    """Its own search over C (-C), which cross-validates the accuracy: seconds alone can be compared. They are those of its
    process, which reads a text file."""
    files = [rows.folder / "train"]
    if not files[0].exists():
        from sklearn.datasets import dump_svmlight_file
        dump_svmlight_file(rows.standardised()[0], rows.y, str(files[0]), zero_based=False)
    begin = time.perf_counter()
    subprocess.run(["liblinear-train", "-C", "-s", "0", "-q", *files], check=True, stdout=subprocess.DEVNULL)
    return {"seconds": time.perf_counter() - begin, "loss": math.nan}


PEERS = {f.__name__: f for f in (numpy_grid, ridge_cv, ridge_gcv, ridge_grid, lbfgs_path, logistic_cv, lasso_path, lasso_cv, enet_path, enet_cv,
                                 optuna_tpe, glmnet, liblinear, dlib)}
TITLES = {"numpy_grid": "numpy, eigenvectors and 100 penalties", "ridge_cv": "RidgeCV(100 penalties, cv=5)", "ridge_gcv": "RidgeCV(100 penalties)",
          "ridge_grid": "Ridge, 20 penalties", "lbfgs_path": "LogisticRegression, 20 warm penalties", "logistic_cv": "LogisticRegressionCV(20 × 5)",
          "lasso_path": "lasso_path(100)", "lasso_cv": "LassoCV(100, cv=5)", "enet_path": "enet_path(7 × 100)", "enet_cv": "ElasticNetCV(7 × 100, cv=5)", "optuna_tpe": "Optuna TPE, 25 fits of scikit-learn",
          "glmnet": "glmnet(100)", "liblinear": "liblinear -C", "dlib": "dlib rr_trainer"}
WITHOUT_BLAS = ("glmnet", "liblinear", "lasso_path", "lasso_cv", "enet_path", "enet_cv")


SLOW = ("ridge_grid", "optuna_tpe", "dlib", "liblinear", "glmnet")  # over --patience by far on the large problems


def peers_of(name, problem):
    if "5 folds" in name:
        return {"ridge": ["ridge_cv", "ridge_gcv", "glmnet", "dlib"], "logistic": ["logistic_cv", "glmnet", "liblinear"],
                "lasso": ["lasso_cv", "glmnet"], "elastic-net": ["enet_cv"]}[problem.model]
    peers = {"ridge": ["numpy_grid", "ridge_grid", "glmnet", "dlib", "optuna_tpe"], "logistic": ["lbfgs_path", "glmnet", "liblinear", "optuna_tpe"],
             "softmax": ["lbfgs_path"], "lasso": ["lasso_path", "glmnet"], "elastic-net": ["enet_path"]}[problem.model]
    if problem.files:
        return [peer for peer in peers if peer not in ("glmnet", "optuna_tpe")]
    return [peer for peer in peers if not (problem.is_large and peer in SLOW)]


def run_peer(peer, folder):
    """In the child: seconds of the fit, the files being read, and the loss."""
    warnings.simplefilter("ignore")  # of penalties that do not converge: their losses are shown
    rows = Rows(folder)
    begin = time.perf_counter()
    loss = PEERS[peer](rows)
    result = loss if isinstance(loss, dict) else {"seconds": time.perf_counter() - begin, "loss": float("nan" if loss is None else loss)}
    print(json.dumps(result))


# ------------------------------------------------------------------------------------------------ the truth

TRUTH = "the truth"  # its name among the records
WITH_SINGLES = "yosida, --float"
PATIENCE_OF_TRUTH = 140
NEAR = 0.02  # of λ: h is a parabola there


class Truth:
    """h at a penalty, from numpy alone: solves end where rounding does. For one set of validation rows."""

    def __init__(self, rows):
        self.rows, (self.x, self.v) = rows, rows.standardised()
        self.n, self.d = self.x.shape
        self.w = None  # where the next solve begins

    def at(self, lam):
        return {"ridge": self.of_ridge, "lasso": self.of_lasso, "logistic": self.of_logistic}[self.rows.model](float(np.exp(lam)))

    def of_ridge(self, penalty):
        if self.w is None:
            mean = self.rows.y.mean()
            x = self.x if self.n >= self.d else self.x.T
            values, u = np.linalg.eigh(x.T @ x / self.n)
            if self.n >= self.d:
                right, left = u.T @ (x.T @ (self.rows.y - mean)) / self.n, self.v @ u
            else:
                right, left = u.T @ (self.rows.y - mean) / self.n, (self.v @ x) @ u
            self.w = np.maximum(values, 0), right, left, self.rows.z - mean
        values, right, left, z = self.w
        return 0.5 * np.mean((left @ (right / (values + 2 * penalty)) - z) ** 2)

    def of_lasso(self, penalty):
        """The equations of the support that coordinate descent finds; its signs and all other columns are checked."""
        from sklearn.linear_model import Lasso
        mean = self.rows.y.mean()
        y = self.rows.y - mean
        w = Lasso(alpha=penalty, fit_intercept=False, tol=1e-10, max_iter=10**6).fit(self.x, y).coef_
        on = np.flatnonzero(w)
        part = self.x[:, on]
        exact = np.linalg.solve(part.T @ part / self.n, part.T @ y / self.n - penalty * np.sign(w[on]))
        slopes = np.abs(self.x.T @ (y - part @ exact) / self.n)
        rounding = 1e-7  # at a kink a weight is 0 but for it
        if np.any(exact * np.sign(w[on]) < -rounding * np.abs(exact).max()) or slopes.max() > penalty * (1 + rounding):
            raise ArithmeticError("the support is not that of the minimum")
        return self.rows.loss(self.v[:, on] @ exact + mean)

    def of_logistic(self, penalty):
        """Newton's method; the intercept is a column without a penalty."""
        y = np.sign(self.rows.y)
        w = np.zeros(self.d + 1) if self.w is None else self.w
        c = np.append(np.full(self.d, 2 * penalty), 0.0)

        def value(w):
            return np.mean(np.logaddexp(0, -y * (self.x @ w[:-1] + w[-1]))) + 0.5 * c @ w**2

        for _ in range(100):
            p = 1 / (1 + np.exp(y * (self.x @ w[:-1] + w[-1])))
            r = -y * p / self.n
            g = np.append(self.x.T @ r, r.sum()) + c * w
            if np.linalg.norm(g) <= 1e-12:
                break
            h = p * (1 - p) / self.n
            border = self.x.T @ h
            hessian = np.block([[(self.x.T * h) @ self.x, border[:, None]], [border, h.sum()]]) + np.diag(c)
            step, t, before = np.linalg.solve(hessian, g), 1.0, value(w)
            while t > 1e-6 and value(w - t * step) > before + 1e-13:
                t /= 2
            w = w - t * step
        self.w = w
        return self.rows.loss(self.v @ w[:-1] + w[-1])


def run_truth(folder, lam):
    """In the child: h at λ and the least h near it, by the parabola through three points where it has a bottom between them."""
    truth = Truth(Rows(folder))
    begin = time.perf_counter()
    here, left, right = (truth.at(each) for each in (lam, lam - NEAR, lam + NEAR))
    bend = left - 2 * here + right
    move = 0.5 * (left - right) / bend if bend > 0 else math.inf  # in units of NEAR
    has_bottom = abs(move) <= 1 and truth.rows.model != "lasso"  # whose h has kinks
    least = here - 0.125 * (left - right) ** 2 / bend if has_bottom else min(here, left, right)
    print(json.dumps({"seconds": time.perf_counter() - begin, "here": here, "loss": least}))


# ------------------------------------------------------------------------------------------------ measuring

def best_kernels():
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return "SkylakeX" if "avx512f" in flags else "Haswell" if "avx2" in flags else None


# A process begins with the peak memory of the one that starts it: this one is small, whatever we hold.
TIMER = """
import os, sys, time
patience, output, command = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
begin = time.perf_counter()
child = os.posix_spawnp(command[0], command, os.environ, setpgroup=0,
                        file_actions=[(os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_TRUNC, 0)])
while True:
    pid, status, usage = os.wait4(child, os.WNOHANG)
    if pid or time.perf_counter() > begin + patience:
        break
    time.sleep(0.0005)
seconds = time.perf_counter() - begin
if not pid:
    os.killpg(child, 9)
    os.wait4(child, 0)
print(0 if pid and status == 0 else 1, seconds, usage.ru_maxrss)
"""


def timed(command, environment, patience):
    """Seconds and peak bytes of a process and its children, and what it printed; None where it failed or took too long."""
    # As installed: what the caller's shell says of BLAS would choose its kernels for all.
    own = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    with tempfile.NamedTemporaryFile() as output:
        timer = [sys.executable, "-S", "-E", "-c", TIMER, str(patience), output.name, *command]
        words = subprocess.run(timer, env={**own, **environment}, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        text = output.read()
    return None if words[0] != "0" else (float(words[1]), int(words[2]) * 1024, json.loads(text))


def is_missing(peer):
    if peer == "glmnet":
        return not shutil.which("Rscript") or subprocess.run(["Rscript", "-e", "library(glmnet)"], capture_output=True).returncode != 0
    if peer == "liblinear":
        return not shutil.which("liblinear-train")
    if peer == "dlib":
        try:
            dlib_program()
        except (OSError, subprocess.CalledProcessError):
            return True
    import importlib.util
    return peer == "optuna_tpe" and importlib.util.find_spec("optuna") is None


def contestants(name, problem, options):
    """(title, command of a folder, environment, the peer)"""
    def ours(folder, *more):
        return [options.program, "tune", *problem.arguments(folder), "--quiet", "--json", "-", *more]

    yield "yosida", ours, {}, None
    yield "yosida, 1 thread", lambda folder: ours(folder, "--threads", "1"), {}, None
    if name in SINGLES:
        yield WITH_SINGLES, lambda folder: ours(folder, "--float"), {}, None
    for peer in peers_of(name, problem):
        def theirs(folder, peer=peer):
            return [sys.executable, __file__, "--peer", peer, folder]
        yield TITLES[peer], theirs, {}, peer
        if peer not in WITHOUT_BLAS and best_kernels():
            yield f"{TITLES[peer]}; right kernels", theirs, {"OPENBLAS_CORETYPE": best_kernels()}, peer


def folder_of(name, problem, options):
    """The folder of a problem's data, written where it is not there yet; None where the data cannot be had."""
    folder = options.scratch / (problem.data or name).replace(" ", "_")
    if not (folder / "problem.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        if why := problem.write(folder):
            print(f"{name}: left out, {why}", flush=True)
            return None
    return folder


def keep(options, records):
    """In one go: a run that is ended here leaves what was there."""
    beside = options.records.with_suffix(".new")
    beside.write_text(json.dumps(records, indent=1))
    beside.replace(options.records)


def measured(command, environment, options):
    """One run as a record; None where it failed or took too long."""
    done = timed(list(map(str, command)), environment, options.patience)
    if not done:
        return None
    seconds, memory, result = done
    loss, is_ours = result["loss"], isinstance(result["loss"], dict)
    more = {"lambda": result["lambda"]} if is_ours else {"here": result["here"]} if "here" in result else {}
    return {**more, "process": seconds, "memory": memory, "seconds": result["wall_seconds" if is_ours else "seconds"],
            "loss": loss["validation"] if is_ours else loss, "certificate": result["certificate"]["verdict"] if is_ours else None}


def is_enough(runs, options):
    """A run that took too long is not repeated, and a long one neither."""
    return len(runs) >= options.repeats or (runs and (runs[-1] is None or runs[-1]["process"] > options.patience / 4))


def measure(name, problem, options, records):
    kept = records.setdefault(name, {})
    todo = [each for each in contestants(name, problem, options)
            if not is_enough(kept.get(each[0], []), options) and options.only in (None, "peers" if each[3] else "ours")]
    missing = {title for title, _, _, peer in todo if peer and is_missing(peer)}
    for title in sorted(missing):
        print(f"{name}: {title} is not installed", flush=True)
    todo = [each for each in todo if each[0] not in missing]
    folder = folder_of(name, problem, options) if todo else None
    if folder is None:
        return
    for turn in range(options.repeats):
        for title, command, environment, _ in todo:
            runs = kept.setdefault(title, [])
            if len(runs) > turn or is_enough(runs, options) or kept.get(title.split(";")[0]) == [None]:
                continue  # what is far too slow as installed is not tried with other kernels
            if time.monotonic() > options.deadline:
                return
            runs.append(last := measured(command(folder), environment, options))
            keep(options, records)
            print(f"{name}: {title}: " + (f"{last['process']:.2f} s, loss {last['loss']:.7g}" if last else f"failed or over {options.patience:.0f} s"), flush=True)


def measure_truth(name, problem, options, records):
    """What h is at our λ, and how low it gets near it, by solves that share nothing with ours."""
    kept = records.get(name, {})
    ours = [run for run in kept.get("yosida", []) if run]
    if TRUTH in kept or not ours or not problem.has_truth() or time.monotonic() > options.deadline:
        return
    command = [sys.executable, __file__, "--truth", folder_of(name, problem, options), str(ours[-1]["lambda"][0])]
    # Nobody's time is measured here: it may take its own.
    kept[TRUTH] = [found := measured(command, {}, argparse.Namespace(patience=PATIENCE_OF_TRUTH))]
    keep(options, records)
    print(f"{name}: {TRUTH}: {found}", flush=True)


def groups(columns, count):
    """So many groups of neighbouring columns."""
    parts = np.array_split(np.arange(columns), count)
    return [word for k, part in enumerate(parts) for word in ("--group", f"g{k}=" + ",".join(map(str, part)))]


GROWTH = {
    "rows": [(model, Problem(model, normal(n + n // 5, 100, 3.0, model == "logistic"), n), n, [])
             for model in ("ridge", "lasso", "logistic") for n in (10000, 100000, 1000000)],
    "columns": [(model, Problem(model, normal(400, d, 1.0, informative=20), 200, data=f"wide {d}"), d, [])
                for model in ("ridge", "lasso") for d in (1000, 10000, 100000, 1000000)],
    "penalties": [(model, Problem(model, normal(3000, 200, 3.0, model == "logistic"), 2000, data=f"{model} penalties"), k, groups(200, k))
                  for model in ("ridge", "logistic") for k in (1, 5, 20, 50, 200)],
    "folds": [(model, Problem(model, normal(20000, 100, 3.0, model == "logistic"), data=f"{model} folds"), k, ["--folds", str(k)])
              for model in ("ridge", "logistic") for k in (2, 5, 10, 20)],
    "threads": [(model, Problem(model, normal(120000, 100, 3.0, model == "logistic"), 100000, data=f"growth {model} rows 100000"), k, ["--threads", str(k)])
                for model in ("ridge", "logistic") for k in range(1, (os.cpu_count() or 1) + 1)],
}


def measure_growth(options, records):
    for kind, entries in GROWTH.items():
        for model, problem, size, more in entries:
            runs = records.setdefault("growth", {}).setdefault(kind, {}).setdefault(model, {}).setdefault(str(size), [])
            folder = None if is_enough(runs, options) else folder_of(f"growth {model} {kind} {size}", problem, options)
            while folder and not is_enough(runs, options) and time.monotonic() < options.deadline:
                arguments = problem.arguments(folder)
                arguments = arguments[:-2] if "--folds" in more else arguments
                runs.append(measured([options.program, "tune", *arguments, *more, "--quiet", "--json", "-"], {}, options))
                keep(options, records)
                print(f"growth by {kind}: {model} {size}: {runs[-1]}", flush=True)


# ------------------------------------------------------------------------------------------------ the page

# Why, where we are not ahead by what is aimed at. Only those are shown for which that is so in the records.
REASONS = {
    "ridge 1000 × 784": "A third of our time is the start of a process and the reading of its files.",
    "ridge 200 × 50 000": "We map 160 MB, look at each number for what is not finite, take statistics of the columns, and predict "
                          "all rows for the report; that is more than half of our time. The peer begins with rows in memory.",
    "logistic ijcnn1": "Two fifths of our time are the start of a process and the reading of 22 MB of text; the peer begins with rows in memory.",
    "ridge 50 000 × 784": "Both are held up by one product of matrices, which the right kernels make at the speed of the processor; "
                          "the peer begins with rows in memory.",
    "lasso 200 × 50 000": "We follow the exact path and check all 50 000 columns on the way; the peer takes 100 penalties, each nearly.",
}
AS_INSTALLED, RIGHT_KERNELS = 3.0, 1.3  # times as fast as the best peer: what is aimed at


def medians(runs):
    runs = [run for run in runs if run]
    if not runs:
        return None
    middle = {key: statistics.median(run[key] for run in runs) for key in ("process", "seconds", "memory", "loss")}
    return {**middle, "certificate": runs[-1]["certificate"], "runs": len(runs)}


class Compared:
    """What a page says of one problem."""

    def __init__(self, name, records):
        self.name = name
        self.truth = next((run for run in records.get(TRUTH, []) if run), None)
        self.entries = {title: medians(runs) for title, runs in records.items() if title != TRUTH}
        self.ours, self.single = self.entries.get("yosida"), self.entries.get("yosida, 1 thread")
        peers = {title: each for title, each in self.entries.items() if each and not title.startswith("yosida")}
        self.installed = self.fastest({title: each for title, each in peers.items() if "right kernels" not in title})
        self.best = self.fastest(peers)
        self.has_same_rows = "folds" not in name and not PROBLEMS[name].files  # we standardise sparse columns, peers take them as they are
        losses = [each["loss"] for each in self.entries.values() if each and not math.isnan(each["loss"])]
        self.least = min(losses, default=math.nan)

    @staticmethod
    def fastest(peers):
        return min(peers.items(), key=lambda item: item[1]["seconds"], default=None)

    def ratio(self, peer):
        return peer[1]["seconds"] / self.ours["process"] if peer else math.inf

    def is_behind(self):
        return self.ratio(self.installed) < AS_INSTALLED or self.ratio(self.best) < RIGHT_KERNELS

    def gap(self, each):
        return f"{max(0.0, each['loss'] / self.least - 1):.0e}" if self.has_same_rows and not math.isnan(each["loss"]) else ""

    def gap_to_truth(self):
        """Of the loss that we say, and of what our λ gives when it is solved for by others."""
        if not self.truth:
            return ""
        return f"{self.ours['loss'] / self.truth['loss'] - 1:.0e}, {self.truth['here'] / self.truth['loss'] - 1:.0e}"

    def behind_line(self):
        title, peer = self.installed
        text = f"- **{self.name}**: {self.ours['process']:.2f} s beside {peer['seconds']:.2f} s of {title} ({self.ratio(self.installed):.1f} ×)"
        if self.best[0] != title:
            text += f", {self.best[1]['seconds']:.2f} s of {self.best[0]} ({self.ratio(self.best):.1f} ×)"
        return text + "." + (f" {REASONS[self.name]}" if self.name in REASONS else "")

    def summary_line(self):
        cells = [self.name, f"{self.ours['process']:.2f}"]
        for peer in (self.installed, self.best):
            cells += [f"{peer[0]}: {peer[1]['seconds']:.2f}", f"{self.ratio(peer):.1f}"] if peer else ["", ""]
        cells += [f"{self.single['process'] / self.ours['process']:.1f}" if self.single else "", self.gap(self.ours), self.gap_to_truth(), self.ours["certificate"]]
        lines = ["| " + " | ".join(cells) + " |"]
        if single := self.entries.get(WITH_SINGLES):
            lines.append(f"| {self.name}, `--float` | {single['process']:.2f} |  |  |  |  |  | {self.gap(single)} |  | {single['certificate']} |")
        return "\n".join(lines)

    def table(self, patience):
        lines = ["", f"### {self.name}", "", "| | process, s | in memory, s | peak MB | validation loss | above the least | runs |", "|---|---|---|---|---|---|---|"]
        for title, each in self.entries.items():
            if each is None:
                lines.append(f"| {title} | over {patience:.0f}, ended | | | | | 1 |")
                continue
            name = f"{title} ({each['certificate']})" if each["certificate"] else title
            loss = "" if math.isnan(each["loss"]) else f"{each['loss']:.6g}"
            lines.append(f"| {name} | {each['process']:.3g} | {each['seconds']:.3g} | {each['memory'] / 1e6:.0f} | {loss} | {self.gap(each)} | {each['runs']} |")
        return lines


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "a processor that does not say its name")


def page(records, options):
    compared = [Compared(name, records[name]) for name in PROBLEMS if name in records]
    compared = [each for each in compared if each.ours]
    behind = [each for each in compared if each.installed and each.is_behind()]
    lines = ["# Performance, beside what one would run instead", "",
             "Written by `bench/peers/performance.py`, whose first lines say how it measures:", "",
             "```sh", "python3 bench/peers/performance.py build/release/yosida --setup --growth --out docs/performance.md", "```", "",
             f"{os.cpu_count()} cores of {processor()}. Medians of {options.repeats} runs that take turns; a run over {options.patience / 4:.0f} s is made once, "
             f"and one over {options.patience:.0f} s is ended. Ours is the whole process, from files to certificate and report; theirs is the fit alone, the rows "
             "being in memory and standardised. With folds each draws its own, and sparse columns are standardised by us alone, so losses are not compared there.", "",
             "A peer may have the least loss of all by luck: it tries a few penalties, and stops some solves early. So h is also computed by numpy, "
             "with solves that end at rounding, at our λ and on both sides of it; the bottom of the parabola through these points is the optimum. "
             "Two gaps stand in the table: of the loss that we say, and of the exact loss of our λ.", "",
             "## Where we are not ahead", "",
             f"We aim at {AS_INSTALLED:.0f} times as fast as the best peer as Debian installs it, and at {RIGHT_KERNELS} times where its BLAS is told which kernels fit the "
             f"processor. {len(compared) - len(behind)} of {len(compared)} problems reach both. These do not; where no reason stands, it has not been looked for yet:", "", *[each.behind_line() for each in behind], "",
             "## Summary", "",
             "| problem | yosida, process s | best peer as installed, in memory s | ratio | best peer with any kernels, s | ratio | two threads against one | "
             "loss above the least of all | above the optimum, as said and as solved for | certificate |", "|---" * 10 + "|", *[each.summary_line() for each in compared]]
    if growth := records.get("growth"):
        lines += ["", "## Growth", "", "Whole process, ourselves alone.", ""]
        for kind, models in growth.items():
            shown = {model: {size: medians(runs) for size, runs in sizes.items()} for model, sizes in models.items()}
            picture(options.out.parent / f"performance-{kind}.svg", kind, shown)
            lines += [f"![Seconds by {kind}](performance-{kind}.svg)", "", f"{ABOUT_GROWTH[kind]}", "",
                      f"| {kind} | " + " | ".join(f"{model}, s | peak MB" for model in shown) + " |", "|---" * (1 + 2 * len(shown)) + "|"]
            for size in dict.fromkeys(size for sizes in shown.values() for size in sizes):
                cells = [sizes.get(size) for sizes in shown.values()]
                lines.append(f"| {size} | " + " | ".join(f"{c['process']:.2f} | {c['memory'] / 1e6:.0f}" if c else f"over {options.patience:.0f} | " for c in cells) + " |")
            lines.append("")
    lines += ["", "## Each problem", *[line for each in compared for line in each.table(options.patience)]]
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


ABOUT_GROWTH = {
    "rows": "So many rows of 100 columns, and a fifth as many to validate.",
    "columns": "200 rows of so many columns, and 200 to validate.",
    "penalties": "2000 rows of 200 columns in so many groups with a λ each, and 1000 rows to validate.",
    "folds": "20 000 rows of 100 columns in so many folds.",
    "threads": "100 000 rows of 100 columns, and 20 000 to validate.",
}


def picture(path, kind, models):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "yosida"  # the same bytes for the same figures
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(5, 3))
    for model, sizes in models.items():
        points = [(float(size), each["process"]) for size, each in sizes.items() if each]
        if points:
            axes.plot(*zip(*points), marker="o", label=model)
    axes.set(xscale="log", yscale="log", xlabel=kind, ylabel="seconds, whole process")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    if sys.argv[1:2] == ["--peer"]:
        return run_peer(sys.argv[2], pathlib.Path(sys.argv[3]))
    if sys.argv[1:2] == ["--truth"]:
        return run_truth(pathlib.Path(sys.argv[2]), float(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--problems", help="names or parts of names, by commas; all where none is named")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--patience", type=float, default=40, help="seconds a run may take")
    parser.add_argument("--records", type=pathlib.Path, default=pathlib.Path("performance.json"))
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "yosida-performance",
                        help="where data is written and stays; up to 12 GB")
    parser.add_argument("--prepare", action="store_true", help="write the data and measure nothing")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no run after so many; the next call goes on")
    parser.add_argument("--only", choices=("peers", "ours", "truth"), help="run one side alone, to renew its records")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--setup", action="store_true", help="install the peers first (Debian, as root)")
    parser.add_argument("--out", type=pathlib.Path, help="the page; pictures go beside it")
    options = parser.parse_args()
    options.deadline = time.monotonic() + options.seconds
    if options.setup:
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES], check=True)
    records = json.loads(options.records.read_text()) if options.records.exists() else {}
    wanted = list(PROBLEMS) if options.problems is None else [name for name in PROBLEMS if any(part and part in name for part in options.problems.split(","))]
    if options.prepare:
        for name in wanted:
            folder_of(name, PROBLEMS[name], options)
        for kind, entries in GROWTH.items() if options.growth else ():
            for model, problem, size, _ in entries:
                folder_of(f"growth {model} {kind} {size}", problem, options)
        return
    for name in wanted:
        measure(name, PROBLEMS[name], options, records)
    for name in wanted if options.only in (None, "truth") else ():
        measure_truth(name, PROBLEMS[name], options, records)
    if options.growth:
        measure_growth(options, records)
    if options.out:
        page(records, options)


if __name__ == "__main__":
    main()
