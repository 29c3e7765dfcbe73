#!/usr/bin/python3
"""Draws the pictures of docs/method.md: runs of the program on the built-in spectra, and the curves they run on.

    apt-get install python3-matplotlib python3-numpy
    docs/method.py build/release/yosida docs

The curves are computed here, from the exported data, without the library: every point of a run that is drawn on one
is checked to lie on it.
"""
import csv
import json
import subprocess
import sys
import tempfile

import matplotlib
import numpy as np

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "yosida", "svg.fonttype": "none", "font.family": "sans-serif",
                            "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"], "font.size": 9,
                            "legend.fontsize": 8, "axes.spines.top": False, "axes.spines.right": False,
                            "legend.frameon": False})
import matplotlib.pyplot as plt  # noqa: E402

BLUE, ORANGE, RED, GREEN, GREY = "#1a4f9c", "#c96a12", "#b3261e", "#2e7d32", "#777777"
TWO_VALLEYS = 46  # a seed of the spectra whose h has two
SCAN_SPACING = 1.9 / 4  # of the points of a scan where there is a closed form


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def tune(self, *flags):
        """The result and the trace of a run; a run that diverges has both."""
        trace, result = f"{self.folder}/trace.csv", f"{self.folder}/result.json"
        done = subprocess.run([self.path, "tune", "--data", "spectra", "--quiet", "--trace", trace,
                               "--json", result, *flags], check=False)
        if done.returncode not in (0, 3):
            sys.exit(f"tune {flags}: exit code {done.returncode}")
        with open(trace) as lines, open(result) as text:
            rows = [{k: float(v or "nan") for k, v in row.items()} for row in csv.DictReader(lines)]
            return json.load(text), rows

    def spectra(self, seed):
        out = f"{self.folder}/spectra{seed}"
        subprocess.run([self.path, "data", "export", "spectra", "--seed", str(seed), "--out", out],
                       check=True, stdout=subprocess.DEVNULL)
        return Ridge(*(np.loadtxt(f"{out}/{part}.csv", delimiter=",", skiprows=1) for part in ("train", "valid")))


class Ridge:
    """Everything of the page for ridge, as tune sets it up: standardised features, a centred target."""

    def __init__(self, train, valid):
        mean, spread, target = train[:, 1:].mean(0), train[:, 1:].std(0), train[:, 0].mean()
        self.x, self.y = (train[:, 1:] - mean) / spread, train[:, 0] - target
        self.x_v, self.y_v = (valid[:, 1:] - mean) / spread, valid[:, 0] - target
        u, s, vt = np.linalg.svd(self.x, full_matrices=False)
        keep = s > 1e-10 * s[0]  # centred rows have one rank less
        self.s, self.z, self.basis = s[keep], (u.T @ self.y)[keep], vt[keep].T

    def hessian(self, lam):
        return self.s**2 / len(self.y) + 2 * np.exp(lam)

    def w(self, lam):
        return self.basis @ (self.s * self.z / len(self.y) / self.hessian(lam))

    def phi1(self, lam):  # the tangent: −H⁻¹C, C = 2e^λ w
        return self.basis @ (-2 * np.exp(lam) * (self.basis.T @ self.w(lam)) / self.hessian(lam))

    def phi1_of_paper(self, lam):
        return (self.w(lam) - self.w(lam).mean()) / lam

    def train(self, w):
        return 0.5 * np.mean((self.x @ w - self.y)**2)

    def validation(self, w):
        return 0.5 * np.mean((self.x_v @ w - self.y_v)**2)

    def validation_gradient(self, w):
        return self.x_v.T @ (self.x_v @ w - self.y_v) / len(self.y_v)

    def h(self, lam):
        return self.validation(self.w(lam))

    def slope(self, lam):
        return self.validation_gradient(self.w(lam)) @ self.phi1(lam)

    def slope_of_paper(self, lam):
        return self.validation_gradient(self.w(lam)) @ self.phi1_of_paper(lam)

    def scale(self, lam):
        w = self.w(lam)
        kappa = np.sum((self.x @ w)**2) / len(self.y) / (w @ w)
        return max(1, kappa / np.exp(lam), np.exp(lam) / kappa)


def check(what, found, wanted, tolerance):
    if not abs(found - wanted) <= tolerance * max(1, abs(wanted)):
        sys.exit(f"{what}: the program says {found}, the curve {wanted}")


def root(function, a, b):
    for _ in range(60):
        middle = 0.5 * (a + b)
        a, b = (a, middle) if function(a) * function(middle) <= 0 else (middle, b)
    return 0.5 * (a + b)


def minus(number, digits=2):
    return f"{number:.{digits}f}".replace("-", "−")


def curve(axes, function, lambdas, *style, **more):
    axes.plot(lambdas, [function(each) for each in lambdas], *style, **more)


def save(figure, path, **layout):
    figure.tight_layout(**layout)
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    plt.close(figure)


