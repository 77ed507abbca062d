"""Every loss term against a few independent lines of NumPy."""

import numpy as np
import pytest
import torch
from scipy.special import erf

from actswm.model.readout import ActionReadout, ReadoutConfig
from actswm.objective.action_readout import readout_loss
from actswm.objective.prediction import prediction_loss
from actswm.objective.separation import hinge_loss, truth_hinge_loss
from actswm.objective.sigreg import SIGReg

RNG = np.random.default_rng(0)


def tensor(*shape):
    return torch.tensor(RNG.normal(size=shape), dtype=torch.float32)


def cosine(x, y):
    return (x * y).sum(-1) / np.linalg.norm(x, axis=-1) / np.linalg.norm(y, axis=-1)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_prediction(reduction):
    predicted, encoded = tensor(5, 4, 7), tensor(5, 4, 7)
    squared = (predicted.numpy() - encoded.numpy()) ** 2
    expected = squared.mean() if reduction == "mean" else squared.sum(-1).mean()
    assert float(prediction_loss(predicted, encoded, reduction)) == pytest.approx(expected, rel=1e-5)


def test_hinge():
    recorded = tensor(5, 4, 7)
    noop = recorded + 0.4 * tensor(5, 4, 7)
    expected = np.maximum(0, cosine(recorded.numpy(), noop.numpy()) - (1 - 0.3)).mean()
    assert expected > 0
    assert float(hinge_loss(recorded, noop, 0.3)) == pytest.approx(expected, rel=1e-5)


def test_hinge_has_no_gradient_between_equal_rollouts():
    same = tensor(2, 3, 6)
    recorded, noop = same.clone().requires_grad_(), same.clone().requires_grad_()
    hinge_loss(recorded, noop, 0.3).backward()
    assert recorded.grad.abs().max() < 1e-6 and noop.grad.abs().max() < 1e-6


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 0.3])
def test_readout(alpha, reduction):
    readout = ActionReadout(ReadoutConfig(hidden=9, scale=1.7), 6, 10)
    encoded, predicted, actions = tensor(3, 5, 6), tensor(3, 4, 6), tensor(3, 4, 10)

    def q(before, after):
        w1, b1, w2, b2 = (p.detach().numpy() for p in readout.parameters())
        hidden = np.concatenate([before, after], -1) @ w1.T + b1
        return (hidden * 0.5 * (1 + erf(hidden / np.sqrt(2)))) @ w2.T + b2

    z, zhat, a = encoded.numpy(), predicted.numpy(), actions.numpy()
    tilde = np.concatenate([z[:, :1], zhat], 1)
    reduce = (lambda x: x.mean()) if reduction == "mean" else (lambda x: x.sum(-1).mean())
    expected = reduce((q(z[:, :-1], z[:, 1:]) - a) ** 2)
    expected += alpha * reduce((q(tilde[:, :-1], tilde[:, 1:]) - a) ** 2)
    found = readout_loss(readout, encoded, predicted, actions, alpha, reduction)
    assert float(found) == pytest.approx(expected, rel=1e-4)


def test_sigreg():
    latents = 1.3 * tensor(3, 20, 6) + 0.2
    sigreg = SIGReg(knots=17, projections=33)
    found = sigreg(latents, torch.Generator().manual_seed(5))

    directions = torch.randn(6, 33, generator=torch.Generator().manual_seed(5)).numpy()
    directions /= np.linalg.norm(directions, axis=0)
    t = np.linspace(0, 3, 17)
    phi = np.exp(-(t**2) / 2)
    weights = np.full(17, 2 * 3 / 16)
    weights[[0, -1]] /= 2
    x = (latents.numpy() @ directions)[..., None] * t  # (T, B, P, knots)
    error = (np.cos(x).mean(1) - phi) ** 2 + np.sin(x).mean(1) ** 2
    expected = (20 * (error * weights * phi).sum(-1)).mean()
    assert float(found) == pytest.approx(expected, rel=1e-5)


def test_sigreg_gradient_equals_autograd():
    latents = tensor(2, 9, 5).double().requires_grad_()
    sigreg = SIGReg(knots=17, projections=7)
    (found,) = torch.autograd.grad(sigreg(latents, torch.Generator().manual_seed(1)), latents)

    directions = torch.randn(5, 7, generator=torch.Generator().manual_seed(1))
    x = (latents.float() @ (directions / directions.norm(dim=0))).unsqueeze(-1) * torch.linspace(0, 3, 17)
    error = (x.cos().mean(1) - sigreg.phi).square() + x.sin().mean(1).square()
    (expected,) = torch.autograd.grad(9 * (error @ sigreg.weights).mean(), latents)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-7)


def test_sigreg_prefers_a_standard_gaussian():
    generator = torch.Generator().manual_seed(0)
    gaussian = torch.randn(1, 4000, 8, generator=generator)
    score = {
        name: float(SIGReg()(z, torch.Generator().manual_seed(1)))
        for name, z in {"gaussian": gaussian, "narrow": 0.3 * gaussian, "shifted": gaussian + 1}.items()
    }
    assert score["gaussian"] < 0.05 * min(score["narrow"], score["shifted"])


def test_truth_hinge():
    truth = tensor(5, 4, 7)
    recorded, other = truth + 0.8 * tensor(5, 4, 7), truth + tensor(5, 4, 7)
    gap = cosine(recorded.numpy(), truth.numpy()) - cosine(other.numpy(), truth.numpy())
    found = float(truth_hinge_loss(recorded, other, truth, 0.3))
    assert found == pytest.approx(np.maximum(0, 0.3 - gap).mean(), rel=1e-5)
    assert float(truth_hinge_loss(truth, -truth, truth, 0.3)) == 0
