"""Problems of one's own."""

import os
import signal

import numpy as np
import pytest

import yosida


class Ridge(yosida.BilevelProblem):
    """With one penalty, in numpy: two losses and two gradients."""

    def __init__(self, seed=0, rows=60, columns=5):
        super().__init__(weights=columns, hyperparameters=1, has_penalties=True)
        rng = np.random.default_rng(seed)
        self.X, self.V = rng.normal(size=(rows, columns)), rng.normal(size=(rows, columns))
        w = rng.normal(size=columns)
        self.y, self.z = self.X @ w + 2 * rng.normal(size=rows), self.V @ w + 2 * rng.normal(size=rows)

    def train_loss(self, w, lam):
        return 0.5 * np.mean((self.X @ w - self.y) ** 2) + np.exp(lam[0]) * w @ w

    def train_gradient(self, w, lam):
        return self.X.T @ (self.X @ w - self.y) / len(self.y) + 2 * np.exp(lam[0]) * w

    def validation_loss(self, w, lam):
        return 0.5 * np.mean((self.V @ w - self.z) ** 2)

    def validation_gradient(self, w, lam):
        return self.V.T @ (self.V @ w - self.z) / len(self.z)

    def trained(self, lam):
        n, d = self.X.shape
        return np.linalg.solve(self.X.T @ self.X / n + 2 * np.exp(lam) * np.eye(d), self.X.T @ self.y / n)


class WithAll(Ridge):
    """The same with everything that can be added."""

    def hessian_product(self, w, lam, p):
        return self.X.T @ (self.X @ p) / len(self.y) + 2 * np.exp(lam[0]) * p

    def cross_product(self, w, lam, q):
        return 2 * np.exp(lam[0]) * w * q[0]

    def cross_product_transposed(self, w, lam, p):
        return np.array([2 * np.exp(lam[0]) * w @ p])

    def train_gradient_lambda(self, w, lam):
        return np.array([np.exp(lam[0]) * w @ w])

    def validation_hessian_product(self, w, lam, p):
        return self.V.T @ (self.V @ p) / len(self.z)

    def inner_solve(self, lam, w):
        return self.trained(lam[0])


@pytest.mark.parametrize("kind", [Ridge, WithAll])
def test_the_answer_is_the_best_of_a_fine_grid(kind):
    problem = kind()
    found = yosida.solve(problem)
    assert found.status == "converged" and found.certificate
    grid = np.linspace(-12, 5, 3401)
    losses = [problem.validation_loss(problem.trained(lam), None) for lam in grid]
    # By default a slope of 1e-3 of the loss is small; without that tolerance λ is that of the grid.
    assert problem.validation_loss(problem.trained(found.lambda_[0]), None) < min(losses) * (1 + 1e-5)
    exact = yosida.solve(problem, settings={"tolerance": 1e-9})
    assert abs(exact.lambda_[0] - grid[np.argmin(losses)]) < 0.01
    np.testing.assert_allclose(found.validation_loss, min(losses), rtol=1e-5)
    # Weights are trained as exactly as the λ is known; the certificate asks for 5e-3.
    np.testing.assert_allclose(found.weights, problem.trained(found.lambda_[0]), atol=1e-3)
    assert len(found.trace) == found.iterations + 1


def test_own_training_says_what_it_took():
    class Told(WithAll):
        def inner_solve(self, lam, w):
            return self.trained(lam[0]), 7

    class Wrong(WithAll):
        def inner_solve(self, lam, w):
            return self.trained(lam[0]), "seven"

    silent, told = yosida.solve(WithAll()), yosida.solve(Told())
    assert np.array_equal(silent.lambda_, told.lambda_)
    assert told.work["train_gradients"] == silent.work["train_gradients"] + 7 * silent.work["inner_solves"]
    with pytest.raises(ValueError, match="inner_solve: returned"):
        yosida.solve(Wrong())


def test_gradients_are_checked():
    rng = np.random.default_rng(2)
    w = rng.normal(size=5)
    assert max(yosida.check_gradient(WithAll(), w, [-1.0]).values()) < 1e-6

    class Wrong(WithAll):
        def train_gradient(self, w, lam):
            return 1.001 * super().train_gradient(w, lam)

    assert max(yosida.check_gradient(Wrong(), w, [-1.0]).values()) > 5e-4


