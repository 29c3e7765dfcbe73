"""The field's single-loop methods a second time, in plain numpy, written from their boxes and not from the C++.

A problem has w without an intercept; a method is a generator of its iterates (λ, w): first the start, then one
for each iteration. Steps are given, never computed.
"""
import numpy as np


class Ridge:
    """L_T = mean ½(y − Xw)² + Σ_g e^λg ‖w_g‖², L_V = mean ½(y − Xw)² on the validation rows."""
    kinks = False

    def __init__(self, train, valid, groups):
        self.train, self.valid, self.groups = train, valid, groups
        self.d = train.x.shape[1]
        self.hessian = train.x.T @ train.x / len(train.y)
        self.slope = train.x.T @ train.y / len(train.y)
        self.valid_hessian = valid.x.T @ valid.x / len(valid.y)
        self.valid_slope = valid.x.T @ valid.y / len(valid.y)

    def by_weight(self, lam):
        return np.exp(lam)[self.groups]

    def terms(self, w):
        return np.bincount(self.groups, w**2)

    def train_loss(self, w, lam):
        return 0.5 * np.mean((self.train.x @ w - self.train.y) ** 2) + np.exp(lam) @ self.terms(w)

    def train_gradient(self, w, lam):
        return self.smooth_gradient(w, lam)

    def smooth_gradient(self, w, lam):
        return self.hessian @ w - self.slope + 2.0 * self.by_weight(lam) * w

    def prox(self, step, lam, w):
        return w

    def train_gradient_lambda(self, w, lam):
        return np.exp(lam) * self.terms(w)

    def hessian_product(self, w, lam, p):
        return self.hessian @ p + 2.0 * self.by_weight(lam) * p

    def cross_transposed(self, w, lam, p):
        return np.exp(lam) * np.bincount(self.groups, 2.0 * w * p)

    def validation_loss(self, w):
        return 0.5 * np.mean((self.valid.x @ w - self.valid.y) ** 2)

    def validation_gradient(self, w):
        return self.valid_hessian @ w - self.valid_slope

    def trained(self, lam):
        return np.linalg.solve(self.hessian + np.diag(2.0 * self.by_weight(lam)), self.slope)

    def curvature(self, lam):
        return np.linalg.eigvalsh(self.hessian + np.diag(2.0 * self.by_weight(lam)))[-1]


class GroupLasso(Ridge):
    """The same with Σ_g e^λg ‖w_g‖ for a penalty."""
    kinks = True

    def norms(self, w):
        return np.sqrt(np.bincount(self.groups, w**2))

    def terms(self, w):
        return self.norms(w)

    def smooth_gradient(self, w, lam):
        return self.hessian @ w - self.slope

    def prox(self, step, lam, w):
        norms = self.norms(w)
        shrunk = np.maximum(0.0, 1.0 - step * np.exp(lam) / np.where(norms > 0.0, norms, 1.0))
        return shrunk[self.groups] * w

    def curvature(self, lam):
        return np.linalg.eigvalsh(self.hessian)[-1]

    def trained(self, lam):
        """By accelerated proximal steps with restarts, to rounding."""
        step = 1.0 / self.curvature(lam)
        w = ahead = np.zeros(self.d)
        momentum = 1.0
        for _ in range(100000):
            following = self.prox(step, lam, ahead - step * self.smooth_gradient(ahead, lam))
            if np.abs(following - w).max() <= 1e-15 * (1.0 + np.abs(w).max()):
                return following
            if (ahead - following) @ (following - w) > 0.0:
                momentum, ahead, w = 1.0, following, following
                continue
            grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            ahead = following + (momentum - 1.0) / grown * (following - w)
            momentum, w = grown, following
        return w


def start(problem, lambda0, count):
    return np.full(count, float(lambda0)), np.zeros(problem.d)


def meha(problem, lambda0, count, alpha, beta, eta, gamma=1.0, c=1.0, growth=0.49):
    lam, w = start(problem, lambda0, count)
    theta = w.copy()
    k = 0
    while True:
        yield lam, w
        k += 1
        c_k = c * k**growth
        theta = problem.prox(eta, lam,
                             theta - eta * (problem.smooth_gradient(theta, lam) + (theta - w) / gamma))
        lam = lam - beta * (problem.train_gradient_lambda(w, lam) - problem.train_gradient_lambda(theta, lam))
        direction = problem.validation_gradient(w) / c_k + problem.smooth_gradient(w, lam) - (w - theta) / gamma
        w = problem.prox(alpha, lam, w - alpha * direction)


def bome(problem, lambda0, count, alpha, beta, steps=10, eta=0.5):
    lam, w = start(problem, lambda0, count)
    while True:
        yield lam, w
        trained = w
        for _ in range(steps):
            trained = trained - alpha * problem.train_gradient(trained, lam)
        q_w = problem.train_gradient(w, lam)
        q_lam = problem.train_gradient_lambda(w, lam) - problem.train_gradient_lambda(trained, lam)
        slope = problem.validation_gradient(w)
        square = q_w @ q_w + q_lam @ q_lam
        mu = max(eta * square - slope @ q_w, 0.0) / square
        w, lam = w - alpha * (slope + mu * q_w), lam - beta * mu * q_lam


