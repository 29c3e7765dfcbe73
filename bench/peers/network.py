"""A convolutional network on 2000 digits of MNIST: weight decay of each layer and label smoothing, by Yosida and by Optuna.

    yosida data fetch mnist
    PYTHONPATH=build/release/python /usr/bin/python3 bench/peers/network.py [--gradients 1000] [--seeds 0 1]

1000 digits train, 1000 judge, and the 10 000 of the test files are looked at once, at the end. Both sides have the same
network, the same first weights, the same four hyperparameters in the same bounds, L-BFGS to train, and the same number of
gradients of all rows. Yosida counts those of both losses and its Hessian products, and goes on from the weights it has.
Optuna's sampler (TPE) has 25 trials that train from the first weights, each with an equal share of the gradients. A
Hessian product takes about three times as long as a gradient, so seconds of processor time are shown, too.
"""

import argparse
import os
import pathlib
import time

import numpy as np
import optuna
import torch

import yosida
import yosida.torch

TRIALS = 25
BOUNDS = (-12.0, 0.0)
functional = torch.nn.functional


def digits(part):
    """Pictures and labels of the train or the t10k files."""
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "yosida" / "mnist"

    def array(name):
        raw = (folder / f"{part}-{name}-ubyte").read_bytes()
        shape = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(raw[3])]
        return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)

    pictures = array("images-idx3").reshape(-1, 14, 2, 14, 2).mean((2, 4)) / 255.0  # 14 × 14, which makes it four times as fast
    return torch.tensor(pictures)[:, None], torch.tensor(array("labels-idx1").astype(np.int64))


class Network:
    """The losses of a network of three layers, and its hyperparameters: logarithms of decays, and the logit of smoothing."""

    def __init__(self, seed):
        pictures, labels = digits("train")
        chosen = torch.tensor(np.random.default_rng(seed).permutation(len(labels))[:2000])
        self.X, self.V = pictures[chosen[:1000]], pictures[chosen[1000:]]
        self.y, self.z = functional.one_hot(labels[chosen[:1000]], 10).double(), labels[chosen[1000:]]
        torch.manual_seed(seed)
        self.model = torch.nn.Sequential(
            torch.nn.Conv2d(1, 4, 3, stride=2), torch.nn.Tanh(), torch.nn.Conv2d(4, 8, 3), torch.nn.Tanh(),
            torch.nn.Flatten(), torch.nn.Linear(128, 10))
        self.layers = [self.model[0], self.model[2], self.model[5]]
        self.decay = torch.full((3,), -6.0, requires_grad=True)
        self.smoothing = torch.full((1,), -3.0, requires_grad=True)

    def train_loss(self):
        share = torch.sigmoid(self.smoothing)
        fit = -(((1 - share) * self.y + share / 10) * functional.log_softmax(self.model(self.X), 1)).sum(1).mean()
        return fit + sum(torch.exp(c) * (layer.weight**2).sum() for c, layer in zip(self.decay, self.layers))

    def validation_loss(self):
        return functional.cross_entropy(self.model(self.V), self.z)

    def train(self, gradients):
        """L-BFGS from the weights that are there; returns the number of gradients it took, at most so many."""
        weights = list(self.model.parameters())
        optimiser = torch.optim.LBFGS(weights, max_iter=gradients, max_eval=gradients, history_size=20, line_search_fn="strong_wolfe",
                                      tolerance_grad=1e-4, tolerance_change=1e-12)
        used = 0

        def closure():
            nonlocal used
            used += 1
            optimiser.zero_grad()
            loss = self.train_loss()
            loss.backward(inputs=weights)
            return loss

        optimiser.step(closure)
        return used

    def test(self):
        """Loss and share of errors on the test digits."""
        X, y = digits("t10k")
        with torch.no_grad():
            out = self.model(X)
        return float(functional.cross_entropy(out, y)), float((out.argmax(1) != y).double().mean())


def by_yosida(network, gradients):
    weights = list(network.model.parameters())
    problem = yosida.torch.problem(network.train_loss, network.validation_loss, weights, [network.decay, network.smoothing], bounds=BOUNDS)

    def inner_solve(lam, w):
        problem.set(w, lam)
        used = network.train(gradients // TRIALS)
        return torch.cat([w.detach().reshape(-1) for w in weights]).numpy(), used

    problem.inner_solve = inner_solve
    # Systems with the Hessian are solved coarsely: one to 1e-3, as by default, would take a hundred products here.
    found = yosida.solve(problem, "hoag", settings={"tolerance": 0.5, "decrease": 0.97}, budget={"gradients": gradients}, certificate=False)
    problem.put(found)
    return found.validation_loss, found.work["gradients"], found.lambda_


def by_optuna(network, gradients):
    weights = list(network.model.parameters())
    first = [w.detach().clone() for w in weights]
    best = {"loss": np.inf, "used": 0}

    def put(tensors, values):
        with torch.no_grad():
            for tensor, value in zip(tensors, values):
                tensor.copy_(value)

    def trial(suggest):
        lam = torch.tensor([suggest.suggest_float(f"lambda{j}", *BOUNDS) for j in range(4)])
        put([*weights, network.decay, network.smoothing], [*first, lam[:3], lam[3:]])
        best["used"] += network.train(gradients // TRIALS)
        with torch.no_grad():
            loss = float(network.validation_loss())
        if loss < best["loss"]:
            best.update(loss=loss, lam=lam.numpy(), weights=[w.detach().clone() for w in weights])
        return loss

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0)).optimize(trial, n_trials=TRIALS)
    put(weights, best["weights"])
    return best["loss"], best["used"], best["lam"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gradients", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    arguments = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    print(f"{'':18} {'validation loss':>15} {'test loss':>10} {'test errors':>11} {'gradients':>10} {'seconds':>8}  decay of layers, smoothing")
    for seed in arguments.seeds:
        for name, search in (("Yosida", by_yosida), ("Optuna, 25 trials", by_optuna)):
            network = Network(seed)
            began = time.process_time()
            loss, used, lam = search(network, arguments.gradients)
            seconds = time.process_time() - began
            test, errors = network.test()
            values = [*np.exp(lam[:3]), 1 / (1 + np.exp(-lam[3]))]
            print(f"{name:18} {loss:15.4f} {test:10.4f} {errors:11.2%} {used:10.0f} {seconds:8.0f}  " + " ".join(f"{v:.1e}" for v in values), flush=True)


if __name__ == "__main__":
    main()