def test_certificates_judge_any_answer():
    problem = WithAll()
    found = yosida.solve(problem)
    assert yosida.certify(problem, found.weights, found.lambda_)
    assert not yosida.certify(problem, problem.trained(found.lambda_[0] - 2), found.lambda_ - 2)
    assert not yosida.certify(problem, np.ones(5), found.lambda_)
    with pytest.raises(ValueError):
        yosida.certify(problem, np.ones(3), found.lambda_)


def test_exceptions_come_out_as_they_are_with_the_iteration():
    class Fails(Ridge):
        calls = 0

        def validation_gradient(self, w, lam):
            self.calls += 1
            if self.calls > 3:
                raise ZeroDivisionError("mine")
            return super().validation_gradient(w, lam)

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        yosida.solve(Fails())
    if hasattr(caught.value, "__notes__"):
        assert "validation_gradient in iteration" in caught.value.__notes__[0]


def test_numbers_that_are_not_finite_end_the_run_and_are_named():
    class Breaks(Ridge):
        calls = 0

        def validation_loss(self, w, lam):
            self.calls += 1
            return np.nan if self.calls > 4 else super().validation_loss(w, lam)

    found = yosida.solve(Breaks())
    assert found.status == "diverged"
    assert found.not_finite.startswith("validation_loss in iteration")
    assert np.isfinite(found.lambda_).all() and np.isfinite(found.weights).all()
    assert "validation_loss" in found.message


@pytest.mark.parametrize("change, rule", [
    (dict(train_gradient=lambda self, w, lam: np.ones(3)), "train_gradient.*3 numbers.*5"),
    (dict(train_gradient=lambda self, w, lam: "none"), "train_gradient"),
    (dict(train_loss=lambda self, w, lam: None, validation_loss=lambda self, w, lam: "x"), "loss"),
    (dict(train_gradient=lambda self, w, lam: np.ones((5, 1))), "train_gradient.*dimension"),
    (dict(train_gradient=lambda self, w, lam: w + 0j), "train_gradient: holds complex numbers: must be real"),
    (dict(validation_gradient=lambda self, w, lam: list(w + 0j)), "validation_gradient: holds complex numbers: must be real"),
])
def test_results_of_a_wrong_kind_are_named(change, rule):
    with pytest.raises(ValueError, match=rule):
        yosida.solve(type("Wrong", (Ridge,), change)())


def test_problems_that_are_none_are_refused():
    with pytest.raises(TypeError, match="train_loss"):
        yosida.solve(object())

    class Forgets(Ridge):
        def __init__(self):
            pass

    with pytest.raises(TypeError, match="super"):
        yosida.solve(Forgets())
    with pytest.raises(NotImplementedError):
        yosida.solve(yosida.BilevelProblem(2, 1))
    for bad in (dict(budget=0), dict(lambda0=[1.0, 2.0]), dict(bounds=(1.0, 0.0)), dict(method="none"), dict(seed=-1)):
        with pytest.raises(ValueError):
            yosida.solve(Ridge(), **bad)


def test_an_interrupt_in_the_users_code_returns_the_best_so_far():
    class Interrupted(Ridge):
        calls = 0

        def train_gradient(self, w, lam):
            self.calls += 1
            if self.calls == 60:
                os.kill(os.getpid(), signal.SIGINT)
            return super().train_gradient(w, lam)

    found = yosida.solve(Interrupted(), "sho", budget={"iterations": 10**6})
    assert found.status == "stopped" and found.iterations < 100
    with pytest.raises(KeyboardInterrupt):
        yosida.solve(Interrupted(), "sho", budget={"iterations": 10**6}, interrupt="raise")


def test_several_hyperparameters_and_bounds():
    class PerWeight(Ridge):
        def __init__(self):
            super().__init__()
            self.hyperparameters, self.bounds, self.has_penalties = 5, (-8.0, 4.0), False

        def train_loss(self, w, lam):
            return 0.5 * np.mean((self.X @ w - self.y) ** 2) + np.exp(lam) @ w**2

        def train_gradient(self, w, lam):
            return self.X.T @ (self.X @ w - self.y) / len(self.y) + 2 * np.exp(lam) * w

    found = yosida.solve(PerWeight())
    one = yosida.solve(Ridge())
    assert found.validation_loss < one.validation_loss
    assert np.all(found.lambda_ >= -8) and np.all(found.lambda_ <= 4)
    problem = PerWeight()
    n, d = problem.X.shape
    w = np.linalg.solve(problem.X.T @ problem.X / n + 2 * np.diag(np.exp(found.lambda_)), problem.X.T @ problem.y / n)
    np.testing.assert_allclose(found.weights, w, atol=1e-3)
