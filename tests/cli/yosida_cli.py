"""What the command-line tests share: running yosida, writing data files, the arithmetic of a saved model.

The program under test is named by the environment variable YOSIDA (ctest sets it).
"""
import csv
import gzip
import io
import json
import lzma
import math
import os
import pathlib
import pty
import select
import statistics
import struct
import subprocess
import tempfile
import time
import unittest

import numpy as np

BINARY = os.environ.get("YOSIDA", "yosida")
TIMEOUT_SECONDS = 60


class Cli(unittest.TestCase):
    """A test in a folder of its own, which is where yosida runs: files are named without a path."""

    maxDiff = 4000

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="yosida-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def yosida(self, *arguments, code=0, stdout=subprocess.PIPE):
        """Runs yosida, which must end with this exit code (or one of these); gives what it printed."""
        command = [BINARY, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                              timeout=TIMEOUT_SECONDS, encoding="utf-8")
        self.assertIn(done.returncode, code if isinstance(code, (list, tuple)) else [code],
                      f"the exit code of: {' '.join(command)}\n{done.stdout}\n{done.stderr}")
        return done

    def tune(self, *arguments, code=0):
        """The JSON of a tune."""
        return strict_json(self.yosida("tune", "--quiet", "--json", "-", *arguments, code=code).stdout)

    def model(self, *arguments):
        """The model that a tune saves."""
        self.yosida("tune", "--quiet", "--save", "model.json", *arguments)
        return strict_json(self.read("model.json"))

    def refused(self, *arguments, names=()):
        """yosida must refuse these arguments with exit code 2 and a message with all of `names` in it,
        print no result, and leave every file as it was."""
        before = self.files()
        done = self.yosida(*arguments, code=2)
        self.assertEqual(done.stdout, "", "stdout of a refusal")
        self.assertEqual(before, self.files(), "files after a refusal")
        for name in names:
            self.assertIn(str(name), done.stderr)
        self.assertNotIn("internal error", done.stderr)
        return done.stderr

    def tune_refused(self, *arguments, names=()):
        """The same for tune, beside the results of an earlier run."""
        outputs = ["--json", "old.json", "--trace", "old.csv", "--save", "old-model.json"]
        for file in outputs[1::2]:
            self.write(file, "of an earlier run")
        return self.refused("tune", *arguments, *outputs, names=names)

    def files(self):
        return {file.name: file.read_bytes() for file in self.folder.iterdir() if file.is_file()}

    def read(self, file):
        return (self.folder / file).read_text(encoding="utf-8")

    def read_table(self, file):
        """A CSV file as a list of dictionaries."""
        return list(csv.DictReader(io.StringIO(self.read(file))))

    def write(self, file, content):
        """Writes text or bytes; packs them where the name ends in .gz or .xz."""
        content = content.encode() if isinstance(content, str) else content
        packing = {".gz": gzip.compress, ".xz": lzma.compress}.get(pathlib.Path(file).suffix, lambda plain: plain)
        (self.folder / file).write_bytes(packing(content))
        return file

    def write_csv(self, file, x, y=None, names=None, target="y", delimiter=",", header=True):
        """The target, where there is one, is the first column."""
        names = list(names or column_names(x))
        columns = list(x.T) if y is None else [y, *x.T]
        lines = [delimiter.join(names if y is None else [target, *names])] if header else []
        lines += [delimiter.join(repr(float(value)) for value in row) for row in zip(*columns)]
        return self.write(file, "\n".join(lines) + "\n")

    def write_libsvm(self, file, x, y):
        def line(row, label):
            return " ".join([repr(float(label)), *(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row) if v != 0)])
        return self.write(file, "\n".join(map(line, x, y)) + "\n")

    def write_npy(self, file, array):
        buffer = io.BytesIO()
        np.save(buffer, array)
        return self.write(file, buffer.getvalue())

    def write_npz(self, file, **arrays):
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        return self.write(file, buffer.getvalue())

    def write_idx(self, file, array):
        return self.write(file, idx_bytes(array))


