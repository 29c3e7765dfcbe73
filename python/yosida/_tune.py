"""tune(): the road from rows to an answer, as `yosida tune` walks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional, Sequence, Union, cast

import numpy as np

from . import _arrays, _core
from ._arguments import (
    budget_options,
    class_weight_text,
    column_texts,
    group_texts,
    part,
    raises_interrupt,
    row_groups,
    seed_of,
    setting_texts,
    split_folds,
)
from ._progress import Progress
from ._results import Trace, Tuned, certificate_of
from ._targets import TunedTargets, is_table, run_targets, table

if TYPE_CHECKING:
    from typing_extensions import Literal, ParamSpec, Protocol, overload

Watch = Callable[[int, Any, float, int, float], bool]
_LABELS = ". Labels that are no numbers are taken by LogisticTuned and SVCTuned"
Folds = Union[int, Sequence[float], Iterable[tuple[Any, Any]], Any]


def run(
    title: Optional[str],
    train: tuple[Any, Any, Any, Any, list[str]],
    validation: Any,
    test: Any,
    parts: Any,
    options: dict[str, Any],
    watch: Optional[Watch] = None,
    any_order: bool = False,
    raise_interrupt: bool = False,
) -> Tuned:
    """One call of the module, and what it returns as a Tuned. Each part: X, y, weight, fold, and names of columns.
    `title`: what the result calls itself; by default its model and its method."""
    found = _core.tune(train, validation, test, parts, options, watch, any_order, raise_interrupt)
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
        title=title or f"{found['model_name']} by {options['method']}",
        low=found["low"],
        high=found["high"],
        criterion=found["criterion"],
        trust=found["trust"],
        nested=found["nested"],
        shrinkage=found["shrinkage"],
        interrupted=found["interrupted"],
    )


if TYPE_CHECKING:
    Options = ParamSpec("Options")

    class _Tune(Protocol[Options]):
        @overload
        def __call__(self, X: Any, y: Any, *, penalty_per: Literal["target"], **options: Any) -> TunedTargets: ...
        @overload
        def __call__(self, *args: Options.args, **options: Options.kwargs) -> Tuned: ...


def _typed(tune: Callable[Options, Union[Tuned, TunedTargets]]) -> _Tune[Options]:
    """What y is decides what comes back, and arrays have no number of dimensions that a checker of types could read:
    several targets are told by penalty_per="target", which is their default."""
    return cast("_Tune[Options]", tune)


@_typed
def tune(
    X: Any,
    y: Any,
    *,
    model: Optional[str] = None,
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
    fixed_penalty: Optional[float] = None,
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
        Numbers, or for ``logistic``, ``softmax`` and ``svm`` labels, which are numbers here. Several targets of ``ridge``
        are tuned from one factorisation: see :class:`TunedTargets`.
    model : str, optional
        One of :func:`models`. By default the target decides, as on the command line: two values are classes of
        "logistic", whole numbers from 0 or 1 on, of which each is in enough rows, those of "softmax", and all others
        numbers of "ridge". The result says so (``note``).
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
    penalty_per : {"shared", "feature", "group", "class", "target", "row"}, optional
        Which weights share a λ. By default "group" where groups are given, else "shared"; of several targets "target".
        "row" gives one to each training row, which then weighs 1/(1 + e^−λ): rows that validation rows contradict lose
        their weight. No λ is a penalty then.
    fixed_penalty : float, optional
        With ``penalty_per="row"``: C > 0 of the penalty C‖w‖².
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
        Of a DataFrame its columns. Tables that are given for validation, tests and predictions are matched by name.
    watch : callable, optional
        Called after each iteration with (iteration, λ, validation loss, gradients, seconds); True ends the run.
    verbose : bool
        Show progress.
    interrupt : {"return", "raise"}
        What Ctrl-C does: end the run and return the best so far, or raise KeyboardInterrupt. Of several targets there is
        no best so far, so it is raised in any case.
    copy_bytes : float, optional
        How much memory packed copies of the rows may take; they are read faster.

    Returns
    -------
    Tuned, or TunedTargets where y has several columns
        A checker of types takes y for one target; ``penalty_per="target"`` tells it that there are several.

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
    raise_interrupt = raises_interrupt(interrupt)
    _arrays.forget_copies()
    x, rows, columns = _arrays.design(X)
    names_in_table = _arrays.names_of(X)
    names = names_in_table if feature_names is None else list(feature_names)
    if names and len(names) != columns:
        raise ValueError(f"feature_names: has {len(names)} names: must have one for each of the {columns} columns")
    several = is_table(y)
    target = table(y, "y", rows) if several else _arrays.numbers(y, "y", rows, _LABELS)
    drawn, fold, pairs = split_folds(folds, X, y, rows)
    options: dict[str, Any] = {
        "x": pretreatment,
        "intercept": bool(intercept),
        "fill_missing": bool(fill_missing),
        "class_weight": class_weight_text(class_weight),
        "groups": group_texts(groups, columns, names),
        "unpenalised": column_texts(unpenalised, names),
        "method": method,
        "settings": setting_texts(settings),
        "seed": seed_of(seed),
        "refit": bool(refit),
        "oracle": bool(oracle),
        "trace": {False: "none", True: "validation", "full": "full"}.get(trace, trace),
        **drawn,
        **budget_options(budget),
    }
    for name, value in (
        ("model", model),
        ("target", target_pretreatment),
        ("validation_fraction", validation_fraction),
        ("test_fraction", test_fraction),
        ("penalty", penalty),
        ("penalty_per", penalty_per),
        ("fixed_penalty", fixed_penalty),
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
    train = (x, target, weight, fold, names)
    renamed = dict(zip(names_in_table, names))
    held_out, tests = part(validation, "validation", renamed, several), part(test, "test", renamed, several)
    if several:
        names_of_targets = _arrays.names_of(y) or [str(t) for t in range(target.shape[1])]
        return run_targets(train, held_out, tests, pairs, names_of_targets, options, any_order)
    progress = Progress(f"{model} by {method}" if model else method) if verbose else None
    try:
        return run(
            None,
            train,
            held_out,
            tests,
            pairs,
            options,
            both(progress, watch),
            any_order,
            raise_interrupt,
        )
    finally:
        if progress is not None:
            progress.close()


def both(one: Optional[Watch], other: Optional[Watch]) -> Optional[Watch]:
    """An observer that calls both."""
    if one is None or other is None:
        return one or other
    return lambda *point: any([bool(each(*point)) for each in (one, other) if each is not None])


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
