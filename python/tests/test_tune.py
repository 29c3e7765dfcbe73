"""tune() on arrays: what it reads, what it returns, what it refuses."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

import yosida


def closed_form(X, y, penalty):
    """Ridge on standardised rows, by normal equations: coefficients in the units of X."""
    m, s = X.mean(axis=0), X.std(axis=0)
    Z = (X - m) / s
    w = np.linalg.solve(Z.T @ Z / len(y) + 2 * penalty * np.eye(X.shape[1]), Z.T @ (y - y.mean()) / len(y))
    return w / s, y.mean() - (m / s) @ w


def test_coefficients_are_those_of_the_normal_equations(table):
    X, y = table
    found = yosida.tune(X, y, folds=4)
    coef, intercept = closed_form(X, y, found.penalty[0])
    np.testing.assert_allclose(found.coef, coef, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.intercept, intercept, rtol=1e-9)
    np.testing.assert_allclose(found.predict(X), X @ coef + intercept, rtol=1e-9)
    assert found.certificate and found.certificate.verdict == "certified"
    assert len(found.fold_losses) == 4
    assert len(found.trace) == found.iterations + 1
    assert np.isfinite(found.trace.validation).all()


def test_lambda_minimises_the_cross_validated_loss(table):
    X, y = table
    fold = np.arange(len(y)) % 3
    found = yosida.tune(X, y, folds=fold)

    def loss(lam):
        total = 0.0
        for k in range(3):
            coef, intercept = closed_form(X[fold != k], y[fold != k], np.exp(lam))
            total += 0.5 * np.sum((X[fold == k] @ coef + intercept - y[fold == k]) ** 2)
        return total / len(y)

    at = float(found.lambda_[0])
    assert abs(loss(at) / found.losses["validation"]["loss"] - 1) < 1e-10
    assert loss(at) <= min(loss(at + step) for step in (-0.01, 0.01, -1, 1))
    pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    assert yosida.tune(X, y, folds=pairs).lambda_ == found.lambda_
    assert yosida.tune(X, y, folds=[(fold != k, fold == k) for k in range(3)]).lambda_ == found.lambda_


def test_features_are_read_in_place_and_never_written(table):
    X, y = table
    wide = np.zeros((240, 10))
    wide[::2, 2:8] = X
    strided = wide[::2, 2:8]
    frozen = X.copy()
    frozen.setflags(write=False)
    answers = []
    for each in (X, strided, frozen):
        before = each.copy()
        answers.append(yosida.tune(each, y).lambda_[0])
        assert yosida.last_copies() == []
        assert np.array_equal(each, before)
    assert len(set(answers)) == 1
    singles = X.astype(np.float32)
    of_singles, of_doubles = yosida.tune(singles, y), yosida.tune(singles.astype(np.float64), y)
    np.testing.assert_allclose(of_singles.lambda_, of_doubles.lambda_, atol=1e-6)
    yosida.tune(singles, y)
    assert yosida.last_copies() == []
    csr = sp.csr_matrix(X)
    parts = [part.copy() for part in (csr.data, csr.indices, csr.indptr)]
    yosida.tune(csr, y)
    assert [copy.why for copy in yosida.last_copies()] == ["int32 to int64"]  # the row starts, not the entries
    assert all(np.array_equal(*each) for each in zip(parts, (csr.data, csr.indices, csr.indptr)))


@pytest.mark.parametrize("change, why", [
    (lambda X: X.astype(np.float16), "float16 to float64"),
    (lambda X: np.asfortranarray(X), "rows that are not contiguous"),
    (lambda X: X[:, ::-1], "rows that are not contiguous"),
    (lambda X: X[::-1], "rows that are not contiguous"),
    (lambda X: X.astype(object), "object to float64"),
    (lambda X: X.astype(">f8"), ">f8 to float64"),
    (lambda X: X.tolist(), "list to an array"),
    (lambda X: sp.csc_matrix(X), "csc to csr"),
])
def test_what_cannot_be_read_in_place_is_converted_once_and_said(table, change, why):
    X, y = table
    changed = change(X)
    yosida.tune(changed, y)
    assert why in [copy.why for copy in yosida.last_copies()]


def test_unsorted_and_repeated_entries_are_put_right(table):
    X, y = table
    coo = sp.coo_matrix(X)
    rows, cols, data = (np.concatenate([part, part]) for part in (coo.row, coo.col, coo.data / 2))
    twice = sp.coo_matrix((data, (rows, cols)), X.shape)
    unsorted = sp.csr_matrix(X)
    unsorted.indices = unsorted.indices.reshape(-1, 6)[:, ::-1].ravel().copy()
    unsorted.data = unsorted.data.reshape(-1, 6)[:, ::-1].ravel().copy()
    unsorted.has_sorted_indices = False
    unsorted.has_canonical_format = False
    expected = yosida.tune(sp.csr_matrix(X), y).lambda_
    np.testing.assert_allclose(yosida.tune(twice, y).lambda_, expected, atol=1e-9)
    np.testing.assert_allclose(yosida.tune(unsorted, y).lambda_, expected, atol=1e-9)


def test_data_frames_give_names(table):
    pandas = pytest.importorskip("pandas")
    X, y = table
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    found = yosida.tune(frame, y, penalty_per="feature")
    assert found.lambda_names == list("abcdef")
    assert list(found.trace.to_pandas().columns)[-1] == "lambda_f"
    by_name = yosida.tune(frame, y, groups={"left": ["a", "b"]}, unpenalised=["f"])
    by_place = yosida.tune(X, y, groups={"left": [0, 1]}, unpenalised=[5])
    assert by_name.lambda_names == ["left", "rest"]
    assert np.array_equal(by_name.lambda_, by_place.lambda_)
    labels = yosida.tune(X, y, groups=["left", "left", "r", "r", "r", "r"], unpenalised=None)
    assert labels.lambda_names == ["left", "r"]


def test_columns_of_data_frames_are_matched_by_name(table, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = table
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    turned = frame[list("fedcba")].assign(other=1.0)
    found, several = yosida.tune(frame, y), yosida.tune(frame, np.c_[y, y**2])
    found.save(tmp_path / "model.json")
    for model in (found, several, yosida.load_model(tmp_path / "model.json")):
        expected = model.predict(X)
        for rows in (frame, turned):
            assert np.array_equal(model.predict(rows), expected)
        with pytest.raises(ValueError, match='^X: has no column "a", which the model has'):
            model.predict(frame.rename(columns={"a": "z"}))
        with pytest.raises(ValueError, match='^X: has several columns "a"'):
            model.predict(turned.rename(columns={"other": "a"}))
    sign = yosida.tune(frame, y > np.median(y), model="logistic")
    assert np.array_equal(sign.predict_proba(turned), sign.predict_proba(X))


@pytest.mark.parametrize("targets", [lambda y: y, lambda y: np.c_[y, y**2]], ids=["one", "several"])
def test_columns_of_validation_and_test_rows_are_matched_by_name(table, targets):
    pandas = pytest.importorskip("pandas")
    X, y = table[0], targets(table[1])
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    turned = frame[list("fedcba")]
    plain = yosida.tune(X[:60], y[:60], validation=(X[60:], y[60:]), test=(X[:9], y[:9]))
    for more in ({}, {"feature_names": list("uvwxyz")}):
        found = yosida.tune(frame[:60], y[:60], validation=(turned[60:], y[60:]), test=(turned[:9], y[:9]), **more)
        assert np.array_equal(found.lambda_, plain.lambda_) and found.losses == plain.losses
    with pytest.raises(ValueError, match='^validation: has no column "a", which X has'):
        yosida.tune(frame, y, validation=(frame.rename(columns={"a": "z"}), y))


def test_missing_values_of_pandas_are_those_of_numpy(table):
    pandas = pytest.importorskip("pandas")
    X, y = np.round(table[0]), table[1]
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    whole = frame.astype({"a": "Int64", "b": "Float64"}).assign(c=(X[:, 2] > 0)).astype({"c": "boolean"})
    whole.iloc[[3, 7], 0] = pandas.NA
    whole.iloc[4, 1] = whole.iloc[5, 2] = pandas.NA
    expected = whole.astype(float)
    assert expected.isna().sum().sum() == 4
    found, plain = (yosida.tune(each, y, fill_missing=True) for each in (whole, expected))
    assert np.array_equal(found.coef, plain.coef)
    assert np.array_equal(found.predict(whole), plain.predict(expected))
    for each in (whole, expected):
        with pytest.raises(ValueError, match=r'"a" has no value \(NaN\) in \d of \d+ rows: .* fill_missing=True'):
            yosida.tune(each, y, folds=2)
    with pytest.raises(ValueError, match="^y: has an entry that is missing"):
        yosida.tune(X, whole["a"])
    with pytest.raises(ValueError, match='row 4 has target "a" = nan'):
        yosida.tune(X, whole[["a", "b"]])


def test_the_target_decides_on_the_model_as_on_the_command_line(table, classes):
    X, y = table
    _, two, three = classes
    for target, model in ((y, "ridge"), (two, "logistic"), (two > 0, "logistic"), (three, "softmax")):
        found, named = yosida.tune(X, target), yosida.tune(X, target, model=model)
        assert found.model.name == model and found.title == named.title == f"{model} by my-hpo"
        assert np.array_equal(found.coef, named.coef)
        assert named.note == "" and ("so model " + model in found.note) == (model != "ridge")
    assert yosida.tune(X, two, model="ridge").model.name == "ridge"
    assert yosida.tune(X, np.c_[two, y]).model.name == "ridge"
    with pytest.raises(ValueError, match="^y: has entries that are no numbers: .*LogisticTuned"):
        yosida.tune(X, np.where(two, "yes", "no"))


BAD = [
    (dict(X=np.zeros(5)), "X"),
    (dict(X=np.zeros((0, 3)), y=[]), "^X: has 0 rows and 3 columns"),
    (dict(X=np.zeros((120, 0))), "^X: has 120 rows and 0 columns"),
    (dict(X=np.zeros((120, 2), dtype="datetime64[s]")), r"^X: has dtype datetime64\[s\]"),
    (dict(X=np.ma.masked_equal(np.eye(120), 1)), "^X: has masked entries"),
    (dict(X=[[1.0], [1.0, 2.0]] * 60), "^X: "),
    (dict(y=np.zeros(120, dtype="datetime64[s]")), "^y: has dtype"),
    (dict(y=np.ones(120, dtype=complex)), "^y: has dtype"),
    (dict(sample_weight=np.full(120, np.inf)), "^sample_weight"),
    (dict(X=np.full((120, 2), np.nan)), "X"),
    (dict(X=np.full((120, 2), np.inf)), "X"),
    (dict(X=np.array([["a", "b"]] * 120, dtype=object)), "X"),
    (dict(X=np.array([["a", "b"]] * 120)), "X"),
    (dict(X=np.ones((120, 2), dtype=complex)), "X"),
    (dict(X=np.array([[10**400, 1]] * 120, dtype=object)), "X"),
    (dict(y=np.zeros(5)), "y"),
    (dict(y=np.zeros((120, 2))), "y"),
    (dict(y=["a"] * 120), "y"),
    (dict(y=np.full(120, np.nan)), "^y: "),
    (dict(sample_weight=np.full(120, -1.0)), "sample_weight"),
    (dict(sample_weight=np.zeros(120)), "sample_weight"),
    (dict(sample_weight=np.full(120, np.nan)), "sample_weight"),
    (dict(sample_weight=np.ones(3)), "sample_weight"),
    (dict(model="ridg"), "model"),
    (dict(method="my-hp"), "method"),
    (dict(method=3), "method"),
    (dict(settings={"nonsense": 1}), "nonsense"),
    (dict(folds=1), "folds"),
    (dict(folds="five"), "folds"),
    (dict(folds=True), "folds"),
    (dict(folds=3.5), "folds"),
    (dict(folds=np.ones(3)), "folds"),
    (dict(folds=[]), "folds"),
    (dict(folds=[([0, 1], [500])]), "row 500|500"),
    (dict(folds=[([], [1])]), "part"),
    (dict(folds=3, validation_fraction=0.3), "folds"),
    (dict(validation=(np.zeros((3, 2)), np.zeros(3))), "validation"),
    (dict(validation=3), "validation"),
    (dict(validation_fraction=1.5), "validation"),
    (dict(bounds=(1.0, 0.0)), "bounds"),
    (dict(bounds=3), "bounds"),
    (dict(budget=0), "budget"),
    (dict(budget={"minutes": 3}), "budget"),
    (dict(budget="much"), "budget"),
    (dict(seed=-1), "seed"),
    (dict(seed=0.5), "seed"),
    (dict(penalty_per="weight"), "penalty_per"),
    (dict(groups={"a": [17]}), "groups"),
    (dict(groups={"a=b": [1]}), "groups"),
    (dict(groups=["a"]), "groups"),
    (dict(unpenalised=["nobody"]), "unpenalised"),
    (dict(pretreatment="whiten"), "pretreatment"),
    (dict(target_pretreatment="log"), "target_pretreatment"),
    (dict(class_weight="balanced"), "^class_weight: is for classifications"),
    (dict(class_weight="balanced", model="ridge"), "^class_weight: is for classifications"),
    (dict(penalty_per="class"), "^penalty_per class: is for classifications"),
    (dict(trace="some"), "trace"),
    (dict(copy_bytes=-1), "^copy_bytes = -1: must be >= 0"),
    (dict(copy_bytes=np.nan), "^copy_bytes"),
    (dict(interrupt="ignore"), "interrupt"),
    (dict(feature_names=["a"]), "feature_names"),
]


@pytest.mark.parametrize("given, names", BAD, ids=[f"{place}" for place in range(len(BAD))])
def test_bad_input_is_a_value_error_that_names_the_argument(table, given, names):
    X, y = table
    arguments = {"X": X, "y": y, **given}
    with pytest.raises(ValueError, match=names):
        yosida.tune(arguments.pop("X"), arguments.pop("y"), **arguments)


def test_models_are_saved_pickled_and_loaded(table, classes, tmp_path):
    X, y = table
    found = yosida.tune(X, y)
    found.save(tmp_path / "model.json")
    again = yosida.load_model(tmp_path / "model.json")
    assert np.array_equal(again.predict(X)[:, 0], found.predict(X))
    for rows in (X.tolist(), np.asfortranarray(X), sp.csc_matrix(X), X.astype(np.float32).astype(object)):
        np.testing.assert_allclose(again.predict(rows)[:, 0], found.predict(X), rtol=1e-5)
    copied = pickle.loads(pickle.dumps(found))
    assert np.array_equal(copied.predict(X), found.predict(X))
    assert copied.certificate == found.certificate
    labels = yosida.tune(X, classes[2] * 10.0, model="softmax")
    assert set(labels.predict(X)) <= {0.0, 10.0, 20.0}
    np.testing.assert_allclose(labels.predict_proba(X).sum(axis=1), 1)
    with pytest.raises(ValueError):
        found.predict(X[:, :3])


@pytest.mark.parametrize("folds", [None, 5])
def test_interrupts_return_the_best_so_far(folds):
    """Ctrl-C while the library computes: it stops within 0.3 s of processor time, and the answer is there."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20000, 60))
    y = X @ rng.normal(size=60) + rng.normal(size=20000)
    run = dict(method="sho", settings={"alpha": 1e-6}, budget={"iterations": 10**9}, folds=folds)
    began = []

    def interrupt():
        while not began:
            time.sleep(0.01)
        time.sleep(0.2)
        began.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    def watch(iteration, *_):
        if iteration == 1:
            began.append(0)
        return False

    for how in ("return", "raise"):
        began.clear()
        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            found = yosida.tune(X, y, watch=watch, interrupt=how, **run)
            assert how == "return"
            assert found.status == "stopped" and "Ctrl-C" in found.message
            assert found.certificate is None and np.isfinite(found.coef).all()
        except KeyboardInterrupt:
            assert how == "raise"
        assert time.process_time() - began[-1] < 0.3
        thread.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    time.sleep(0.01)  # no signal is left


