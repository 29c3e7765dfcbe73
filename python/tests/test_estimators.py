"""The estimators and scikit-learn."""

import os
import pickle
import signal
import threading

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import yosida
from yosida import ElasticNetTuned, HuberTuned, LassoTuned, LogisticTuned, PoissonTuned, RidgeTuned, SVCTuned

ALL = [RidgeTuned, LassoTuned, ElasticNetTuned, LogisticTuned, SVCTuned, HuberTuned, PoissonTuned]


@pytest.mark.parametrize("kind", ALL)
def test_check_estimator_with_no_check_skipped(kind):
    assert "_xfail_checks" not in kind()._get_tags() or not kind()._get_tags()["_xfail_checks"]
    check_estimator(kind())


def target_of(kind, table, classes):
    if kind in (LogisticTuned, SVCTuned):
        return classes[1]
    return np.round(np.exp(0.3 * (table[1] - table[1].mean()))) if kind is PoissonTuned else table[1]


@pytest.mark.parametrize("kind", ALL)
def test_copies_are_equal(kind, table, classes, tmp_path):
    X, y = table[0], target_of(kind, table, classes)
    fitted = kind(cv=3).fit(X, y)
    expected = fitted.predict(X)
    assert np.array_equal(clone(fitted).fit(X, y).coef_, fitted.coef_)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), expected)
    joblib.dump(fitted, tmp_path / "model")
    assert np.array_equal(joblib.load(tmp_path / "model").predict(X), expected)
    assert fitted.n_iter_ >= 1 and len(fitted.cv_losses_) == 3 and fitted.n_features_in_ == 6
    assert len(fitted.trace_) >= fitted.n_iter_
    assert "certif" in fitted._repr_html_() and "certif" in fitted._repr_mimebundle_()["text/html"]
    assert "certif" not in kind()._repr_html_()
    assert fitted.work_["gradient_equivalents"] > 0


def test_penalties_are_those_of_scikit_learn(table, classes):
    """The same weights at the same penalty, by scikit-learn on the standardised rows."""
    X, y = table
    scaler = StandardScaler().fit(X)
    Z = scaler.transform(X)
    weight = np.arange(len(y)) % 3 + 0.5

    def same(fitted, other, rtol=1e-5):
        np.testing.assert_allclose(fitted.coef_ * scaler.scale_, other.coef_, rtol=rtol, atol=rtol)

    ridge = RidgeTuned(cv=3).fit(X, y)
    same(ridge, Ridge(alpha=ridge.alpha_).fit(Z, y))
    lasso = LassoTuned(cv=3).fit(X, y)
    same(lasso, Lasso(alpha=lasso.alpha_, tol=1e-12).fit(Z, y))
    net = ElasticNetTuned(cv=3).fit(X, y)
    same(net, ElasticNet(alpha=net.alpha_, l1_ratio=net.l1_ratio_, tol=1e-12, max_iter=100000).fit(Z, y))
    counts = np.round(np.exp(0.3 * (y - y.mean())))
    poisson = PoissonTuned(cv=3).fit(X, counts)
    same(poisson, PoissonRegressor(alpha=poisson.alpha_, tol=1e-10, max_iter=10000).fit(Z, counts), 1e-4)
    two = LogisticTuned(cv=3).fit(X, classes[1])
    same(two, LogisticRegression(C=two.C_, tol=1e-10, max_iter=10000).fit(Z, classes[1]), 1e-4)
    many = LogisticTuned(cv=3).fit(X, classes[2])
    reference = LogisticRegression(C=many.C_, tol=1e-10, max_iter=10000, multi_class="multinomial").fit(Z, classes[2])
    np.testing.assert_allclose(many.coef_ * scaler.scale_, reference.coef_, rtol=1e-3, atol=1e-4)
    # With weights: the statistics of the features are weighted too.
    mean = np.average(X, axis=0, weights=weight)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    weighted = RidgeTuned(cv=3).fit(X, y, sample_weight=weight)
    other = Ridge(alpha=weighted.alpha_).fit((X - mean) / deviation, y, sample_weight=weight)
    np.testing.assert_allclose(weighted.coef_ * deviation, other.coef_, rtol=1e-7)


