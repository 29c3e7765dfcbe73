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


def test_types_are_complete():
    pytest.importorskip("mypy")
    scripts = sorted(str(path) for path in (ROOT / "examples").glob("*.py"))
    result = subprocess.run([sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--scripts-are-modules",
                             "--cache-dir", os.devnull, *scripts], capture_output=True, text=True,
                            env={**os.environ, "MYPYPATH": PACKAGE}, timeout=300)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-1000:]
