"""Yosida as a solver of benchopt's benchmark_bilevel: copy this file to its folder `solvers`, and have the Python package
`yosida` where that imports it (see docs/python.md).

The benchmark gives the inner and the outer function on all rows (`f_inner_fb`, `f_outer_fb`) as functions of JAX.
Their derivatives make a problem of one's own for the Python package; `yosida.solve` does the rest.
"""
from benchopt import BaseSolver, safe_import_context
from benchopt.stopping_criterion import SufficientProgressCriterion

with safe_import_context() as import_ctx:
    import jax
    import numpy as np
    import yosida

    # The certificate and tight inner solves need more digits than JAX's default of 32 bits.
    jax.config.update("jax_enable_x64", True)


def problem_of(f_inner, f_outer, inner_var0, outer_var0):
    """The benchmark's two functions as a bi-level problem; w and λ are its flattened variables."""
    inner_shape, outer_shape = np.shape(inner_var0), np.shape(outer_var0)

    def flat(function):
        return lambda w, lam: function(w.reshape(inner_shape), lam.reshape(outer_shape))

    inner, outer = flat(f_inner), flat(f_outer)
    inner_w, inner_lam = jax.grad(inner, argnums=0), jax.grad(inner, argnums=1)
    functions = {
        "train_loss": inner,
        "train_gradient": inner_w,
        "train_gradient_lambda": inner_lam,
        "validation_loss": outer,
        "validation_gradient": jax.grad(outer, argnums=0),
        "validation_gradient_lambda": jax.grad(outer, argnums=1),
        "hessian_product": lambda w, lam, p: jax.jvp(lambda at: inner_w(at, lam), (w,), (p,))[1],
        "cross_product": lambda w, lam, q: jax.jvp(lambda at: inner_w(w, at), (lam,), (q,))[1],
        "cross_product_transposed": lambda w, lam, p: jax.jvp(lambda at: inner_lam(at, lam), (w,), (p,))[1],
        "validation_hessian_product": lambda w, lam, p: jax.jvp(
            lambda at: jax.grad(outer, argnums=0)(at, lam), (w,), (p,))[1],
    }

    problem = yosida.BilevelProblem(
        int(np.prod(inner_shape)), int(np.prod(outer_shape)), start=np.asarray(inner_var0, dtype=float).ravel(),
        validation_depends_on_lambda=True)
    for name, function in functions.items():
        compiled = jax.jit(function)
        if name.endswith("_loss"):
            setattr(problem, name, lambda *at, call=compiled: float(call(*at)))
        else:
            setattr(problem, name, lambda *at, call=compiled: np.asarray(call(*at), dtype=float))
    return problem


class Solver(BaseSolver):
    """Moreau-Yosida steps along true hypergradients, without a step size to choose."""

    name = "Yosida"
    sampling_strategy = "iteration"
    stopping_criterion = SufficientProgressCriterion(patience=3, strategy="iteration")
    parameters = {"method": ["my-hpo"], "random_state": [1]}

    def set_objective(self, f_inner_fb, f_outer_fb, inner_var0, outer_var0, **batches):
        """`batches`: what the benchmark gives for methods that draw rows."""
        self.shapes = np.shape(inner_var0), np.shape(outer_var0)
        self.start = np.asarray(inner_var0, dtype=float), np.asarray(outer_var0, dtype=float)
        self.problem = problem_of(f_inner_fb, f_outer_fb, inner_var0, outer_var0)

    @staticmethod
    def get_next(stop_val):
        return stop_val + 1

    def run(self, n_iter):
        """A run of so many iterations from the start: it is deterministic, so each is longer than the last."""
        self.inner_var, self.outer_var = self.start
        if n_iter == 0:
            return
        found = yosida.solve(self.problem, self.method, lambda0=self.start[1].ravel(), seed=self.random_state,
                             budget={"iterations": n_iter}, certificate=False, trace=False)
        self.inner_var = found.weights.reshape(self.shapes[0])
        self.outer_var = found.lambda_.reshape(self.shapes[1])

    def get_result(self):
        return {"inner_var": self.inner_var, "outer_var": self.outer_var}
