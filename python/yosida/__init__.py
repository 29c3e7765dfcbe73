"""Hyperparameter optimisation by gradients: penalties of linear models, and of any model of your own.

Three ways in: :func:`tune` on arrays, estimators of scikit-learn (:class:`RidgeTuned` and its kin), and
:class:`BilevelProblem` with :func:`solve` for a model of your own. scikit-learn, pandas, matplotlib and PyTorch are
imported where they are used, and only there.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from . import _core
from ._arrays import Copy, last_copies
from ._compare import Comparison, compare
from ._core import InputError, blas_kernels, set_threads, threads, use_fast_blas_kernels
from ._plot import plot_coefficient_path, plot_convergence, plot_lambda_curve
from ._problem import BilevelProblem, Solved, certify, check_gradient, solve
from ._results import Certificate, Trace, Tuned
from ._search import Minimized, Sampler, minimize, samplers
from ._study import Run, Study
from ._targets import TunedTargets
from ._tune import load_model, methods, models, tune

if TYPE_CHECKING:
    from ._estimators import (
        ElasticNetTuned,
        HuberTuned,
        LassoTuned,
        LogisticTuned,
        PoissonTuned,
        RidgeTuned,
        SVCTuned,
    )

__version__: str = _core.version

__all__ = [
    "ElasticNetTuned",
    "HuberTuned",
    "LassoTuned",
    "LogisticTuned",
    "PoissonTuned",
    "RidgeTuned",
    "SVCTuned",
    "BilevelProblem",
    "Certificate",
    "Comparison",
    "Copy",
    "InputError",
    "Minimized",
    "Run",
    "Sampler",
    "Solved",
    "Study",
    "Trace",
    "Tuned",
    "TunedTargets",
    "blas_kernels",
    "certify",
    "check_gradient",
    "compare",
    "last_copies",
    "load_model",
    "methods",
    "minimize",
    "models",
    "plot_coefficient_path",
    "plot_convergence",
    "plot_lambda_curve",
    "samplers",
    "set_threads",
    "solve",
    "threads",
    "tune",
    "use_fast_blas_kernels",
]

_ESTIMATORS = __all__[:7]


def __getattr__(name: str) -> Any:
    """Estimators need scikit-learn, which takes longer to import than all the rest."""
    if name in _ESTIMATORS:
        return getattr(importlib.import_module("._estimators", __name__), name)
    if name == "torch":
        return importlib.import_module(".torch", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_ESTIMATORS])


# Threads do not survive a fork, and BLAS may wait for its own for ever. Results are the same
# with one thread.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: set_threads(1))
