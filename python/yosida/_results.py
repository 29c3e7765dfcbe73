"""What a run returns: the answer, what is proved of it, and how it was found."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence

import numpy as np



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
    interrupted : bool
        Whether Ctrl-C came; where it came before the search had ended, ``status`` is "stopped".
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
    interrupted: bool = False

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
        """The target as the model expects it, or the label of the largest margin. Columns of a DataFrame are matched by
        name, as `yosida predict` does: they may stand in another order, and others are passed over."""
        model = self._model()
        values = model.predict(X)
        if not model.labels:
            return values[:, 0]
        labels = np.array(model.labels)
        return labels[(values[:, 0] > 0).astype(int) if values.shape[1] == 1 else values.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Any:
        """The probability of each label, in rising order of these."""
        return self._model().predict_proba(X)

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
    measures = list(losses["train"] or losses["validation"])  # stopped folds have none of the former
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
