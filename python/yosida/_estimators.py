"""Estimators of scikit-learn whose penalties are tuned in fit()."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from sklearn.utils.extmath import softmax

from ._estimator import TunedClassifier, TunedRegressor, documented, keep_parameters
from ._results import Trace
from ._targets import is_table, run_targets, table


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
        interrupt: str = "return",
    ) -> None:
        keep_parameters(self, locals())


class _Grouped:
    """The same where weights may share penalties in groups."""

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
        interrupt: str = "return",
    ) -> None:
        keep_parameters(self, locals())


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
        interrupt: str = "return",
    ) -> None:
        keep_parameters(self, locals())


@documented("""alpha_ : float or array
        As ``Ridge`` has it, for the pretreated features: ``alpha_ = 2 N penalty_`` with N the weight of all rows. Where
        y has several columns one for each of them; ``coef_`` is then of shape (targets, features), and
        ``certificate_`` a list.
    """)
class RidgeTuned(_Grouped, TunedRegressor):
    """Ridge regression whose penalties are found by gradients.

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
        self, title: str, train: Any, validation: Any, test: Any, parts: Any, options: Any, progress: Any,
        any_order: bool, raise_interrupt: bool,
    ) -> Any:
        """Several targets share what the rows cost. Ctrl-C raises KeyboardInterrupt: there is no best so far."""
        target_names = [str(t) for t in range(train[1].shape[1])]
        return run_targets(train, validation, test, parts, target_names, options, any_order)

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


@documented("""alpha_ : float
        As ``Lasso`` has it, for the pretreated features.
    """)
class LassoTuned(_OnePenalty, TunedRegressor):
    """Least squares under an ℓ₁ penalty, which leaves few weights, found by gradients.

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


@documented("""alpha_, l1_ratio_ : float
        As ``ElasticNet`` has them, for the pretreated features.
    """)
class ElasticNetTuned(_OnePenalty, TunedRegressor):
    """Least squares under an ℓ₁ and an ℓ₂ penalty, both found by gradients.

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


@documented()
class HuberTuned(_Grouped, TunedRegressor):
    """Regression that outliers hardly change, its penalties found by gradients.

    The loss is quadratic up to 1.345 standard deviations of the target and linear beyond. ``HuberRegressor`` has
    another objective, so there is no ``alpha_``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from yosida import HuberTuned
    >>> X, y = load_diabetes(return_X_y=True)
    >>> HuberTuned(cv=5).fit(X, y).certificate_.verdict
    'certified'
    """

    _model = "huber"


@documented("""alpha_ : float or array
        As ``PoissonRegressor`` has it, for the pretreated features: ``alpha_ = 2 penalty_``.
    """)
class PoissonTuned(_Grouped, TunedRegressor):
    """Regression of counts with a log link, its penalties found by gradients.

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


_C = """C_ : float or array
        As ``%s`` has it, for the pretreated features: ``C_ = 1 / (2 N penalty_)`` with N the weight of all rows,
        of an ℓ₁ penalty ``1 / (N penalty_)``; not there where groups are penalised.
    classes_ : array
    """


@documented(_C % "LogisticRegression", ', "class"')
class LogisticTuned(_GroupedClasses, TunedClassifier):
    """Logistic regression of two classes or more (softmax), its penalties found by gradients.

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


@documented(_C % "LinearSVC")
class SVCTuned(_GroupedClasses, TunedClassifier):
    """A linear support vector machine (squared hinge) of two classes, its penalties found by gradients.

    Unlike ``LinearSVC`` it does not penalise the intercept.

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