def test_penalties_with_kinks_are_those_of_scikit_learn(classes):
    X, y = classes[:2]
    Z = StandardScaler().fit_transform(X)
    ours = LogisticTuned(cv=3, penalty="l1").fit(Z, y)
    theirs = LogisticRegression(penalty="l1", C=ours.C_, solver="saga", tol=1e-8, max_iter=200_000).fit(Z, y)
    # saga ends within some 1e-8 of the objective.
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3 * np.abs(theirs.coef_).max())
    net = LogisticTuned(cv=3, penalty="elastic-net").fit(Z, y)
    ratio = net.penalty_[0] / (net.penalty_[0] + 2.0 * net.penalty_[1])
    theirs = LogisticRegression(
        penalty="elasticnet", C=net.C_, l1_ratio=ratio, solver="saga", tol=1e-8, max_iter=200_000
    ).fit(Z, y)
    np.testing.assert_allclose(net.coef_, theirs.coef_, atol=1e-3 * np.abs(theirs.coef_).max())
    half = Z.shape[1] // 2
    grouped = LogisticTuned(
        cv=3, penalty="group-lasso", groups={"a": range(half), "b": range(half, Z.shape[1])}
    ).fit(Z, y)
    assert grouped.lambda_names_ == ["a", "b"] and not hasattr(grouped, "C_")


def test_parts_are_chosen_in_every_way(table):
    X, y = table
    group = np.arange(len(y)) // 10
    pairs = list(GroupKFold(3).split(X, y, group))
    listed = RidgeTuned(cv=pairs).fit(X, y)
    fold = np.zeros(len(y))
    for k, (_, rows) in enumerate(pairs):
        fold[rows] = k
    assert listed.lambda_ == pytest.approx(RidgeTuned(cv=fold).fit(X, y).lambda_, abs=1e-9)
    assert len(RidgeTuned(cv=KFold(4)).fit(X, y).cv_losses_) == 4
    assert len(RidgeTuned(cv=iter(pairs)).fit(X, y).cv_losses_) == 3
    assert len(RidgeTuned().fit(X, y).cv_losses_) == 1
    held = RidgeTuned().fit(X[:80], y[:80], validation=(X[80:], y[80:]))
    m, s = X[:80].mean(axis=0), X[:80].std(axis=0)
    A = np.column_stack([(X - m) / s, np.ones(len(y))])
    w = np.linalg.solve(A.T @ A / len(y) + 2 * held.penalty_ * np.diag([1] * 6 + [0]), A.T @ y / len(y))
    np.testing.assert_allclose(held.coef_, w[:6] / s, rtol=1e-7)  # pretreated by the training rows, trained on all
    assert len({RidgeTuned(random_state=np.random.RandomState(seed)).fit(X, y).lambda_[0] for seed in range(3)}) == 3
    RidgeTuned(random_state=None).fit(X, y)
    with pytest.raises(ValueError, match="random_state"):
        RidgeTuned(random_state=-1).fit(X, y)
    for bad in ("leave", 1, [], [(1, 2, 3)], object()):
        with pytest.raises(ValueError):
            RidgeTuned(cv=bad).fit(X, y)
    with pytest.raises(ValueError, match="validation"):
        RidgeTuned().fit(X, y, validation=(X[:, :2], y))


def test_many_penalties(table, classes):
    X, y = table
    assert len(RidgeTuned(penalty_per="feature").fit(X, y).lambda_) == 6
    grouped = RidgeTuned(groups=["a", "a", "b", "b", "b", "c"]).fit(X, y)
    assert grouped.lambda_names_ == ["a", "b", "c"] and grouped.alpha_.shape == (3,)
    assert len(LogisticTuned(penalty_per="class").fit(X, classes[2]).lambda_) == 3
    two = LogisticTuned(penalty_per="class").fit(X, classes[1])
    assert two.coef_.shape == (1, 6) and two.decision_function(X).shape == (len(y),)


