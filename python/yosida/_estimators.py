"""Estimators of scikit-learn whose penalties are tuned in fit()."""

from __future__ import annotations

import re
import warnings
from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot, softmax
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _arrays
from ._core import InputError
from ._progress import Progress
from ._targets import is_table, run_targets, table
from ._tune import (
    Trace,
    budget_options,
    column_texts,
    group_texts,
    run,
    setting_text,
    split_folds,
    tuned_html,
)

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data as _validate_data
except ImportError:

    def _validate_data(estimator: Any, *arrays: Any, **options: Any) -> Any:
        return estimator._validate_data(*arrays, **options)


# What numpy says of entries that it cannot convert, without a name of the argument.
_CONVERSION = re.compile(r"could not convert|Cannot cast|could not be promoted|float\(\) argument|inhomogeneous|at least one array")


class _NoNumbersError(ValueError, TypeError):
    """Of bad input, a ValueError; scikit-learn's own checks ask for a TypeError where entries are objects."""


_CODE = re.compile(r"\bclass (\d+)\b")

_COMMON = """cv : "holdout", "loo", "gcv", int, splitter or iterable of pairs, default="holdout"
        Which rows judge a penalty: a quarter of them ("holdout"), each row once by weights trained without it ("loo"),
        or without it on average ("gcv", of least squares), each row once in so many folds, or the parts that a
        splitter of scikit-learn or a list of (training rows, validation rows) names. The model is trained on all rows
        at the end. Rows are put in an order of their contents before parts are drawn: neither their order nor rows of
        weight 0 change the result.
    {penalties}pretreatment : str, default="standardize"
        Of the features, by statistics of the training rows: "standardize", "center", "minmax", "raw".
    method : str, default="my-hpo"
        How penalties are found; see :func:`yosida.methods`.
    settings : dict, default=None
        Settings of the method that are not its defaults.
    bounds : (float, float), default=None
        Of each λ, the logarithm of a penalty.
    budget : int or dict, default=None
        Gradients, or limits named "gradients", "iterations", "seconds".
    random_state : int, RandomState instance or None, default=0
        Draws the parts.
    verbose : int, default=0
        Above 0: show progress."""
_GROUPED = """penalty : {"l2", "l1", "elastic-net", "group-lasso", "sparse-group-lasso"}, default=None
        What keeps weights small; all but "l2" set some to 0. None: "l2".
    penalty_per : {"shared", "feature", "group"%s}, default=None
        Which weights share a penalty. None: "group" where groups are given, else "shared".
    groups : dict or sequence, default=None
        Columns of each group by its name, or the label of each column's group.
    unpenalised : sequence, default=None
        Columns without a penalty, by name or index.
    """
_FITTED = """coef_ : array
        In the units of X.
    intercept_ : float or array
    lambda_ : array
        The logarithms of the penalties that were found.
    lambda_names_ : list of str
    penalty_ : array
        e to the power of these.
    {equivalent}certificate_ : Certificate or None
        What is proved of the penalties. None where the run was interrupted.
    cv_losses_ : array
        The validation loss of each part at the penalties found.
    trace_ : DataFrame, or dict of arrays where there is no pandas
        The iterations.
    work_ : dict
        What the search cost, counted.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X is a DataFrame with names."""


def _documented(grouped: bool, classes: str, equivalent: str) -> Any:
    """Puts what all estimators share into the docstring of one."""

    def put(cls: Any) -> Any:
        penalties = _GROUPED % classes if grouped else ""
        text = cls.__doc__.replace("{parameters}", _COMMON.replace("{penalties}", penalties))
        cls.__doc__ = text.replace("{fitted}", _FITTED.replace("{equivalent}", equivalent))
        return cls

    return put


