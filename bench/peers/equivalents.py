"""Do the settings printed beside λ give the same model in the programs they are printed for?

    apt-get install python3-numpy python3-sklearn liblinear-tools r-cran-glmnet   # Debian 12
    /usr/bin/python3 bench/peers/equivalents.py build/release/yosida

For each problem the program is held at one λ (my-hpo-full, one iteration, bounds that leave no room:
its first w is then w*(λ) of the training rows), and each peer fits the same rows with the setting the
program printed. Shown: ‖w_peer − w‖/‖w‖, the intercept included. A peer that is not installed is
said to be missing. Not part of ./test: the peers are heavy.
"""
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np

# sklearn solves to rounding; liblinear and glmnet stop by tolerances of their own.
TOLERANCE = {"sklearn": 1e-6, "liblinear": 1e-5, "glmnet": 1e-5}
LAMBDAS = (-8.0, -4.0, -1.0, 1.0)


def problems(yosida, folder):
    """name, model, training and validation rows. No pretreatment: the peers get the very same rows."""
    random = np.random.RandomState(0)
    x = random.randn(600, 40) @ np.diag(np.logspace(-1, 1, 40)) + random.randn(40)
    m = x @ random.randn(40) / 10.0 + 0.7
    y = m + random.randn(600)
    labels = np.where(random.rand(600) < 1.0 / (1.0 + np.exp(-m)), 1.0, -1.0)
    yield "tall regression", "ridge", (x[:400], y[:400] + 3.0), (x[400:], y[400:] + 3.0)
    yield "tall classes", "logistic", (x[:400], labels[:400]), (x[400:], labels[400:])
    subprocess.run([yosida, "data", "export", "spectra", "--out", folder], check=True, capture_output=True)
    parts = [np.loadtxt(f"{folder}/{part}.csv", delimiter=",", skiprows=1) for part in ("train", "valid")]
    spectra = [(10.0 * part[:, 1:], part[:, 0]) for part in parts]
    yield "spectra", "ridge", *spectra
    middle = np.median(spectra[0][1])
    yield "spectra, halves", "logistic", *[(x, np.where(y > middle, 1.0, -1.0)) for x, y in spectra]


def ours(yosida, model, train, valid, lam, intercept, folder):
    """w*(λ) of the training rows, the intercept last, and the printed equivalents."""
    for part, (x, y) in (("train", train), ("valid", valid)):
        np.save(f"{folder}/{part}_x.npy", x)
        np.save(f"{folder}/{part}_y.npy", y)
    data = [f for part in ("train", "valid")
            for f in (f"--{part}", f"{folder}/{part}_x.npy", f"--{part}-target", f"{folder}/{part}_y.npy")]
    subprocess.run([yosida, "tune", *data, "--model", model, "--x", "raw", *(["--y", "raw"] if model == "ridge" else []),
                    "--intercept" if intercept else "--no-intercept", "--method", "my-hpo-full", "--max-iterations", "1",
                    "--lambda0", str(lam), f"--bounds={lam},{lam + 1e-12}", "--quiet",
                    "--save", f"{folder}/model.json", "--json", f"{folder}/result.json"], check=True)
    with open(f"{folder}/model.json") as file, open(f"{folder}/result.json") as results:
        saved, result = json.load(file), json.load(results)
    if result["best_iteration"] != 1:
        return None  # w = 0 does better on the validation rows, so w*(λ) is not what was saved
    return np.array(saved["weights"] + [saved["intercept"]]), result["equivalents"]


def sklearn_ridge(x, y, alpha, intercept, folder):
    from sklearn.linear_model import Ridge
    fit = Ridge(alpha=alpha, fit_intercept=intercept, solver="svd").fit(x, y)
    return np.append(fit.coef_, fit.intercept_)


