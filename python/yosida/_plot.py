"""Pictures by matplotlib, which is imported when one is drawn."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from ._results import Trace, Tuned
from ._tune import tune


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _trace_of(run: Any) -> Any:
    """The columns of the trace of a Tuned, a Solved, a fitted estimator, or of a Trace itself."""
    trace = run if isinstance(run, Trace) else getattr(run, "trace", getattr(run, "_trace", None))
    if not isinstance(trace, Trace):
        raise TypeError(f"{type(run).__name__} has no trace: must be what tune(), solve() or fit() returned")
    return trace.columns()


def plot_convergence(*runs: Any, labels: Optional[Sequence[str]] = None, x: str = "gradients", ax: Any = None) -> Any:
    """Validation loss against what it cost.

    Parameters
    ----------
    *runs : Tuned, Solved or fitted estimators
    labels : sequence of str, optional
    x : {"gradients", "gradient_equivalents", "seconds", "iteration"}
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    if not runs:
        raise TypeError("plot_convergence() needs a run")
    traces = [_trace_of(run) for run in runs]
    if x not in ("gradients", "gradient_equivalents", "seconds", "iteration"):
        raise ValueError(f"x = {x!r}: must be gradients, gradient_equivalents, seconds or iteration")
    ax = _axes(ax)
    for place, columns in enumerate(traces):
        label = labels[place] if labels is not None else getattr(runs[place], "title", f"run {place + 1}")
        ax.plot(columns[x], columns["validation"], marker="o", markersize=3, label=label)
    ax.set_xlabel(x.replace("_", " "))
    ax.set_ylabel("validation loss")
    if len(runs) > 1:
        ax.legend()
    return ax


def _along(name: str, X: Any, y: Any, lambdas: Any, options: dict[str, Any]) -> tuple[Tuned, Any, list[Tuned]]:
    """What tune() finds, the λ of a grid, and the model trained exactly at each of these."""
    found = tune(X, y, **options)
    if len(found.lambda_) != 1:
        raise ValueError(f"{name}: is for one lambda; here are {len(found.lambda_)}")
    low, high, count = lambdas if lambdas is not None else (found.lambda_[0] - 6.0, found.lambda_[0] + 6.0, 41)
    at = np.linspace(low, high, int(count))
    width = (high - low) * 1e-9
    fixed: dict[str, Any] = {**options, "method": "random", "settings": {"trials": 1}, "trace": False}
    models = []
    for value in at:
        fixed["bounds"] = (float(value), float(value) + width)
        models.append(tune(X, y, **fixed))
    return found, at, models


def plot_lambda_curve(X: Any, y: Any, *, lambdas: Any = None, ax: Any = None, **options: Any) -> Any:
    """The validation loss as a function of one λ, with the λ that tune() finds on it.

    Each point is the loss of weights that are trained exactly.

    Parameters
    ----------
    X, y : arrays
    lambdas : (low, high, count), optional
        By default 41 points from 6 below to 6 above the λ found.
    ax : Axes, optional
    **options
        As :func:`tune` takes them, method and bounds apart.

    Returns
    -------
    Axes
    """
    found, at, models = _along("plot_lambda_curve", X, y, lambdas, options)
    ax = _axes(ax)
    ax.plot(at, [model.losses["validation"]["loss"] for model in models])
    ax.plot(found.lambda_, [found.losses["validation"]["loss"]], "o", label="found")
    ax.set_xlabel("λ, the logarithm of the penalty")
    ax.set_ylabel("validation loss")
    ax.legend()
    return ax


def plot_coefficient_path(X: Any, y: Any, *, lambdas: Any = None, ax: Any = None, **options: Any) -> Any:
    """The coefficients of the model, times the standard deviations of their features, as functions of one λ.

    Parameters
    ----------
    X, y, lambdas, ax, **options
        As in :func:`plot_lambda_curve`; X is an array, and the model has one output.

    Returns
    -------
    Axes
    """
    found, at, models = _along("plot_coefficient_path", X, y, lambdas, options)
    if found.coef.ndim != 1:
        raise ValueError("plot_coefficient_path: is for models of one output")
    deviations = np.asarray(X, dtype=float).std(axis=0)
    ax = _axes(ax)
    ax.plot(at, np.array([model.coef * deviations for model in models]))
    ax.axvline(found.lambda_[0], linestyle=":", color="black", label="found")
    ax.set_xlabel("λ, the logarithm of the penalty")
    ax.set_ylabel("coefficient × standard deviation")
    ax.legend()
    return ax
