"""What all estimators do: check X and y as scikit-learn does, call the library, and keep what it says."""

from __future__ import annotations

import re
import warnings
from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _arrays
from ._arguments import (
    budget_options,
    class_weight_text,
    column_texts,
    group_texts,
    raises_interrupt,
    seed_of,
    setting_texts,
    split_folds,
)
from ._core import InputError
from ._progress import Progress
from ._results import tuned_html
from ._targets import is_table
from ._tune import run

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data as _validate_data
except ImportError:

    def _validate_data(estimator: Any, *arrays: Any, **options: Any) -> Any:
        return estimator._validate_data(*arrays, **options)


# What numpy and scikit-learn say without a name of the argument.
_UNNAMED = re.compile(
    r"could not convert|Cannot cast|could not be promoted|inhomogeneous|at least one array|^Complex data|^Input contains"
)


class _UnreadableError(ValueError, TypeError):
    """Of bad input, a ValueError; scikit-learn's own checks ask for a TypeError where entries are objects."""


_CODE = re.compile(r"\bclass (\d+)\b")

_COMMON = """cv : "holdout", "loo", "gcv", int, splitter or iterable of pairs, default="holdout"
        Which rows judge a penalty: a quarter of them ("holdout"), each row once by weights trained without it ("loo"),
        or without it on average ("gcv", of least squares), each row once in so many folds, or the parts that a
        splitter of scikit-learn or a list of (training rows, validation rows) names. The model is trained on all rows
        at the end. Rows are put in an order of their contents before parts are drawn: neither their order nor rows of
        weight 0 change the result.
    {own}pretreatment : str, default="standardize"
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
        Above 0: show progress.
    interrupt : {"return", "raise"}, default="return"
        What Ctrl-C does: end the search and keep the best so far, with a ConvergenceWarning, or raise
        KeyboardInterrupt. So it does in any case before there is a best, and where y has several columns."""
_CLASS_WEIGHT = """class_weight : "balanced" or dict, default=None
    """
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


def documented(equivalent: str = "", classes: str = "") -> Any:
    """Puts what all estimators share into the docstring of one, before its examples. `equivalent`: attributes of its own,
    `classes`: what its ``penalty_per`` may be, too."""

    def put(cls: Any) -> Any:
        if cls.__doc__ is None:  # python -OO
            return cls
        known = cls.__init__.__kwdefaults__
        own = (_CLASS_WEIGHT if "class_weight" in known else "") + (_GROUPED % classes if "groups" in known else "")
        about, examples = cls.__doc__.split("    Examples\n")
        parameters, fitted = _COMMON.replace("{own}", own), _FITTED.replace("{equivalent}", equivalent)
        sections = (("Parameters", parameters), ("Attributes", fitted))
        shared = "".join(f"    {title}\n    {'-' * len(title)}\n    {text}\n\n" for title, text in sections)
        cls.__doc__ = f"{about}{shared}    Examples\n{examples}"
        return cls

    return put


def keep_parameters(estimator: Any, parameters: dict[str, Any]) -> None:
    """What a constructor was given (its ``locals()``) as attributes of these names, which scikit-learn reads and sets."""
    for name, value in parameters.items():
        if name != "self":
            setattr(estimator, name, value)


