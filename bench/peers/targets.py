"""Many targets at once: yosida beside numpy, scikit-learn and a random search for bands as himalaya has it.

    python3 bench/peers/targets.py                   # 1000 rows, 200 features, 1000 targets; one thread
    python3 bench/peers/targets.py --bands           # 3 groups of columns, a lambda for each group and target

Seconds are those of the processor, of one thread, so that other work on the machine matters little. Needs numpy,
scikit-learn and the Python package.
"""
import argparse
import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402

import yosida  # noqa: E402


def made(rows, features, targets, seed, groups=1):
    """Columns in groups; each target depends on one or two of these, with noise of its own size."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2 * rows, features))
    group = np.arange(features) * groups // features
    share = rng.dirichlet(np.full(groups, 0.5), size=targets)
    w = rng.normal(size=(features, targets)) * np.sqrt(share[:, group].T)
    signal = x @ w
    y = signal / signal.std(axis=0) + rng.normal(size=(2 * rows, targets)) * rng.uniform(0.5, 3, size=targets)
    return x[:rows], y[:rows], x[rows:], y[rows:], group


def seconds_of(call):
    begin = time.process_time()
    found = call()
    return time.process_time() - begin, found


def r_squared(y, predicted):
    return 1 - ((y - predicted) ** 2).sum(axis=0) / ((y - y.mean(axis=0)) ** 2).sum(axis=0)


def numpy_loo(x, y, alphas):
    """Leave-one-out of every target and alpha from one decomposition: matrix products over targets."""
    mean, spread = x.mean(axis=0), x.std(axis=0)
    x = (x - mean) / spread
    centred = y - y.mean(axis=0)
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    z = u.T @ centred
    best, chosen = np.full(y.shape[1], np.inf), np.zeros(y.shape[1])
    for alpha in alphas:
        f = s**2 / (s**2 + alpha)
        kept = 1 - 1 / len(x) - (u**2) @ f
        loss = (((centred - u @ (f[:, None] * z)) / kept[:, None]) ** 2).mean(axis=0)
        better = loss < best
        best[better], chosen[better] = loss[better], alpha
    w = vt.T @ (s[:, None] / (s[:, None] ** 2 + chosen) * z)
    return w / spread[:, None], y.mean(axis=0) - (mean / spread) @ w


def one_lambda(args):
    x, y, x_test, y_test, _ = made(args.rows, args.features, args.targets, args.seed)
    alphas = np.logspace(-3, 6, 41)
    print(f"{args.rows} rows, {args.features} features, {args.targets} targets, leave-one-out; processor seconds, test R²")
    taken, found = seconds_of(lambda: yosida.tune(x, y, criterion="loo"))
    own = r_squared(y_test, found.predict(x_test))
    certified = sum(bool(each) for each in found.certificates)
    print(f"yosida, all targets          {taken:8.3f}  {own.mean():.5f}  {certified} certified")
    few = min(20, args.targets)
    taken, singles = seconds_of(lambda: [yosida.tune(x, y[:, t], criterion="loo", trace=False) for t in range(few)])
    apart = max(abs(each.lambda_[0] - found.lambda_[t]) for t, each in enumerate(singles) if each.certificate.verdict == "certified")
    print(f"yosida, one after the other  {taken / few * args.targets:8.3f}  (from {few}; lambda differ by {apart:.1e})")
    taken, (w, b) = seconds_of(lambda: numpy_loo(x, y, alphas))
    print(f"numpy, 41 alphas             {taken:8.3f}  {r_squared(y_test, x_test @ w + b).mean():.5f}")
    from sklearn.linear_model import RidgeCV
    from sklearn.preprocessing import StandardScaler
    scaler = StandardScaler().fit(x)
    taken, ridge = seconds_of(lambda: RidgeCV(alphas, alpha_per_target=True).fit(scaler.transform(x), y))
    print(f"RidgeCV, 41 alphas           {taken:8.3f}  {r_squared(y_test, ridge.predict(scaler.transform(x_test))).mean():.5f}")
    for how in ("holdout", "folds"):
        taken, found = seconds_of(lambda: yosida.tune(x, y, criterion=how))
        print(f"yosida, {how:<8}             {taken:8.3f}  {r_squared(y_test, found.predict(x_test)).mean():.5f}")


def random_search(x, y, group, draws, alphas, folds, seed):
    """Banded ridge as himalaya searches it: Dirichlet draws of the groups' shares, concentrations 0.1 and 1 in turn,
    each with all alphas, the best for each target by folds; a refit at the end. Columns and targets are centred."""
    rng = np.random.default_rng(seed)
    groups = group.max() + 1
    fold = rng.permutation(len(x)) % folds
    best, weights = np.full(y.shape[1], np.inf), np.zeros((x.shape[1], y.shape[1]))
    mean, spread, level = x.mean(axis=0), x.std(axis=0), y.mean(axis=0)
    x, y = (x - mean) / spread, y - level
    for draw in range(draws):
        gamma = rng.dirichlet(np.full(groups, (0.1, 1.0)[draw % 2])) if draw else np.full(groups, 1 / groups)
        scale = np.sqrt(gamma[group])
        loss = np.zeros((len(alphas), y.shape[1]))
        for k in range(folds):
            train, judge = x[fold != k] * scale, x[fold == k] * scale
            u, s, vt = np.linalg.svd(train, full_matrices=False)
            z, seen = u.T @ y[fold != k], judge @ vt.T
            for a, alpha in enumerate(alphas):
                loss[a] += ((seen @ (s[:, None] / (s[:, None] ** 2 + alpha) * z) - y[fold == k]) ** 2).sum(axis=0)
        low = loss.min(axis=0)
        better = np.flatnonzero(low < best)
        if not len(better):
            continue
        best[better] = low[better]
        u, s, vt = np.linalg.svd(x * scale, full_matrices=False)
        alpha = np.asarray(alphas)[loss.argmin(axis=0)[better]]
        weights[:, better] = scale[:, None] * (vt.T @ (s[:, None] / (s[:, None] ** 2 + alpha) * (u.T @ y[:, better])))
    weights /= spread[:, None]
    return weights, level - mean @ weights, best / len(x)


def bands(args):
    x, y, x_test, y_test, group = made(args.rows, args.features, args.targets, args.seed, args.groups)
    print(f"{args.rows} rows, {args.features} features in {args.groups} groups, {args.targets} targets, 5 folds; processor seconds, test R²")
    taken, found = seconds_of(lambda: yosida.tune(x, y, folds=5, groups=list(group)))
    own = r_squared(y_test, found.predict(x_test))
    certified = sum(bool(each) for each in found.certificates)
    print(f"yosida, a lambda for each group    {taken:8.2f}  {own.mean():.5f}  {certified} of {args.targets} certified")
    taken, (w, b, _) = seconds_of(lambda: random_search(x, y, group, 100, np.logspace(-2, 5, 15), 5, 0))
    other = r_squared(y_test, x_test @ w + b)
    print(f"random search, 100 draws x 15      {taken:8.2f}  {other.mean():.5f}  yosida is above it on {(own > other).sum()} targets")
    taken, one = seconds_of(lambda: yosida.tune(x, y, folds=5))
    print(f"yosida, one lambda for each target {taken:8.2f}  {r_squared(y_test, one.predict(x_test)).mean():.5f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--groups", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bands", action="store_true")
    args = parser.parse_args()
    yosida.use_fast_blas_kernels() if hasattr(yosida, "use_fast_blas_kernels") else None
    (bands if args.bands else one_lambda)(args)


if __name__ == "__main__":
    main()
