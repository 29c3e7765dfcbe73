"""The examples of problems of one's own against numpy: closed forms, and a network trained anew."""
import subprocess
import sys
import unittest

import numpy as np

KERNEL_RIDGE, NETWORK = sys.argv[1:3]


def run(example):
    """What an example prints: its status, its verdict, and its numbers by name. It must end with exit code 0."""
    done = subprocess.run([example], capture_output=True, text=True, timeout=300, check=True)
    first, *lines = done.stdout.strip().split("\n")
    status, verdict = first.split("; ")
    return status, verdict, {name: np.array(numbers.split(), float) for name, numbers in
                             (line.split(" ", 1) for line in lines)}


class KernelRidge(unittest.TestCase):
    x = np.linspace(0, 1, 50)
    x_valid = x + 0.01

    @staticmethod
    def target(at):
        return np.sin(6 * at) + 0.8 * np.sin(1000 * at * at)

    def kernel(self, at, width):
        return np.exp(-0.5 * ((at[:, None] - self.x[None, :]) / width) ** 2)

    def validation(self, penalty, width):
        """The loss of the trained dual coefficients, by a closed form."""
        w = np.linalg.solve(self.kernel(self.x, width) + penalty * np.eye(len(self.x)), self.target(self.x))
        return 0.5 * np.mean((self.kernel(self.x_valid, width) @ w - self.target(self.x_valid)) ** 2)

    def test_answer(self):
        status, verdict, numbers = run(KERNEL_RIDGE)
        self.assertIn(status, ["converged", "stalled"])
        self.assertIn("certified", verdict)
        self.assertNotIn("not", verdict)
        log_penalty, log_width = numbers["lambda"]
        at = self.validation(np.exp(log_penalty), np.exp(log_width))
        # Inner problems are solved as exactly as the certificate needs: 1e-3 of the loss.
        self.assertLess(abs(numbers["validation"][0] / at - 1), 1e-4)
        grid = min(self.validation(np.exp(a), np.exp(b)) for a in np.linspace(-6, 3, 19) for b in np.linspace(-3.5, 1, 19))
        self.assertLessEqual(at, grid)


class Network(unittest.TestCase):
    units = 4
    x = np.linspace(-1, 1, 30)
    x_valid = x + 0.03

    @staticmethod
    def target(at):
        return np.sin(4 * at) + 0.4 * np.sin(1000 * at * at)

    def output(self, w, x):
        a, b, v = w[:4], w[4:8], w[8:12]
        return np.tanh(np.outer(x, a) + b) @ v + w[12]

    def validation(self, w):
        return 0.5 * np.mean((self.output(w, self.x_valid) - self.target(self.x_valid)) ** 2)

    def residuals(self, w, lam):
        """L_T is half the sum of their squares."""
        data = (self.output(w, self.x) - self.target(self.x)) / np.sqrt(len(self.x))
        scale = np.sqrt(2 * np.exp(np.repeat(lam, [8, 5])))
        return np.concatenate([data, scale * w])

    def jacobian(self, w, lam):
        a, b, v = w[:4], w[4:8], w[8:12]
        h = np.tanh(np.outer(self.x, a) + b)
        back = (1 - h * h) * v
        data = np.hstack([back * self.x[:, None], back, h, np.ones((len(self.x), 1))]) / np.sqrt(len(self.x))
        return np.vstack([data, np.diag(np.sqrt(2 * np.exp(np.repeat(lam, [8, 5]))))])

    def trained(self, w, lam):
        """Levenberg and Marquardt from w."""
        damping = 1e-3
        for _ in range(500):
            r, j = self.residuals(w, lam), self.jacobian(w, lam)
            step = -np.linalg.solve(j.T @ j + damping * np.eye(len(w)), j.T @ r)
            if np.sum(self.residuals(w + step, lam) ** 2) < np.sum(r ** 2):
                w, damping = w + step, max(damping / 3, 1e-12)
            else:
                damping *= 4
            if np.linalg.norm(j.T @ r) < 1e-11 or damping > 1e12:
                break
        return w

    def test_answer(self):
        status, verdict, numbers = run(NETWORK)
        lam, w, validation = numbers["lambda"], numbers["w"], numbers["validation"][0]
        self.assertIn(status, ["converged", "stalled", "iteration_limit"])
        self.assertTrue(verdict)
        self.assertLess(abs(validation / self.validation(w) - 1), 1e-8)
        start = 2 * np.sin(np.linspace(1, 40, 13))
        # The weights are trained as far as a certificate asks for, 5e-3 of the gradient at the start, or it says no.
        gradient = np.linalg.norm(self.jacobian(w, lam).T @ self.residuals(w, lam))
        first = np.linalg.norm(self.jacobian(start, lam).T @ self.residuals(start, lam))
        self.assertTrue(gradient < 5e-3 * first or "not certified" in verdict)
        grid = [self.validation(self.trained(start, np.array([a, b]))) for a in np.linspace(-14, -2, 5)
                for b in np.linspace(-14, -2, 5)]
        self.assertLessEqual(validation, min(grid))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
