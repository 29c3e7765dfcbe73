"""Several methods on the same rows."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Iterable, Iterator

import numpy as np

from ._results import Tuned
from ._tune import tune


@dataclass
class Comparison:
    """The runs of :func:`compare`.

    Attributes
    ----------
    runs : list of (method, seed, Tuned)
    """

    runs: list[tuple[str, int, Tuned]]

    def __iter__(self) -> Iterator[tuple[str, int, Tuned]]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each run."""
        found = []
        for method, seed, tuned in self.runs:
            row: dict[str, Any] = {"method": method, "seed": seed, "status": tuned.status}
            for part in ("train", "validation", "test"):
                if part in tuned.losses:
                    row[f"{part}_loss"] = tuned.losses[part]["loss"]
            row["gradients"] = tuned.work["gradients"]
            row["seconds"] = tuned.solver_seconds
            row["certificate"] = tuned.certificate.verdict if tuned.certificate else None
            found.append(row)
        return found

    def means(self) -> list[dict[str, Any]]:
        """A dict for each method: means over the seeds, the best validation loss first."""
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows():
            groups.setdefault(row["method"], []).append(row)
        found = []
        for method, rows in groups.items():
            numbers = [name for name, value in rows[0].items() if isinstance(value, (int, float)) and name != "seed"]
            means = {name: float(np.mean([row[name] for row in rows])) for name in numbers}
            found.append({"method": method, "runs": len(rows), **means})
        return sorted(found, key=lambda row: float(row["validation_loss"]))

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each run."""
        import pandas

        return pandas.DataFrame(self.rows())

    def __repr__(self) -> str:
        lines = [f"{'method':<20} {'runs':>4} {'validation':>12} {'gradients':>10} {'seconds':>9}"]
        for row in self.means():
            lines.append(
                f"{row['method']:<20} {row['runs']:>4} {row['validation_loss']:>12.6g} {row['gradients']:>10.6g} "
                f"{row['seconds']:>9.3g}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def compare(X: Any, y: Any, methods: Iterable[str], *, seeds: Iterable[int] = (0,), **options: Any) -> Comparison:
    """Run several methods on the same rows.

    Parameters
    ----------
    X, y : arrays
    methods : iterable of str
        Of :func:`methods`, with settings as the command line writes them: "sho:alpha=0.05".
    seeds : iterable of int
        Each draws other parts, the same for all methods.
    **options
        As :func:`tune` takes them.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np, yosida
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 8)); y = X @ rng.normal(size=8) + rng.normal(size=120)
    >>> found = yosida.compare(X, y, ["my-hpo", "random"], seeds=range(2))
    >>> [row["method"] for row in found.means()][0]
    'my-hpo'
    """
    listed, drawn = list(methods), list(seeds)
    runs = []
    for seed in drawn:
        for text in listed:
            name, *settings = str(text).split(":")
            pairs = dict(setting.partition("=")[::2] for setting in settings)
            runs.append((str(text), int(seed), tune(X, y, method=name, settings=pairs, seed=seed, **options)))
    return Comparison(runs)
