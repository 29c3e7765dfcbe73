"""Bi-level problems whose losses are written in PyTorch, with all derivatives from autograd."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np
import torch

from ._problem import BilevelProblem


class TorchProblem(BilevelProblem):
    """Made by :func:`problem`."""

    def __init__(
        self,
        train_loss: Callable[[], torch.Tensor],
        validation_loss: Callable[[], torch.Tensor],
        parameters: Sequence[torch.Tensor],
        hyperparameters: Sequence[torch.Tensor],
        **info: Any,
    ) -> None:
        self._parameters = list(parameters)
        self._hyperparameters = list(hyperparameters)
        for name, tensors in (("parameters", self._parameters), ("hyperparameters", self._hyperparameters)):
            if not tensors:
                raise ValueError(f"{name}: is empty: there must be a tensor")
            for tensor in tensors:
                if not isinstance(tensor, torch.Tensor) or not tensor.is_leaf or not tensor.requires_grad:
                    raise ValueError(f"{name}: must be leaf tensors that require gradients")
        self._train, self._validation = train_loss, validation_loss
        self.lambda0 = self._flat([tensor.detach() for tensor in self._hyperparameters])
        super().__init__(
            weights=sum(tensor.numel() for tensor in self._parameters),
            hyperparameters=sum(tensor.numel() for tensor in self._hyperparameters),
            start=self._flat([tensor.detach() for tensor in self._parameters]),
            **info,
        )

    @staticmethod
    def _flat(tensors: Sequence[torch.Tensor]) -> Any:
        return torch.cat([tensor.reshape(-1) for tensor in tensors]).to(torch.float64).cpu().numpy().copy()

    @staticmethod
    def _spread(values: Any, like: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        parts, begin = [], 0
        for tensor in like:
            part = torch.from_numpy(np.ascontiguousarray(values[begin : begin + tensor.numel()]))
            parts.append(part.to(dtype=tensor.dtype, device=tensor.device).reshape(tensor.shape))
            begin += tensor.numel()
        return parts

    def set(self, w: Any, lam: Any) -> None:
        """Puts weights and hyperparameters into the tensors that the closures read."""
        with torch.no_grad():
            for values, tensors in ((w, self._parameters), (lam, self._hyperparameters)):
                for tensor, value in zip(tensors, self._spread(values, tensors)):
                    tensor.copy_(value)

    def put(self, solved: Any) -> None:
        """Puts the weights and hyperparameters of an answer into the tensors."""
        self.set(solved.weights, solved.lambda_)

    def _gradient(self, loss: Any, tensors: list[torch.Tensor], create_graph: bool = False) -> list[torch.Tensor]:
        found = torch.autograd.grad(loss, tensors, create_graph=create_graph, allow_unused=True)
        return [torch.zeros_like(tensor) if part is None else part for part, tensor in zip(found, tensors)]

    def train_loss(self, w: Any, lam: Any) -> float:
        self.set(w, lam)
        with torch.no_grad():
            return float(self._train())

    def validation_loss(self, w: Any, lam: Any) -> float:
        self.set(w, lam)
        with torch.no_grad():
            return float(self._validation())

    def train_gradient(self, w: Any, lam: Any) -> Any:
        self.set(w, lam)
        return self._flat(self._gradient(self._train(), self._parameters))

    def validation_gradient(self, w: Any, lam: Any) -> Any:
        self.set(w, lam)
        return self._flat(self._gradient(self._validation(), self._parameters))

    def train_gradient_lambda(self, w: Any, lam: Any) -> Any:
        self.set(w, lam)
        return self._flat(self._gradient(self._train(), self._hyperparameters))

    def validation_gradient_lambda(self, w: Any, lam: Any) -> Any:
        if not self.validation_depends_on_lambda:
            return np.zeros(self.hyperparameters)
        self.set(w, lam)
        return self._flat(self._gradient(self._validation(), self._hyperparameters))

    def _second(self, loss: Any, direction: Any, of: list[torch.Tensor]) -> Any:
        """∂/∂of of ∇_w loss · direction."""
        gradient = self._gradient(loss, self._parameters, create_graph=True)
        parts = self._spread(direction, self._parameters)
        product = sum((g * p).sum() for g, p in zip(gradient, parts) if g.requires_grad)
        if not isinstance(product, torch.Tensor):  # the loss is linear in the weights
            return np.zeros(sum(tensor.numel() for tensor in of))
        return self._flat(self._gradient(product, of))

    def hessian_product(self, w: Any, lam: Any, p: Any) -> Any:
        self.set(w, lam)
        return self._second(self._train(), p, self._parameters)

    def validation_hessian_product(self, w: Any, lam: Any, p: Any) -> Any:
        self.set(w, lam)
        return self._second(self._validation(), p, self._parameters)

    def cross_product_transposed(self, w: Any, lam: Any, p: Any) -> Any:
        self.set(w, lam)
        return self._second(self._train(), p, self._hyperparameters)

    def cross_product(self, w: Any, lam: Any, q: Any) -> Any:
        self.set(w, lam)
        gradient = self._gradient(self._train(), self._hyperparameters, create_graph=True)
        parts = self._spread(q, self._hyperparameters)
        product = sum((g * part).sum() for g, part in zip(gradient, parts) if g.requires_grad)
        if not isinstance(product, torch.Tensor):
            return np.zeros(self.weights)
        return self._flat(self._gradient(product, self._parameters))


def problem(
    train_loss: Callable[[], torch.Tensor],
    validation_loss: Callable[[], torch.Tensor],
    parameters: Any,
    hyperparameters: Any,
    *,
    bounds: Any = None,
    has_penalties: bool = False,
    validation_depends_on_lambda: bool = False,
) -> TorchProblem:
    """A problem of two closures that read tensors; gradients, Hessian and cross products come from autograd.

    Parameters
    ----------
    train_loss, validation_loss : callable
        Without arguments: the loss as a tensor, computed from `parameters` and `hyperparameters`. They must give the
        same number for the same tensors: no dropout, and batches that do not change.
    parameters, hyperparameters : iterables of tensors
        Leaves that require gradients, as ``model.parameters()`` gives them. float64 is best: methods look for slopes
        of 0, and float32 leaves them about 1e-3 of noise. Their values are overwritten; weights and hyperparameters
        start from those they have.
    bounds, has_penalties, validation_depends_on_lambda
        As in :class:`yosida.BilevelProblem`.

    Returns
    -------
    TorchProblem
        For :func:`yosida.solve`. Afterwards call its ``put(solved)`` to have the answer in the tensors.
    """
    return TorchProblem(
        train_loss,
        validation_loss,
        list(parameters),
        list(hyperparameters),
        bounds=bounds,
        has_penalties=has_penalties,
        validation_depends_on_lambda=validation_depends_on_lambda,
    )
