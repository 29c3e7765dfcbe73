"""Data that people bring as it is: the λ found against the best there is, by an exact scan in numpy.

    answers.py path/to/yosida [--splits N] [--cases NAMES]

Each case once ended in a wrong valley, at a bound that was too high, or without a certificate. The scan shares nothing with the
program: singular values for least squares, Newton's method in the coordinates of these for classes, over all of λ.
breast_cancer, diabetes, iris and wine are those of scikit-learn (Debian's python3-sklearn). Exit code 77 (skipped) where these
are not found.
"""
import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are small

import numpy as np  # noqa: E402

SKIPPED = 77
FOLDER = "/usr/lib/python3/dist-packages/sklearn/datasets/data"
GAP = 1e-3   # of the best loss there is: the promise
STEP = 0.5  # of the scan, whose best points are then looked at closely


# ---- truth ----


class Fold:
    """Validation rows under w*(λ), trained on the others: L_T = mean loss + e^λ |w|², the intercept free."""

    def __init__(self, x, y, train):
        mean = x[train].mean(axis=0)
        u, s, vt = np.linalg.svd(x[train] - mean, full_matrices=False)
        rank = int(np.sum(s > max(x[train].shape) * 1e-16 * s[0]))
        self.s, n = s[:rank], train.sum()
        # Coordinates in which every column of the training rows has mean square 1.
        self.train = np.column_stack([u[:, :rank] * np.sqrt(n), np.ones(n)])
        self.validation = np.column_stack([(x[~train] - mean) @ vt[:rank].T * (np.sqrt(n) / self.s), np.ones(len(y) - n)])
        self.penalty = np.append(n / self.s ** 2, 0.0)
        self.y, self.y_validation = y[train], y[~train]
        self.w = np.zeros(rank + 1)

    def bounds(self):
        curvature = self.s ** 2 / len(self.y)
        return np.log(curvature.min()) - 16, np.log(curvature.max()) + 5


class LeastSquares(Fold):
    def loss(self, lam):
        n = len(self.y)
        w = self.train.T @ self.y / n / (1 + 2 * np.exp(lam) * self.penalty)
        return 0.5 * np.mean((self.y_validation - self.validation @ w) ** 2)


class Classes(Fold):
    """Newton's method from the last λ; `slope` and `curvature` are those of the loss in y m."""

    def objective(self, w, c):
        return np.mean(self.value(self.y * (self.train @ w))) + c @ (w * w)

    def loss(self, lam):
        c, w, n = np.exp(lam) * self.penalty, self.w, len(self.y)
        for _ in range(100):
            margin = self.y * (self.train @ w)
            g = self.train.T @ (self.y * self.slope(margin)) / n + 2 * c * w
            h = (self.train.T * (self.curvature(margin) / n)) @ self.train + np.diag(2 * c)
            step = np.linalg.solve(h + 1e-14 * np.diag(h.diagonal()), g)
            if g @ step <= 1e-18:
                break
            size = 1.0
            while size > 1e-10 and not self.objective(w - size * step, c) <= self.objective(w, c) - 1e-4 * size * (g @ step):
                size /= 2
            w = w - size * step
        self.w = w
        return np.mean(self.value(self.y_validation * (self.validation @ w)))


class Logistic(Classes):
    value = staticmethod(lambda m: np.logaddexp(0, -m))
    slope = staticmethod(lambda m: -1 / (1 + np.exp(np.clip(m, -700, 700))))
    curvature = staticmethod(lambda m: 0.25 / np.cosh(np.clip(m, -700, 700) / 2) ** 2 + 1e-300)


class Svm(Classes):
    value = staticmethod(lambda m: np.maximum(0, 1 - m) ** 2)
    slope = staticmethod(lambda m: -2 * np.maximum(0, 1 - m))
    curvature = staticmethod(lambda m: 2.0 * (m < 1))


TRUTHS = {"ridge": LeastSquares, "logistic": Logistic, "svm": Svm}


class Truth:
    """h(λ) = Σ_k share of fold k × its validation loss; a hold-out is one fold."""

    def __init__(self, model, x, y, validation_parts):
        self.folds = [TRUTHS[model](x, y, ~part) for part in validation_parts]
        rows = sum(part.sum() for part in validation_parts)
        self.share = [part.sum() / rows for part in validation_parts]

    @functools.cache
    def __call__(self, lam):
        return float(sum(share * fold.loss(lam) for share, fold in zip(self.share, self.folds)))

    def best(self):
        low = min(fold.bounds()[0] for fold in self.folds)
        high = max(fold.bounds()[1] for fold in self.folds)
        points = np.arange(high, low, -STEP)
        values = np.array([self(lam) for lam in points])
        best = values.min()
        for i in np.flatnonzero(values <= 1.02 * best):
            for lam in np.linspace(points[i] - STEP, points[i] + STEP, 17):
                best = min(best, self(lam))
        return best