class _Tuned(BaseEstimator):
    """What all of them do: check X and y, call the library, and keep what it says."""

    _model: str  # as the library calls it

    def _target(self, y: Any, sample_weight: Optional[Any]) -> Any:
        """y as the library takes it."""
        return y

    def _model_name(self) -> str:
        return self._model

    def _checked(self, X: Any, y: Any) -> Any:
        """X and y as scikit-learn checks them. Arrays that pass at a glance are spared its checks, which take longer
        than a small fit."""
        if self._passes(X, y):
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            return X, y
        _arrays.require_real(X, "X")
        if self._is_regressor():
            _arrays.require_real(y, "y")
        try:
            return _validate_data(
                self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2,
                y_numeric=self._is_regressor(), multi_output=self._takes_several(y),
            )
        except (ValueError, TypeError, OverflowError) as error:
            if not isinstance(error, OverflowError) and not _CONVERSION.search(str(error)):
                raise
            # scikit-learn passes on what numpy says, which does not name the argument.
            name = "X" if self._is_numeric(y) else "y"
            raise _NoNumbersError(f"{name}: has entries that are no numbers: {error}") from None

    def _passes(self, X: Any, y: Any) -> bool:
        """Whether X is a plain table of finite numbers, and y one of its targets."""
        return (
            type(X) is np.ndarray and type(y) is np.ndarray and X.ndim == 2 and y.shape == X.shape[:1]
            and X.shape[0] >= 2 and X.shape[1] >= 1 and X.dtype in (np.float64, np.float32)
            and (y.dtype.kind in "iu" or (self._is_regressor() and y.dtype == np.float64 and np.isfinite(y.sum())))
            and bool(np.isfinite(X.sum()))
        )

    def _is_numeric(self, y: Any) -> bool:
        if not self._is_regressor():
            return True
        try:
            np.asarray(y, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            return False
        return True

    def _takes_several(self, y: Any) -> bool:
        """Whether y holds several targets, and these can be tuned together."""
        return bool(self._own_tags().get("multioutput")) and is_table(y)

    def _is_regressor(self) -> bool:
        return isinstance(self, RegressorMixin)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, validation: Any = None) -> Any:
        """Find the penalties and train the model on all rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (rows, features)
        y : array of shape (rows,), or (rows, targets) where several can be tuned together (:class:`RidgeTuned`)
        sample_weight : array of shape (rows,), optional
            A row of weight 2 counts as two rows, in every part.
        validation : (X, y) or (X, y, sample_weight), optional
            Rows that judge the penalties, in place of ``cv``.

        Returns
        -------
        self
        """
        _arrays.forget_copies()
        names = _arrays.names_of(X)
        X, y = self._checked(X, y)
        rows = X.shape[0]
        weight = _arrays.weights(sample_weight, "sample_weight", rows)
        options = self._options(names)
        target = self._target(y, weight)
        options["model"] = self._model_name()
        if hasattr(self, "class_weight"):
            options["class_weight"] = self._class_weight_text()
        fold = pairs = held_out = None
        if validation is not None:
            held_out = self._validation_part(validation)
        elif not (self.cv is None or isinstance(self.cv, str)):
            drawn, fold, pairs = split_folds(self.cv, X, y, rows, "cv")
            options.update(drawn)
        elif self.cv in ("loo", "gcv"):
            options["criterion"] = self.cv
        elif self.cv not in (None, "holdout"):
            raise ValueError(f"cv = {self.cv!r}: must be 'holdout', 'loo', 'gcv', a number, a splitter or pairs of rows")
        title = f"{type(self).__name__} by {self.method}"
        progress = Progress(title) if self.verbose else None
        try:
            x, _, _ = _arrays.design(X)
            run_it = self._run_several if getattr(target, "ndim", 1) == 2 else run
            found = run_it(title, (x, target, weight, fold), held_out, None, pairs, names, options, progress, any_order=True)
        except InputError as error:
            raise InputError(self._in_own_words(str(error))) from None
        finally:
            if progress is not None:
                progress.close()
        for warning in found.warnings:
            warnings.warn(warning, RuntimeWarning, stacklevel=2)
        self._keep(found, self._total_weight(rows, weight, held_out))
        return self

    def _in_own_words(self, message: str) -> str:
        """What the library calls folds is cv here."""
        return re.sub(r"\bfolds\b(?= =)", "cv", message)

    def _options(self, names: list[str]) -> dict[str, Any]:
        options = {
            "x": self.pretreatment,
            "method": self.method,
            "settings": {str(name): setting_text(value) for name, value in (self.settings or {}).items()},
            "seed": self._seed(),
            "refit": True,
            "trace": "validation",
            **budget_options(self.budget),
        }
        if self.bounds is not None:
            options["bounds"] = tuple(self.bounds) if np.iterable(self.bounds) else self.bounds
        if hasattr(self, "groups"):
            options["groups"] = group_texts(self.groups, self.n_features_in_, names)
            options["unpenalised"] = column_texts(self.unpenalised, names)
            for name in ("penalty", "penalty_per"):
                if getattr(self, name) is not None:
                    options[name] = getattr(self, name)
        return options

    def _seed(self) -> int:
        """An int is the seed, as it is on the command line; what else there is draws one."""
        if isinstance(self.random_state, (int, np.integer)):
            if self.random_state < 0:
                raise ValueError(f"random_state = {self.random_state}: must be >= 0")
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _validation_part(self, validation: Any) -> Any:
        if not isinstance(validation, (tuple, list)) or len(validation) not in (2, 3):
            raise ValueError("validation: must be (X, y) or (X, y, sample_weight)")
        _arrays.require_real(validation[0], "validation[0]")
        try:
            X, y = _validate_data(
                self, validation[0], validation[1], accept_sparse="csr", dtype=[np.float64, np.float32], reset=False,
                y_numeric=self._is_regressor(), multi_output=self._takes_several(validation[1]),
            )
        except ValueError as error:
            raise ValueError(f"validation: {error}") from None
        weight = _arrays.weights(validation[2], "validation[2]", X.shape[0]) if len(validation) == 3 else None
        return (_arrays.design(X, "validation[0]")[0], self._coded(y), weight, None)

    def _coded(self, y: Any) -> Any:
        return _arrays.numbers(y, "y", len(y))

    @staticmethod
    def _total_weight(rows: int, weight: Any, held_out: Any) -> float:
        total = float(rows if weight is None else weight.sum())
        if held_out is not None:
            total += float(len(held_out[1]) if held_out[2] is None else held_out[2].sum())
        return total

    def _keep(self, found: Any, total_weight: float) -> None:
        if found.model is None:
            raise RuntimeError("there is no model: " + "; ".join(found.warnings))
        coefficients = found.model.coefficients()
        self._keep_coefficients(coefficients["weights"].T, coefficients["intercept"])
        self.lambda_ = found.lambda_
        self.lambda_names_ = found.lambda_names
        self.penalty_ = np.exp(found.lambda_)
        self.certificate_ = found.certificate
        self.status_ = found.status
        self.message_ = found.message
        self.losses_ = found.losses
        self.refit_losses_ = found.refit
        self.cv_losses_ = found.fold_losses if found.folds else np.array([found.losses["validation"]["loss"]])
        self.work_ = found.work
        self.n_iter_ = max(1, int(found.iterations))
        self._trace = found.trace
        self._keep_equivalents(total_weight)

    def _keep_coefficients(self, coef: Any, intercept: Any) -> None:
        self.coef_ = np.ascontiguousarray(coef[0])
        self.intercept_ = float(intercept[0])

    def _keep_equivalents(self, total_weight: float) -> None:
        """The penalties as scikit-learn writes them."""

    def _one_or_all(self, values: Any) -> Any:
        return float(values[0]) if len(values) == 1 else values

    @property
    def trace_(self) -> Any:
        """The iterations, as a DataFrame where there is pandas."""
        check_is_fitted(self)
        try:
            import pandas
        except ImportError:
            return self._trace.columns()
        return pandas.DataFrame(self._trace.columns())

    def _margins(self, X: Any) -> Any:
        check_is_fitted(self)
        _arrays.require_real(X, "X")
        X = _validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_

    def _report_html(self) -> str:
        if not hasattr(self, "coef_"):
            return ""
        if isinstance(self.certificate_, list):
            return f"<p>{type(self).__name__}, fitted: {self.message_}</p>"
        return tuned_html(
            f"{type(self).__name__}, fitted", self.lambda_names_, self.lambda_, self.losses_, self.refit_losses_,
            self.certificate_, self.message_,
        )

    def _repr_html_inner(self) -> str:
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self)) + self._report_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_inner()}

    # Tags, in the words of scikit-learn until 1.5 and from 1.6 on.

    def _own_tags(self) -> dict[str, bool]:
        return {}

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": True, **self._own_tags()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        own = self._own_tags()
        tags.target_tags.multi_output = own.get("multioutput", False)
        tags.target_tags.positive_only = own.get("requires_positive_y", False)
        if own.get("binary_only") and tags.classifier_tags is not None:
            tags.classifier_tags.multi_class = False
        if own.get("poor_score"):
            for part in (tags.classifier_tags, tags.regressor_tags):
                if part is not None:
                    part.poor_score = True
        return tags


