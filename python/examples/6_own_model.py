"""A model of your own in numpy: two losses and two gradients. Here a Gaussian kernel whose width is found, too."""

from typing import Any

import numpy as np

import yosida


class KernelRidge(yosida.BilevelProblem):
    """λ₀ is the logarithm of the penalty, λ₁ that of the kernel's width; w are the weights of the training rows."""

    def __init__(self, x: Any, y: Any, x_val: Any, y_val: Any) -> None:
        super().__init__(weights=len(y), hyperparameters=2, bounds=([-12.0, -3.0], [2.0, 2.0]),
                         validation_depends_on_lambda=True)
        self.y, self.z = y, y_val
        self.train, self.validation = (x[:, None] - x) ** 2, (x_val[:, None] - x) ** 2

    def kernel(self, squares: Any, lam: Any) -> Any:
        return np.exp(-0.5 * squares / np.exp(2 * lam[1]))

    def train_loss(self, w: Any, lam: Any) -> float:
        K = self.kernel(self.train, lam)
        return float(0.5 * np.mean((K @ w - self.y) ** 2) + np.exp(lam[0]) * w @ w)

    def train_gradient(self, w: Any, lam: Any) -> Any:
        K = self.kernel(self.train, lam)
        return K @ (K @ w - self.y) / len(self.y) + 2 * np.exp(lam[0]) * w

    def validation_loss(self, w: Any, lam: Any) -> float:
        return float(0.5 * np.mean((self.kernel(self.validation, lam) @ w - self.z) ** 2))

    def validation_gradient(self, w: Any, lam: Any) -> Any:
        K = self.kernel(self.validation, lam)
        return K.T @ (K @ w - self.z) / len(self.z)


rng = np.random.default_rng(0)
x, x_val = rng.uniform(-3, 3, size=(2, 30))
y, y_val = np.sin(2 * x) + 0.1 * rng.normal(size=30), np.sin(2 * x_val) + 0.1 * rng.normal(size=30)
found = yosida.solve(KernelRidge(x, y, x_val, y_val), lambda0=[-4.0, 0.0])
print(f"penalty {np.exp(found.lambda_[0]):.2g}, width {np.exp(found.lambda_[1]):.2f}, loss {found.validation_loss:.4f}")
assert found.validation_loss < 0.05
