"""How far a run is: a bar by tqdm where it is installed, a line of text elsewhere."""

from __future__ import annotations

import sys
from typing import Any, Optional


class Progress:
    """Shows iterations as they come. Used as the observer of a run, and closed after it."""

    def __init__(self, title: str) -> None:
        self._bar: Optional[Any] = None
        self._width = 0
        self._title = title
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(desc=title, unit=" iterations", leave=False)

    def __call__(self, iteration: int, lam: Any, validation: float, gradients: int, seconds: float) -> bool:
        shown = f"{lam[0]:.4g}" if len(lam) == 1 else f"{len(lam)} of them"
        if self._bar is not None:
            self._bar.n = iteration
            self._bar.set_postfix_str(f"lambda {shown}, validation loss {validation:.6g}, {gradients} gradients")
        else:
            text = f"{self._title}: iteration {iteration}, lambda {shown}, validation loss {validation:.6g}"
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = len(text)
        return False

    def close(self) -> None:
        """Takes it off the screen."""
        if self._bar is not None:
            self._bar.close()
        elif self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
