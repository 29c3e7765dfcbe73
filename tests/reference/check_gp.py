"""Gaussian processes: posterior, likelihood and expected improvement, the library against numpy.

    check_gp.py path/to/gp_posterior
"""
import json
import math
import os
import subprocess
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are small

import numpy as np

JITTER = 1e-6  # what the library, like Spearmint, adds to variances, as a share of the amplitude
# Of the amplitude, or of the values' spread. Covariances have condition 1e8 at most (60 points and the jitter), which
# leaves 1e-16 * 1e8 in either program.
TOLERANCE = 1e-8

failures = 0


def check(what, difference, tolerance):
    global failures
    good = difference <= tolerance
    failures += not good
    print(f"{'ok   ' if good else 'WRONG'} {difference:8.1e} (at most {tolerance:g})  {what}", flush=True)


def matern(a, b, case):
    """k(a_i, b_j) by the formula, pair by pair."""
    scaled = (a[:, None, :] - b[None, :, :]) / np.array(case["lengths"])
    r = np.sqrt((scaled**2).sum(axis=2))
    return case["amplitude"] * (1 + math.sqrt(5) * r + 5 / 3 * r**2) * np.exp(-math.sqrt(5) * r)


def reference(case):
    """By eigenvalues, as another road than Cholesky's."""
    points, candidates = np.array(case["points"]), np.array(case["candidates"])
    residuals = np.array(case["values"]) - case["mean"]
    covariance = matern(points, points, case) + (JITTER * case["amplitude"] + case["noise"]) * np.eye(len(points))
    eigenvalues, vectors = np.linalg.eigh(covariance)
    rotated = vectors.T @ residuals
    cross = vectors.T @ matern(points, candidates, case)
    mean = case["mean"] + cross.T @ (rotated / eigenvalues)
    variance = case["amplitude"] * (1 + JITTER) - (cross**2 / eigenvalues[:, None]).sum(axis=0)
    improvement = []
    for m, v in zip(mean, variance):
        s = math.sqrt(v)
        u = (case["best"] - m) / s
        improvement.append(s * (u * 0.5 * math.erfc(-u / math.sqrt(2)) + math.exp(-u * u / 2) / math.sqrt(2 * math.pi)))
    return {
        "log_likelihood": -0.5 * (rotated**2 / eigenvalues).sum() - 0.5 * np.log(2 * np.pi * eigenvalues).sum(),
        "mean": mean,
        "variance": variance,
        "improvement": np.array(improvement),
    }


def make_case(rng, dimensions, count, noise, length, repeated=False):
    points = rng.random((count, dimensions))
    if repeated:
        points[count // 2 :] = points[: count - count // 2]
    values = np.sin(4 * points).sum(axis=1) + 0.01 * rng.standard_normal(count)
    # Also where the points are, and a hair beside them.
    candidates = np.vstack([rng.random((150, dimensions)), points[:5], np.clip(points[:5] + 1e-7, 0, 1)])
    return {
        "points": points.tolist(),
        "values": values.tolist(),
        "candidates": candidates.tolist(),
        "best": float(values.min()),
        "mean": float(rng.uniform(-0.5, 0.5)),
        "amplitude": float(np.exp(rng.uniform(-1, 1))),
        "noise": noise,
        "lengths": (length * np.exp(rng.uniform(-0.3, 0.3, dimensions))).tolist(),
    }


def main():
    rng = np.random.default_rng(1)
    names, cases = [], []
    for dimensions in (1, 2, 5, 10):
        for count in (1, 2, 7, 20, 60):
            for noise, length in ((1e-2, 0.3), (1e-4, 1.0), (1e-2, 0.02)):
                names.append(f"{dimensions} dimensions, {count} points, noise {noise}, lengths about {length}")
                cases.append(make_case(rng, dimensions, count, noise, length))
        names.append(f"{dimensions} dimensions, points twice")
        cases.append(make_case(rng, dimensions, 20, 1e-3, 0.5, repeated=True))
    run = subprocess.run([sys.argv[1]], input=json.dumps(cases), capture_output=True, text=True, check=True)
    results = json.loads(run.stdout)
    assert len(results) == len(cases) == len(names)
    for name, case, found in zip(names, cases, results):
        expected = reference(case)
        worst = max(np.abs(np.array(found[key]) - expected[key]).max() for key in ("mean", "variance", "improvement"))
        worst = max(worst, np.abs(np.array(found["improvement_at_point"]) - expected["improvement"]).max())
        check(f"posterior, {name}", worst, TOLERANCE)
        likelihood = expected["log_likelihood"]
        check(f"likelihood, {name}", abs(found["log_likelihood"] - likelihood), TOLERANCE * max(1, abs(likelihood)))
    print(f"{failures} of {2 * len(cases)} checks failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