# ---- data ----


def sklearn_table(name, **options):
    return np.genfromtxt(os.path.join(FOLDER, name), **options)


def breast_cancer():
    table = sklearn_table("breast_cancer.csv", delimiter=",", skip_header=1)
    return table[:, :-1], 2 * table[:, -1] - 1


def flowers_or_wines(name):
    table = sklearn_table(name, delimiter=",", skip_header=1)
    return table[:, :-1], table[:, -1]


def diabetes_with_products(random):
    """442 × 19: the products of the first column with the others beside them, each column times 10^U(−3, 6)."""
    x = sklearn_table("diabetes_data_raw.csv.gz")
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    x = np.column_stack([x, x[:, :1] * x[:, 1:]])
    return x * 10.0 ** random.uniform(-3, 6, x.shape[1]), sklearn_table("diabetes_target.csv.gz")


def columns_to_a_million(random):
    x = random.normal(size=(2048, 12)) @ (np.eye(12) + 0.3 * random.normal(size=(12, 12)))
    y = x @ random.normal(size=12) + 2 * random.normal(size=2048)
    return x * 10.0 ** np.linspace(0, 6, 12)[random.permutation(12)], y


def descriptors(random, rows=104, columns=134):
    """Molecular descriptors: sizes, counts and copies of others, on scales over five decades."""
    factors = random.normal(size=(rows, 4))
    latent = factors @ random.normal(size=(4, columns)) * 0.4 + 0.3 * random.normal(size=(rows, columns))
    x = 10.0 ** random.uniform(-2, 3, columns) * np.exp(latent)
    counts = random.uniform(size=columns) < 0.3
    x[:, counts] = np.round(np.minimum(30, 3 * np.exp(latent[:, counts])))
    copies = np.flatnonzero(random.uniform(size=columns) < 0.2)[3:]
    x[:, copies] = 3 * x[:, copies - 1] + 1e-3 * x[:, copies - 1].std(axis=0) * random.normal(size=(rows, len(copies)))
    standard = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-12)
    y = standard @ (random.normal(size=columns) * (random.uniform(size=columns) < 0.3))
    return x, y / y.std() + 0.4 * random.normal(size=rows)


def spectra(random, rows=60, channels=200):
    """Near-infrared: broad bands, a baseline, scatter and little noise."""
    at = np.linspace(0, 1, channels)
    bands = np.exp(-0.5 * ((at - random.uniform(size=(5, 1))) / random.uniform(0.03, 0.3, (5, 1))) ** 2)
    amounts = np.exp(0.1 * random.normal(size=(rows, 5)))
    x = amounts @ bands * (1 + 0.02 * random.normal(size=(rows, 1))) + 0.05 * random.normal(size=(rows, 1))
    y = amounts @ random.normal(size=5)
    y = (y - y.mean()) / y.std() + 0.1 * random.normal(size=rows)
    return x + 10.0 ** random.uniform(-5, -3) * random.normal(size=x.shape), y


def abalone_like(random, rows=4177):
    """Eight measures of one size, and a count of rings."""
    size = random.normal(size=(rows, 1))
    x = np.exp(0.25 * (size + 0.15 * random.normal(size=(rows, 8)))) * np.array([.5, .4, .14, .8, .36, .18, .24, 1])
    return x, np.round(10 + 2 * size[:, 0] + x @ random.normal(size=8) + 1.5 * random.normal(size=rows))


# ---- the program ----


