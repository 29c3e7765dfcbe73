"""Several targets of the same rows."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.preprocessing import StandardScaler

import yosida
from yosida import RidgeTuned


@pytest.fixture
def several():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 6)) * [1, 2, 3, 4, 5, 6]
    Y = X @ rng.normal(size=(6, 4)) + rng.normal(size=(90, 4)) * [1, 5, 10, 20] + [0, 10, 20, 30]
    return X, Y


@pytest.mark.parametrize("how", [{}, {"folds": 5}, {"criterion": "loo"}, {"criterion": "gcv"}])
def test_each_target_is_as_alone(several, how):
    X, Y = several
    found = yosida.tune(X, Y, **how)
    assert found.coef.shape == (6, 4) and found.intercept.shape == (4,) and found.lambda_.shape == (4,)
    for t in range(4):
        alone = yosida.tune(X, Y[:, t], **how)
        assert found.certificates[t].verdict == alone.certificate.verdict
        # Where no penalty is needed any small enough λ is as good.
        assert np.exp(found.lambda_[t]) == pytest.approx(np.exp(alone.lambda_[0]), rel=1e-8, abs=1e-14)
        assert found.coef[:, t] == pytest.approx(alone.coef, rel=1e-8, abs=1e-8)
        assert found.predict(X)[:, t] == pytest.approx(alone.predict(X), rel=1e-8, abs=1e-8)
    assert found.losses["validation"]["r_squared"] == pytest.approx(
        np.mean([each["validation"]["r_squared"] for each in found.target_losses])
    )


def test_the_best_alpha_of_each_target_is_no_worse_than_that_of_a_grid(several):
    X, Y = several
    scaled = StandardScaler().fit_transform(X)
    alphas = np.logspace(-3, 5, 60)
    grid = RidgeCV(alphas, alpha_per_target=True, store_cv_values=True).fit(scaled, Y)
    least = grid.cv_values_.mean(axis=0).min(axis=1)
    found = yosida.tune(X, Y, criterion="loo", target_pretreatment="center")
    own = 2 * np.array([each["validation"]["loss"] for each in found.target_losses])
    assert (own <= least * (1 + 1e-6)).all()
    assert own == pytest.approx(least, rel=1e-2)


def test_an_estimator_takes_them_as_ridge_does(several):
    X, Y = several
    fitted = RidgeTuned(cv=5).fit(X, Y)
    assert fitted.coef_.shape == (4, 6) and fitted.intercept_.shape == (4,) and fitted.alpha_.shape == (4,)
    scaler = StandardScaler().fit(X)
    same = Ridge(alpha=fitted.alpha_).fit(scaler.transform(X), Y)
    assert fitted.predict(X) == pytest.approx(same.predict(scaler.transform(X)), rel=1e-9, abs=1e-9)
    assert fitted.score(X, Y) > 0.3
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
    assert "certified" in fitted._repr_html_inner()
    order = np.random.default_rng(0).permutation(len(X))
    assert np.array_equal(RidgeTuned(cv=5).fit(X[order], Y[order]).coef_, fitted.coef_)


def test_groups_and_one_lambda_for_all(several):
    X, Y = several
    bands = yosida.tune(X, Y, groups=[0, 0, 0, 1, 1, 1], folds=3)
    assert bands.lambda_.shape == (4, 2) and bands.lambda_names == ["0", "1"]
    shared = yosida.tune(X, Y, penalty_per="shared")
    assert shared.is_shared and len(set(shared.lambda_)) == 1
    one = yosida.tune(X, Y, folds=3)
    for t in range(4):
        assert bands.target_losses[t]["validation"]["r_squared"] >= one.target_losses[t]["validation"]["r_squared"] - 1e-6


def test_validation_rows_and_saving(several, tmp_path):
    X, Y = several
    found = yosida.tune(X[:60], Y[:60], validation=(X[60:], Y[60:]))
    assert found.rows == (60, 30, 0)
    found.save(tmp_path / "model.json")
    assert np.array_equal(yosida.load_model(tmp_path / "model.json").predict(X), found.predict(X))


def test_bad_targets_are_named(several):
    X, Y = several
    with pytest.raises(ValueError, match="80 rows"):
        yosida.tune(X, Y[:80])
    broken = Y.copy()
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match='target "2"'):
        yosida.tune(X, broken)
    with pytest.raises(ValueError, match="ridge"):
        yosida.tune(X, Y, model="huber")
    with pytest.raises(ValueError, match="no numbers"):
        yosida.tune(X, np.full(Y.shape, "a"))
