"""Data for the reference checks: read and pretreated here, by numpy alone, so that the program's
readers and pretreatment are checked too."""
import csv
import os
import subprocess
from dataclasses import dataclass

import numpy as np


def run(yosida, *arguments, expect=0):
    """Runs the program; its exit code must be `expect`. Returns what it printed."""
    done = subprocess.run([yosida, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != expect:
        raise AssertionError(f"yosida {' '.join(map(str, arguments))}: exit code {done.returncode}, "
                             f"expected {expect}\n{done.stderr}{done.stdout}")
    return done.stdout


def read_table(file):
    """A CSV file of numbers: its header and its rows."""
    with open(file, newline="") as lines:
        rows = list(csv.reader(lines))
    return rows[0], np.array([[float(field) if field else np.nan for field in row] for row in rows[1:]])


def write_table(file, header, rows):
    with open(file, "w", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(header)
        writer.writerows([[repr(float(value)) for value in row] for row in rows])


@dataclass
class Part:
    x: np.ndarray
    y: np.ndarray


@dataclass
class Files:
    """The three parts as files, the target in the first column."""
    train: str
    valid: str
    test: str
    target: str

    def flags(self):
        return ["--train", self.train, "--valid", self.valid, "--test", self.test, "--target", self.target]

    def read(self):
        parts = []
        for file in (self.train, self.valid, self.test):
            _, rows = read_table(file)
            parts.append(Part(rows[:, 1:], rows[:, 0]))
        return parts


def spectra(yosida, seed, folder):
    out = os.path.join(folder, f"spectra{seed}")
    run(yosida, "data", "export", "spectra", "--seed", seed, "--out", out)
    files = [os.path.join(out, name) for name in ("train.csv", "valid.csv", "test.csv")]
    return Files(*files, read_table(files[0])[0][0])


def halves(files, folder):
    """A classification made of a regression: is the target above its training median?"""
    os.makedirs(folder, exist_ok=True)
    median = np.median(read_table(files.train)[1][:, 0])
    written = []
    for file in (files.train, files.valid, files.test):
        header, rows = read_table(file)
        rows[:, 0] = rows[:, 0] > median
        written.append(os.path.join(folder, os.path.basename(file)))
        write_table(written[-1], header, rows)
    return Files(*written, files.target)


def pretreat(parts, x_steps, y_step):
    """The steps of --x and --y, with statistics of the training rows."""
    xs = [part.x for part in parts]
    for step in x_steps.split(","):
        train = xs[0]
        if step == "difference":
            xs = [np.diff(x, axis=1) for x in xs]
        elif step == "center":
            xs = [x - train.mean(axis=0) for x in xs]
        elif step == "standardize":
            xs = [(x - train.mean(axis=0)) / train.std(axis=0) for x in xs]
        elif step == "minmax":
            xs = [(x - train.min(axis=0)) / (train.max(axis=0) - train.min(axis=0)) for x in xs]
        elif step != "raw":
            raise ValueError(step)
    ys = [part.y for part in parts]
    if y_step == "labels":
        ys = [np.where(y == ys[0].max(), 1.0, -1.0) for y in ys]
    elif y_step == "center":
        ys = [y - ys[0].mean() for y in ys]
    elif y_step != "raw":
        raise ValueError(y_step)
    return [Part(x, y) for x, y in zip(xs, ys)]