def test_the_observer_ends_a_run_and_its_exceptions_come_out(table):
    X, y = table
    assert yosida.tune(X, y, method="sho", watch=lambda i, *_: i >= 3).status == "stopped"

    def fails(*_):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        yosida.tune(X, y, watch=fails)


def test_the_gil_is_released(table):
    """Another thread goes on while the library computes."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20000, 60)), rng.normal(size=20000)
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    yosida.tune(X, y, method="sho", budget={"iterations": 300})
    ended = time.monotonic()
    done.set()
    thread.join()
    inside = [t for t in ticks if began < t < ended]
    assert len(inside) > 0.2 * (ended - began) / 0.005 * 0.2


def test_any_order_forgets_the_order_of_rows(table):
    X, y = table
    order = np.random.default_rng(3).permutation(len(y))
    weight = np.arange(len(y)) % 3
    one = yosida.tune(X, y, sample_weight=weight, any_order=True, refit=True)
    other = yosida.tune(X[order], y[order], sample_weight=weight[order], any_order=True, refit=True)
    assert np.array_equal(one.coef, other.coef) and one.intercept == other.intercept
    kept = weight > 0
    less = yosida.tune(X[kept], y[kept], sample_weight=weight[kept], any_order=True, refit=True)
    assert np.array_equal(one.coef, less.coef)


def test_results_show_themselves(table):
    X, y = table
    found = yosida.tune(X, y, penalty_per="feature", oracle=False)
    assert "certificate" in repr(found)
    page = found._repr_html_()
    assert "validation" in page and "certif" in page
    frame_name = "<script>alert(1)</script>"
    named = yosida.tune(X, y, penalty_per="feature", feature_names=[frame_name] + list("bcdef"))
    assert "<script>" not in named._repr_html_()


def test_methods_and_models_are_listed():
    assert "my-hpo" in yosida.methods() and "ridge" in yosida.models()
    assert yosida.__version__


def test_criteria_and_trust(table):
    X, y = table
    found = yosida.tune(X, y, criterion="loo", trust=True, nested=5)
    assert found.criterion == "loo" and found.folds == 0
    assert found.certificate.verdict == "certified"
    assert found.trust["standard_error"] > 0 and found.trust["rows"] == len(y)
    assert found.trust["interval"][0] < 0 < found.trust["interval"][1]
    assert found.nested["folds"] == 5 and found.nested["rows"] == len(y)
    taken = yosida.tune(X, y, criterion="loo", rule="1se")
    assert taken.lambda_[0] == pytest.approx(found.lambda_[0] + found.trust["one_standard_error"])
    assert yosida.RidgeTuned(cv="loo").fit(X, y).cv_losses_[0] == pytest.approx(found.losses["validation"]["loss"])


def test_rows_that_belong_together(table):
    X, y = table
    found = yosida.tune(X, y, folds=4, repeats=2, group_rows=np.arange(len(y)) // 3)
    assert found.folds == 8
    with pytest.raises(ValueError, match="group_rows"):
        yosida.tune(X, y, criterion="loo", group_rows=np.arange(len(y)))
    with pytest.raises(ValueError, match="one for each"):
        yosida.tune(X, y, group_rows=[1, 2])
