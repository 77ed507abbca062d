"""Muon for matrices, in the precision that the device is fast in.

torch.optim.Muon always iterates in bfloat16. A processor without units for it emulates them, and the optimiser takes
many times as long as all the rest of a training step. Here a CPU iterates in fp32, whatever its kind.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

MOMENTUM = 0.95
COEFFICIENTS = (3.4445, -4.775, 2.0315)
ITERATIONS = 5
STRETCHES = (3, 2)
"""A matrix much longer than wide is multiplied only this often. Rounding in X X^T grows by a^2 an iteration; the second
stretch begins with a fresh one."""


def orthogonalized(matrix: Tensor) -> Tensor:
    """U p(...p(S)) V^T of a matrix U S V^T (M, N) of Frobenius norm 1, with p(s) = a s + b s^3 + c s^5.

    Five times this polynomial takes every singular value to about 1 (Newton-Schulz). Other norms are made 1 first.
    """
    a, b, c = COEFFICIENTS
    x = matrix.float() if matrix.device.type == "cpu" else matrix.bfloat16()
    wide = x.shape[0] <= x.shape[1]
    x = x if wide else x.T
    x = x / x.norm().clamp(min=1e-7)
    if x.device.type == "cpu" and x.shape[1] >= 2 * x.shape[0]:
        for iterations in STRETCHES:
            x = _factor(x @ x.T, iterations) @ x
    else:
        for _ in range(ITERATIONS):
            gram = x @ x.T
            x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x if wide else x.T


def _factor(gram: Tensor, iterations: int) -> Tensor:
    """By what an X of this X X^T is multiplied in so many iterations: all of them done on the small square."""
    a, b, c = COEFFICIENTS
    product = None
    for left in reversed(range(iterations)):
        step = torch.addmm(gram, gram, gram, beta=b, alpha=c)
        step.diagonal().add_(a)
        product = step if product is None else step @ product
        if left:
            gram = step @ gram @ step
    assert product is not None
    return product


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, orthogonalised; tall matrices step further; decoupled weight decay.

    Its state is called as torch.optim.Muon's, so that earlier checkpoints go on.
    """

    def __init__(self, matrices: Iterable[nn.Parameter], lr: float, weight_decay: float):
        super().__init__(list(matrices), {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):  # type: ignore[no-untyped-def, override]
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, parameter.grad, group["lr"], group["weight_decay"])

    def _move(self, parameter: nn.Parameter, grad: Tensor, rate: float, decay: float) -> None:
        state = self.state[parameter]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(grad)
        momentum = state["momentum_buffer"].lerp_(grad, 1 - MOMENTUM)
        rows, columns = parameter.shape
        parameter.mul_(1 - rate * decay)
        update = orthogonalized(grad.lerp(momentum, MOMENTUM)).to(parameter.dtype)
        parameter.add_(update, alpha=-rate * max(1.0, rows / columns) ** 0.5)