def test_classes_of_any_kind(table, classes):
    X = table[0]
    names = np.array(["no", "yes"])[classes[1]]
    plain = LogisticTuned(cv=3).fit(X, classes[1])
    named = LogisticTuned(cv=3).fit(X, names)
    assert list(named.classes_) == ["no", "yes"] and set(named.predict(X)) == {"no", "yes"}
    np.testing.assert_allclose(named.coef_, plain.coef_)
    np.testing.assert_allclose(plain.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_allclose(plain.predict_log_proba(X), np.log(plain.predict_proba(X)), atol=1e-12)
    by_name = LogisticTuned(cv=3, class_weight={"yes": 3.0}).fit(X, names)
    by_place = LogisticTuned(cv=3, class_weight={1: 3.0}).fit(X, classes[1])
    assert np.array_equal(by_name.coef_, by_place.coef_) and not np.array_equal(by_name.coef_, plain.coef_)
    assert not np.array_equal(SVCTuned(class_weight="balanced").fit(X, names).coef_, by_name.coef_)
    with pytest.raises(ValueError, match="class_weight"):
        LogisticTuned(class_weight={"maybe": 1.0}).fit(X, names)
    with pytest.raises(ValueError, match="class_weight: 'heavy' is no number"):
        LogisticTuned(class_weight={"yes": "heavy"}).fit(X, names)
    with pytest.raises(ValueError, match="class_weight = 3: must be"):
        LogisticTuned(class_weight=3).fit(X, names)
    with pytest.raises(ValueError, match="class_weight = light"):
        LogisticTuned(class_weight="light").fit(X, names)
    with pytest.raises(ValueError, match="validation"):
        LogisticTuned().fit(X, names, validation=(X, np.where(classes[1], "yes", "maybe")))
    with pytest.raises(ValueError, match="Only binary"):
        SVCTuned().fit(X, classes[2])


def test_pipelines_columns_and_cross_validation(table, classes):
    pandas = pytest.importorskip("pandas")
    X, y = table
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    frame["kind"] = np.array(["u", "v", "w"])[np.arange(len(y)) % 3]
    columns = ColumnTransformer([("kind", OneHotEncoder(), ["kind"])], remainder="passthrough")
    pipeline = make_pipeline(columns, RidgeTuned(cv=3)).fit(frame, y)
    assert pipeline.score(frame, y) > 0.9
    assert cross_val_score(pipeline, frame, y, cv=3).mean() > 0.8
    scaler = StandardScaler().set_output(transform="pandas")
    fitted = make_pipeline(scaler, RidgeTuned(penalty_per="feature")).fit(frame[list("abcdef")], y)
    assert list(fitted[-1].feature_names_in_) == list("abcdef") == fitted[-1].lambda_names_
    with pytest.raises(ValueError, match="feature names"):
        RidgeTuned().fit(frame[list("abcdef")], y).predict(frame[list("fedcba")])


def test_tags_of_later_versions():
    """scikit-learn 1.6 asks __sklearn_tags__; where it is not installed a stand-in gives what BaseEstimator would."""
    from types import SimpleNamespace as Some

    import sklearn.base

    if hasattr(sklearn.base.BaseEstimator, "__sklearn_tags__"):
        tags = {kind: kind().__sklearn_tags__() for kind in ALL}
    else:

        def of_base(self):
            return Some(
                input_tags=Some(sparse=False),
                target_tags=Some(required=False, positive_only=False),
                classifier_tags=Some(multi_class=True, poor_score=False) if isinstance(self, sklearn.base.ClassifierMixin) else None,
                regressor_tags=Some(poor_score=False) if isinstance(self, sklearn.base.RegressorMixin) else None,
            )

        sklearn.base.BaseEstimator.__sklearn_tags__ = of_base
        try:
            tags = {kind: kind().__sklearn_tags__() for kind in ALL}
        finally:
            del sklearn.base.BaseEstimator.__sklearn_tags__
    assert all(tag.input_tags.sparse and tag.target_tags.required for tag in tags.values())
    assert [kind for kind, tag in tags.items() if tag.target_tags.positive_only] == [PoissonTuned]
    assert not tags[SVCTuned].classifier_tags.multi_class and tags[LogisticTuned].classifier_tags.multi_class


@pytest.mark.parametrize("how", ["return", "raise"])
def test_ctrl_c_is_said(how):
    """In the main thread, while the library searches: in time, because the search has no end of its own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 30))
    y = X @ rng.normal(size=30) + rng.normal(size=5000)
    model = RidgeTuned(method="sho", settings={"alpha": 1e-6}, budget={"iterations": 10**9}, interrupt=how)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    if how == "raise":
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    else:
        with pytest.warns(ConvergenceWarning, match="^RidgeTuned: stopped by Ctrl-C; the penalties are the best so far") as said:
            model.fit(X, y)
        assert said[0].filename == __file__
        assert model.status_ == "stopped" and model.certificate_ is None and np.isfinite(model.coef_).all()
    timer.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(ValueError, match="^interrupt = 'ignore'"):
        RidgeTuned(interrupt="ignore").fit(X[:50], y[:50])


def test_sparse_rows_are_read_in_place(table):
    X, y = table
    RidgeTuned().fit(sp.csr_matrix(X), y)
    assert {copy.why for copy in yosida.last_copies()} <= {"int32 to int64"}
    RidgeTuned().fit(X, y)
    assert yosida.last_copies() == []


def test_a_plain_fit_is_that_of_least_squares_where_penalties_do_not_help(table):
    X, y = table
    np.testing.assert_allclose(
        RidgeTuned(bounds=(-30.0, -29.0)).fit(X, y).coef_, LinearRegression().fit(X, y).coef_, rtol=1e-6
    )


DAYS = np.datetime64("2026-01-01") + np.arange(240).reshape(120, 2)


@pytest.mark.parametrize("parameters, given, names", [
    ({}, dict(X=np.array([[10**400, 1]] * 6, dtype=object), y=np.arange(6)), "^X: "),
    ({}, dict(X=DAYS), r"^X: has dtype datetime64\[D\]"),
    ({}, dict(X=DAYS - DAYS[0]), r"^X: has dtype timedelta64\[D\]"),
    ({}, dict(X=np.zeros(120, dtype=[("a", float)])), "^X: has dtype"),
    ({}, dict(X=np.ma.masked_less(np.arange(240.0).reshape(120, 2), 3)), "^X: has masked entries"),
    ({}, dict(X=[[1, 2], [3]] * 60), "^X: "),
    ({}, dict(X={"a": 1}), "^X: "),
    ({}, dict(y=DAYS[:, 0]), r"^y: has dtype datetime64\[D\]"),
    ({}, dict(y=np.arange(120) * 1j), "^y: has dtype complex128. Complex data not supported"),
    (dict(cv=[([0, 1, 2], [120])]), {}, "^cv: there is no row 120"),
    (dict(cv=[([0, 1, 2], [-121])]), {}, "^cv: there is no row -121"),
    (dict(cv=[([], [3])]), {}, "^cv: 0 training and 1 validation rows"),
    ({}, dict(y=[10**400] + [1] * 119), "^y: "),
    ({}, dict(y=["a", "b"] * 60), "^y: "),
    ({}, dict(y=np.ones(120)), "^y: "),
    (dict(bounds=3), {}, "bounds"),
    (dict(unpenalised="a"), {}, "unpenalised"),
    (dict(unpenalised=[1.5]), {}, "unpenalised"),
    (dict(cv=200), {}, "^cv = 200"),
    (dict(cv=2.5), {}, "^cv = 2.5"),
    (dict(cv=GroupKFold(3)), {}, r"cv: GroupKFold must know the group .* cv=list\(splitter.split\(X, y, groups\)\)"),
    (dict(pretreatment="zscore"), {}, "^pretreatment = zscore: no such pretreatment; must be one of raw"),
    (dict(method="adam"), {}, r"yosida.methods\(\)"),
    (dict(settings=[1]), {}, r"^settings = \[1\]: must be a dict"),
    (dict(groups=3), {}, "^groups = 3: must be a dict"),
    (dict(groups={"a": 0}), {}, "^groups = .*: must be a dict"),
    (dict(groups="abcdef"), {}, "^groups = 'abcdef': must be a dict"),
    (dict(groups={"a": [True]}), {}, "^groups: there is no column True"),
    (dict(random_state=2**70), {}, r"^random_state = 1180591620717411303424: must be a whole number from 0 to 2\*\*64 - 1"),
])
def test_wrong_arguments_are_named(table, parameters, given, names):
    with pytest.raises(ValueError, match=names):
        RidgeTuned(**parameters).fit(given.get("X", table[0]), given.get("y", table[1]))


@pytest.mark.parametrize("kind", ALL)
def test_what_scikit_learn_does_not_name_is_named(kind, table, classes):
    """In fit and in predict, and always as a ValueError."""
    pandas = pytest.importorskip("pandas")
    X, y = table[0], target_of(kind, table, classes)
    fitted = kind().fit(X, y)
    text = pandas.Series(pandas.array(["a", None] * 60, dtype="string"))
    for bad in ([[10**400] * 6] * 120, np.array([["a"] * 6] * 120), {"a": 1}, "abc", np.asmatrix(X), (row for row in X.tolist()),
                pandas.DataFrame(X, columns=["a", 1, "b", 2, "c", 3]), pandas.DataFrame({"a": pandas.period_range("2026", periods=120)})):
        for use in (lambda: kind().fit(bad, y), lambda: fitted.predict(bad)):
            with pytest.raises(ValueError, match="^X: "):
                use()
    for bad in (text, sp.csr_matrix(y[:, None]), np.asmatrix(y).T, np.array(["a", np.nan] * 60, dtype=object), y + 1j):
        with pytest.raises(ValueError, match="^y: "):
            kind().fit(X, bad)


def test_dates_in_a_table_are_named(table, classes):
    pandas = pytest.importorskip("pandas")
    X, y = table
    frame = pandas.DataFrame({"a": X[:, 0], "day": pandas.date_range("2026", periods=len(y))})
    for kind in ALL:
        with pytest.raises(ValueError, match="^X: has dtype datetime64"):
            kind().fit(frame, target_of(kind, table, classes))
    with pytest.raises(ValueError, match="^X: has dtype datetime64"):
        yosida.tune(frame, y)
    fitted = RidgeTuned().fit(X[:, :2], y)
    for dates in (DAYS, frame[["day", "day"]]):
        with pytest.raises(ValueError, match="^X: has dtype datetime64"):
            fitted.predict(dates)
        with pytest.raises(ValueError, match=r"^validation\[0\]: has dtype datetime64"):
            RidgeTuned().fit(X[:, :2], y, validation=(dates, y))


def test_a_glance_at_plain_arrays_finds_what_the_checks_of_scikit_learn_find(table, classes):
    """Plain arrays take a shorter way into fit(); lists take the long one."""
    pandas = pytest.importorskip("pandas")
    X, y = table
    for kind in ALL:
        target = target_of(kind, table, classes)
        one, other = kind(cv=3).fit(X, target), kind(cv=3).fit(X.tolist(), target.tolist())
        assert np.array_equal(one.coef_, other.coef_) and one.n_features_in_ == other.n_features_in_ == 6
        for bad in (np.nan, np.inf):
            spoiled = X.copy()
            spoiled[7, 2] = bad
            with pytest.raises(ValueError, match="Input X contains"):
                kind().fit(spoiled, target)
    ridge = RidgeTuned().fit(pandas.DataFrame(X, columns=list("abcdef")), y)
    assert list(ridge.feature_names_in_) == list("abcdef")
    assert not hasattr(ridge.fit(X, y), "feature_names_in_")
    with pytest.raises(ValueError, match="Input y contains NaN"):
        ridge.fit(X, np.where(np.arange(len(y)) == 5, np.nan, y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ridge.fit(X, y[:-1])


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_sparse_matrices_that_are_none_are_named(table, format):
    """scipy reads outside of the arrays of such a matrix, and ends the process."""
    X, y = table
    fitted = RidgeTuned().fit(X, y)

    def spoiled(part, place, value):
        matrix = sp.csr_matrix(X).asformat(format)
        array = getattr(matrix, part).copy()
        array[place] = value
        setattr(matrix, part, array)
        return matrix

    for given, rule in ((("indptr", 3, 10**6), "indptr must rise"), (("indptr", 0, 2), "indptr must rise"),
                        (("indptr", 4, 0), "indptr must rise"), (("indices", 5, 999), "indices must be from 0"),
                        (("indices", 5, -1), "indices must be from 0")):
        for use in (lambda X: RidgeTuned().fit(X, y), lambda X: yosida.tune(X, y), fitted.predict):
            with pytest.raises(ValueError, match=f"^X: is no {format} matrix: {rule}"):
                use(spoiled(*given))


def test_rows_that_judge_themselves_are_said(table):
    X, y = table
    with pytest.warns(UserWarning, match="cv: 20 rows are in both parts") as caught:
        RidgeTuned(cv=[(np.arange(100), np.arange(80, 120))]).fit(X, y)
    assert caught[0].filename == __file__


def test_wrong_targets_are_named_as_the_caller_knows_them(table):
    """By label and by the caller's row, not by the places that the library has for them."""
    X, y = table
    labels = np.where(np.arange(len(y)) < 2, "rare", np.where(y > np.median(y), "high", "low"))
    with pytest.raises(ValueError, match="cv = 5: class 'rare'"):
        LogisticTuned(cv=5).fit(X, labels)
    counts = np.ones(len(y))
    counts[17] = -2.0
    with pytest.raises(ValueError, match=r"y\[17\] = -2.0"):
        PoissonTuned().fit(X, counts)
    with pytest.raises(ValueError, match="^y: "):
        PoissonTuned().fit(X, labels)


def test_parts_do_not_depend_on_units_and_precision(table):
    """Rows are put in the order of their targets before parts are drawn."""
    X, y = table
    one = RidgeTuned(cv=5).fit(X, y)
    other = RidgeTuned(cv=5).fit(X[:, ::-1] * 0.3, y)
    np.testing.assert_allclose(other.coef_[::-1] * 0.3, one.coef_, rtol=1e-8)
    np.testing.assert_allclose(RidgeTuned(cv=5).fit(X.astype(np.float32), y).lambda_, one.lambda_, atol=1e-3)


@pytest.mark.parametrize("y", [
    np.array([3, -2, 3, -2]), np.array([7, 7]), np.array([], dtype=int), np.array([0, 2, 1, 2]),
    np.array([0, 255, 255], dtype=np.uint8), np.array([-2**63, 2**63 - 1, -2**63]), np.array([1.0, 0.0]), np.array(["b", "a", "b"]),
])
def test_classes_are_those_of_numpy(y):
    """Two whole numbers are told apart without np.unique; whatever y is, the answer is its."""
    from yosida._estimator import _classes_and_places

    classes, places = _classes_and_places(y)
    expected, expected_places = np.unique(y, return_inverse=True)
    assert classes.dtype == expected.dtype and np.array_equal(classes, expected)
    assert np.array_equal(places.astype(float), expected_places.astype(float))
