"""The solver file for benchopt's benchmark_bilevel, with stand-ins for benchopt and JAX, which are not needed to build.

The stand-in of JAX differentiates by central differences, so gradients have about nine digits and products five.
"""
import importlib.util
import sys
import types
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).resolve().parents[2] / "integrations" / "benchopt" / "yosida.py"


def difference(function, at, direction, step):
    return (np.asarray(function(at + step * direction)) - np.asarray(function(at - step * direction))) / (2 * step)


def grad(function, argnums=0):
    def gradient(*arguments):
        def moved(value):
            return function(*arguments[:argnums], value, *arguments[argnums + 1:])

        at = arguments[argnums]
        units = np.eye(at.size).reshape(at.size, *at.shape)
        return np.array([difference(moved, at, unit, 6e-6) for unit in units]).reshape(at.shape)

    return gradient


def jvp(function, at, direction):
    return function(*at), difference(function, at[0], direction[0], 1e-3)


@contextmanager
def safe_import_context():
    yield


class BaseSolver:
    """What benchopt does with a solver's parameters."""

    def __init__(self, **parameters):
        for name, values in self.parameters.items():
            setattr(self, name, parameters.get(name, values[0]))


class SufficientProgressCriterion:
    def __init__(self, patience, strategy):
        assert strategy == "iteration"


def module(name, **contents):
    made = types.ModuleType(name)
    made.__dict__.update(contents)
    return made


@pytest.fixture
def solver(monkeypatch):
    config = types.SimpleNamespace(update=lambda name, value: None)
    criterion = module("benchopt.stopping_criterion", SufficientProgressCriterion=SufficientProgressCriterion)
    for each in (module("benchopt", BaseSolver=BaseSolver, safe_import_context=safe_import_context), criterion,
                 module("jax", grad=grad, jvp=jvp, jit=lambda function: function, config=config)):
        monkeypatch.setitem(sys.modules, each.__name__, each)
    spec = importlib.util.spec_from_file_location("benchopt_solver", FILE)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded.Solver


def data():
    random = np.random.default_rng(1)
    x, v = random.standard_normal((40, 5)), random.standard_normal((30, 5))
    truth = np.array([1.0, 0.5, 0.0, 0.0, -1.0])
    return x, x @ truth + random.standard_normal(40), v, v @ truth + random.standard_normal(30)


def objective(x, y, v, t):
    """As the benchmark gives it: one λ for each feature, penalties of ½ e^λ w²."""
    return {
        "f_inner_fb": lambda w, lam: 0.5 * np.mean((x @ w - y) ** 2) + 0.5 * np.sum(np.exp(lam) * w**2),
        "f_outer_fb": lambda w, lam: 0.5 * np.mean((v @ w - t) ** 2),
        "f_inner": None, "f_outer": None, "n_inner_samples": len(y), "n_outer_samples": len(t),
        "inner_var0": np.zeros(5), "outer_var0": np.full(1, -2.0),
    }


def h(lam, x, y, v, t):
    w = np.linalg.solve(x.T @ x / len(y) + np.exp(lam) * np.eye(5), x.T @ y / len(y))
    return 0.5 * np.mean((v @ w - t) ** 2)


def test_it_comes_to_the_best_lambda(solver):
    rows = data()
    made = solver()
    made.set_objective(**objective(*rows))
    made.run(0)
    assert np.array_equal(made.get_result()["outer_var"], [-2.0])
    made.run(60)
    found = made.get_result()
    best = min(h(lam, *rows) for lam in np.arange(-12.0, 5.0, 0.01))
    assert found["inner_var"].shape == (5,) and found["outer_var"].shape == (1,)
    assert h(found["outer_var"][0], *rows) <= best * (1 + 1e-4)
    # The weights it gives are those of its λ.
    w = np.linalg.solve(rows[0].T @ rows[0] / 40 + np.exp(found["outer_var"][0]) * np.eye(5), rows[0].T @ rows[1] / 40)
    assert np.allclose(found["inner_var"], w, atol=1e-4)


def test_any_method_of_the_library_may_be_named(solver):
    rows = data()
    made = solver(method="hoag")
    made.set_objective(**objective(*rows))
    made.run(30)
    assert h(made.get_result()["outer_var"][0], *rows) < h(-2.0, *rows)
    assert solver.get_next(4) == 5
