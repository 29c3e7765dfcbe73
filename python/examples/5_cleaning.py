"""Data cleaning: a weight for each training row, found so that trusted rows are predicted well. A problem in numpy."""

from typing import Any

import numpy as np

import yosida


def sigmoid(t: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-t))


class Cleaning(yosida.BilevelProblem):
    """L_T = Σ σ(λ_i) ℓ_i / n + c‖w‖²: λ_i says how much training row i is trusted."""

    def __init__(self, X: Any, y: Any, X_val: Any, y_val: Any) -> None:
        super().__init__(weights=X.shape[1], hyperparameters=len(y), bounds=(-6.0, 6.0))
        self.X, self.y, self.V, self.z = X, y, X_val, y_val

    def train_loss(self, w: Any, lam: Any) -> float:
        return float(np.mean(sigmoid(lam) * np.logaddexp(0.0, -self.y * (self.X @ w))) + 1e-2 * w @ w)

    def train_gradient(self, w: Any, lam: Any) -> Any:
        slope = -self.y * sigmoid(-self.y * (self.X @ w)) * sigmoid(lam)
        return self.X.T @ slope / len(self.y) + 2e-2 * w

    def validation_loss(self, w: Any, lam: Any) -> float:
        return float(np.mean(np.logaddexp(0.0, -self.z * (self.V @ w))))

    def validation_gradient(self, w: Any, lam: Any) -> Any:
        return self.V.T @ (-self.z * sigmoid(-self.z * (self.V @ w))) / len(self.z)

    # With as many λ as rows, this product is worth writing down: by differences it costs two gradients for each λ.
    def cross_product_transposed(self, w: Any, lam: Any, p: Any) -> Any:
        slope = -self.y * sigmoid(-self.y * (self.X @ w))
        return sigmoid(lam) * sigmoid(-lam) * slope * (self.X @ p) / len(self.y)


rng = np.random.default_rng(0)
X, V = rng.normal(size=(120, 4)), rng.normal(size=(80, 4))
w = np.array([2.0, -1.0, 1.0, 0.0])
y, z = np.sign(X @ w), np.sign(V @ w)
wrong = rng.random(120) < 0.3
y[wrong] *= -1

problem = Cleaning(X, y, V, z)
assert max(yosida.check_gradient(problem, 0.1 * np.ones(4), np.zeros(120)).values()) < 1e-5
found = yosida.solve(problem, "hoag", lambda0=0.0, budget={"iterations": 40}, certificate=False)
trust = sigmoid(found.lambda_)
print(f"trust in right labels {trust[~wrong].mean():.2f}, in wrong ones {trust[wrong].mean():.2f}")
assert trust[~wrong].mean() > trust[wrong].mean()