class TerminalCli(Cli):
    """The same with yosida on a pseudo-terminal."""

    def start(self, *arguments):
        """Starts yosida with a pseudo-terminal for stderr; gives the process and the terminal's other end."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        process = subprocess.Popen([BINARY, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=slave, encoding="utf-8")
        os.close(slave)
        self.addCleanup(process.stdout.close)
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        return process, master

    def shown(self, master, until=None):
        """What the terminal shows up to the pattern, or to the end."""
        text = ""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not (until and until.search(text)):
            self.assertTrue(select.select([master], [], [], deadline - time.monotonic())[0], f"no end of: {text!r}")
            try:
                text += os.read(master, 65536).decode()
            except OSError:  # the other end is closed
                self.assertIsNone(until, f"not shown: {text!r}")
                break
        return text


def strict_json(text):
    """JSON without the NaN and Infinity that Python would let pass."""
    def refuse(constant):
        raise AssertionError(f"{constant} in JSON")
    return json.loads(text, parse_constant=refuse)


def without_seconds(result):
    """A result without what differs between equal runs."""
    return {key: value for key, value in result.items() if key not in ("seconds", "wall_seconds", "data")}


def idx_bytes(array):
    codes = {"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}
    big_endian = array.astype(array.dtype.newbyteorder(">"))
    head = bytes([0, 0, codes[array.dtype.str[1:]], array.ndim])
    return head + b"".join(struct.pack(">I", size) for size in array.shape) + big_endian.tobytes()


# ---- data ----


def column_names(x):
    return [f"x{j}" for j in range(x.shape[1])]


def regression(rows, columns=4, seed=0):
    """x, y with a linear relation and noise; no two columns of the same scale or mean."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns)) * np.arange(1, columns + 1) + np.arange(columns)
    y = x @ np.linspace(-1, 1, columns) + random.normal(size=rows) + 10
    return x, y


def classification(rows, columns=4, seed=0, labels=(0, 1)):
    """x and two overlapping classes."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns)) * np.arange(1, columns + 1)
    positive = x @ np.linspace(-1, 1, columns) + 2 * random.normal(size=rows) > 0
    return x, np.where(positive, labels[1], labels[0])


def several_classes(rows, columns=4, seed=0, labels=(1, 3, 5)):
    """x and as many overlapping classes as there are labels."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns)) * np.arange(1, columns + 1)
    directions = np.random.default_rng(99).normal(size=(columns, len(labels)))
    return x, np.array(labels)[np.argmax(x @ directions + 2 * random.normal(size=(rows, len(labels))), axis=1)]


def counts(rows, columns=4, seed=0):
    """x and counts whose logarithm is about linear in it."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns))
    return x, random.poisson(np.exp(1 + x @ np.linspace(-0.5, 0.5, columns)))


# ---- what a saved model says, recomputed ----


def margins(model, x):
    """Margins by the model file, for columns in the model's order."""
    for step in model["pretreatment"]["x"]:
        if step["kind"] == "difference":
            x = np.diff(x, axis=1)
        x = x - np.array(step["shift"]) if step["shift"] else x
        x = x / np.array(step["scale"]) if step["scale"] else x
    return x @ np.array(model["weights"]) + model["intercept"]


def predictions(model, x):
    y = model["pretreatment"]["y"]
    return margins(model, x) * y["scale"] + y["shift"]


def probabilities(model, x):
    return 1 / (1 + np.exp(-margins(model, x)))


def ridge_weights(x, y, penalty):
    """argmin 1/2N |y - xw - b|^2 + penalty |w|^2; the weights and b."""
    mean_x, mean_y = x.mean(axis=0), y.mean()
    centred = x - mean_x
    hessian = centred.T @ centred / len(y) + 2 * penalty * np.eye(x.shape[1])
    w = np.linalg.solve(hessian, centred.T @ (y - mean_y) / len(y))
    return w, mean_y - mean_x @ w


def with_deviation(values):
    """Mean ± standard deviation as tables show them: both to the second digit of the deviation."""
    deviation = statistics.stdev(values)
    decimals = 1 - math.floor(math.log10(deviation))
    return f"{statistics.mean(values):.{decimals}f} ± {deviation:.{decimals}f}"
