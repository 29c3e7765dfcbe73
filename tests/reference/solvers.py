"""The paper's solvers a second time, in plain numpy, written from the formulas and not from the C++.

A solver is a generator of its iterates (λ, w, b): first the start, then one for each iteration.
The intercept b is no weight: no part of means, φ, u or penalty, and refitted after each update of
the weights it stands beside. Where there is none, b stays 0.
"""
import math

import numpy as np

MASK = (1 << 64) - 1


class Random:
    """xoshiro256++ filled by splitmix64; normals by Box and Muller, the sine kept for the next call."""

    def __init__(self, seed):
        self.s = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            self.s.append(z ^ (z >> 31))
        self.spare = None

    def next(self):
        def rotl(value, bits):
            return ((value << bits) | (value >> (64 - bits))) & MASK

        a, b, c, d = self.s
        result = (rotl((a + d) & MASK, 23) + a) & MASK
        c, d, shifted = c ^ a, d ^ b, (b << 17) & MASK
        b, a = b ^ c, a ^ d
        self.s = [a, b, c ^ shifted, rotl(d, 45)]
        return result

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53

    def normal(self):
        if self.spare is not None:
            value, self.spare = self.spare, None
            return value
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        angle = 2.0 * math.pi * self.uniform()
        self.spare = radius * math.sin(angle)
        return radius * math.cos(angle)


class LeastSquares:
    """ℓ(m, y) = ½ (y − m)², with its derivatives in m."""

    @staticmethod
    def value(m, y):
        return 0.5 * (y - m) ** 2

    @staticmethod
    def slope(m, y):
        return m - y

    @staticmethod
    def curvature(m, y):
        return np.ones_like(m)


class Logistic:
    """ℓ(m, y) = log(1 + e^{−ym}), y = ±1, with its derivatives in m."""

    @staticmethod
    def value(m, y):
        return np.logaddexp(0.0, -y * m)

    @staticmethod
    def slope(m, y):
        return -y * np.exp(-np.logaddexp(0.0, y * m))

    @staticmethod
    def curvature(m, y):
        return np.exp(-np.logaddexp(0.0, m) - np.logaddexp(0.0, -m))


