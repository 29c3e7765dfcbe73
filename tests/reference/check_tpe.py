"""The densities of TPE: the program against numpy, from hyperopt's definitions.

    check_tpe.py path/to/tpe_densities

log l and log g must agree to 1e-10 at every point: both are sums of positive terms, so rounding costs about
1e-16 of the sum for each of up to 12 000 terms. The history is in units of the program's own box, [0, 1];
hyperopt would use the box of the user, which adds the same constant to both logarithms.

The estimator (adaptive_parzen_normal): observations in their order of age and the prior N(1/2, 1) are
centres; sorted, a centre's sigma is the larger distance to a neighbour (at the ends: to the only one; of one
observation: 1/2), kept within [1/min(100, 1 + centres), 1], and the prior's is 1. Weights: 1 for the prior and
for the newest 25 observations, before those a ramp from 1/n up to 1. The density is that of the mixture of
normals, divided by the mass it has in [0, 1] (GMM1_lpdf). The split (ap_split_trials): the best
min(ceil(0.25 sqrt(n)), 25) trials, a failed trial being the worst, equal ones by age.
"""
import json
import math
import subprocess
import sys

import numpy as np

TOLERANCE = 1e-10
FORGETTING = 25


def ramp_weights(n):
    if n <= FORGETTING:
        return np.ones(n)
    return np.concatenate([np.linspace(1.0 / n, 1.0, num=n - FORGETTING), np.ones(FORGETTING)])


def estimator(observations):
    """Weights, centres and sigmas of one set of observations, given in their order of age."""
    n = len(observations)
    # The prior goes before observations that are equal to it: it is entered first, and the sort is stable.
    centres = np.concatenate([[0.5], observations])
    weights = np.concatenate([[1.0], ramp_weights(n)])
    is_prior = np.arange(n + 1) == 0
    order = np.argsort(centres, kind="stable")
    centres, weights, is_prior = centres[order], weights[order], is_prior[order]
    if n == 1:
        sigmas = np.full(2, 0.5)
    else:
        gaps = np.diff(centres)
        sigmas = np.maximum(np.concatenate([[-np.inf], gaps]), np.concatenate([gaps, [-np.inf]]))
    sigmas = np.clip(sigmas, 1.0 / min(100.0, 1.0 + len(centres)), 1.0)
    sigmas[is_prior] = 1.0
    return weights / weights.sum(), centres, sigmas


def normal_cdf(z):
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def log_density(at, observations):
    weights, centres, sigmas = estimator(observations)
    inside = sum(w * (normal_cdf((1.0 - c) / s) - normal_cdf(-c / s)) for w, c, s in zip(weights, centres, sigmas))
    exponents = -0.5 * ((at[:, None] - centres) / sigmas) ** 2 + np.log(weights / (np.sqrt(2.0 * np.pi) * sigmas))
    largest = exponents.max(axis=1)
    return largest + np.log(np.exp(exponents - largest[:, None]).sum(axis=1)) - math.log(inside)


def split(values):
    """Which trials are below, by their number."""
    losses = np.array([math.inf if v is None or not math.isfinite(v) else v for v in values])
    count = min(math.ceil(0.25 * math.sqrt(len(losses))), FORGETTING)
    return set(np.argsort(losses, kind="stable")[:count].tolist())


def expected(case):
    points, at = np.array(case["points"]), np.array(case["at"])
    below = split(case["values"])
    parts = {"below": [i for i in range(len(points)) if i in below],
             "above": [i for i in range(len(points)) if i not in below]}
    return {part: [log_density(at, points[rows, j]) for j in range(points.shape[1])] for part, rows in parts.items()}


def cases():
    rng = np.random.default_rng(4)
    at = np.concatenate([np.linspace(0.0, 1.0, 101), rng.random(40), [1e-12, 1.0 - 1e-12]]).tolist()

    def case(name, points, values):
        return name, {"points": np.asarray(points, dtype=float).tolist(), "values": list(values), "at": at}

    for n in (1, 2, 3, 19, 20, 60, 200, 1000, 12000):
        points = rng.random((n, 1))
        yield case(f"{n} trials", points, ((points[:, 0] - 0.3) ** 2).tolist())
    for n in (60, 200):
        yield case(f"{n} trials with ties", rng.integers(0, 12, (n, 1)) / 11.0, rng.integers(0, 4, n).tolist())
    yield case("all at the prior's centre", np.full((30, 1), 0.5), rng.random(30).tolist())
    for n in (6, 15):
        yield case(f"{n} trials, some at the prior's centre", rng.integers(0, 9, (n, 1)) / 8.0, rng.random(n).tolist())
    yield case("one at the prior's centre", [[0.5]], [1.0])
    yield case("at the bounds", rng.integers(0, 2, (40, 1)), rng.random(40).tolist())
    yield case("all at one bound", np.zeros((120, 1)), rng.random(120).tolist())
    yield case("crowded", 0.4 + 1e-9 * rng.random((200, 1)), rng.random(200).tolist())
    yield case("four dimensions", rng.random((90, 4)), rng.random(90).tolist())
    failures = [None if i % 3 else float(i) for i in range(70)]
    yield case("failed trials", rng.random((70, 2)), failures)
    yield case("nothing but failures", rng.random((70, 2)), [None] * 70)


def main(program):
    names, inputs = zip(*cases())
    output = subprocess.run([program], input=json.dumps(inputs), capture_output=True, text=True, check=True).stdout
    failures = 0
    for name, case, got in zip(names, inputs, json.loads(output), strict=True):
        want = expected(case)
        worst = max(np.abs(np.array(got[part]) - np.array(want[part])).max() for part in ("below", "above"))
        is_right = worst <= TOLERANCE  # false for NaN
        failures += not is_right
        print(f"{'ok  ' if is_right else 'FAIL'} {name}: largest difference {worst:.1e}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
