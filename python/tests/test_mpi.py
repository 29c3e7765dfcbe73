"""Processes of an mpi4py communicator that share rows: the same bits on any number of them, one failure ends all."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import yosida

PACKAGE = os.path.dirname(os.path.dirname(yosida.__file__))
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
           "OMPI_MCA_hwloc_base_binding_policy": "none"}

pytest.importorskip("mpi4py")
pytestmark = pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun")

TUNE = """
import numpy as np, yosida, yosida.mpi
from mpi4py import MPI
yosida.set_threads(1)
x, y = np.load("x.npy", mmap_mode="r"), np.load("y.npy")
def found():
    tuned = yosida.tune(x, y, model="logistic", method="hoag", budget={"iterations": 4})
    return tuned.coef.tobytes().hex() + repr(tuned.lambda_)
"""


def run(ranks, code, folder):
    done = subprocess.run(["mpirun", "-n", str(ranks), sys.executable, "-c", TUNE + code], cwd=folder, capture_output=True, text=True,
                          timeout=200, env={**os.environ, **ALLOWED, "PYTHONPATH": PACKAGE,
                                            "LD_LIBRARY_PATH": os.path.dirname(PACKAGE)})
    return done


@pytest.fixture
def folder(tmp_path):
    generator = np.random.default_rng(5)
    x = generator.normal(size=(46_000, 3))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", (x[:, 0] + generator.logistic(size=46_000) > 0).astype(float))
    return tmp_path


def test_same_bits_and_again_on_a_part_of_the_processes(folder):
    code = """
alone = found()
with yosida.mpi.shared(MPI.COMM_WORLD) as sharing:
    assert sharing.size == MPI.COMM_WORLD.size
    together = found()
pair = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank // 2)
with yosida.mpi.shared(pair):
    in_pairs = found()
assert alone == together == in_pairs
print("same")
"""
    done = run(3, code, folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("same") == 3


def test_a_failure_of_one_is_that_of_all(folder):
    code = """
try:
    with yosida.mpi.shared(MPI.COMM_WORLD):
        if MPI.COMM_WORLD.rank == 1:
            raise ValueError("the second does not like it")
        found()
except (yosida.mpi.OtherEnded, ValueError) as error:
    print(f"{type(error).__name__} {error}")  # in one piece: others print at the same time
"""
    done = run(3, code, folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("OtherEnded another process has ended: ValueError: the second does not like it") == 2, done.stdout
