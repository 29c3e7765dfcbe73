"""The examples: of docstrings, of the gallery, and what mypy says of all of it."""

import doctest
import importlib
import inspect
import os
import pathlib
import subprocess
import sys

import pytest

import yosida

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = os.path.dirname(os.path.dirname(yosida.__file__))
MODULES = ["_arguments", "_arrays", "_results", "_tune", "_estimator", "_estimators", "_problem", "_search", "_study", "_compare", "_plot", "_progress"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_say_what_is_so(name):
    module = importlib.import_module(f"yosida.{name}")
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_everything_public_has_a_docstring_with_its_parameters():
    for name in yosida.__all__:
        thing = getattr(yosida, name)
        assert inspect.getdoc(thing), name
        if inspect.isfunction(thing):
            for parameter in inspect.signature(thing).parameters:
                assert parameter in inspect.getdoc(thing), f"{name}: {parameter}"


@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_the_gallery_runs(script):
    if script.startswith("7"):
        pytest.importorskip("torch")
    result = subprocess.run([sys.executable, str(ROOT / "examples" / script)], capture_output=True, text=True,
                            env={**os.environ, "PYTHONPATH": PACKAGE}, timeout=300)
    assert result.returncode == 0, result.stderr[-2000:]
    assert result.stdout


def mypy(*files):
    """What mypy says of files. It says nothing of packages that PYTHONPATH leads to, so the package is not among them."""
    pytest.importorskip("mypy")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--scripts-are-modules",
                           "--cache-dir", os.devnull, *map(str, files)], capture_output=True, text=True,
                          env={**environment, "MYPYPATH": PACKAGE}, timeout=300)


def test_types_are_complete():
    """Of the package and of the examples."""
    result = mypy(pathlib.Path(PACKAGE) / "yosida", *sorted((ROOT / "examples").glob("*.py")))
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-1000:]


def test_tune_has_a_type(tmp_path):
    """One target gives a Tuned, several a TunedTargets, and an argument that is not there is an error."""
    script = tmp_path / "typed.py"
    script.write_text(
        "import numpy as np, yosida\n"
        "X = np.zeros((3, 2))\n"
        "reveal_type(yosida.tune(X, X[:, 0], folds=5))\n"
        "reveal_type(yosida.tune(X, X, penalty_per='target'))\n"
        "yosida.tune(X, X[:, 0], foldz=5)\n"
        "yosida.RidgeTuned(cvv=5)\n", encoding="utf-8")
    shown = mypy(script).stdout
    said = [line for line in shown.splitlines() if "typed.py" in line]
    for line, words in ((3, "_results.Tuned\""), (4, "_targets.TunedTargets\""), (5, "error: No overload"), (6, "error: Unexpected")):
        assert any(f"typed.py:{line}:" in each and words in each for each in said), shown
