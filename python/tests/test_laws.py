"""Laws that every estimator obeys, on data that hypothesis draws. Parts are given, so that both sides have the same.

They hold to 1e-8, for a λ that is given and for one that is searched with default settings: coefficients as a share of the largest,
λ and the loss. One λ is not compared, between weights and repeated rows: that at the lower bound, some e^-36, where rounding decides how
far down the bound goes, and which moves no coefficient.
"""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings, strategies as st

import yosida
from yosida import ElasticNetTuned, HuberTuned, LassoTuned, LogisticTuned, PoissonTuned, RidgeTuned, SVCTuned

ALL = [RidgeTuned, LassoTuned, ElasticNetTuned, LogisticTuned, SVCTuned, HuberTuned, PoissonTuned]
few = settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
seeds = st.integers(0, 2**31)


def data(kind, seed, rows=60, columns=4):
    """Rows with noise enough that the best penalty is inside the bounds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) + 0.3 * rng.normal(size=(rows, 1))
    margin = X @ rng.normal(size=columns) + 2.0 * rng.normal(size=rows)
    if kind in (LogisticTuned, SVCTuned):
        return X, (margin > 0).astype(int)
    return X, rng.poisson(np.exp(np.clip(0.3 * margin, -3, 3))).astype(float) if kind is PoissonTuned else margin


def fixed(cv):
    """Parameters of a fit at a λ that is given, so that nothing is searched."""
    return dict(cv=cv, method="random", settings={"trials": 1}, bounds=(-3.0 - 1e-13, -3.0 + 1e-13))


def searched(cv):
    """Parameters of a fit that searches λ."""
    return dict(cv=cv)


def same(fit, order=slice(None), rows_are_counted=False):
    """What `fit(parameters, changed)` gives is the same for both. `rows_are_counted`: they are not the same rows."""
    for parameters in (fixed, searched):
        one, other = fit(parameters, False), fit(parameters, True)
        size = np.abs(one.coef_).max()
        np.testing.assert_allclose(other.coef_, one.coef_[..., order], rtol=0, atol=1e-8 * size)
        offset = size + np.abs(one.intercept_).max()
        np.testing.assert_allclose(other.intercept_, one.intercept_, rtol=0, atol=1e-8 * offset)
        assert other.certificate_.verdict == one.certificate_.verdict
        if not (rows_are_counted and one.certificate_.verdict == "certified at a bound" and one.lambda_[0] < -30.0):
            np.testing.assert_allclose(other.lambda_, one.lambda_, rtol=0, atol=1e-8)
        losses = [each.losses_["validation"]["loss"] for each in (one, other)]
        np.testing.assert_allclose(*losses, rtol=1e-8)


@pytest.mark.parametrize("kind", ALL)
@few
@given(seed=seeds)
def test_integer_weights_are_repeated_rows(kind, seed):
    X, y = data(kind, seed)
    fold = np.arange(len(y)) % 3
    weight = np.random.default_rng(seed + 1).integers(0, 4, size=len(y))

    def fit(parameters, changed):
        if not changed:
            return kind(**parameters(fold)).fit(X, y, sample_weight=weight)
        return kind(**parameters(np.repeat(fold, weight))).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))

    same(fit, rows_are_counted=True)


@pytest.mark.parametrize("kind", ALL)
@few
@given(seed=seeds)
def test_the_order_of_rows_changes_no_bit(kind, seed):
    X, y = data(kind, seed)
    order = np.random.default_rng(seed + 1).permutation(len(y))
    fold = np.arange(len(y)) % 3
    for cv, permuted in ((fold, fold[order]), (3, 3), ("holdout", "holdout")):
        one, other = kind(cv=cv).fit(X, y), kind(cv=permuted).fit(X[order], y[order])
        assert np.array_equal(one.coef_, other.coef_) and np.array_equal(one.lambda_, other.lambda_)


@pytest.mark.parametrize("kind", ALL)
@few
@given(seed=seeds)
def test_the_order_and_the_units_of_features_do_not_matter(kind, seed):
    X, y = data(kind, seed)
    rng = np.random.default_rng(seed + 1)
    order = rng.permutation(X.shape[1])
    pairs = [(np.flatnonzero(np.arange(len(y)) % 3 != k), np.flatnonzero(np.arange(len(y)) % 3 == k)) for k in range(3)]
    scale = 10.0 ** rng.integers(-4, 5, size=X.shape[1])

    def fit(parameters, changed):
        fitted = kind(**parameters(pairs)).fit((X * scale)[:, order] if changed else X, y)
        if changed:
            fitted.coef_ = fitted.coef_ * scale[order]
        return fitted

    same(fit, order)


@pytest.mark.parametrize("kind", ALL)
@few
@given(seed=seeds)
def test_sparse_equals_dense(kind, seed):
    X, y = data(kind, seed)
    X = np.where(np.random.default_rng(seed + 1).random(X.shape) < 0.3, 0.0, X)
    pairs = [(np.flatnonzero(np.arange(len(y)) % 3 != k), np.flatnonzero(np.arange(len(y)) % 3 == k)) for k in range(3)]
    same(lambda parameters, changed: kind(**parameters(pairs)).fit(sp.csr_matrix(X) if changed else X, y))


@pytest.mark.parametrize("kind", ALL)
def test_threads_change_no_bit(kind):
    """Neither those of the library, which work on rows of more than 2**17 numbers, nor fits that run beside each other."""
    X, y = data(kind, 5, rows=3400, columns=40)
    threads = yosida.threads()
    fitted = []
    try:
        for count in (1, 3):
            yosida.set_threads(count)
            fitted.append(kind().fit(X, y))
    finally:
        yosida.set_threads(threads)
    workers = [threading.Thread(target=lambda: fitted.append(kind().fit(X, y))) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(fitted) == 4
    for other in fitted[1:]:
        assert np.array_equal(fitted[0].coef_, other.coef_) and np.array_equal(fitted[0].lambda_, other.lambda_)