class Checks:
    def __init__(self, program):
        self.program, self.folder, self.failures = program, tempfile.TemporaryDirectory(), 0
        self.answers = self.certified = self.kinks = 0

    def tune(self, x, y, part, *flags):
        """Part: the fold of every row, or which rows are validation rows."""
        def save(name, rows, *more):
            columns = [np.column_stack([*more, y, x])[rows]]
            names = [f"fold{k}" for k in range(len(more))] + ["y"] + [f"x{j}" for j in range(x.shape[1])]
            path = os.path.join(self.folder.name, name)
            np.savetxt(path, np.vstack(columns), delimiter=",", header=",".join(names), comments="", fmt="%.17g")
            return path
        if part is None:
            data = ["--train", save("data.csv", slice(None))]
        elif part.dtype == bool:
            data = ["--train", save("train.csv", ~part), "--valid", save("valid.csv", part)]
        else:
            data = ["--train", save("data.csv", slice(None), part), "--fold-column", "fold0"]
        done = subprocess.run([self.program, "tune", *data, "--target", "y", "--quiet", "--json", "-", *flags],
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"exit code {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def check(self, what, good, details=""):
        self.failures += not good
        print(f"{'ok   ' if good else 'WRONG'} {what} {details}", flush=True)

    def check_gap(self, what, model, x, y, part, result):
        """The λ found against the best there is, by the truth alone."""
        parts = [part] if part.dtype == bool else [part == k for k in np.unique(part)]
        truth = Truth(model, x, y, parts)
        found = truth(result["lambda"][0])
        gap = found / min(truth.best(), found) - 1
        self.check(what, gap <= GAP, f"gap {gap:.1e}, λ {result['lambda'][0]:.3f}, {result['certificate']['verdict']}")

    def check_words(self, what, result):
        """Status and certificate agree, and no slope is hidden in its own error."""
        certificate = result["certificate"]
        self.answers += 1
        self.certified += certificate["verdict"].startswith("certified")
        self.kinks += "kink" in certificate["verdict"]
        self.check(f"{what}: certified", certificate["verdict"].startswith("certified"),
                   f"{result['status']}; {certificate['verdict']}: {certificate['reason']}")
        self.check(f"{what}: a slope with digits", "0 ± " not in certificate["reason"])


def drawn_folds(random, rows, count=5):
    return random.permutation(rows) % count


def holds_out(random, rows, share=0.33):
    return random.permutation(rows) < share * rows


def folds_of_classes(checks, splits):
    for seed in range(splits):
        for model, steps in (("logistic", "raw"), ("logistic", "center"), ("svm", "raw")):
            x, y = breast_cancer()
            random = np.random.default_rng(seed)
            part = drawn_folds(random, len(y))
            result = checks.tune(x, y, part, "--model", model, "--x", steps)
            checks.check_gap(f"breast_cancer, {model}, {steps}, 5 folds, seed {seed}", model, x, y, part, result)


def ridge_as_it_is(checks, splits):
    for name, data, part_of in (("descriptors", descriptors, holds_out), ("spectra", spectra, holds_out),
                                ("diabetes × 10^U(−3, 6)", diabetes_with_products, drawn_folds),
                                ("columns from 1 to 1e6", columns_to_a_million, holds_out)):
        for seed in range(3 * splits):
            random = np.random.default_rng(seed)
            x, y = data(random)
            part = part_of(random, len(y))
            result = checks.tune(x, y, part, "--x", "raw", "--y", "raw")
            checks.check_gap(f"{name}, ridge, seed {seed}", "ridge", x, y, part, result)
            checks.check_words(f"{name}, ridge, seed {seed}", result)


def one_lambda_per_feature(checks, splits):
    for name, data in (("abalone-like", abalone_like), ("208 × 134", lambda random: descriptors(random, 208))):
        for seed in range(splits):
            random = np.random.default_rng(seed)
            x, y = data(random)
            part = drawn_folds(random, len(y))
            shared = checks.tune(x, y, part)
            each = checks.tune(x, y, part, "--lambda-per", "feature")
            best, found = shared["loss"]["validation"], each["loss"]["validation"]
            what = f"{name}, one λ per feature, seed {seed}"
            checks.check(f"{what}: no worse than one for all", found <= best * (1 + 1e-6), f"{found:.6g}, {best:.6g}")
            checks.check_words(what, each)


def softmax_of_few_rows(checks, splits):
    for name in ("iris.csv", "wine_data.csv"):
        x, y = flowers_or_wines(name)
        for how, flags in (("hold-out", []), ("5 folds", ["--folds", "5"])):
            for seed in range(2 * splits):
                checks.check_words(f"{name}, softmax, {how}, seed {seed}",
                                   checks.tune(x, y, None, "--model", "softmax", "--seed", str(seed), *flags))


def kinks_on_held_out_rows(checks, splits):
    for name, data in (("diabetes with products", diabetes_with_products), ("abalone-like", abalone_like),
                       ("descriptors", descriptors), ("spectra", spectra)):
        for model in ("lasso", "elastic-net"):
            for seed in range(max(1, 3 * splits // 2)):
                random = np.random.default_rng(seed)
                x, y = data(random)
                checks.check_words(f"{name}, {model}, hold-out, seed {seed}",
                                   checks.tune(x, y, holds_out(random, len(y)), "--model", model))


CASES = {"classes": folds_of_classes, "ridge": ridge_as_it_is, "features": one_lambda_per_feature,
         "softmax": softmax_of_few_rows, "kinks": kinks_on_held_out_rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("yosida")
    parser.add_argument("--splits", type=int, default=2, help="of each case; 1 takes half a minute")
    parser.add_argument("--cases", default=",".join(CASES), help="%(default)s")
    options = parser.parse_args()
    if not os.path.exists(FOLDER):
        print("skipped: no scikit-learn data; apt-get install python3-sklearn")
        return SKIPPED
    checks = Checks(options.yosida)
    for case in options.cases.split(","):
        CASES[case](checks, options.splits)
    print(f"{checks.failures} wrong; {checks.certified} of {checks.answers} answers certified, {checks.kinks} of them at a kink")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
