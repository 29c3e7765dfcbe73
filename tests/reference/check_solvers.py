"""Every iteration of the paper's solvers, the program against the numpy of solvers.py.

    check_solvers.py path/to/yosida

λ and the three losses must agree to 1e-8 at each of 200 iterations. Both sides round differently
(the program may turn a problem into a smaller one first), and an unstable run multiplies that
without end: near λ = 0, at steps beyond 2/curvature, or where a backtracking test is decided by
the last digit. So the settings below are those where the runs are stable; there the difference
stays near 1e-12, and 1e-8 leaves room for other processors and linear algebra.
"""
import sys
import tempfile

import numpy as np

import solvers
from data import halves, pretreat, read_table, run, spectra

ITERATIONS = 200
TOLERANCE = 1e-8

# name: the program's flags, the reference's generator (of a problem and a seed)
SOLVERS = {
    "sho": (["--method", "sho"], lambda p, s: solvers.sho(p, s)),
    "sho slow": (["--method", "sho", "--alpha", 1e-4, "--beta", 0.001, "--sigma", 0.01],
                 lambda p, s: solvers.sho(p, s, alpha=1e-4, beta=0.001, sigma=0.01)),
    "sho-code": (["--method", "sho-code"], lambda p, s: solvers.sho_code(p, s)),
    "my-hpo-c": (["--method", "my-hpo-c", "--alpha", 0.001, "--beta", 0.001, "--delta", 0.1],
                 lambda p, s: solvers.my_hpo(p, 0.001, 0.001, 0.1)),
    "my-hpo-c own": (["--method", "my-hpo-c", "--alpha", 0.001, "--beta", 0.002, "--delta", 0.01,
                      "--rho", 0.5, "--w-gradient", "own"],
                     lambda p, s: solvers.my_hpo(p, 0.001, 0.002, 0.01, rho=0.5, w_gradient="own")),
    "my-hpo-bt": (["--method", "my-hpo-bt", "--alpha", 0.1, "--beta", 0.1, "--delta", 0.5],
                  lambda p, s: solvers.my_hpo(p, 0.1, 0.1, 0.5, backtracking=True)),
    "my-hpo-bt own": (["--method", "my-hpo-bt", "--alpha", 0.01, "--beta", 0.01, "--delta", 0.05,
                       "--w-gradient", "own"],
                      lambda p, s: solvers.my_hpo(p, 0.01, 0.01, 0.05, w_gradient="own", backtracking=True)),
    "my-hpo-full": (["--method", "my-hpo-full"], lambda p, s: solvers.my_hpo_full(p)),
}
# model, --x, --y
TREATMENTS = [("ridge", "standardize", "center"), ("ridge", "difference,minmax", "raw"),
              ("logistic", "standardize", "labels")]


def compare(yosida, files, problem, flags, iterates, folder):
    """The largest relative difference over all iterations, and where it is."""
    trace = f"{folder}/trace.csv"
    run(yosida, "tune", *files.flags(), *flags, "--max-iterations", ITERATIONS, "--trace", trace, "--quiet")
    header, ours = read_table(trace)
    ours = ours[:, [header.index(name) for name in ("lambda", "train", "validation", "test")]]
    if len(ours) != ITERATIONS + 1:
        raise AssertionError(f"{len(ours)} points in the trace, {ITERATIONS + 1} expected")
    theirs = np.array([[lam, *problem.losses(w, b)] for (lam, w, b), _ in zip(iterates, ours)])
    difference = np.abs(ours - theirs) / np.maximum(np.abs(theirs), 1e-12)
    difference[np.isnan(difference)] = np.inf
    at, column = np.unravel_index(np.argmax(difference), difference.shape)
    return difference[at, column], f"{('lambda', 'train', 'validation', 'test')[column]} at iteration {at}", ours


def main(yosida):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(3):
            regression = spectra(yosida, seed, folder)
            classes = halves(regression, f"{folder}/classes{seed}")
            for model, x, y in TREATMENTS:
                files = classes if model == "logistic" else regression
                loss = solvers.Logistic if model == "logistic" else solvers.LeastSquares
                parts = pretreat(files.read(), x, y)
                for intercept in (False, True):
                    problem = solvers.Problem(*parts, loss, intercept)
                    data = ["--model", model, "--x", x, "--seed", seed, "--intercept" if intercept else "--no-intercept"]
                    if model == "ridge":
                        data += ["--y", y]
                    for name, (flags, reference) in SOLVERS.items():
                        worst, where, trace = compare(yosida, files, problem, [*data, *flags, *(
                            [] if name.startswith("sho") else ["--epsilon", 0])], reference(problem, seed), folder)
                        good = worst <= TOLERANCE
                        failed += not good
                        print(f"{'ok   ' if good else 'WRONG'} {worst:8.1e}  {name:14} {model:8} {x:17} "
                              f"{'intercept' if intercept else 'none':9} seed {seed}  {where}; "
                              f"lambda ends at {trace[-1, 0]:.4g}")
    print(f"{failed} of the runs differ by more than {TOLERANCE:g}" if failed else "all runs agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
