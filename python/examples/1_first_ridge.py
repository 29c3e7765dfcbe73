"""A first ridge: find the penalty, look at the proof, predict."""

import numpy as np
from sklearn.datasets import load_diabetes

import yosida

X, y = load_diabetes(return_X_y=True)
X, y = X[:200], y[:200]
found = yosida.tune(X, y, folds=5)

# The penalty, and what is proved of it: the slope of the cross-validated loss in λ is 0 there.
print(found)
assert found.certificate is not None and found.certificate.is_certified
print(found.certificate.reason)

# The same as an estimator of scikit-learn.
ridge = yosida.RidgeTuned(cv=5).fit(X, y)
print(f"Ridge(alpha={ridge.alpha_:.4g}) on standardised features; R² {ridge.score(X, y):.3f}")

# The answer costs a few gradients, not a grid.
print(found.work["gradients"], "gradients and", round(found.work["factorisations"]), "gradients' worth of factors")
assert np.isfinite(found.coef).all()
