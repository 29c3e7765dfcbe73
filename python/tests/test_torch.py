"""Problems in PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import yosida  # noqa: E402
import yosida.torch  # noqa: E402


def network(seed=0, rows=40):
    """Two layers, one weight decay each, and a strength of label smoothing on which L_T alone depends."""
    generator = torch.Generator().manual_seed(seed)
    double = dict(dtype=torch.float64, generator=generator)
    X, V = torch.randn(rows, 3, **double), torch.randn(rows, 3, **double)
    y, z = (torch.sin(X.sum(1)) > 0).double(), (torch.sin(V.sum(1)) > 0).double()
    weights = [(0.5 * torch.randn(*shape, **double)).requires_grad_() for shape in ((3, 4), (4,))]
    lam = torch.tensor([-3.0, -3.0], dtype=torch.float64, requires_grad=True)
    smooth = torch.tensor([-2.0], dtype=torch.float64, requires_grad=True)

    def margins(rows):
        return torch.tanh(rows @ weights[0]) @ weights[1]

    loss = torch.nn.functional.binary_cross_entropy_with_logits

    def train():
        share = torch.sigmoid(smooth)
        decay = sum(torch.exp(each) * (w**2).sum() for each, w in zip(lam, weights))
        return loss(margins(X), (1 - share) * y + share / 2) + decay

    return yosida.torch.problem(train, lambda: loss(margins(V), z), weights, [lam, smooth], bounds=(-8.0, 2.0)), weights


def test_derivatives_come_from_autograd():
    problem, _ = network()
    rng = np.random.default_rng(1)
    errors = yosida.check_gradient(problem, 0.3 * rng.normal(size=16), np.array([-2.0, -1.0, -1.5]))
    assert max(errors.values()) < 1e-6, errors


def test_hyperparameters_of_a_network_are_found():
    problem, weights = network()
    found = yosida.solve(problem, budget={"iterations": 30})
    before = problem.validation_loss(yosida.solve(problem, budget={"iterations": 1}).weights, found.lambda_)
    assert found.validation_loss <= before + 1e-12
    untrained = np.linalg.norm(problem.train_gradient(problem.start, found.lambda_))
    assert np.linalg.norm(problem.train_gradient(found.weights, found.lambda_)) < 5e-3 * untrained
    problem.put(found)
    np.testing.assert_allclose(weights[0].detach().numpy().ravel(), found.weights[:12])


def test_what_is_no_leaf_is_refused():
    w = torch.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="parameters"):
        yosida.torch.problem(lambda: w.sum(), lambda: w.sum(), [w * 2], [w])
    with pytest.raises(ValueError, match="hyperparameters"):
        yosida.torch.problem(lambda: w.sum(), lambda: w.sum(), [w], [])
