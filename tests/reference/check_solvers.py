"""Every iteration of the paper's solvers: the program against the numpy of solvers.py.

    check_solvers.py path/to/yosida

λ and the three losses must agree to 1e-8 at each of 200 iterations, and the work must be what the
paper counts. Both sides round differently (the program may turn a problem into a smaller one first)
and an unstable run multiplies that without end: near λ = 0, at steps beyond 2/curvature, where a
backtracking test is decided by the last digit. The settings below are those where the runs are
stable; most agree to 1e-12. Only the full algorithm on logistic loss is given 1e-7: the program ends
its inner solves at 1e-11 of the first gradient (about 10), which over a curvature of 2e⁻⁵ is 1e-8 of w.
"""
import os
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are small

import numpy as np

import solvers
from data import halves, pretreat, read_table, run, spectra

ITERATIONS = 200
TOLERANCE = 1e-8
TOLERANCE_INEXACT = 1e-7

# name: flags, gradients an iteration (None: it solves inner problems), the reference
SOLVERS = {
    "sho": (["--method", "sho", "--alpha", 0.001, "--beta", 0.01, "--sigma", 1e-4], 2,
            lambda p, seed: solvers.sho(p, seed, alpha=0.001, beta=0.01, sigma=1e-4)),
    "sho, noisy": (["--method", "sho", "--alpha", 1e-4, "--beta", 0.001, "--sigma", 0.01], 2,
                   lambda p, seed: solvers.sho(p, seed, alpha=1e-4, beta=0.001, sigma=0.01)),
    "sho-code": (["--method", "sho-code"], 2, lambda p, seed: solvers.sho_code(p, seed)),
    "my-hpo-c": (["--method", "my-hpo-c", "--alpha", 0.001, "--beta", 0.001, "--delta", 0.1], 2,
                 lambda p, _: solvers.my_hpo(p, 0.001, 0.001, 0.1)),
    "my-hpo-c, own": (["--method", "my-hpo-c", "--alpha", 0.001, "--beta", 0.002, "--delta", 0.01, "--rho", 0.5,
                       "--w-gradient", "own"], 3,
                      lambda p, _: solvers.my_hpo(p, 0.001, 0.002, 0.01, rho=0.5, w_gradient="own")),
    "my-hpo-bt": (["--method", "my-hpo-bt", "--alpha", 0.1, "--beta", 0.1, "--delta", 0.5], 2,
                  lambda p, _: solvers.my_hpo(p, 0.1, 0.1, 0.5, backtracking=True)),
    "my-hpo-bt, own": (["--method", "my-hpo-bt", "--alpha", 0.01, "--beta", 0.01, "--delta", 0.05,
                        "--w-gradient", "own"], 3,
                       lambda p, _: solvers.my_hpo(p, 0.01, 0.01, 0.05, w_gradient="own", backtracking=True)),
    # With the paper's ρ = 1 and no bounds λ runs off to −10⁹ where no penalty is needed.
    "my-hpo-full": (["--method", "my-hpo-full", "--rho", 100], None,
                    lambda p, _: solvers.my_hpo_full(p, rho=100)),
    "my-hpo-full, kept": (["--method", "my-hpo-full", "--bounds", "-5,5"], None,
                          lambda p, _: solvers.my_hpo_full(p, bounds=(-5, 5))),
}
# model, --x, --y
TREATMENTS = [("ridge", "standardize", "center"), ("ridge", "difference,minmax", "raw"),
              ("logistic", "standardize", "labels")]


def compare(yosida, flags, iterates, problem, gradients, folder):
    """The largest relative difference over all iterations, and a sentence on where it is."""
    trace = f"{folder}/trace.csv"
    run(yosida, "tune", *flags, "--max-iterations", ITERATIONS, "--trace", trace, "--quiet")
    header, table = read_table(trace)
    column = {name: table[:, i] for i, name in enumerate(header)}
    if not np.array_equal(column["iteration"], np.arange(ITERATIONS + 1)):
        return np.inf, f"the trace does not hold iterations 0 to {ITERATIONS}"
    if gradients and not np.array_equal(column["paper_count"], gradients * column["iteration"]):
        return np.inf, f"the trace does not count {gradients} gradients an iteration"
    names = ("lambda", "train", "validation", "test")
    ours = np.stack([column[name] for name in names], axis=1)
    theirs = np.array([[lam, *problem.losses(w, b)] for _, (lam, w, b) in zip(ours, iterates)])
    difference = np.abs(ours - theirs) / np.abs(theirs)
    difference[np.isnan(difference)] = np.inf
    at, which = np.unravel_index(np.argmax(difference), difference.shape)
    return difference[at, which], f"most at {names[which]} of iteration {at}; lambda ends at {ours[-1, 0]:.4g}"


def main(yosida):
    runs = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(3):
            regression = spectra(yosida, seed, folder)
            classes = halves(regression, f"{folder}/classes{seed}")
            for model, x, y in TREATMENTS:
                files = regression if model == "ridge" else classes
                loss = solvers.LeastSquares if model == "ridge" else solvers.Logistic
                parts = pretreat(files.read(), x, y)
                for intercept in ("--no-intercept", "--intercept"):
                    problem = solvers.Problem(*parts, loss, intercept == "--intercept")
                    data = [*files.flags(), "--seed", seed, "--model", model, "--x", x, intercept]
                    data += ["--y", y] if model == "ridge" else []
                    for name, (flags, gradients, reference) in SOLVERS.items():
                        # ε = 0: no run may end before the reference does
                        never = [] if name.startswith("sho") else ["--epsilon", 0]
                        worst, where = compare(yosida, [*data, *flags, *never], reference(problem, seed), problem,
                                               gradients, folder)
                        inexact = model == "logistic" and name.startswith("my-hpo-full")
                        good = worst <= (TOLERANCE_INEXACT if inexact else TOLERANCE)
                        runs += 1
                        failed += not good
                        print(f"{'ok   ' if good else 'WRONG'} {worst:8.1e}  {name:17} {model:8} {x:17} "
                              f"{intercept:14} seed {seed}  {where}", flush=True)
    print(f"{runs - failed} of {runs} runs agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
