"""Studies: the files that `yosida compare` and `yosida reproduce` keep their runs in."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Iterator, Optional

from . import _core
from ._results import Trace


@dataclass
class Run:
    """A finished run of a study.

    Attributes
    ----------
    key : str
        Its name in the file: the sha256 of its specification.
    method : str
    seed : int
    status : str
    seconds : float
        Of the solver.
    finished : str
    program : str
        The version that ran it.
    spec, outcome : dict
        What decided the run, and what came of it.
    trace : Trace or None
    """

    key: str
    method: str
    seed: int
    status: str
    seconds: float
    finished: str
    program: str
    spec: dict[str, Any] = field(repr=False)
    outcome: dict[str, Any] = field(repr=False)
    trace: Optional[Trace] = field(repr=False, default=None)


class Study:
    """The runs of a study file, which is only read.

    Parameters
    ----------
    path : str or path
    traces : bool
        Read the iterations too.
    """

    def __init__(self, path: Any, *, traces: bool = False) -> None:
        self.path = os.fspath(path)
        self._runs = []
        for record in _core.read_study(self.path, traces):
            trace = record.pop("trace", None)
            record["spec"] = json.loads(record["spec"])
            record["outcome"] = json.loads(record["outcome"])
            if trace is not None:
                names = [str(j) for j in range(trace["lambda"].shape[1])]
                trace = Trace(trace, names)
            self._runs.append(Run(trace=trace, **record))

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def __getitem__(self, place: int) -> Run:
        return self._runs[place]

    def __repr__(self) -> str:
        return f"<Study {self.path!r} of {len(self)} runs>"

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each run; what is nested in spec and outcome is a column with a dotted name."""
        import pandas

        rows = []
        for run in self:
            row = {"key": run.key, "method": run.method, "seed": run.seed, "status": run.status}
            row.update(_flat("spec", run.spec))
            row.update(_flat("outcome", run.outcome))
            rows.append({**row, "seconds": run.seconds, "finished": run.finished, "program": run.program})
        return pandas.DataFrame(rows)


def _flat(prefix: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {prefix: value}
    found: dict[str, Any] = {}
    for name, inner in value.items():
        found.update(_flat(f"{prefix}.{name}", inner))
    return found