def sklearn_logistic(x, y, c, intercept, folder):
    from sklearn.linear_model import LogisticRegression
    warnings.simplefilter("ignore")  # its line search says so when it cannot go below rounding, as is asked here
    fit = LogisticRegression(C=c, fit_intercept=intercept, solver="newton-cg", tol=1e-12, max_iter=10000).fit(x, y)
    return np.append(fit.coef_[0], fit.intercept_)


def liblinear(x, y, c, intercept, folder):
    first = int(np.argmax(y))  # liblinear takes the class of its first row as the positive one
    with open(f"{folder}/rows.libsvm", "w") as file:
        for i in [first] + [i for i in range(len(y)) if i != first]:
            file.write(f"{int(y[i]):+d} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(x[i].tolist())) + "\n")
    subprocess.run(["liblinear-train", "-q", "-s", "0", "-c", repr(c), "-e", "1e-10", f"{folder}/rows.libsvm",
                    f"{folder}/liblinear.model"], check=True)
    with open(f"{folder}/liblinear.model") as file:
        lines = file.read().split("\nw\n")[1].split()
    return np.append(np.array(lines, float), 0.0)


def glmnet(x, y, lam, intercept, folder):
    family = "binomial" if set(y) == {-1.0, 1.0} else "gaussian"
    np.savetxt(f"{folder}/x.csv", x, delimiter=",", fmt="%.17g")
    np.savetxt(f"{folder}/y.csv", y, fmt="%.17g")
    script = f"""suppressMessages(library(glmnet))
x <- as.matrix(read.csv("{folder}/x.csv", header = FALSE)); y <- scan("{folder}/y.csv", quiet = TRUE)
fit <- glmnet(x, y, family = "{family}", alpha = 0, standardize = FALSE, intercept = {"TRUE" if intercept else "FALSE"},
              lambda = {lam!r} * c(100, 10, 1), thresh = 1e-18, maxit = 1e7)
co <- coef(fit, s = fit$lambda[3]); cat(sprintf("%.17g", as.numeric(co)), sep = "\\n")"""
    done = subprocess.run(["Rscript", "-e", script], check=True, capture_output=True, text=True)
    values = np.array(done.stdout.split(), float)
    return np.append(values[1:], values[0])


# The printed name: who takes it, and how to know it is there.
PEERS = {
    "sklearn_ridge_alpha": ("sklearn", sklearn_ridge),
    "sklearn_logistic_C": ("sklearn", sklearn_logistic),
    "liblinear_c": ("liblinear", liblinear),
    "glmnet_lambda": ("glmnet", glmnet),
}


def missing():
    installed = {
        "sklearn": importlib.util.find_spec("sklearn") is not None,
        "liblinear": shutil.which("liblinear-train") is not None,
        "glmnet": shutil.which("Rscript") is not None and subprocess.run(
            ["Rscript", "-e", "library(glmnet)"], capture_output=True).returncode == 0,
    }
    return [name for name, there in installed.items() if not there]


def main(yosida):
    absent = missing()
    for peer in absent:
        print(f"missing: {peer}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, model, train, valid in problems(yosida, folder):
            for intercept in (False, True):
                for lam in LAMBDAS:
                    known = ours(yosida, model, train, valid, lam, intercept, folder)
                    if known is None:
                        print(f"left out: {name}, lambda {lam:g}: w = 0 does better on the validation rows")
                        continue
                    w, equivalents = known
                    for printed, value in equivalents.items():
                        peer, fit = PEERS[printed]
                        # Coordinate descent does not get anywhere on 699 columns that are all alike.
                        if peer in absent or (peer == "glmnet" and name.startswith("spectra")):
                            continue
                        difference = np.linalg.norm(fit(*train, value, intercept, folder) - w) / np.linalg.norm(w)
                        good = difference <= TOLERANCE[peer]
                        failed += not good
                        print(f"{'ok   ' if good else 'WRONG'} {difference:8.1e}  {name:16} "
                              f"{'intercept' if intercept else '':9} lambda {lam:4g}  {printed} = {value:.6g}", flush=True)
    print(f"{failed} differ by more than {TOLERANCE}" if failed else "every peer gives the same weights")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
