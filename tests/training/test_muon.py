"""Muon against NumPy, and against torch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from actswm.training.muon import COEFFICIENTS, ITERATIONS, Muon, orthogonalized


@pytest.mark.parametrize("shape", [(8, 24), (24, 8), (16, 16), (16, 600)])
def test_singular_values_go_through_the_polynomial(shape: tuple[int, int]):
    left, values, right = np.linalg.svd(np.random.default_rng(0).normal(size=shape), full_matrices=False)
    values = values * np.logspace(0, -4, len(values))  # gradients are far from round
    matrix = left * values @ right
    values = values / np.linalg.norm(values)
    a, b, c = COEFFICIENTS
    for _ in range(ITERATIONS):
        values = a * values + b * values**3 + c * values**5
    found = orthogonalized(torch.from_numpy(matrix))
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), left * values @ right, atol=1e-4)


def test_steps_and_state_are_those_of_torch_but_for_its_bfloat16():
    torch.manual_seed(0)
    ours = [nn.Parameter(torch.randn(6, 20)), nn.Parameter(torch.randn(20, 6))]
    theirs = [nn.Parameter(value.detach().clone()) for value in ours]
    optimizers = Muon(ours, lr=0.02, weight_decay=0.1), torch.optim.Muon(theirs, lr=0.02, weight_decay=0.1)
    began = [value.detach().clone() for value in ours]
    for _ in range(3):
        for mine, other in zip(ours, theirs, strict=True):
            mine.grad = torch.randn_like(mine)
            other.grad = mine.grad.clone()
        for optimizer in optimizers:
            optimizer.step()
    for mine, other, first in zip(ours, theirs, began, strict=True):
        torch.testing.assert_close(mine - first, other - first, atol=2e-3, rtol=0.05)
        buffers = optimizers[0].state[mine]["momentum_buffer"], optimizers[1].state[other]["momentum_buffer"]
        torch.testing.assert_close(*buffers)


def test_a_parameter_without_a_gradient_stays():
    still = nn.Parameter(torch.ones(3, 4))
    Muon([still], lr=0.1, weight_decay=0.1).step()
    assert torch.equal(still, torch.ones(3, 4))
