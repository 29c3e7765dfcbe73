"""How long `yosida tune` takes beside what one would run instead: performance.py PROGRAM [--problems a,b] [--out DOC]

    apt-get install python3-numpy python3-sklearn python3-optuna python3-matplotlib r-cran-glmnet liblinear-tools   # or --setup
    /usr/bin/python3 bench/peers/performance.py build/release/yosida --records runs.json --out docs/performance.md

Every program is a process of its own that is given the same files. We and the peers take turns, --repeats times, and the
table has medians: seconds of the whole process, seconds of the fit in memory, peak memory, loss, and how far it is above
the least that any of them found. Peers with a BLAS run twice: as Debian installs it, and told which kernels fit the
processor (OPENBLAS_CORETYPE). A peer that needs more than --patience seconds is not run again, one that is not installed
is said to be missing. Runs are kept in --records as they end, and those that are there are not made again.

--growth measures ourselves alone: by rows, columns, folds and threads. Real data is looked for in $YOSIDA_DATA (a9a,
ijcnn1, reuters-moneyfx) and in the cache of `yosida data fetch mnist`.
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

PACKAGES = "python3-numpy python3-sklearn python3-optuna python3-matplotlib r-cran-glmnet liblinear-tools".split()
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

    def __init__(self, model, make, count=None, files=None):
        self.model, self.make, self.count, self.files = model, make, count, files

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
    "ridge 200 × 50 000": Problem("ridge", normal(400, 50000, 1.0), 200),
    "ridge 500 000 × 100": Problem("ridge", normal(600000, 100, 3.0), 500000),
    "ridge 50 000 × 784": Problem("ridge", digits(60000), 50000),
    "ridge 20 000 × 20 000": Problem("ridge", normal(25000, 20000, 3.0), 20000),
    "ridge 1000 × 784, 5 folds": Problem("ridge", digits(1000)),
    "logistic 500 × 784": Problem("logistic", digits(1000, is_odd), 500),
    "logistic 7390 × 784": Problem("logistic", digits(12665, is_odd), 7390),
    "logistic 50 000 × 784": Problem("logistic", digits(60000, is_odd), 50000),
    "logistic 500 000 × 100": Problem("logistic", normal(600000, 100, 0.0, True), 500000),
    "logistic 500 × 784, 5 folds": Problem("logistic", digits(500, is_odd)),
    "logistic a9a": Problem("logistic", None, files=("a9a", "a9a.t")),
    "logistic ijcnn1": Problem("logistic", None, files=("ijcnn1", "ijcnn1.t")),
    "logistic reuters": Problem("logistic", None, files=("reuters-moneyfx.trn", "reuters-moneyfx.tst")),
    "softmax 10 000 × 784 × 10": Problem("softmax", digits(20000), 10000),
    "lasso 1000 × 784": Problem("lasso", digits(2000), 1000),
    "lasso 200 × 50 000": Problem("lasso", normal(400, 50000, 1.0, informative=20), 200),
    "lasso 1 000 000 × 50": Problem("lasso", normal(1200000, 50, 3.0, informative=10), 1000000),
    "lasso 1000 × 784, 5 folds": Problem("lasso", digits(1000)),
    "elastic-net 1000 × 784": Problem("elastic-net", digits(2000), 1000),
}
LARGE = ("ridge 20 000 × 20 000",)  # 4 GB of rows: by name alone


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


def liblinear(rows):
    """Its own search over C (-C), which cross-validates the accuracy: seconds alone can be compared. They are those of the
    process less reading."""
    files = [rows.folder / "train"]
    if not files[0].exists():
        from sklearn.datasets import dump_svmlight_file
        dump_svmlight_file(rows.standardised()[0], rows.y, str(files[0]), zero_based=False)
    begin = time.perf_counter()
    subprocess.run(["liblinear-train", "-C", "-s", "0", "-q", *files], check=True, stdout=subprocess.DEVNULL)
    return {"seconds": time.perf_counter() - begin, "loss": math.nan}


PEERS = {f.__name__: f for f in (numpy_grid, ridge_cv, ridge_gcv, ridge_grid, lbfgs_path, logistic_cv, lasso_path, lasso_cv, enet_path,
                                 optuna_tpe, glmnet, liblinear)}
TITLES = {"numpy_grid": "numpy, eigenvectors and 100 penalties", "ridge_cv": "RidgeCV(100 penalties, cv=5)", "ridge_gcv": "RidgeCV(100 penalties)",
          "ridge_grid": "Ridge, 20 penalties", "lbfgs_path": "LogisticRegression, 20 warm penalties", "logistic_cv": "LogisticRegressionCV(20 × 5)",
          "lasso_path": "lasso_path(100)", "lasso_cv": "LassoCV(100, cv=5)", "enet_path": "enet_path(7 × 100)", "optuna_tpe": "Optuna TPE, 25 fits of scikit-learn",
          "glmnet": "glmnet(100)", "liblinear": "liblinear -C"}
WITHOUT_BLAS = ("glmnet", "liblinear", "lasso_path", "lasso_cv", "enet_path")


def peers_of(name, problem):
    if "5 folds" in name:
        return {"ridge": ["ridge_cv", "ridge_gcv"], "logistic": ["logistic_cv"], "lasso": ["lasso_cv", "glmnet"]}[problem.model]
    dense = {"ridge": ["numpy_grid", "ridge_grid", "glmnet", "optuna_tpe"], "logistic": ["lbfgs_path", "glmnet", "liblinear", "optuna_tpe"],
             "softmax": ["lbfgs_path"], "lasso": ["lasso_path", "glmnet"], "elastic-net": ["enet_path"]}[problem.model]
    return [peer for peer in dense if not (problem.files and peer == "glmnet")]


def run_peer(peer, folder):
    """In the child: seconds of the fit, the files being read, and the loss."""
    warnings.simplefilter("ignore")  # of penalties that do not converge: their losses are shown
    rows = Rows(folder)
    begin = time.perf_counter()
    loss = PEERS[peer](rows)
    result = loss if isinstance(loss, dict) else {"seconds": time.perf_counter() - begin, "loss": float("nan" if loss is None else loss)}
    print(json.dumps(result))


# ------------------------------------------------------------------------------------------------ measuring

def best_kernels():
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return "SkylakeX" if "avx512f" in flags else "Haswell" if "avx2" in flags else None


def timed(command, environment, patience):
    """Seconds and peak bytes of a process and its children, and what it printed; None where it failed or took too long."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, env={**os.environ, **environment}, stdout=output, start_new_session=True)
        deadline = begin + patience
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.perf_counter() > deadline:
                os.killpg(child.pid, 9)
                os.wait4(child.pid, 0)
                return None
            time.sleep(0.0005)
        seconds = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    return None if child.returncode else (seconds, usage.ru_maxrss * 1024, json.loads(text))