class _Tuned(BaseEstimator):
    """What all of them do: check X and y, call the library, and keep what it says."""

    _model: str  # as the library calls it
    intercept_: Any

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
        return self._validated(
            X, y, ensure_min_samples=2, y_numeric=self._is_regressor(), multi_output=self._takes_several(y)
        )

    def _validated(self, X: Any, *y: Any, **options: Any) -> Any:
        """What scikit-learn's checks leave of X, and of y where it is given. Whatever is wrong is a ValueError that names
        the argument."""
        try:
            return _validate_data(self, X, *y, accept_sparse="csr", dtype=[np.float64, np.float32], **options)
        except (ValueError, TypeError, OverflowError, AttributeError) as error:
            said = str(error)
            if type(error) is ValueError and not _UNNAMED.search(said):
                raise
            if isinstance(error, AttributeError):  # of pandas' missing values among texts, which compare as they like
                said = "Input contains entries that do not compare"
            of_y = said.startswith(("Input contains", "Complex data"))
            name = "y" if y and (of_y or not self._is_numeric(*y)) else "X"
            raise _UnreadableError(f"{name}: {said}") from None

    def _passes(self, X: Any, y: Any) -> bool:
        """Whether X is a plain table of finite numbers, and y one of its targets."""
        return (
            type(X) is np.ndarray and type(y) is np.ndarray and X.ndim == 2 and y.shape == X.shape[:1]
            and X.shape[0] >= 2 and X.shape[1] >= 1 and X.dtype in (np.float64, np.float32)
            and (y.dtype.kind in "iu" or (self._is_regressor() and y.dtype == np.float64 and np.isfinite(y.sum())))
            and bool(np.isfinite(X.sum()))
        )

    def _is_numeric(self, y: Any) -> bool:
        if _arrays.is_sparse(y) or isinstance(y, np.matrix):
            return False
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
            found = run_it(
                title, (x, target, weight, fold, names), held_out, None, pairs, options, progress, any_order=True,
                raise_interrupt=raises_interrupt(self.interrupt),
            )
        except InputError as error:
            raise InputError(self._in_own_words(str(error))) from None
        finally:
            if progress is not None:
                progress.close()
        for warning in found.warnings:
            warnings.warn(warning, RuntimeWarning, stacklevel=2)
        if getattr(found, "interrupted", False):  # several targets have no best so far: they raise KeyboardInterrupt
            what = "are the best so far" if found.status == "stopped" else "had been found already"
            warnings.warn(
                f"{type(self).__name__}: stopped by Ctrl-C; the penalties {what}. interrupt='raise' raises KeyboardInterrupt",
                ConvergenceWarning, stacklevel=2,
            )
        self._keep(found, self._total_weight(rows, weight, held_out))
        return self

    def _in_own_words(self, message: str) -> str:
        """What the library calls folds is cv here."""
        return re.sub(r"\bfolds\b(?= =)", "cv", message)

    def _options(self, names: list[str]) -> dict[str, Any]:
        options = {
            "x": self.pretreatment,
            "method": self.method,
            "settings": setting_texts(self.settings),
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
            return seed_of(self.random_state, "random_state")
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _validation_part(self, validation: Any) -> Any:
        if not isinstance(validation, (tuple, list)) or len(validation) not in (2, 3):
            raise ValueError("validation: must be (X, y) or (X, y, sample_weight)")
        _arrays.require_real(validation[0], "validation[0]")
        try:
            X, y = self._validated(
                validation[0], validation[1], reset=False, y_numeric=self._is_regressor(),
                multi_output=self._takes_several(validation[1]),
            )
        except ValueError as error:
            raise ValueError(f"validation: {error}") from None
        weight = _arrays.weights(validation[2], "validation[2]", X.shape[0]) if len(validation) == 3 else None
        return (_arrays.design(X, "validation[0]")[0], self._coded(y), weight, None, [])

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
        X = self._validated(X, reset=False)
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


class TunedRegressor(RegressorMixin, _Tuned):
    def predict(self, X: Any) -> Any:
        """The target as the model expects it."""
        return self._margins(X)

    def _target(self, y: Any, sample_weight: Optional[Any]) -> Any:
        return self._coded(y)


def _classes_and_places(y: Any) -> tuple[Any, Any]:
    """The classes in rising order, and the place of each row's among them. np.unique gives the same; it takes as long as
    all the rest of a small fit's checks, so two whole numbers are told apart by their least and their largest."""
    if y.dtype.kind in "iu" and y.size:
        low, high = y.min(), y.max()
        places = y == high
        if low < high and int(np.count_nonzero(y == low)) + int(np.count_nonzero(places)) == y.size:
            return np.array([low, high], dtype=y.dtype), places
    classes, inverse = np.unique(y, return_inverse=True)
    return classes, inverse


class TunedClassifier(ClassifierMixin, _Tuned):
    def _checked(self, X: Any, y: Any) -> Any:
        X, y = super()._checked(X, y)
        if y.dtype.kind not in "iu":  # whole numbers are classes; to be told so takes as long as a small fit
            check_classification_targets(y)
        return X, y

    def _target(self, y: Any, sample_weight: Optional[Any]) -> Any:
        present = y if sample_weight is None else y[sample_weight > 0]
        self.classes_, places = _classes_and_places(present)
        if len(self.classes_) < 2:
            raise ValueError(f"y: has one class, {self.classes_[0]!r}: there must be two or more")
        coded = places.astype(np.float64)
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
        if not hasattr(given, "items"):
            return class_weight_text(given)
        places = {label: k for k, label in enumerate(self.classes_.tolist())}
        for label in given:
            if label not in places:
                raise ValueError(f"class_weight: {label!r} is none of the classes")
        return class_weight_text({places[label]: weight for label, weight in given.items()})

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
