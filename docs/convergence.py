#!/usr/bin/python3
"""Draws docs/convergence.svg from real runs on the built-in spectra.

    apt-get install python3-matplotlib
    docs/convergence.py build/release/yosida docs/convergence.svg
"""
import csv
import json
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "yosida",  # the same picture for the same runs
                            "svg.fonttype": "none", "font.family": "sans-serif",
                            "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"]})
import matplotlib.pyplot as plt  # noqa: E402

RUNS = [
    ("my-hpo (the default)", "my-hpo", [], "#111111", "-"),
    ("SHO, step 0.005", "sho", ["--alpha", "0.005"], "#b3261e", "--"),
    ("SHO, step 0.001", "sho", ["--alpha", "0.001"], "#e08a3c", "-"),
    ("MY-HPO (C), step 0.001", "my-hpo-c", [], "#6a8fc7", "-"),
    ("MY-HPO (BT), step 0.1", "my-hpo-bt", [], "#1a4f9c", "-"),
    ("MY-HPO (full)", "my-hpo-full", [], "#2e7d32", "-"),
]


def thinned(points, ratio=1.02):
    """Of points with rising x those a log axis can tell apart, the last one always."""
    kept = points[:1]
    for point in points[1:]:
        if point[0] >= ratio * kept[-1][0] or len(kept) < 30:  # short runs whole
            kept.append(point)
    return kept + points[-1:]


def main(yosida, out):
    figure, axes = plt.subplots(figsize=(8, 3.6))
    with tempfile.TemporaryDirectory() as folder:
        for label, method, settings, colour, style in RUNS:
            trace, result = f"{folder}/t.csv", f"{folder}/r.json"
            subprocess.run([yosida, "tune", "--data", "spectra", "--method", method, *settings, "--quiet", "--oracle",
                            "--trace", trace, "--json", result], check=False)
            with open(trace) as lines:
                rows = list(csv.DictReader(lines))
            x, y = zip(*thinned([(float(r["gradient_equivalents"]), float(r["validation"])) for r in rows]))
            axes.plot(x, y, style, color=colour, label=label, linewidth=1.6, zorder=3 if method == "my-hpo" else 2)
            if method == "my-hpo":
                axes.plot(x[-1], y[-1], "o", color=colour, markersize=5, zorder=3)
            with open(result) as text:
                best = json.load(text)["oracle"]["validation"]
    axes.axhline(best, color="#777777", linewidth=1, linestyle=":", label="best λ there is (oracle)")
    axes.set(xscale="log", yscale="log", ylim=(0.07, 1e3), ylabel="validation loss",
             xlabel="work in gradient equivalents, everything counted")
    axes.legend(fontsize=8, loc="upper right", ncol=2, framealpha=1.0)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