def draw_problem(program, ridge, path):
    result, _ = program.tune("--method", "my-hpo")
    best = result["lambda"][0]
    check("L_V", result["loss"]["validation"], ridge.h(best), 1e-9)
    figure, axes = plt.subplots(figsize=(7, 2.9))
    lambdas = np.linspace(-12, 9, 106)
    curve(axes, lambda lam: ridge.train(ridge.w(lam)), lambdas, "--", color=ORANGE,
          label="training rows (without the penalty)")
    curve(axes, ridge.h, lambdas, "-", color=BLUE, label="validation rows: h(λ) = L_V(w*(λ))")
    axes.plot(best, ridge.h(best), "o", color=BLUE)
    axes.annotate(f"best λ = {minus(best)}", (best, ridge.h(best)), (best + 0.8, 0.045), color=BLUE)
    axes.set(yscale="log", ylim=(1e-4, 20), xlabel="λ   (penalty e^λ)", ylabel="mean loss of w*(λ)")
    axes.legend(loc="lower right")
    save(figure, path)


def draw_paper(program, ridge, path):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.3))

    # Where each stops, and the slope that is 0 there.
    lambdas = np.linspace(-8, -3.6, 60)
    left.axhline(0, color=GREY, linewidth=0.8)
    curve(left, ridge.slope_of_paper, lambdas, "-", color=RED, label="the paper's: ∇L_V(v)ᵀ(v − φ₀)/λ")
    curve(left, ridge.slope, lambdas, "-", color=BLUE, label="the true h′(λ) = ∇L_V(v)ᵀ dw*/dλ")
    for method, flags, slope, colour, where in (
            ("my-hpo-full", ["--epsilon", "1e-9", "--max-iterations", "20000"], ridge.slope_of_paper, RED, -0.022),
            ("my-hpo", [], ridge.slope, BLUE, -0.022)):
        result, _ = program.tune("--method", method, *flags)
        end = result["final"]["lambda"][0]
        check(f"{method} stops where its slope is 0", slope(end), 0, 1e-5)
        left.plot(end, 0, "o", color=colour)
        left.annotate(f"{method}\nstops at {minus(end)}", (end, 0), (end, where), color=colour, ha="center", fontsize=8)
    left.set(ylim=(-0.03, 0.06), xlabel="λ", ylabel="slope", title="a zero in the wrong place")
    left.legend(loc="upper left")

    for label, flags, colour, style in (
            ("full, features as they are", ["--method", "my-hpo-full", "--x", "raw", "--max-iterations", "40"], RED, "-"),
            ("full, from λ = 1", ["--method", "my-hpo-full", "--lambda0", "1"], RED, "--"),
            ("(BT)", ["--method", "my-hpo-bt"], ORANGE, "-"),
            ("(C), δ = 5", ["--method", "my-hpo-c", "--delta", "5"], ORANGE, "--"),
            ("my-hpo, best so far", ["--method", "my-hpo"], BLUE, "-")):
        _, rows = program.tune(*flags)
        path_of = [row["lambda"] for row in rows]
        keep = np.unique(np.geomspace(1, len(path_of), 40).astype(int)) - 1
        right.plot(keep + 1, [path_of[i] for i in keep], style, color=colour, label=label, linewidth=1.4)
    right.axhline(0, color=GREY, linewidth=0.8)
    right.set(xscale="log", xlabel="iteration", ylabel="λ", title="the pole at 0, and no bounds")
    right.set_yscale("symlog", linthresh=0.01)
    right.set_yticks([-100, -1, -0.01, 0, 0.01, 1, 100, 1e4], ["−100", "−1", "−0.01", "0", "0.01", "1", "100", "10⁴"])
    right.set_ylim(-3e3, 3e5)
    right.legend(loc="upper right", ncol=1)
    save(figure, path)


def draw_response(ridge, path):
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.1))
    for axes, at, low, high, top in zip(panels, (-2.5, 1.0), (-5, -1.5), (-0.5, 3.5), (2.5, 9)):
        lambdas = np.linspace(low, high, 50)
        v = ridge.w(at)
        curve(axes, ridge.h, lambdas, "-", color=BLUE, label="the truth: L_V(w*(λ′))")
        curve(axes, lambda lam, at=at, v=v: ridge.validation(v + (lam - at) * ridge.phi1(at)), lambdas, "--",
              color=GREEN, label="on the tangent: L_V(v + Φ₁(λ′ − λ))")
        curve(axes, lambda lam, at=at, v=v: ridge.validation(v + (lam - at) * ridge.phi1_of_paper(at)), lambdas,
              ":", color=RED, label="on the paper's line: L_V(φ₀ + φ₁λ′)")
        axes.plot(at, ridge.h(at), "o", color=BLUE)
        axes.set(ylim=(0, top), xlabel="λ′", title=f"seen from λ = {minus(at, 1)}")
    panels[0].set_ylabel("validation loss")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="upper center", ncol=3)
    save(figure, path, rect=(0, 0, 1, 0.94))


