"""pip install ./python, offline, from the build tree that is there."""

import os
import pathlib
import subprocess
import sys
import venv

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


@pytest.mark.skipif("YOSIDA_BUILD_DIR" not in os.environ, reason="needs a build tree, which YOSIDA_BUILD_DIR names")
def test_pip_installs_a_wheel_without_the_network(tmp_path):
    pytest.importorskip("pip")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-index", "--no-deps", "-q", "-w", str(tmp_path), str(ROOT)],
                   check=True, timeout=300)
    wheels = list(tmp_path.glob("yosida-*.whl"))
    assert len(wheels) == 1
    venv.create(tmp_path / "env", system_site_packages=True, with_pip=False)
    python = tmp_path / "env/bin/python"
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", "-q", str(wheels[0])],
                   check=True, timeout=300)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    code = "import numpy as np, yosida; X = np.eye(9)[:, :3] + np.arange(9)[:, None]; yosida.tune(X, X[:, 0]); print(yosida.__file__)"
    shown = subprocess.run([str(python), "-c", code], check=True, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert str(tmp_path) in shown.stdout
