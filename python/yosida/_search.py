"""Black-box search in a box: ask where to look, tell what was seen there."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence, Union

from . import _core
from ._arguments import seed_of, setting_texts

Space = Union[Mapping[str, Sequence[Any]], Sequence[Sequence[Any]]]


class Proposal(NamedTuple):
    """What to try next: where, and how much of the full effort to spend there (below 1 only in Hyperband)."""

    id: int
    x: Any
    share: float


def samplers() -> dict[str, str]:
    """The searchers there are, and what each does."""
    return dict(_core.samplers())


def _dimensions(space: Space) -> list[tuple[float, float, str, str]]:
    named = list(space.items()) if isinstance(space, Mapping) else [(str(j), each) for j, each in enumerate(space)]
    dimensions = []
    for name, each in named:
        if len(each) not in (2, 3):
            raise ValueError(f"space: {name!r} is {each!r}: must be (low, high) or (low, high, 'log')")
        dimensions.append((float(each[0]), float(each[1]), str(each[2]) if len(each) == 3 else "linear", str(name)))
    return dimensions


class Sampler:
    """A searcher that you ask and tell. Several proposals may be open at a time; each is told once, in any order.

    Parameters
    ----------
    space : dict or sequence
        (low, high) or (low, high, "log") for each dimension, by name or in order.
    name : str
        One of :func:`samplers`.
    trials : int
        How many proposals will be asked for, where that must be known (a grid).
    seed : int
    settings : dict, optional

    Examples
    --------
    >>> import yosida
    >>> sampler = yosida.Sampler([(-5.0, 5.0)], "tpe", trials=30)
    >>> for _ in range(30):
    ...     proposal = sampler.ask()
    ...     sampler.tell(proposal, (proposal.x[0] - 1.0) ** 2)
    """

    def __init__(
        self,
        space: Space,
        name: str = "gp-ei",
        *,
        trials: int = 25,
        seed: int = 0,
        settings: Optional[Mapping[str, Any]] = None,
    ) -> None:
        texts = setting_texts(settings)
        if trials < 1:
            raise ValueError(f"trials = {trials}: must be >= 1")
        self._sampler = _core.Sampler(name, _dimensions(space), seed_of(seed), int(trials), texts)

    def ask(self) -> Optional[Proposal]:
        """Where to look next; None after the last one."""
        found = self._sampler.ask()
        return None if found is None else Proposal(*found)

    def tell(self, proposal: Proposal, value: float) -> None:
        """What was seen there; smaller is better. NaN is a trial that failed."""
        self._sampler.tell(proposal.id, proposal.share, float(value))


@dataclass
class Minimized:
    """The best of all trials, and the trials.

    Attributes
    ----------
    x : array or dict or None
        Of the smallest finite value: by name where the space has names; None where no trial gave one.
    value : float
    trials : list of (x, value)
        In the order they were made.
    """

    x: Any = None
    value: float = math.inf
    trials: list[tuple[Any, float]] = field(default_factory=list, repr=False)


def minimize(
    objective: Callable[[Any], float],
    space: Space,
    sampler: str = "gp-ei",
    *,
    trials: int = 25,
    seconds: float = math.inf,
    seed: int = 0,
    settings: Optional[Mapping[str, Any]] = None,
) -> Minimized:
    """The smallest value of a function that a searcher finds in a box.

    Parameters
    ----------
    objective : callable
        Of an array or, where the space is a dict, of a dict. May return what is not finite: the trial has failed.
    space : dict or sequence
        (low, high) or (low, high, "log") for each dimension, by name or in order.
    sampler : str
        One of :func:`samplers`.
    trials : int
    seconds : float
        No trial begins after so long.
    seed : int
    settings : dict, optional
        Of the sampler.

    Returns
    -------
    Minimized

    Examples
    --------
    >>> import yosida
    >>> found = yosida.minimize(lambda at: (at["x"] - 1.0) ** 2, {"x": (-5.0, 5.0)}, trials=20)
    >>> abs(found.x["x"] - 1.0) < 0.2
    True
    """
    names = list(space) if isinstance(space, Mapping) else None
    searcher = Sampler(space, sampler, trials=trials, seed=seed, settings=settings)
    found = Minimized()
    end = time.monotonic() + seconds
    while len(found.trials) < trials and time.monotonic() < end:
        proposal = searcher.ask()
        if proposal is None:
            break
        x = proposal.x if names is None else dict(zip(names, proposal.x.tolist()))
        value = float(objective(x))
        searcher.tell(proposal, value)
        found.trials.append((x, value))
        if math.isfinite(value) and value < found.value:
            found.x, found.value = x, value
    return found