def is_missing(peer):
    if peer == "glmnet":
        return not shutil.which("Rscript") or subprocess.run(["Rscript", "-e", "library(glmnet)"], capture_output=True).returncode != 0
    if peer == "liblinear":
        return not shutil.which("liblinear-train")
    import importlib.util
    return peer == "optuna_tpe" and importlib.util.find_spec("optuna") is None


def contestants(name, problem, options):
    """(title, command of a folder, environment)"""
    def ours(folder, *more):
        return [options.program, "tune", *problem.arguments(folder), "--quiet", "--json", "-", *more]

    yield "yosida", ours, {}
    yield "yosida, 1 thread", lambda folder: ours(folder, "--threads", "1"), {}
    for peer in peers_of(name, problem):
        def theirs(folder, peer=peer):
            return [sys.executable, __file__, "--peer", peer, folder]
        yield TITLES[peer], theirs, {}
        if peer not in WITHOUT_BLAS and best_kernels():
            yield f"{TITLES[peer]}; right kernels", theirs, {"OPENBLAS_CORETYPE": best_kernels()}


def measure(name, problem, options, records):
    missing = {TITLES[peer] for peer in peers_of(name, problem) if is_missing(peer)}
    for peer in missing:
        print(f"{name}: {peer} is not installed", flush=True)
    todo = [each for each in contestants(name, problem, options) if each[0].split(";")[0] not in missing and
            len(records.setdefault(name, {}).get(each[0], [])) < options.repeats]
    if not todo:
        return
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        folder = pathlib.Path(folder)
        if why := problem.write(folder):
            print(f"{name}: left out, {why}", flush=True)
            return
        for turn in range(options.repeats):
            for title, command, environment in todo:
                runs = records[name].setdefault(title, [])
                if len(runs) > turn or (runs and (runs[-1] is None or runs[-1]["process"] > options.patience / 4)):
                    continue
                done = timed(list(map(str, command(folder))), environment, options.patience)
                if done:
                    seconds, memory, result = done
                    loss = result["loss"]
                    is_ours = isinstance(loss, dict)
                    runs.append({"process": seconds, "memory": memory, "seconds": result["wall_seconds" if is_ours else "seconds"],
                                 "loss": loss["validation"] if is_ours else loss,
                                 "certificate": result["certificate"]["verdict"] if is_ours else None})
                else:
                    runs.append(None)
                options.records.write_text(json.dumps(records, indent=1))
                last = runs[-1]
                print(f"{name}: {title}: " + (f"{last['process']:.2f} s, loss {last['loss']:.7g}" if last else f"failed or over {options.patience:.0f} s"), flush=True)


