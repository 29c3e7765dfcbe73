"""One penalty for each group of features, with a picture of what each does."""

import matplotlib

matplotlib.use("Agg")  # draws without a screen
import numpy as np

import yosida

rng = np.random.default_rng(0)
signal, noise = rng.normal(size=(150, 5)), rng.normal(size=(150, 60))
X = np.hstack([signal, noise])
y = signal @ rng.normal(size=5) + rng.normal(size=150)

one = yosida.tune(X, y, folds=5)
groups = yosida.tune(X, y, folds=5, groups={"signal": range(5), "noise": range(5, 65)})
for name, penalty in zip(groups.lambda_names, groups.penalty):
    print(f"{name:8} penalty {penalty:.3g}")

# Where one penalty must do for both, it is too much for the one and too little for the other.
print(f"cross-validated loss: {one.losses['validation']['loss']:.4f} with one penalty, "
      f"{groups.losses['validation']['loss']:.4f} with two")
assert groups.losses["validation"]["loss"] < one.losses["validation"]["loss"]
assert groups.penalty[1] > 10 * groups.penalty[0]

ax = yosida.plot_lambda_curve(X, y, folds=5, lambdas=(-8.0, 4.0, 13))
ax.set_title("cross-validated loss of one penalty")
ax = yosida.plot_convergence(one, groups, labels=["one penalty", "two"], x="iteration")