class Problem:
    """L_T(w, λ) = mean ℓ(Xw + b, y) + e^λ ‖w‖² on the training rows, L_V = mean ℓ on the validation rows."""

    def __init__(self, train, valid, test, loss, intercept):
        self.train, self.valid, self.test = train, valid, test
        self.loss, self.intercept = loss, intercept
        self.d = train.x.shape[1]
        self.gram = train.x @ train.x.T

    def data_loss(self, part, w, b):
        return self.loss.value(part.x @ w + b, part.y).mean()

    def data_gradient(self, part, w, b):
        return part.x.T @ self.loss.slope(part.x @ w + b, part.y) / len(part.y)

    def train_loss(self, w, b, lam):
        return self.data_loss(self.train, w, b) + math.exp(lam) * (w @ w)

    def train_gradient(self, w, b, lam):
        return self.data_gradient(self.train, w, b) + 2.0 * math.exp(lam) * w

    def losses(self, w, b):
        return [self.data_loss(part, w, b) for part in (self.train, self.valid, self.test)]

    def fit_intercept(self, w):
        """argmin_b of the training loss, w held: a mean, or the zero of an increasing function."""
        if not self.intercept:
            return 0.0
        m, y = self.train.x @ w, self.train.y
        if self.loss is LeastSquares:
            return float(np.mean(y - m))
        return zero_of_increasing(lambda b: self.loss.slope(m + b, y).mean(),
                                  lambda b: self.loss.curvature(m + b, y).mean(), 0.0)

    def inner_solve(self, lam, u=0.0, rho=0.0, v=0.0):
        """argmin over (w, b) of L_T(w, λ) + uᵀ(w − v) + ρ/2 ‖w − v‖², by Newton's method.

        The Hessian is c I + XᵀHX with few rows of X: Woodbury's identity gives its inverse from the products of
        the rows, and the intercept's row and column are eliminated. Newton's method corrects the rounding of both.
        """
        x, y, n = self.train.x, self.train.y, len(self.train.y)
        c = 2.0 * math.exp(lam) + rho
        w = np.zeros(self.d)
        b = self.fit_intercept(w)

        def objective(w, b):
            return self.train_loss(w, b, lam) + np.sum(u * (w - v)) + 0.5 * rho * np.sum((w - v) ** 2)

        def gradient(w, b):
            slopes = self.loss.slope(x @ w + b, y) / n
            return x.T @ slopes + 2.0 * math.exp(lam) * w + u + rho * (w - v), slopes.sum()

        g, g_b = gradient(w, b)
        scale = max(np.linalg.norm(g), 1e-300)
        for _ in range(100):
            h = self.loss.curvature(x @ w + b, y) / n
            root = np.sqrt(h)
            core = np.linalg.inv(c * np.eye(n) + root[:, None] * self.gram * root)

            def solve(rhs):
                return (rhs - x.T @ (root * (core @ (root * (x @ rhs))))) / c

            if self.intercept:
                border = x.T @ h
                k_border, k_g = solve(border), solve(g)
                move_b = -(g_b - border @ k_g) / (h.sum() - border @ k_border)
                move = -k_g - k_border * move_b
            else:
                move, move_b = -solve(g), 0.0
            t, start = 1.0, objective(w, b)
            while objective(w + t * move, b + t * move_b) > start + 1e-14 * abs(start) and t > 1e-10:
                t *= 0.5
            w, b = w + t * move, b + t * move_b
            g, g_b = gradient(w, b)
            if not self.intercept:
                g_b = 0.0
            if math.hypot(np.linalg.norm(g), g_b) <= 1e-14 * scale:
                break
        return w, b


def zero_of_increasing(f, slope, start):
    """Newton's method inside a bracket that only shrinks; bisection where Newton leaves it."""
    low, high, width = start, start, 1.0
    while f(low) > 0.0:
        low, width = low - width, 2.0 * width
    width = 1.0
    while f(high) < 0.0:
        high, width = high + width, 2.0 * width
    x = start
    for _ in range(200):
        value = f(x)
        if value == 0.0:
            break
        low, high = (low, x) if value > 0.0 else (x, high)
        following = x - value / slope(x)
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - x) <= 1e-16 * (1.0 + abs(x)):
            return following
        x = following
    return x


class Plain:
    """λ ← λ − β slope"""

    def __init__(self, rate):
        self.rate = rate

    def step(self, slope):
        return self.rate * slope


class Adam:
    """Kingma and Ba's, with their decay rates 0.9 and 0.999 and their ε = 1e-8."""

    def __init__(self, rate):
        self.rate, self.t, self.m, self.s = rate, 0, 0.0, 0.0

    def step(self, slope):
        self.t += 1
        self.m += 0.1 * (slope - self.m)
        self.s += 0.001 * (slope**2 - self.s)
        return self.rate * (self.m / (1 - 0.9**self.t)) / (math.sqrt(self.s / (1 - 0.999**self.t)) + 1e-8)


def sho(problem, seed=0, alpha=1e-3, beta=0.01, sigma=1e-4, lambda0=-1.0, phi_scale=0.0, optimizer=Plain):
    random = Random(seed)
    lam = lambda0
    phi1 = np.array([phi_scale * random.normal() if phi_scale else 0.0 for _ in range(problem.d)])
    phi0 = np.array([phi_scale * random.normal() if phi_scale else 0.0 for _ in range(problem.d)])
    update = optimizer(beta)

    def response(at):
        w = at * phi1 + phi0
        return w, problem.fit_intercept(w)

    while True:
        yield lam, *response(lam)
        lam_hat = lam + sigma * random.normal()
        g = problem.train_gradient(*response(lam_hat), lam_hat)
        phi1 = phi1 - alpha * lam_hat * g
        phi0 = phi0 - alpha * g
        lam -= update.step(phi1 @ problem.data_gradient(problem.valid, *response(lam)))


