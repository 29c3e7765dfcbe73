"""Bi-level problems of your own: losses and gradients in numpy, everything else derived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Union

import numpy as np

from . import _core
from ._arguments import budget_options, raises_interrupt, seed_of, setting_texts
from ._progress import Progress
from ._results import Certificate, Trace, certificate_of
from ._tune import Watch, both


class BilevelProblem:
    """A model whose hyperparameters λ are to be found: λ minimises L_V(w*(λ), λ), and w*(λ) minimises L_T(w, λ).

    Derive from it and write ``train_loss``, ``train_gradient``, ``validation_loss`` and ``validation_gradient``, each a
    function of (w, λ). What else a method needs is derived from these: products by differences of gradients, training
    by Newton's method. Where you know better, add any of these:

    ======================================  ===========================================
    ``hessian_product(w, lam, p)``          ∇²_ww L_T p
    ``cross_product(w, lam, q)``            ∇²_wλ L_T q
    ``cross_product_transposed(w, lam, p)`` (∇²_wλ L_T)ᵀ p
    ``train_gradient_lambda(w, lam)``       ∂L_T/∂λ
    ``validation_gradient_lambda(w, lam)``  ∂L_V/∂λ at fixed w
    ``validation_hessian_product(w, lam, p)`` ∇²_ww L_V p
    ``inner_solve(lam, w)``                 w*(λ), started from w; or (w*(λ), gradients it took)
    ======================================  ===========================================

    Vectors come and go as float64 arrays of one dimension. What a function raises comes out of :func:`solve` as it is,
    with a note that says in which iteration it was raised.

    Parameters
    ----------
    weights, hyperparameters : int
        How many there are.
    start : array, optional
        Where training starts; by default at 0. A network must break its symmetry.
    bounds : (array, array), optional
        Of λ.
    has_penalties : bool
        Whether λ are logarithms of penalties: at λ = -inf L_T is defined and has none. Bounds then come from the data.
    validation_depends_on_lambda : bool
        Whether L_V depends on λ itself, and not only through w.

    Examples
    --------
    >>> import numpy as np, yosida
    >>> class Ridge(yosida.BilevelProblem):
    ...     def __init__(self, X, y, X_val, y_val):
    ...         super().__init__(weights=X.shape[1], hyperparameters=1, has_penalties=True)
    ...         self.X, self.y, self.X_val, self.y_val = X, y, X_val, y_val
    ...     def train_loss(self, w, lam):
    ...         return 0.5 * np.mean((self.X @ w - self.y) ** 2) + np.exp(lam[0]) * w @ w
    ...     def train_gradient(self, w, lam):
    ...         return self.X.T @ (self.X @ w - self.y) / len(self.y) + 2 * np.exp(lam[0]) * w
    ...     def validation_loss(self, w, lam):
    ...         return 0.5 * np.mean((self.X_val @ w - self.y_val) ** 2)
    ...     def validation_gradient(self, w, lam):
    ...         return self.X_val.T @ (self.X_val @ w - self.y_val) / len(self.y_val)
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5)); y = X @ np.ones(5) + rng.normal(size=60)
    >>> found = yosida.solve(Ridge(X[:40], y[:40], X[40:], y[40:]))
    >>> found.status
    'converged'
    """

    def __init__(
        self,
        weights: int,
        hyperparameters: int,
        *,
        start: Any = None,
        bounds: Optional[tuple[Any, Any]] = None,
        has_penalties: bool = False,
        validation_depends_on_lambda: bool = False,
    ) -> None:
        self.weights = weights
        self.hyperparameters = hyperparameters
        self.start = start
        self.bounds = bounds
        self.has_penalties = has_penalties
        self.validation_depends_on_lambda = validation_depends_on_lambda

    def train_loss(self, w: Any, lam: Any) -> float:
        """L_T(w, λ), penalty included."""
        raise NotImplementedError("train_loss(w, lam)")

    def train_gradient(self, w: Any, lam: Any) -> Any:
        """∇_w L_T(w, λ)"""
        raise NotImplementedError("train_gradient(w, lam)")

    def validation_loss(self, w: Any, lam: Any) -> float:
        """L_V(w, λ)"""
        raise NotImplementedError("validation_loss(w, lam)")

    def validation_gradient(self, w: Any, lam: Any) -> Any:
        """∇_w L_V(w, λ)"""
        raise NotImplementedError("validation_gradient(w, lam)")


@dataclass
class Solved:
    """How a run on a problem of your own has ended.

    Attributes
    ----------
    lambda_ : array
        The best hyperparameters.
    weights : array
        Trained under them.
    validation_loss, train_loss : float
    status, message : str
        Why the run ended. "diverged": a number was not finite; ``not_finite`` says which.
    not_finite : str
        The first result of your functions that was not finite, and in which iteration; empty where all were.
    certificate : Certificate or None
    trace : Trace
    work : dict
    iterations : int
    seconds : float
    """

    lambda_: Any
    weights: Any
    validation_loss: float
    train_loss: float
    status: str
    message: str
    not_finite: str
    certificate: Optional[Certificate]
    trace: Trace
    work: dict[str, float]
    iterations: int
    seconds: float

    def __repr__(self) -> str:
        with np.printoptions(precision=6, threshold=6):
            return f"<Solved: lambda {self.lambda_}, validation loss {self.validation_loss:.6g}, {self.status}>"


def _info(problem: Any) -> dict[str, Any]:
    """What the module must know of a problem beside its functions."""
    for name in ("train_loss", "train_gradient", "validation_loss", "validation_gradient"):
        if not callable(getattr(problem, name, None)):
            raise TypeError(f"problem: {type(problem).__name__} has no {name}(w, lam); see yosida.BilevelProblem")
    try:
        weights, hyperparameters = int(problem.weights), int(problem.hyperparameters)
    except (AttributeError, TypeError):
        raise TypeError(
            "problem: weights and hyperparameters must be numbers; does its __init__ call super().__init__?"
        ) from None
    bounds = getattr(problem, "bounds", None)
    if bounds is not None:
        low, high = bounds
        bounds = (
            np.broadcast_to(np.asarray(low, dtype=float), hyperparameters),
            np.broadcast_to(np.asarray(high, dtype=float), hyperparameters),
        )
    return {
        "weights": weights,
        "hyperparameters": hyperparameters,
        "start": getattr(problem, "start", None),
        "bounds": bounds,
        "has_penalties": bool(getattr(problem, "has_penalties", False)),
        "validation_depends_on_lambda": bool(getattr(problem, "validation_depends_on_lambda", False)),
    }


def solve(
    problem: Any,
    method: str = "my-hpo",
    *,
    settings: Optional[Mapping[str, Any]] = None,
    lambda0: Any = None,
    bounds: Optional[tuple[Any, Any]] = None,
    budget: Any = None,
    seed: int = 0,
    trace: bool = True,
    certificate: bool = True,
    watch: Optional[Watch] = None,
    verbose: Union[bool, int] = False,
    interrupt: str = "return",
) -> Solved:
    """Find the hyperparameters of a problem of your own.

    Parameters
    ----------
    problem : BilevelProblem
    method : str
        One of :func:`methods`.
    settings : dict, optional
        Settings of the method that are not its defaults.
    lambda0 : float or array, optional
        Where λ starts; by default the problem's own ``lambda0`` where it has one, else inside its bounds.
    bounds : (float or array, float or array), optional
        Of λ.
    budget : int or dict, optional
        Gradients, or limits named "gradients", "iterations", "seconds".
    seed : int
    trace : bool
        Keep the iterations.
    certificate : bool
        Judge the answer; costs about one more training.
    watch, verbose, interrupt
        As in :func:`tune`.

    Returns
    -------
    Solved
    """
    raise_interrupt = raises_interrupt(interrupt)
    limits = budget_options(budget)
    for name, limit in limits.items():
        if not limit > 0:
            raise ValueError(f"budget {name} = {limit!r}: must be > 0")
    options = {
        "lambda0": getattr(problem, "lambda0", None) if lambda0 is None else lambda0,
        "bounds": bounds,
        "seed": seed_of(seed),
        "gradients": limits.get("gradients"),
        "iterations": limits.get("iterations"),
        "seconds": limits.get("seconds"),
        "trace_every": 1 if trace else 0,
        "certificate": bool(certificate),
    }
    info = _info(problem)
    texts = setting_texts(settings)
    progress = Progress(f"{type(problem).__name__} by {method}") if verbose else None
    try:
        found = _core.solve(problem, info, method, texts, options, both(progress, watch), raise_interrupt)
    finally:
        if progress is not None:
            progress.close()
    names = [str(j) for j in range(info["hyperparameters"])]
    message = found["message"]
    if found["not_finite"] and found["status"] == "diverged":
        message += f". The first number that was not finite came from {found['not_finite']}"
    return Solved(
        lambda_=found["lambda"],
        weights=found["weights"],
        validation_loss=found["validation_loss"],
        train_loss=found["train_loss"],
        status=found["status"],
        message=message,
        not_finite=found["not_finite"],
        certificate=certificate_of(found["certificate"]),
        trace=Trace(found["trace"], names),
        work=found["work"],
        iterations=found["iterations"],
        seconds=found["seconds"],
    )


def certify(
    problem: Any,
    w: Any,
    lam: Any,
    *,
    bounds: Optional[tuple[Any, Any]] = None,
    tolerance: float = 5e-3,
) -> Certificate:
    """Judge weights and hyperparameters from the problem alone, wherever they come from.

    Parameters
    ----------
    problem : BilevelProblem
    w, lam : arrays
        Weights and hyperparameters.
    bounds : pair, optional
        Of λ: an answer that a bound holds is one.
    tolerance : float
        How small a slope must be, relative to the validation loss.

    Returns
    -------
    Certificate
    """
    return Certificate(**_core.certify(problem, _info(problem), w, lam, bounds, float(tolerance)))


def check_gradient(problem: Any, w: Any, lam: Any, *, seed: int = 0) -> dict[str, float]:
    """Compare every gradient and product of a problem with differences of the function below it.

    Parameters
    ----------
    problem : BilevelProblem
    w, lam : arrays
        Where.
    seed : int
        Of the directions.

    Returns
    -------
    dict
        The relative error of each: about 1e-6 or less where it is right.
    """
    return dict(_core.check_gradients(problem, _info(problem), w, lam, seed_of(seed)))
