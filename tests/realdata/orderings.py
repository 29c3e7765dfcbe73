"""The paper's claim on its own data: at the step sizes it names, SHO ends worse than MY-HPO (C).

    orderings.py cookie|mnist01 path/to/yosida

Ten seeds, each a new partition; the paper's settings, starts and numbers of iterations, no intercept;
medians over the final iterates. Exit code 77 (skipped) where the data is not found.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "data"))
import problems  # noqa: E402

SEEDS = range(10)
SKIPPED = 77
DIVERGED = 3  # the program's exit code


def cookie():
    x, y = problems.cookie_rows()

    def partition(seed, folder):
        order = np.random.RandomState(seed).permutation(70)
        problems.save_parts(folder, x, y, np.split(order, [34, 51]))

    return partition


def mnist01():
    """Zeros against ones: 250, 250 and 500 of each in the three parts, pixels from 0 to 1."""
    images, labels = problems.mnist_rows()

    def partition(seed, folder):
        rows = problems.balanced(np.random.RandomState(seed), labels, (250, 250, 500), (0, 1))
        problems.save_parts(folder, images, labels, rows, scale=255.0)

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
    # One thread: the designs are small, and other tests run beside this one.
    done = subprocess.run([yosida, "tune", *problems.data_flags(folder), "--no-intercept", "--lambda0", "-1", "--seed", str(seed),
                           *map(str, flags), "--threads", "1", "--json", "-", "--quiet"],
                          capture_output=True, text=True)
    if done.returncode not in (0, DIVERGED):
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")

    def refuse(constant):
        raise AssertionError(f"{constant} in the JSON")

    result = json.loads(done.stdout, parse_constant=refuse)
    if (result["status"] == "diverged") != (done.returncode == DIVERGED):
        raise AssertionError(f"status {result['status']} with exit code {done.returncode}")
    # SHO has no residuals, and a certificate no gaps without an oracle: they alone may be null.
    require_finite({name: value for name, value in result.items() if name not in ("residuals", "certificate")}, "result")
    return result


def main(name, yosida):
    experiment = EXPERIMENTS[name]
    try:
        partition = experiment["data"]()
    except problems.NotFound as missing:
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