def sho_code(problem, seed=0, alpha=1e-4):
    """The settings of its authors' published code."""
    return sho(problem, seed, alpha=alpha, beta=0.01, sigma=0.0, lambda0=-3.5, phi_scale=0.01, optimizer=Adam)


def mean_anchored(v, lam):
    phi0 = np.full_like(v, v.mean())
    return phi0, (v - phi0) / lam


def my_hpo(problem, alpha, beta, delta, rho=1.0, lambda0=-1.0, w_gradient="shared", backtracking=False):
    """The simplified MY-HPO, (C) or with backtracking (BT)."""

    def size(objective, step, square):
        """The step taken: as it is for (C); halved until its objective falls enough for (BT)."""
        if not backtracking:
            return step
        start = objective(0.0)
        for halvings in range(31):
            t = step / 2.0**halvings
            if objective(t) <= start - 0.5 * t * square + 4e-16 * abs(start):
                return t
        return 0.0

    lam = lambda0
    v = w = u = np.zeros(problem.d)
    b_v = b_w = problem.fit_intercept(v)
    while True:
        yield lam, w, b_w
        # v
        g = problem.train_gradient(v, b_v, lam)
        v = v - g * size(lambda t: problem.train_loss(v - t * g, b_v, lam), alpha, g @ g)
        b_v = problem.fit_intercept(v)
        phi0, phi1 = mean_anchored(v, lam)
        # w
        g_w = problem.train_gradient(w, b_w, lam) if w_gradient == "own" else g
        p = g_w + u + rho * (w - v)

        def augmented_train(t):
            apart = w - t * p - v
            return problem.train_loss(w - t * p, b_w, lam) + u @ apart + 0.5 * rho * (apart @ apart)

        w = w - p * size(augmented_train, beta, p @ p)
        b_w = problem.fit_intercept(w)
        # λ
        slope = phi1 @ (problem.data_gradient(problem.valid, v, b_v) - u - rho * (w - v))

        def augmented_valid(t):
            response = (lam - t * slope) * phi1 + phi0
            apart = w - response
            return problem.data_loss(problem.valid, response, b_v) + u @ apart + 0.5 * rho * (apart @ apart)

        lam = lam - slope * size(augmented_valid, delta, slope**2)
        # u
        u = u + rho * (w - lam * phi1 - phi0)


def my_hpo_full(problem, rho=1.0, lambda0=-1.0, bounds=(-math.inf, math.inf)):
    lam = lambda0
    u = w = np.zeros(problem.d)
    b_w = problem.fit_intercept(w)
    x, y, n = problem.valid.x, problem.valid.y, len(problem.valid.y)
    while True:
        yield lam, w, b_w
        v, b_v = problem.inner_solve(lam)
        phi0, phi1 = mean_anchored(v, lam)
        w, b_w = problem.inner_solve(lam, u, rho, v)
        m0, m1 = x @ phi0 + b_v, x @ phi1  # the response's margins are linear in λ
        square = phi1 @ phi1
        if problem.loss is LeastSquares:
            lam = (m1 @ (y - m0) / n + phi1 @ (u + rho * (w - phi0))) / (m1 @ m1 / n + rho * square)
        else:
            lam = zero_of_increasing(
                lambda at: m1 @ problem.loss.slope(at * m1 + m0, y) / n
                - phi1 @ (u + rho * (w - at * phi1 - phi0)),
                lambda at: m1**2 @ problem.loss.curvature(at * m1 + m0, y) / n + rho * square, lam)
        lam = min(max(lam, bounds[0]), bounds[1])
        u = u + rho * (w - lam * phi1 - phi0)