def draw_scan(program, ridge, path):
    result, rows = program.tune("--seed", str(TWO_VALLEYS), "--method", "my-hpo", "--oracle")
    low, high = result["oracle"]["bounds"]
    answer = result["lambda"][0]
    intervals = int(np.ceil((high - low) / SCAN_SPACING))
    scan = [*(high - (high - low) * i / intervals for i in range(intervals + 1)), -1.0]
    # The first iteration is the whole scan: its best point stands in the trace. Each further one was an improvement.
    best = min(scan, key=ridge.h)
    check("the best point of the scan", rows[1]["lambda"], best, 1e-6)
    refined = [row["lambda"] for row in rows[2:]]
    check("refinements, each of them an improvement", len(set(refined)), result["iterations"] - 1, 0)
    for row in rows[1:]:
        check("L_V", row["validation"], ridge.h(row["lambda"]), 1e-9)
    other, _ = program.tune("--seed", str(TWO_VALLEYS), "--method", "hoag", "--lambda0", "1")
    elsewhere = other["final"]["lambda"][0]

    figure, (axes, near) = plt.subplots(1, 2, figsize=(9, 3.0), width_ratios=(3, 2))
    for panel, lambdas in ((axes, np.linspace(low, high, 130)), (near, np.linspace(-7, 1.3, 70))):
        curve(panel, ridge.h, lambdas, "-", color=BLUE, linewidth=1.2, label="h(λ)")
        panel.plot(scan, [ridge.h(each) for each in scan], "o", color=BLUE, markersize=3, markerfacecolor="white",
                   label=f"the scan: {len(scan)} points")
        panel.plot(refined, [ridge.h(each) for each in refined], "x", color=GREEN, zorder=3, label=f"refined: {len(refined)} points")
        panel.plot(answer, ridge.h(answer), "*", color=RED, markersize=13, markerfacecolor="white", label=f"the answer, {minus(answer, 3)}")
        panel.plot(elsewhere, ridge.h(elsewhere), "D", color=ORANGE, markersize=5,
                   label=f"hoag from λ = 1: {minus(elsewhere)}")
        panel.set(xlabel="λ")
    axes.set(yscale="log", ylabel="h(λ) = L_V(w*(λ))", ylim=(0.24, 12))
    axes.legend(loc="upper left")
    near.set(xlim=(-7, 1.3), ylim=(0.283, 0.345), title="the two valleys")
    save(figure, path)


def draw_certificate(program, ridge, path):
    figure, axes = plt.subplots(figsize=(7, 3.2))
    grid = np.linspace(-8, 3, 100)
    roots = [root(ridge.slope, a, b) for a, b in zip(grid, grid[1:]) if ridge.slope(a) * ridge.slope(b) < 0]
    lambdas = sorted([*np.linspace(-32, 22, 80), *np.linspace(-7, 2, 60),  # so that the curves go down all the way
                      *(at + sign * size for at in roots for sign in (-1, 1) for size in (0.1, 0.01, 1e-3, 1e-4, 1e-5))])
    relative = lambda lam: abs(ridge.slope(lam)) / ridge.h(lam)  # noqa: E731
    curve(axes, relative, lambdas, "--", color=ORANGE, label="|h′| / L_V")
    curve(axes, lambda lam: relative(lam) * ridge.scale(lam), lambdas, "-", color=BLUE,
          label="|h′| max(1, κ/e^λ, e^λ/κ) / L_V")
    points = []
    for lam in (-30, -24, -18, -12, -8, -5, -3, -2, 2, 6, 10, 16, 22):
        # Its answer is λ₀: what is certified does not depend on the method that gave it.
        result, _ = program.tune("--seed", str(TWO_VALLEYS), "--method", "my-hpo-c", "--delta", "1e-9", "--lambda0",
                                 str(lam), "--max-iterations", "1")
        certified = result["certificate"]["hypergradient"]
        # One iteration is not worth collapsing the problem: its iterative solves show at −30, where the scale is 10¹².
        check("the certificate", certified, relative(lam) * ridge.scale(lam), 1e-3 if lam > -30 else 0.05)
        points.append((lam, certified))
    axes.plot(*zip(*points), "o", color=BLUE, markersize=4, label="the program's certificate")
    axes.axhline(5e-3, color=RED, linewidth=1, label="certified below 0.005")
    axes.set(yscale="log", ylim=(1e-6, 3e3), xlabel="λ", ylabel="slope, relative to L_V")
    axes.legend(loc="upper right", ncol=2)
    save(figure, path)


def main(yosida, out):
    with tempfile.TemporaryDirectory() as folder:
        program = Program(yosida, folder)
        first, two_valleys = program.spectra(0), program.spectra(TWO_VALLEYS)
        draw_problem(program, first, f"{out}/method-problem.svg")
        draw_paper(program, first, f"{out}/method-paper.svg")
        draw_response(first, f"{out}/method-response.svg")
        draw_scan(program, two_valleys, f"{out}/method-scan.svg")
        draw_certificate(program, two_valleys, f"{out}/method-certificate.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
