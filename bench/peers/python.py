"""RidgeTuned, LogisticTuned and LassoTuned beside RidgeCV, LogisticRegressionCV, GridSearchCV and LassoCV: the cross-validated loss
of the answer and the processor time, on the same folds in one run; and penalties per feature beside one, on test rows.

    PYTHONPATH=build/release/python python3 bench/peers/python.py [--splits 20] [--fast-blas] [--only scikit-learn | per-feature]

Theirs run on features that are standardised inside each fold, as ours do. The loss of an answer is that of a model trained anew by
scikit-learn at its penalty, for both. Times are of one thread: the best of three fits of ours, one fit of theirs.
"""

import argparse
import os
import pathlib
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy reads it

import numpy as np
import sklearn.datasets
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine, make_regression
from sklearn.linear_model import Lasso, LassoCV, LogisticRegression, LogisticRegressionCV, Ridge, RidgeCV
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import yosida

warnings.simplefilter("ignore")


def timed(make, X, y, repeats=3):
    """The fitted model and its processor time, the least of a few fits."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        fitted = make().fit(X, y)
        best = min(best, time.process_time() - began)
    return fitted, best


def loss_of(make, folds, X, y, is_class):
    """The cross-validated loss of a model at one penalty."""
    total = 0.0
    for train, test in folds:
        model = make_pipeline(StandardScaler(), make(len(train))).fit(X[train], y[train])
        if is_class:
            total += log_loss(y[test], model.predict_proba(X[test]), labels=np.unique(y), normalize=False)
        else:
            total += mean_squared_error(y[test], model.predict(X[test])) * len(test)
    return total / sum(len(test) for _, test in folds)


def row(title, ours, theirs, seconds, other_seconds):
    print(f"{title:46} {ours:12.6g} {theirs:12.6g} {seconds * 1e3:9.1f} {other_seconds * 1e3:9.1f} {other_seconds / seconds:7.1f}")


def regressions():
    X, y = load_diabetes(return_X_y=True)
    yield "diabetes 442 x 10", X, y
    X, y = make_regression(2000, 100, n_informative=30, noise=50.0, random_state=0)
    yield "made 2000 x 100", X, y
    X, y = make_regression(200, 1000, n_informative=20, noise=20.0, random_state=0)
    yield "made 200 x 1000", X, y


def classifications():
    yield "breast_cancer 569 x 30", *load_breast_cancer(return_X_y=True)
    yield "wine 178 x 13, 3 classes", *load_wine(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    yield "digits 1797 x 64, even or odd", X, y % 2


def beside_scikit_learn():
    print(f"{'':46} {'our loss':>12} {'their loss':>12} {'our ms':>9} {'their ms':>9} {'ratio':>7}")
    for title, X, y in regressions():
        folds = list(KFold(5, shuffle=True, random_state=0).split(X))
        alphas = np.logspace(-3, 5, 100)
        ours, seconds = timed(lambda: yosida.RidgeTuned(cv=folds), X, y)
        theirs, other = timed(lambda: make_pipeline(StandardScaler(), RidgeCV(alphas, cv=folds)), X, y, 1)
        losses = [loss_of(lambda n, c=alpha / len(y): Ridge(c * n), folds, X, y, False)
                  for alpha in (ours.alpha_, theirs[-1].alpha_)]
        row(f"{title}: RidgeCV of 100", *losses, seconds, other)
        ours, seconds = timed(lambda: yosida.LassoTuned(cv=folds), X, y)
        theirs, other = timed(lambda: make_pipeline(StandardScaler(), LassoCV(cv=folds, max_iter=10000)), X, y, 1)
        losses = [loss_of(lambda n, c=alpha: Lasso(c, max_iter=10000), folds, X, y, False)
                  for alpha in (ours.alpha_, theirs[-1].alpha_)]
        row(f"{title}: LassoCV", *losses, seconds, other)
    for title, X, y in classifications():
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
        ours, seconds = timed(lambda: yosida.LogisticTuned(cv=folds), X, y)

        def loss_at(C):
            return loss_of(lambda n: LogisticRegression(C=C * len(y) / n, max_iter=5000), folds, X, y, True)

        own = loss_at(ours.C_)
        theirs, other = timed(lambda: make_pipeline(StandardScaler(), LogisticRegressionCV(
            Cs=10, cv=folds, scoring="neg_log_loss", max_iter=5000, multi_class="multinomial" if len(np.unique(y)) > 2 else "auto")), X, y, 1)
        row(f"{title}: LogisticRegressionCV", own, loss_at(float(np.mean(theirs[-1].C_))), seconds, other)
        grid, other = timed(lambda: GridSearchCV(
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)),
            {"logisticregression__C": np.logspace(-4, 4, 20)}, cv=folds, scoring="neg_log_loss"), X, y, 1)
        row(f"{title}: GridSearchCV of 20", own, loss_at(grid.best_params_["logisticregression__C"]), seconds, other)


def housing():
    """506 tracts of Boston, a file that scikit-learn still has; None where it has none."""
    file = pathlib.Path(sklearn.datasets.__file__).parent / "data/boston_house_prices.csv"
    if not file.exists():
        print(f"housing: there is no {file}")
        return None
    table = np.genfromtxt(file, delimiter=",", skip_header=2)
    return table[:, :-1], table[:, -1]


def features_of_different_worth():
    """Real tables, a made one of which most features say nothing, and one with more features than training rows."""
    if (table := housing()) is not None:
        yield "Boston housing 506 x 13", *table
    X, y = load_diabetes(return_X_y=True)
    yield "diabetes 442 x 10", X, y
    X, y = make_regression(300, 30, n_informative=5, noise=50.0, random_state=0)
    yield "made 300 x 30, 5 of worth", X, y
    X, y = make_regression(60, 60, n_informative=5, noise=20.0, random_state=0)
    yield "made, wide: 60 x 60, 5 of worth", X, y


def per_feature(splits):
    print(f"\n{'R² on test rows, mean of ' + str(splits) + ' splits':46} {'one penalty':>12} {'per feature':>12} {'better in':>10} {'seconds':>8}")
    for title, X, y in features_of_different_worth():
        scores, began = [], time.process_time()
        for seed in range(splits):
            X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=seed)
            # With more features than training rows the loss falls for hundreds of iterations, ever more slowly.
            scores.append([yosida.RidgeTuned(cv=10, penalty_per=per, budget={"iterations": 40}, random_state=seed)
                           .fit(X_train, y_train).score(X_test, y_test) for per in ("shared", "feature")])
        one, each = np.array(scores).T
        print(f"{title:46} {one.mean():12.4f} {each.mean():12.4f} {(each > one).mean():10.0%} {time.process_time() - began:8.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--only", choices=("scikit-learn", "per-feature"), help="one of the two tables")
    parser.add_argument("--fast-blas", action="store_true", help="kernels for processors that OpenBLAS does not know, for both")
    arguments = parser.parse_args()
    if arguments.fast_blas:
        yosida.use_fast_blas_kernels()
    yosida.set_threads(1)
    print(f"yosida {yosida.__version__}, BLAS kernels {yosida.blas_kernels()}")
    if arguments.only != "per-feature":
        beside_scikit_learn()
    if arguments.only != "scikit-learn":
        per_feature(arguments.splits)


if __name__ == "__main__":
    main()
