"""PyTorch: one weight decay for each layer of a network, and label smoothing, by gradients from autograd."""

import torch

import yosida
import yosida.torch

torch.manual_seed(0)
torch.set_num_threads(1)  # the network is small
torch.set_default_dtype(torch.float64)
X, V = torch.randn(300, 4), torch.randn(200, 4)
y, z = ((X[:, 0] * X[:, 1] > 0).double(), (V[:, 0] * V[:, 1] > 0).double())
flipped = torch.rand(300) < 0.15
y[flipped] = 1 - y[flipped]

network = torch.nn.Sequential(torch.nn.Linear(4, 12), torch.nn.Tanh(), torch.nn.Linear(12, 1))
decay = torch.tensor([-8.0, -8.0], requires_grad=True)
smoothing = torch.tensor([-3.0], requires_grad=True)
loss = torch.nn.functional.binary_cross_entropy_with_logits


def train() -> torch.Tensor:
    share = torch.sigmoid(smoothing)
    fit = loss(network(X)[:, 0], (1 - share) * y + 0.5 * share)
    return fit + sum(torch.exp(c) * (layer.weight**2).sum() for c, layer in zip(decay, (network[0], network[2])))


def validation() -> torch.Tensor:
    return loss(network(V)[:, 0], z)


problem = yosida.torch.problem(train, validation, network.parameters(), [decay, smoothing], bounds=(-12.0, 1.0))
found = yosida.solve(problem, budget={"iterations": 4, "gradients": 1500}, certificate=False)
problem.put(found)
first = found.trace.validation[1]
print(f"validation loss {first:.4f} trained at the start, {found.validation_loss:.4f} at the end")
print("decay of the layers", decay.exp().tolist(), "smoothing", torch.sigmoid(smoothing).item())
assert found.validation_loss < first
