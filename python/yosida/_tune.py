"""tune(): the road from rows to an answer, as `yosida tune` walks it."""

from __future__ import annotations

import html
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _arrays, _core
from ._progress import Progress
from ._targets import TunedTargets, is_table, run_targets, table

Watch = Callable[[int, Any, float, int, float], bool]
Folds = Union[int, Sequence[float], Iterable[tuple[Any, Any]], Any]


@dataclass(frozen=True)
class Certificate:
    """What is proved of an answer, from the problem alone.

    Attributes
    ----------
    verdict : str
        "certified", "certified at a bound", "certified at a kink", "certified as no penalty", "certified at working
        precision" or "not certified".
    reason : str
        The verdict in a sentence.
    inner_gradient : float
        How far the weights are from trained, relative to no weights.
    hypergradient : float
        The slope of the validation loss in λ, scaled so that flat ends do not pass for a minimum.
    hypergradient_error : float
        How far that may be wrong.
    gap, lambda_gap : float or None
        To the best λ there is, where it was searched (``oracle=True``).
    """

    verdict: str
    reason: str
    inner_gradient: float
    hypergradient: float
    hypergradient_error: float
    gap: Optional[float] = None
    lambda_gap: Optional[float] = None

    @property
    def is_certified(self) -> bool:
        """Whether anything is proved."""
        return self.verdict != "not certified"

    def __bool__(self) -> bool:
        return self.is_certified

    def _repr_html_(self) -> str:
        return f"<p>certificate: <b>{html.escape(self.verdict)}</b> ({html.escape(self.reason)})</p>"


def certificate_of(given: Optional[dict[str, Any]]) -> Optional[Certificate]:
    """Of what the module returns."""
    return None if given is None else Certificate(**given)


class Trace:
    """The iterations of a run.

    Attributes
    ----------
    iteration, gradients, gradient_equivalents, seconds : arrays
        What each point had cost.
    validation, train, test : arrays
        Losses; NaN where they were not asked for (``trace="full"``).
    lambda_ : array of shape (points, number of λ)
    """

    def __init__(self, columns: Mapping[str, Any], names: Sequence[str]) -> None:
        self.names = list(names)
        self.lambda_ = columns["lambda"]
        self.iteration = columns["iteration"]
        self.validation = columns["validation"]
        self.train = columns["train"]
        self.test = columns["test"]
        self.gradients = columns["gradients"]
        self.gradient_equivalents = columns["gradient_equivalents"]
        self.seconds = columns["seconds"]

    @staticmethod
    def empty() -> "Trace":
        """Of a run that has no iterations of its own."""
        names = ("iteration", "validation", "train", "test", "gradients", "gradient_equivalents", "seconds")
        return Trace({"lambda": np.empty((0, 0)), **{name: np.empty(0) for name in names}}, [])

    def __len__(self) -> int:
        return len(self.iteration)

    def columns(self) -> dict[str, Any]:
        """The same as one array for each column, those without a number left out."""
        all_of_it = {
            "iteration": self.iteration,
            "validation": self.validation,
            "train": self.train,
            "test": self.test,
            "gradients": self.gradients,
            "gradient_equivalents": self.gradient_equivalents,
            "seconds": self.seconds,
        }
        found = {name: values for name, values in all_of_it.items() if not np.all(np.isnan(values))}
        for j in range(self.lambda_.shape[1]):
            found[f"lambda_{self.names[j]}" if len(self.names) > 1 else "lambda"] = self.lambda_[:, j]
        return found

    def to_pandas(self) -> Any:
        """A DataFrame, one row for each point."""
        import pandas

        return pandas.DataFrame(self.columns())

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} points>"


