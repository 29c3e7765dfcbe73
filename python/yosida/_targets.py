"""Several targets of the same rows, tuned from one factorisation."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Optional, Sequence

import numpy as np

from . import _arrays, _core
from ._results import certificate_of


def table(values: Any, name: str, rows: int) -> Any:
    """A float64 for each row and target."""
    _arrays.require_real(values, name)
    array = _arrays.as_doubles(values, name)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"{name}: has shape {array.shape}: must be (rows, targets)")
    if len(array) != rows:
        raise ValueError(f"{name}: has {len(array)} rows: must have one for each of the {rows} rows of X")
    return np.ascontiguousarray(array)


def is_table(y: Any) -> bool:
    """Whether y holds several targets."""
    shape = getattr(y, "shape", None)
    if shape is None:
        shape = np.asarray(y).shape
    return len(shape) == 2 and shape[1] > 1


@dataclass
class TunedTargets:
    """All there is to say of a finished :func:`tune` of several targets.

    Attributes
    ----------
    lambda_ : array of shape (targets,), or (targets, groups)
        The logarithms of the penalties that were found.
    penalty : array
        e to the power of these.
    coef, intercept : arrays of shape (features, targets) and (targets,)
        The model in the units of X: X @ coef + intercept.
    target_names, lambda_names : lists of str
        Of the columns of y; of the groups.
    certificates : list of Certificate or None
        One for each target; where one λ is shared, that of the sum.
    losses : dict
        The mean of every measure over the targets, on every part.
    target_losses : list of dict
        The same of each target.
    refit, target_refits : dict or None, list of dict
        The same for the model that was trained on all rows at the end.
    criterion : str
    is_shared : bool
        One λ for all targets.
    folds : int
    rows : tuple
        Training, validation and test rows.
    warnings : list of str
    seconds : float
    model : Model
        To save, and to predict with.
    """

    lambda_: Any
    target_names: list[str]
    lambda_names: list[str]
    certificates: list[Any]
    losses: dict[str, Any]
    target_losses: list[dict[str, Any]]
    refit: Optional[dict[str, Any]]
    target_refits: list[dict[str, Any]]
    criterion: str
    is_shared: bool
    folds: int
    rows: tuple[int, int, int]
    warnings: list[str]
    seconds: float
    model: Any

    @property
    def penalty(self) -> Any:
        return np.exp(self.lambda_)

    @property
    def coef(self) -> Any:
        return self.model.coefficients()["weights"]

    @property
    def intercept(self) -> Any:
        return self.model.coefficients()["intercept"]

    def predict(self, X: Any) -> Any:
        """A column for each target. Columns of a DataFrame are matched by name."""
        return self.model.predict(X)

    def save(self, path: Any) -> None:
        """Writes the model as JSON, for ``yosida predict`` and :func:`load_model`."""
        self.model.save(str(path))

    def __repr__(self) -> str:
        certified = sum(bool(each) for each in self.certificates)
        return (
            f"<TunedTargets of {len(self.target_names)}: mean validation R² {self.losses['validation']['r_squared']:.4g}, "
            f"{certified} certified>"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def run_targets(
    train: tuple[Any, Any, Any, Any, list[str]],
    validation: Any,
    test: Any,
    parts: Any,
    target_names: Sequence[str],
    options: dict[str, Any],
    any_order: bool = False,
) -> TunedTargets:
    """One call of the module. Each part: X, y, weight, fold, and names of columns."""

    def rows_of(part: Any) -> Any:
        return None if part is None else (part[0], None, *part[2:])

    def targets_of(part: Any) -> Any:
        return None if part is None else part[1]

    y = (train[1], targets_of(validation), targets_of(test))
    found = _core.tune_targets(
        rows_of(train), rows_of(validation), rows_of(test), y, parts, list(target_names), options, any_order
    )
    lam = found["lambda"]
    return TunedTargets(
        lambda_=lam[:, 0] if len(found["lambda_names"]) == 1 else lam,
        target_names=found["target_names"],
        lambda_names=found["lambda_names"],
        certificates=[certificate_of(each) for each in found["certificates"]],
        losses=found["mean"],
        target_losses=found["best"],
        refit=found["mean_refit"],
        target_refits=found["refit"],
        criterion=found["criterion"],
        is_shared=found["is_shared"],
        folds=found["folds"],
        rows=found["rows"],
        warnings=found["warnings"],
        seconds=found["seconds"],
        model=found["model"],
    )