def f2sa(problem, lambda0, count, alpha, beta, inner=10, mu=1.0, growth=0.1):
    lam, w = start(problem, lambda0, count)
    z = w
    k = 0
    while True:
        yield lam, w
        k += 1
        a, b, d = alpha / k ** (5 / 7), alpha / k ** (4 / 7), beta / k ** (4 / 7)
        for _ in range(inner):
            w = w - a * (problem.validation_gradient(w) + mu * problem.train_gradient(w, lam))
            z = z - b * problem.train_gradient(z, lam)
        lam = lam - d * mu * (problem.train_gradient_lambda(w, lam) - problem.train_gradient_lambda(z, lam))
        mu += growth / k ** (1 / 7)


def soba(problem, lambda0, count, alpha, beta):
    lam, w = start(problem, lambda0, count)
    u = w
    while True:
        yield lam, w
        along = problem.hessian_product(w, lam, u) + problem.validation_gradient(w)
        cross = problem.cross_transposed(w, lam, u)
        w, u, lam = w - alpha * problem.train_gradient(w, lam), u - alpha * along, lam - beta * cross


def bic_gaffa(problem, lambda0, count, alpha, beta, eta, bounds, gamma=10.0, gamma_dual=1.0, c=10.0, growth=0.3):
    lam, w = start(problem, lambda0, count)
    yield lam, w
    w = theta = problem.trained(lam)
    z, r = np.exp(lam), problem.terms(w)
    k = 0
    with np.errstate(divide="ignore"):
        while True:
            k += 1
            c_k = c * k**growth
            theta = theta - eta * (problem.train_gradient(theta, np.log(z)) + (theta - w) / gamma)
            mu = np.maximum(z + gamma_dual * (problem.terms(w) - r), 0.0)
            w = w - alpha * (problem.validation_gradient(w) / c_k + problem.train_gradient(w, np.log(mu))
                             - (w - theta) / gamma)
            slope = (z - mu) / gamma_dual + problem.terms(theta) - r
            r = np.maximum(r - beta * (z - mu), 0.0)
            lam = np.clip(np.log(np.maximum(z + beta * slope, 0.0)), *bounds)
            z = np.exp(lam)
            yield lam, w


def agils(problem, lambda0, count, beta, curvatures, gamma=None, epsilon=1e-6, p=6.0, growth=0.01, rest=1.0,
          near=50.0):
    """Losses are sums over the training rows; `curvatures` of L_T's smooth part and of L_V, as means."""
    lam, w = start(problem, lambda0, count)
    theta = w
    d, scale = problem.d, len(problem.train.y)
    gamma = gamma or 1.0 / d
    train_curvature, validation_curvature = (scale * each for each in curvatures)
    eta = 1.0 / (train_curvature + 1.0 / gamma)
    last = before = np.inf

    def trained_theta(theta, w, lam, tolerance):
        for _ in range(10000):
            following = problem.prox(eta * scale, lam, theta - eta * (
                scale * problem.smooth_gradient(theta, lam) + (theta - w) / gamma))
            residual = np.linalg.norm(following - theta)
            if residual <= tolerance:
                break
            theta = following
        return theta, residual

    k = 0
    while True:
        yield lam, w
        k += 1
        old_w, old_lam = w, lam
        alpha = 1.0 / (validation_curvature / p + train_curvature + 0.1)
        w = problem.prox(alpha * scale, lam, w - alpha * (
            scale * problem.validation_gradient(w) / p + scale * problem.smooth_gradient(w, lam)
            - (w - theta) / gamma))
        theta, _ = trained_theta(theta, w, lam, max(5 / k**1.05, min(10 / k**0.2 * before, 5.0)))
        lam = lam - beta * scale * (problem.train_gradient_lambda(w, lam)
                                    - problem.train_gradient_lambda(theta, lam))
        k1 = k + 1
        theta, residual = trained_theta(theta, w, lam, max(5 / k1**1.05, min(10 / k1**0.2 * last, 5.0)))
        before, last = last, residual
        move = np.hypot(np.linalg.norm(w - old_w), np.linalg.norm(lam - old_lam))
        t = max(scale * (problem.train_loss(w, lam) - problem.train_loss(theta, lam))
                - (theta - w) @ (theta - w) / (2 * gamma) - epsilon, 0.0)
        if move < rest * min(1 / p, t):
            if np.linalg.norm(w - theta) <= near * np.sqrt(d) * gamma / p:
                p += growth
            else:
                best = problem.trained(lam)
                if scale * problem.validation_loss(best) / p < scale * problem.validation_loss(w) / p + t:
                    w = theta = best
                else:
                    p += growth