GROWTH = {
    "rows": [(f"{model} {n} × 100", Problem(model, normal(n + n // 5, 100, 3.0, model == "logistic"), n), n, [])
             for model in ("ridge", "logistic") for n in (10000, 100000, 1000000)],
    "columns": [(f"{model} 200 × {d}", Problem(model, normal(400, d, 1.0, informative=20), 200), d, [])
                for model in ("ridge", "lasso") for d in (1000, 10000, 100000, 1000000)],
    "folds": [(f"{model} 20000 × 100, {k} folds", Problem(model, normal(20000, 100, 3.0, model == "logistic")), k, ["--folds", str(k)])
              for model in ("ridge", "logistic") for k in (2, 5, 10, 20)],
}


def measure_growth(options, records):
    for kind, entries in GROWTH.items():
        for name, problem, size, more in entries:
            kept = records.setdefault("growth", {}).setdefault(kind, {}).setdefault(name.split()[0], {})
            if str(size) in kept:
                continue
            with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
                problem.write(pathlib.Path(folder))
                arguments = problem.arguments(pathlib.Path(folder))
                if more:
                    arguments = arguments[:-2] + more
                runs = [timed([options.program, "tune", *map(str, arguments), "--quiet", "--json", "-"], {}, options.patience) for _ in range(options.repeats)]
            runs = [run for run in runs if run]
            kept[str(size)] = {"process": statistics.median(run[0] for run in runs), "memory": max(run[1] for run in runs)} if runs else None
            options.records.write_text(json.dumps(records, indent=1))
            print(f"growth by {kind}: {name}: {kept[str(size)]}", flush=True)


# ------------------------------------------------------------------------------------------------ the page

def medians(runs):
    runs = [run for run in runs if run]
    if not runs:
        return None
    middle = {key: statistics.median(run[key] for run in runs) for key in ("process", "seconds", "memory", "loss")}
    return {**middle, "certificate": runs[-1]["certificate"]}


def page(records, options):
    by_problem = {name: {title: medians(runs) for title, runs in records[name].items()} for name in PROBLEMS if name in records}
    lines, ratios = [], []
    for name, entries in by_problem.items():
        ours = entries.get("yosida")
        if not ours:
            continue
        others = {title: each for title, each in entries.items() if each and not title.startswith("yosida")}
        installed = {t: e for t, e in others.items() if "right kernels" not in t}
        best_installed = min(installed.items(), key=lambda item: item[1]["seconds"], default=None)
        best = min(others.items(), key=lambda item: item[1]["seconds"], default=None)
        single = entries.get("yosida, 1 thread")
        known = min(each["loss"] for each in entries.values() if each and not math.isnan(each["loss"])) if "folds" not in name else ours["loss"]
        ratios.append((name, ours, best_installed, best, single, ours["loss"] / known - 1))
        lines += ["", f"### {name}", "", "| | process, s | in memory, s | peak MB | validation loss | above the best |", "|---|---|---|---|---|---|"]
        for title, each in entries.items():
            if each is None:
                lines.append(f"| {title} | over {options.patience:.0f} | | | | |")
                continue
            has_loss = not math.isnan(each["loss"])
            gap = f"{each['loss'] / known - 1:.1e}" if has_loss and "folds" not in name else ""
            verdict = f" ({each['certificate']})" if each["certificate"] else ""
            lines.append(f"| {title}{verdict} | {each['process']:.3g} | {each['seconds']:.3g} | {each['memory'] / 1e6:.0f} | "
                         f"{each['loss']:.6g} | {gap} |" if has_loss else f"| {title} | {each['process']:.3g} | {each['seconds']:.3g} | {each['memory'] / 1e6:.0f} | | |")

    def ratio(ours, other):
        return other[1]["seconds"] / ours["process"] if other else math.nan

    behind = [row for row in ratios if ratio(row[1], row[2]) < 3 or ratio(row[1], row[3]) < 1.3]
    head = ["# Performance, beside what one would run instead", "",
            "Written by `bench/peers/performance.py`, whose first lines say how it measures:", "",
            "    /usr/bin/python3 bench/peers/performance.py build/release/yosida --records runs.json --growth --out docs/performance.md", "",
            f"{os.cpu_count()} cores; medians of {options.repeats} runs that take turns. Ours is the whole process, from files to certificate and report; theirs the fit alone, the rows being in memory. "
            "With folds the losses are of different random folds and are not compared.", "",
            "## Where we are not ahead", "", "Aimed at: three times as fast as the best peer as installed, 1.3 times with the BLAS kernels that fit the processor.", ""]
    head += [f"- **{name}**: {ratio(ours, installed):.1f} × {installed[0]}" + (f", {ratio(ours, best):.1f} × {best[0]}" if best and best[0] != installed[0] else "")
             for name, ours, installed, best, _, _ in behind if installed] or ["- Nowhere in this table."]
    head += ["", "## Summary", "", "| problem | yosida, process s | best peer as installed, in memory s | ratio | best peer with any kernels, s | ratio | two threads against one | loss above the best known | certificate |",
             "|---|---|---|---|---|---|---|---|---|"]
    for name, ours, installed, best, single, gap in ratios:
        row = [f"| {name} | {ours['process']:.2f} |"]
        for peer in (installed, best):
            row.append(f" {peer[0]}: {peer[1]['seconds']:.2f} | {ratio(ours, peer):.1f} |" if peer else " | |")
        row.append(f" {single['process'] / ours['process']:.1f} |" if single else " |")
        row.append(f" {gap:.0e} | {ours['certificate']} |" if "folds" not in name else f" | {ours['certificate']} |")
        head.append("".join(row))
    if growth := records.get("growth"):
        head += ["", "## Growth", "", "Whole process, ourselves alone.", ""]
        for kind, models in growth.items():
            picture(options.out.parent / f"performance_{kind}.svg", kind, models)
            head += [f"![Seconds by {kind}](performance_{kind}.svg)", "", "| " + kind + " | " + " | ".join(f"{m}, s | peak MB" for m in models) + " |", "|---" * (1 + 2 * len(models)) + "|"]
            for size in next(iter(models.values())):
                cells = [models[m].get(size) for m in models]
                head.append(f"| {size} | " + " | ".join(f"{c['process']:.2f} | {c['memory'] / 1e6:.0f}" if c else "– | –" for c in cells) + " |")
            head.append("")
    options.out.write_text("\n".join(head + ["", "## Each problem"] + lines) + "\n", encoding="utf-8")


def picture(path, kind, models):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "yosida"  # the same bytes for the same figures
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(5, 3))
    for model, sizes in models.items():
        points = [(float(size), each["process"]) for size, each in sizes.items() if each]
        axes.plot(*zip(*points), marker="o", label=model)
    axes.set(xscale="log", yscale="log", xlabel=kind, ylabel="seconds, whole process")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    if sys.argv[1:2] == ["--peer"]:
        return run_peer(sys.argv[2], pathlib.Path(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--problems", help="names or parts of names, by commas; all but the largest where none is named")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--patience", type=float, default=240, help="seconds a run may take")
    parser.add_argument("--records", type=pathlib.Path, default=pathlib.Path("performance.json"))
    parser.add_argument("--scratch", type=pathlib.Path, help="where data is written; up to 5 GB")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--setup", action="store_true", help="install the peers first (Debian, as root)")
    parser.add_argument("--out", type=pathlib.Path, help="the page; pictures go beside it")
    options = parser.parse_args()
    if options.setup:
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES], check=True)
    records = json.loads(options.records.read_text()) if options.records.exists() else {}
    wanted = [name for name in PROBLEMS if name not in LARGE] if options.problems is None else \
        [name for name in PROBLEMS if any(part and part in name for part in options.problems.split(","))]
    for name in wanted:
        measure(name, PROBLEMS[name], options, records)
    if options.growth:
        measure_growth(options, records)
    if options.out:
        page(records, options)


if __name__ == "__main__":
    main()