@dataclass
class Tuned:
    """All there is to say of a finished run of :func:`tune`.

    Attributes
    ----------
    lambda_ : array
        The logarithms of the penalties that were found, one for each of ``lambda_names``.
    penalty : array
        e to the power of these.
    coef, intercept : arrays
        The model in the units of X: X @ coef + intercept. Of several outputs (softmax), a column each.
    status, message : str
        Why the run ended, and the same in a sentence.
    certificate : Certificate or None
        None where the run was interrupted.
    losses : dict
        Every measure on every part: ``losses["validation"]["loss"]``; with folds, means over them.
    refit : dict or None
        The same for the model that was trained on all rows at the end.
    fold_losses : array
        The validation loss of each fold; empty without folds.
    equivalents : dict
        λ in the terms of other programs, for the pretreated training rows.
    trace : Trace
    work : dict
        What the run cost, counted.
    iterations : int
    seconds : float
        From the arrays to all of this.
    oracle : dict or None
    criterion : str
        What judged λ: "holdout", "folds", "loo" or "gcv"; ``losses["validation"]`` is of this.
    trust : dict or None
        With ``trust=True`` or ``rule="1se"``: the criterion at its least (``value``), its ``standard_error`` over
        ``rows``, the λ there (``minimum``), how far all λ may move together within one standard error (``interval``)
        and within a paired one (``paired``), and the shift of the one-standard-error rule (``one_standard_error``).
    nested : dict or None
        With ``nested=K``: ``loss`` and ``standard_error`` of rows that took no part in the tuning that they judge.
    shrinkage : float
        μ of the term that has drawn several λ together; 0 where there was none.
    warnings : list of str
        What was asked for beside the answer and could not be done.
    model : Model or None
        To save, and to predict with.
    """

    lambda_: Any
    lambda_names: list[str]
    status: str
    message: str
    certificate: Optional[Certificate]
    losses: dict[str, Any]
    refit: Optional[dict[str, Any]]
    fold_losses: Any
    equivalents: dict[str, float]
    refit_equivalents: dict[str, float]
    trace: Trace
    work: dict[str, float]
    iterations: int
    seconds: float
    solver_seconds: float
    oracle: Optional[dict[str, Any]]
    warnings: list[str]
    model: Optional[Any]
    rows: tuple[int, int, int]
    folds: int
    note: str
    title: str
    low: Any = field(repr=False)
    high: Any = field(repr=False)
    criterion: str = "holdout"
    trust: Optional[dict[str, Any]] = None
    nested: Optional[dict[str, Any]] = None
    shrinkage: float = 0.0

    @property
    def penalty(self) -> Any:
        return np.exp(self.lambda_)

    @property
    def coef(self) -> Any:
        weights = self._model().coefficients()["weights"]
        return weights[:, 0] if weights.shape[1] == 1 else weights

    @property
    def intercept(self) -> Any:
        intercept = self._model().coefficients()["intercept"]
        return float(intercept[0]) if len(intercept) == 1 else intercept

    def predict(self, X: Any) -> Any:
        """The target as the model expects it, or the label of the largest margin."""
        model = self._model()
        values = model.predict(_arrays.design(X)[0])
        if not model.labels:
            return values[:, 0]
        labels = np.array(model.labels)
        return labels[(values[:, 0] > 0).astype(int) if values.shape[1] == 1 else values.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Any:
        """The probability of each label, in rising order of these."""
        return self._model().predict_proba(_arrays.design(X)[0])

    def save(self, path: Any) -> None:
        """Writes the model as JSON, for ``yosida predict`` and :func:`load_model`."""
        self._model().save(str(path))

    def _model(self) -> Any:
        if self.model is None:
            raise ValueError("there is no model: " + "; ".join(self.warnings))
        return self.model

    def __repr__(self) -> str:
        shown = f"{self.lambda_[0]:.6g}" if len(self.lambda_) == 1 else f"{len(self.lambda_)} of them"
        verdict = self.certificate.verdict if self.certificate else "none"
        return (
            f"<Tuned {self.title}: lambda {shown}, validation loss {self.losses['validation']['loss']:.6g}, "
            f"{self.status}, certificate {verdict}>"
        )

    def _repr_html_(self) -> str:
        return tuned_html(self.title, self.lambda_names, self.lambda_, self.losses, self.refit, self.certificate, self.message)


def tuned_html(
    title: str,
    names: Sequence[str],
    lam: Any,
    losses: Mapping[str, Any],
    refit: Optional[Mapping[str, Any]],
    certificate: Optional[Certificate],
    message: str,
) -> str:
    """The report of a run for a notebook. Every text in it is escaped."""
    most = 12
    rows = "".join(
        f"<tr><td>{html.escape(str(name))}</td><td>{value:.6g}</td><td>{np.exp(value):.4g}</td></tr>"
        for name, value in list(zip(names, lam))[:most]
    )
    if len(names) > most:
        rows += f"<tr><td colspan=3>… {len(names) - most} more</td></tr>"
    parts = {name: part for name, part in losses.items() if isinstance(part, Mapping)}
    if refit is not None:
        parts["all rows"] = refit["train"]
    measures = list(losses["train"])
    body = "".join(
        f"<tr><td>{html.escape(measure)}</td>"
        + "".join(f"<td>{part[measure]:.6g}</td>" if measure in part else "<td>–</td>" for part in parts.values())
        + "</tr>"
        for measure in measures
    )
    head = "".join(f"<th>{html.escape(name)}</th>" for name in parts)
    verdict = certificate._repr_html_() if certificate else "<p>no certificate</p>"
    return (
        f"<div><h4>{html.escape(title)}</h4>"
        f"<table><tr><th></th><th>lambda</th><th>penalty</th></tr>{rows}</table>"
        f"<table><tr><th></th>{head}</tr>{body}</table>{verdict}<p>{html.escape(message)}</p></div>"
    )


def budget_options(budget: Any) -> dict[str, Any]:
    """A number of gradients, or a dict of gradients, iterations and seconds."""
    if budget is None:
        return {}
    if isinstance(budget, Mapping):
        unknown = set(budget) - {"gradients", "iterations", "seconds"}
        if unknown:
            raise ValueError(f"budget: {sorted(unknown)[0]!r} is no limit: must be gradients, iterations or seconds")
        return {name: limit for name, limit in budget.items() if limit is not None}
    if isinstance(budget, (int, np.integer)) and not isinstance(budget, bool):
        return {"gradients": int(budget)}
    raise ValueError(f"budget = {budget!r}: must be a number of gradients or a dict of limits")


def class_weight_text(given: Any) -> str:
    """"balanced", or a dict from labels to weights, as the library reads it."""
    if given is None:
        return ""
    if isinstance(given, str):
        return given
    return ",".join(f"{float(label)!r}={float(weight)!r}" for label, weight in given.items())


def group_texts(groups: Any, columns: int, names: Sequence[str]) -> list[str]:
    """Groups of columns as the library reads them, from a dict of names to columns or from a label for each column."""
    if groups is None:
        return []
    places = {name: j for j, name in enumerate(names)}

    def place(column: Any) -> int:
        if isinstance(column, str) and column in places:
            return places[column]
        if isinstance(column, (int, np.integer)) and 0 <= column < columns:
            return int(column)
        raise ValueError(f"groups: there is no column {column!r}: must be a name or an index from 0 to {columns - 1}")

    if isinstance(groups, Mapping):
        members = {str(name): [place(column) for column in listed] for name, listed in groups.items()}
    else:
        labels = list(groups)
        if len(labels) != columns:
            raise ValueError(f"groups: has {len(labels)} labels: must have one for each of the {columns} columns")
        members = {}
        for j, label in enumerate(labels):
            members.setdefault(str(label), []).append(j)
    for name in members:
        if "=" in name or name != name.strip(' \t\r"') or not name:
            raise ValueError(f"groups: {name!r} is no name: it must not be empty, hold '=', nor begin or end with blanks")
    return [f"{name}={','.join(map(str, listed))}" for name, listed in members.items()]


def column_texts(columns: Any, names: Sequence[str]) -> list[str]:
    """Columns by their index, as the library reads them."""
    if columns is None:
        return []
    if isinstance(columns, str) or not np.iterable(columns):
        raise ValueError(f"unpenalised = {columns!r}: must be a list of columns, by name or index")
    places = {name: j for j, name in enumerate(names)}

    def text(column: Any) -> str:
        if isinstance(column, str):
            return str(places.get(column, column))
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
            return str(int(column))
        raise ValueError(f"unpenalised: {column!r} is no column: must be a name or an index")

    return [text(column) for column in columns]


def pairs_of(folds: Iterable[Any], rows: int, name: str = "folds") -> list[tuple[Any, Any]]:
    """Pairs of training and validation rows, by index or as masks."""

    def places(part: Any) -> Any:
        array = np.asarray(part)
        if array.dtype == bool:
            if array.shape != (rows,):
                raise ValueError(f"{name}: a mask of shape {array.shape}: must have one value for each of {rows} rows")
            array = np.flatnonzero(array)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise ValueError(f"{name}: parts must be arrays of row numbers, or masks")
        array = array.astype(np.int64)
        outside = array[(array < -rows) | (array >= rows)]
        if len(outside):
            raise ValueError(f"{name}: there is no row {outside[0]}: must be from 0 to {rows - 1}")
        return np.where(array < 0, array + rows, array)

    pairs = []
    for pair in folds:
        try:
            train, validation = pair
        except (TypeError, ValueError):
            raise ValueError(f"{name}: each must be a pair of training and validation rows") from None
        train, validation = places(train), places(validation)
        if not len(train) or not len(validation):
            raise ValueError(f"{name}: {len(train)} training and {len(validation)} validation rows: each part needs one or more")
        trains = np.zeros(rows, dtype=bool)
        trains[train] = True
        if shared := int(trains[validation].sum()):
            warnings.warn(f"{name}: {shared} rows are in both parts of a pair, so they judge what they have trained", stacklevel=4)
        pairs.append((train, validation))
    if not pairs:
        raise ValueError(f"{name}: are empty: at least one pair is needed")
    return pairs


def _no_folds(name: str, folds: Any) -> ValueError:
    return ValueError(f"{name} = {folds!r}: must be a number, the fold of each row, pairs of rows or a splitter")


def split_folds(folds: Any, X: Any, y: Any, rows: int, name: str = "folds") -> tuple[dict[str, Any], Any, Any]:
    """Options, the fold of each row, and pairs of parts: one of the three says what `folds` does. `name`: of the argument."""
    if folds is None:
        return {}, None, None
    if isinstance(folds, (bool, np.bool_)):
        raise _no_folds(name, folds)
    if isinstance(folds, (int, np.integer)):
        return {"folds": int(folds)}, None, None
    if hasattr(folds, "split") and not isinstance(folds, str):
        try:
            return {}, None, pairs_of(folds.split(X, y), rows, name)
        except ValueError as error:
            if "'groups'" not in str(error):
                raise
            raise ValueError(
                f"{name}: {type(folds).__name__} must know the group of each row: "
                f"give {name}=list(splitter.split(X, y, groups))"
            ) from None
    if isinstance(folds, np.ndarray) and folds.ndim == 1 and folds.dtype != object:
        return {}, _arrays.numbers(folds, name, rows), None
    if isinstance(folds, str):
        raise _no_folds(name, folds)
    try:
        listed = list(folds)
    except TypeError:
        raise _no_folds(name, folds) from None
    if listed and all(isinstance(each, (int, float, np.number)) for each in listed):
        return {}, _arrays.numbers(listed, name, rows), None
    return {}, None, pairs_of(listed, rows, name)


def part(given: Any, name: str, several: bool = False) -> Any:
    """(X, y) or (X, y, weights) that is given apart."""
    if given is None:
        return None
    if not isinstance(given, (tuple, list)) or len(given) not in (2, 3):
        raise ValueError(f"{name}: must be (X, y) or (X, y, sample_weight)")
    x, rows, _ = _arrays.design(given[0], f"{name}[0]")
    weight = _arrays.weights(given[2], f"{name}[2]", rows) if len(given) == 3 else None
    target = table(given[1], f"{name}[1]", rows) if several else _arrays.numbers(given[1], f"{name}[1]", rows)
    return (x, target, weight, None)


def run(
    title: str,
    train: tuple[Any, Any, Any, Any],
    validation: Any,
    test: Any,
    parts: Any,
    names: Sequence[str],
    options: dict[str, Any],
    watch: Optional[Watch] = None,
    any_order: bool = False,
    interrupt: str = "return",
) -> Tuned:
    """One call of the module, and what it returns as a Tuned."""
    if interrupt not in ("return", "raise"):
        raise ValueError(f"interrupt = {interrupt!r}: must be 'return' or 'raise'")
    found = _core.tune(train, validation, test, parts, list(names), options, watch, any_order, interrupt == "raise")
    return Tuned(
        lambda_=found["lambda"],
        lambda_names=found["lambda_names"],
        status=found["status"],
        message=found["message"],
        certificate=certificate_of(found["certificate"]),
        losses=found["best"],
        refit=found["refit"],
        fold_losses=np.array(found["fold_losses"]),
        equivalents=found["equivalents"],
        refit_equivalents=found["refit_equivalents"],
        trace=Trace(found["trace"], found["lambda_names"]),
        work=found["work"],
        iterations=found["iterations"],
        seconds=found["seconds"],
        solver_seconds=found["solver_seconds"],
        oracle=found["oracle"],
        warnings=found["warnings"],
        model=found["model"],
        rows=found["rows"],
        folds=found["folds"],
        note=found["note"],
        title=title,
        low=found["low"],
        high=found["high"],
        criterion=found["criterion"],
        trust=found["trust"],
        nested=found["nested"],
        shrinkage=found["shrinkage"],
    )


def tune(
    X: Any,
    y: Any,
    *,
    model: str = "ridge",
    sample_weight: Any = None,
    folds: Folds = None,
    criterion: Optional[str] = None,
    repeats: int = 1,
    group_rows: Any = None,
    validation: Any = None,
    test: Any = None,
    validation_fraction: Optional[float] = None,
    test_fraction: Optional[float] = None,
    pretreatment: str = "standardize",
    target_pretreatment: Optional[str] = None,
    intercept: bool = True,
    fill_missing: bool = False,
    class_weight: Any = None,
    penalty: Optional[str] = None,
    penalty_per: Optional[str] = None,
    groups: Any = None,
    group_scale: Optional[str] = None,
    unpenalised: Any = None,
    rule: str = "min",
    trust: bool = False,
    nested: Optional[int] = None,
    shrink: Any = None,
    method: str = "my-hpo",
    settings: Optional[Mapping[str, Any]] = None,
    budget: Any = None,
    lambda0: Optional[float] = None,
    bounds: Optional[tuple[float, float]] = None,
    seed: int = 0,
    refit: bool = False,
    oracle: bool = False,
    trace: Union[bool, str] = True,
    any_order: bool = False,
    feature_names: Optional[Sequence[str]] = None,
    watch: Optional[Watch] = None,
    verbose: Union[bool, int] = False,
    interrupt: str = "return",
    copy_bytes: Optional[float] = None,
) -> Union[Tuned, TunedTargets]:
    """Find the penalty of a linear model: the same as ``yosida tune``, with the same defaults and the same bits.

    Parameters
    ----------
    X : array, DataFrame or scipy.sparse matrix of shape (rows, features)
        Only read, and where it lies if it can be; see :func:`last_copies`.
    y : array of shape (rows,), or (rows, targets)
        Several targets, of ``ridge``, are tuned from one factorisation: see :class:`TunedTargets`. Numbers, or for ``logistic``, ``softmax`` and ``svm`` labels, which are numbers here.
    model : str
        One of :func:`models`.
    sample_weight : array, optional
        A weight ≥ 0 for each row: a row of weight 2 counts as two rows. Only ratios matter.
    folds : int, array, pairs or splitter, optional
        Cross-validation: the number of folds to draw, the fold of each row, pairs of training and validation rows, or
        an object with ``split(X, y)``. By default a quarter of the rows is drawn for validation.
    criterion : str, optional
        What judges a penalty: "holdout", "folds", "loo" (each row by weights trained without it) or "gcv" (generalised
        cross-validation, of least squares).
    repeats : int
        Draw the folds so many times.
    group_rows : array, optional
        Which rows belong together: those of equal values stay in one fold or part.
    validation, test : (X, y) or (X, y, sample_weight), optional
        Rows that are given apart.
    validation_fraction, test_fraction : float, optional
        Shares of the rows that are drawn.
    pretreatment : str
        Of the features: "standardize", "center", "minmax", "raw", "difference", or a chain with commas.
    target_pretreatment : str, optional
        Of a target that is a number: "center", "standardize" or "raw".
    intercept : bool
    fill_missing : bool
        NaN stands for a missing value; the mean of the training rows takes its place.
    class_weight : "balanced" or dict, optional
    penalty : {"l2", "l1", "elastic-net", "group-lasso", "sparse-group-lasso"}, optional
        What keeps weights small; all but "l2" set some to 0. By default that of the model.
    penalty_per : {"shared", "feature", "group", "class", "target"}, optional
        Which weights share a λ. By default "group" where groups are given, else "shared"; of several targets "target".
    groups : dict or sequence, optional
        Columns of each group by its name, or the label of each column's group.
    group_scale : "sqrt", optional
        Groups that share a penalty count by the roots of their sizes.
    unpenalised : sequence, optional
        Columns without a penalty, by name or index.
    rule : str
        "min", or "1se": the largest penalty whose criterion is within one standard error of the least.
    trust : bool
        Also find the standard error over the rows and intervals of λ.
    nested : int, optional
        Repeat the whole tuning in so many outer folds, for an honest score of it.
    shrink : float or "nested", optional
        How strongly several λ are drawn together; "nested" chooses. By default 0.01 where they are 5 or more, over a
        tenth of the rows that judge them, and these under 1000; else 0.
    method : str
        One of :func:`methods`.
    settings : dict, optional
        Settings of the method that are not its defaults.
    budget : int or dict, optional
        Gradients, or limits named "gradients", "iterations", "seconds".
    lambda0 : float, optional
        Where each λ starts.
    bounds : (float, float), optional
        Of each λ.
    seed : int
    refit : bool
        Train the model on training and validation rows at the end. With folds that is always done.
    oracle : bool
        Also search the best λ there is.
    trace : bool or "full"
        Keep the iterations; "full": with training and test losses, which costs a pass over the data each.
    any_order : bool
        Put the rows in an order that their contents decide first, so that the answer does not depend on the order they
        come in, to the last bit.
    feature_names : sequence of str, optional
        Of a DataFrame its columns.
    watch : callable, optional
        Called after each iteration with (iteration, λ, validation loss, gradients, seconds); True ends the run.
    verbose : bool
        Show progress.
    interrupt : {"return", "raise"}
        What Ctrl-C does: end the run and return the best so far, or raise KeyboardInterrupt.
    copy_bytes : float, optional
        How much memory packed copies of the rows may take; they are read faster.

    Returns
    -------
    Tuned, or TunedTargets where y has several columns

    Raises
    ------
    InputError
        A ValueError whose message names argument, value and rule.

    Examples
    --------
    >>> import numpy as np, yosida
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> y = X @ rng.normal(size=10) + rng.normal(size=200)
    >>> found = yosida.tune(X, y, folds=5)
    >>> found.status, found.certificate.verdict
    ('converged', 'certified')
    >>> found.coef.shape
    (10,)
    """
    _arrays.forget_copies()
    x, rows, columns = _arrays.design(X)
    names = list(feature_names) if feature_names is not None else _arrays.names_of(X)
    if names and len(names) != columns:
        raise ValueError(f"feature_names: has {len(names)} names: must have one for each of the {columns} columns")
    several = is_table(y)
    target = table(y, "y", rows) if several else _arrays.numbers(y, "y", rows)
    drawn, fold, pairs = split_folds(folds, X, y, rows)
    options: dict[str, Any] = {
        "model": model,
        "x": pretreatment,
        "intercept": bool(intercept),
        "fill_missing": bool(fill_missing),
        "class_weight": class_weight_text(class_weight),
        "groups": group_texts(groups, columns, names),
        "unpenalised": column_texts(unpenalised, names),
        "method": method,
        "settings": {str(name): setting_text(value) for name, value in (settings or {}).items()},
        "seed": seed_of(seed),
        "refit": bool(refit),
        "oracle": bool(oracle),
        "trace": {False: "none", True: "validation", "full": "full"}.get(trace, trace),
        **drawn,
        **budget_options(budget),
    }
    for name, value in (
        ("target", target_pretreatment),
        ("validation_fraction", validation_fraction),
        ("test_fraction", test_fraction),
        ("penalty", penalty),
        ("penalty_per", penalty_per),
        ("group_scale", group_scale),
        ("lambda0", lambda0),
        ("bounds", bounds),
        ("copy_bytes", copy_bytes),
        ("criterion", criterion),
        ("nested", nested),
        ("shrink", shrink),
        ("repeats", None if repeats == 1 else repeats),
        ("rule", None if rule == "min" else rule),
        ("trust", True if trust else None),
        ("grouped", None if group_rows is None else row_groups(group_rows, rows)),
    ):
        if value is not None:
            options[name] = value
    weight = _arrays.weights(sample_weight, "sample_weight", rows)
    if several:
        names_of_targets = _arrays.names_of(y) or [str(t) for t in range(target.shape[1])]
        return run_targets(
            (x, target, weight, fold), part(validation, "validation", True), part(test, "test", True), pairs, names,
            names_of_targets, options, any_order,
        )
    progress = Progress(f"{model} by {method}") if verbose else None
    try:
        return run(
            f"{model} by {method}",
            (x, target, weight, fold),
            part(validation, "validation"),
            part(test, "test"),
            pairs,
            names,
            options,
            both(progress, watch),
            any_order,
            interrupt,
        )
    finally:
        if progress is not None:
            progress.close()


def both(one: Optional[Watch], other: Optional[Watch]) -> Optional[Watch]:
    """An observer that calls both."""
    if one is None or other is None:
        return one or other
    return lambda *point: any([bool(each(*point)) for each in (one, other) if each is not None])


def row_groups(group_rows: Any, rows: int) -> list[str]:
    """The group of each row as a text."""
    groups = [str(each) for each in np.asarray(group_rows).tolist()]
    if len(groups) != rows:
        raise ValueError(f"group_rows: has {len(groups)} values: must have one for each of the {rows} rows")
    return groups


def seed_of(seed: Any) -> int:
    """A seed as the library takes it."""
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise ValueError(f"seed = {seed!r}: must be a whole number from 0 to 2**64 - 1")
    return int(seed)


def setting_text(value: Any) -> str:
    """A setting as the command line writes it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def load_model(path: Any) -> Any:
    """A model that ``Tuned.save`` or ``yosida tune --save`` has written.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Model
        With ``predict``, ``predict_proba``, ``coefficients`` and ``save``.
    """
    return _core.Model.load(str(path))


def models() -> dict[str, str]:
    """The models there are, and what the target of each is."""
    return dict(_core.models())


def methods() -> dict[str, Any]:
    """The methods there are, with a summary and the settings of each."""
    return dict(_core.methods())