class _Regressor(RegressorMixin, _Tuned):
    def predict(self, X: Any) -> Any:
        """The target as the model expects it."""
        return self._margins(X)

    def _target(self, y: Any, sample_weight: Optional[Any]) -> Any:
        return self._coded(y)


class _Grouped:
    """The parameters of estimators whose penalty is ℓ₂: weights may share it in groups."""

    def __init__(
        self,
        *,
        cv: Any = "holdout",
        penalty: Optional[str] = None,
        penalty_per: Optional[str] = None,
        groups: Any = None,
        unpenalised: Any = None,
        pretreatment: str = "standardize",
        method: str = "my-hpo",
        settings: Any = None,
        bounds: Any = None,
        budget: Any = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.cv = cv
        self.penalty = penalty
        self.penalty_per = penalty_per
        self.groups = groups
        self.unpenalised = unpenalised
        self.pretreatment = pretreatment
        self.method = method
        self.settings = settings
        self.bounds = bounds
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose


class _GroupedClasses:
    """The same with weights of classes."""

    def __init__(
        self,
        *,
        cv: Any = "holdout",
        class_weight: Any = None,
        penalty: Optional[str] = None,
        penalty_per: Optional[str] = None,
        groups: Any = None,
        unpenalised: Any = None,
        pretreatment: str = "standardize",
        method: str = "my-hpo",
        settings: Any = None,
        bounds: Any = None,
        budget: Any = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.cv = cv
        self.class_weight = class_weight
        self.penalty = penalty
        self.penalty_per = penalty_per
        self.groups = groups
        self.unpenalised = unpenalised
        self.pretreatment = pretreatment
        self.method = method
        self.settings = settings
        self.bounds = bounds
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose


class _OnePenalty:
    """The parameters of estimators whose penalty is the same for all weights."""

    def __init__(
        self,
        *,
        cv: Any = "holdout",
        pretreatment: str = "standardize",
        method: str = "my-hpo",
        settings: Any = None,
        bounds: Any = None,
        budget: Any = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.cv = cv
        self.pretreatment = pretreatment
        self.method = method
        self.settings = settings
        self.bounds = bounds
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose


@_documented(True, "", """alpha_ : float or array
        As ``Ridge`` has it, for the pretreated features: ``alpha_ = 2 N penalty_`` with N the weight of all rows. Where
        y has several columns one for each of them; ``coef_`` is then of shape (targets, features), and
        ``certificate_`` a list.
    """)
class RidgeTuned(_Grouped, _Regressor):
    """Ridge regression whose penalties are found by gradients.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from yosida import RidgeTuned
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ridge = RidgeTuned(cv=5).fit(X, y)
    >>> ridge.certificate_.verdict
    'certified'
    >>> round(ridge.score(X, y), 2)
    0.51
    """

    _model = "ridge"

    def _own_tags(self) -> dict[str, bool]:
        return {"multioutput": True}

    def _coded(self, y: Any) -> Any:
        return table(y, "y", len(y)) if is_table(y) else super()._coded(y)

    def _run_several(
        self, title: str, train: Any, validation: Any, test: Any, parts: Any, names: Any, options: Any, progress: Any,
        any_order: bool,
    ) -> Any:
        """Several targets share what the rows cost."""
        target_names = [str(t) for t in range(train[1].shape[1])]
        return run_targets(train, validation, test, parts, names, target_names, options, any_order)

    def _keep(self, found: Any, total_weight: float) -> None:
        if not hasattr(found, "certificates"):
            return super()._keep(found, total_weight)
        self.coef_ = np.ascontiguousarray(found.coef.T)
        self.intercept_ = found.intercept
        self.lambda_ = found.lambda_
        self.lambda_names_ = found.target_names if found.lambda_.ndim == 1 else found.lambda_names
        self.penalty_ = found.penalty
        self.certificate_ = found.certificates
        certified = sum(bool(each) for each in found.certificates)
        self.status_ = "converged" if certified == len(found.certificates) else "stalled"
        self.message_ = f"{certified} of {len(found.certificates)} targets are certified"
        self.losses_, self.refit_losses_ = found.losses, found.refit
        self.cv_losses_ = np.array([each["validation"]["loss"] for each in found.target_losses])
        self.work_ = {}
        self.n_iter_ = 1
        self._trace = Trace.empty()
        self._keep_equivalents(total_weight)

    def _keep_equivalents(self, total_weight: float) -> None:
        if self.penalty in (None, "l2"):
            self.alpha_ = self._one_or_all(2.0 * total_weight * self.penalty_)


@_documented(False, "", """alpha_ : float
        As ``Lasso`` has it, for the pretreated features.
    """)
class LassoTuned(_OnePenalty, _Regressor):
    """Least squares under an ℓ₁ penalty, which leaves few weights, found by gradients.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from yosida import LassoTuned
    >>> X, y = load_diabetes(return_X_y=True)
    >>> lasso = LassoTuned(cv=5).fit(X, y)
    >>> int((lasso.coef_ != 0).sum()) < X.shape[1]
    True
    """

    _model = "lasso"

    def _keep_equivalents(self, total_weight: float) -> None:
        self.alpha_ = float(self.penalty_[0])


@_documented(False, "", """alpha_, l1_ratio_ : float
        As ``ElasticNet`` has them, for the pretreated features.
    """)
class ElasticNetTuned(_OnePenalty, _Regressor):
    """Least squares under an ℓ₁ and an ℓ₂ penalty, both found by gradients.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from yosida import ElasticNetTuned
    >>> X, y = load_diabetes(return_X_y=True)
    >>> net = ElasticNetTuned(cv=5).fit(X, y)
    >>> 0 <= net.l1_ratio_ <= 1
    True
    """

    _model = "elastic-net"

    def _keep_equivalents(self, total_weight: float) -> None:
        l1, l2 = self.penalty_
        self.alpha_ = float(l1 + 2.0 * l2)
        self.l1_ratio_ = float(l1 / self.alpha_)


@_documented(True, "", "")
class HuberTuned(_Grouped, _Regressor):
    """Regression that outliers hardly change, its penalties found by gradients.

    The loss is quadratic up to 1.345 standard deviations of the target and linear beyond. ``HuberRegressor`` has
    another objective, so there is no ``alpha_``.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from yosida import HuberTuned
    >>> X, y = load_diabetes(return_X_y=True)
    >>> HuberTuned(cv=5).fit(X, y).certificate_.verdict
    'certified'
    """

    _model = "huber"


@_documented(True, "", """alpha_ : float or array
        As ``PoissonRegressor`` has it, for the pretreated features: ``alpha_ = 2 penalty_``.
    """)
class PoissonTuned(_Grouped, _Regressor):
    """Regression of counts with a log link, its penalties found by gradients.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> from yosida import PoissonTuned
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> y = rng.poisson(np.exp(0.5 * X[:, 0]))
    >>> PoissonTuned(cv=5).fit(X, y).predict(X).min() > 0
    True
    """

    _model = "poisson"

    def predict(self, X: Any) -> Any:
        """The count as the model expects it."""
        return np.exp(self._margins(X))

    def _target(self, y: Any, sample_weight: Optional[Any]) -> Any:
        counts = super()._target(y, sample_weight)
        if (counts < 0).any():
            row = int(np.argmax(counts < 0))
            raise ValueError(f"Some value(s) of y are out of the valid range of the loss: y[{row}] = {y[row]}: must be >= 0")
        return counts

    def _keep_equivalents(self, total_weight: float) -> None:
        if self.penalty in (None, "l2"):
            self.alpha_ = self._one_or_all(2.0 * self.penalty_)

    def _own_tags(self) -> dict[str, bool]:
        return {"requires_positive_y": True}


class _Classifier(ClassifierMixin, _Tuned):
    def _checked(self, X: Any, y: Any) -> Any:
        X, y = super()._checked(X, y)
        check_classification_targets(y)
        return X, y

    def _target(self, y: Any, sample_weight: Optional[Any]) -> Any:
        present = y if sample_weight is None else y[sample_weight > 0]
        self.classes_ = np.unique(present)
        if len(self.classes_) < 2:
            raise ValueError(f"y: has one class, {self.classes_[0]!r}: there must be two or more")
        coded = self._coded(present)
        if sample_weight is None:
            return coded
        all_of_it = np.zeros(len(y))  # what a row of weight 0 says does not matter
        all_of_it[sample_weight > 0] = coded
        return all_of_it

    def _coded(self, y: Any) -> Any:
        places = np.searchsorted(self.classes_, y)
        places = np.minimum(places, len(self.classes_) - 1)
        unknown = self.classes_[places] != y
        if np.any(unknown):
            raise ValueError(f"validation[1]: {y[unknown][0]!r} is none of the classes of y")
        return places.astype(np.float64)

    def _in_own_words(self, message: str) -> str:
        """The library knows classes by their places among `classes_`."""
        labels = self.classes_.tolist()

        def label(found: Any) -> str:
            place = int(found.group(1))
            return f"class {labels[place]!r}" if place < len(labels) else str(found.group(0))

        return _CODE.sub(label, super()._in_own_words(message))

    def _class_weight_text(self) -> str:
        given = self.class_weight
        if given is None or given == "balanced":
            return given or ""
        if not hasattr(given, "items"):
            raise ValueError(f"class_weight = {given!r}: must be 'balanced' or a dict of classes and weights")
        places = {label: k for k, label in enumerate(self.classes_.tolist())}
        for label in given:
            if label not in places:
                raise ValueError(f"class_weight: {label!r} is none of the classes")
        return ",".join(f"{places[label]}={float(weight)!r}" for label, weight in given.items())

    def _keep_coefficients(self, coef: Any, intercept: Any) -> None:
        if len(self.classes_) == 2 and len(coef) == 2:  # softmax of two classes
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_ = np.ascontiguousarray(coef)
        self.intercept_ = np.array(intercept)

    def decision_function(self, X: Any) -> Any:
        """The margin of each row, of several classes one for each."""
        margins = self._margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def _keep_cost(self, total_weight: float) -> None:
        """C of the programs that sum losses; none of them has groups of weights."""
        if self.penalty in (None, "l2"):
            self.C_ = self._one_or_all(0.5 / (total_weight * self.penalty_))
        elif self.penalty == "l1":
            self.C_ = self._one_or_all(1.0 / (total_weight * self.penalty_))
        elif self.penalty == "elastic-net" and len(self.penalty_) == 2:
            self.C_ = 1.0 / (total_weight * (self.penalty_[0] + 2.0 * self.penalty_[1]))

    def predict(self, X: Any) -> Any:
        """The class of the largest margin."""
        margins = self.decision_function(X)
        return self.classes_[(margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)]


_C = """C_ : float or array
        As ``%s`` has it, for the pretreated features: ``C_ = 1 / (2 N penalty_)`` with N the weight of all rows,
        of an ℓ₁ penalty ``1 / (N penalty_)``; not there where groups are penalised.
    classes_ : array
    """


@_documented(True, ', "class"', _C % "LogisticRegression")
class LogisticTuned(_GroupedClasses, _Classifier):
    """Logistic regression of two classes or more (softmax), its penalties found by gradients.

    Parameters
    ----------
    class_weight : "balanced" or dict, default=None
    {parameters}

    Attributes
    ----------
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from yosida import LogisticTuned
    >>> X, y = load_iris(return_X_y=True)
    >>> LogisticTuned(cv=5).fit(X, y).score(X, y) > 0.95
    True
    """

    _model = "logistic"

    def _model_name(self) -> str:
        return "softmax" if len(self.classes_) > 2 or self.penalty_per == "class" else "logistic"

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class."""
        margins = self.decision_function(X)
        return softmax(np.column_stack([np.zeros(len(margins)), margins]) if margins.ndim == 1 else margins)

    def predict_log_proba(self, X: Any) -> Any:
        """Its logarithm."""
        margins = self.decision_function(X)
        if margins.ndim == 1:
            return -np.logaddexp(0.0, np.column_stack([margins, -margins]))
        shifted = margins - margins.max(axis=1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))

    def _keep_equivalents(self, total_weight: float) -> None:
        self._keep_cost(total_weight)


@_documented(True, "", _C % "LinearSVC")
class SVCTuned(_GroupedClasses, _Classifier):
    """A linear support vector machine (squared hinge) of two classes, its penalties found by gradients.

    Unlike ``LinearSVC`` it does not penalise the intercept.

    Parameters
    ----------
    class_weight : "balanced" or dict, default=None
    {parameters}

    Attributes
    ----------
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from yosida import SVCTuned
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> SVCTuned(cv=5).fit(X, y).score(X, y) > 0.95
    True
    """

    _model = "svm"

    def _target(self, y: Any, sample_weight: Optional[Any]) -> Any:
        coded = super()._target(y, sample_weight)
        if len(self.classes_) > 2:
            raise ValueError("Only binary classification is supported. The type of the target is multiclass.")
        return coded

    def _keep_equivalents(self, total_weight: float) -> None:
        self._keep_cost(total_weight)

    def _own_tags(self) -> dict[str, bool]:
        return {"binary_only": True}
