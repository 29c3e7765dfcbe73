"""Rows that are shared by the processes of an mpi4py communicator.

    from mpi4py import MPI
    import numpy as np, yosida, yosida.mpi

    X = np.load("x.npy", mmap_mode="r")     # each process reads the pages of its own rows
    y = np.load("y.npy")
    with yosida.mpi.shared(MPI.COMM_WORLD):
        tuned = yosida.tune(X, y, model="logistic")

Every process calls the same functions with the same rows. Results have the same bits on any number of processes, and
as without any. Rows are shared from 32 768 on.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

from . import _core

OtherEnded = _core.OtherEnded

__all__ = ["OtherEnded", "shared"]


@contextlib.contextmanager
def shared(communicator: Any) -> Iterator[Any]:
    """Shares what this thread computes with the other processes of an mpi4py communicator.

    All of them enter and leave together. Where one leaves by an exception, the others do so by OtherEnded, which
    says what that one was. Raises InputError where this build of yosida is without MPI.
    """
    sharing = _core.Sharing(communicator.py2f())
    try:
        yield sharing
    except _core.OtherEnded:  # all have met to hear of it
        sharing.leave()
        raise
    except BaseException as error:
        sharing.end(f"{type(error).__name__}: {error}")
        raise
    message = sharing.end("")
    if message:
        raise _core.OtherEnded(f"another process has ended: {message}")
