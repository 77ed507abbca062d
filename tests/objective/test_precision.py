"""In half precision the model may round, the losses may not."""

import pytest
import torch

from actswm.model import WorldModel
from actswm.objective import Objective, ObjectiveConfig
from actswm.objective.config import ContrastConfig, DynamicsConfig, HingeConfig, SigregConfig
from actswm.objective.contrast import contrast_loss
from actswm.objective.prediction import prediction_loss
from actswm.objective.separation import hinge_loss, truth_hinge_loss
from actswm.objective.sigreg import SIGReg

from ..model.small_models import disturbed, small_config
from .test_objective import batch

HALVES = (torch.float16, torch.bfloat16)


@pytest.mark.parametrize("dtype", HALVES)
def test_sigreg_is_exact_under_autocast(dtype):
    sigreg = SIGReg(projections=64)

    def computed(latents, **autocast):
        latents = latents.clone().requires_grad_()
        with torch.autocast("cpu", dtype, **autocast):
            loss = sigreg(latents, torch.Generator().manual_seed(1))
        return loss.detach(), torch.autograd.grad(loss, latents)[0]

    latents = torch.randn(3, 16, 12, generator=torch.Generator().manual_seed(0))
    for given in (latents, latents.to(dtype)):
        loss, gradient = computed(given)
        exact, exact_gradient = computed(given.float(), enabled=False)
        assert loss.dtype == torch.float32 and torch.equal(loss, exact)
        assert torch.equal(gradient, exact_gradient.to(given.dtype))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("size", [1e-3, 1.0, 300.0])
def test_losses_of_half_latents_are_those_of_the_same_numbers_in_fp32(dtype, size):
    """Latents of 300 are no news to fp16; their squares, of which cosines and distances are made, overflow in it."""
    generator = torch.Generator().manual_seed(0)
    one, two, three = (size * torch.randn(4, 5, 64, generator=generator) for _ in range(3))
    rows, target = torch.arange(20), torch.arange(20).flip(0)
    losses = {
        "hinge": lambda x, y, z: hinge_loss(x, y, 1.5),
        "truth hinge": lambda x, y, z: truth_hinge_loss(x, y, z, 0.3),
        "prediction": lambda x, y, z: prediction_loss(x, y, "sum"),
        "contrast": lambda x, y, z: contrast_loss(x.flatten(0, 1), target, y.flatten(0, 1), rows, 0.1, 0),
    }
    for name, loss in losses.items():
        given = [each.to(dtype).requires_grad_() for each in (one, two, three)]
        exact = loss(*(each.detach().float() for each in given))
        with torch.autocast("cpu", dtype):
            found = loss(*given)
        assert torch.equal(found, exact) and torch.isfinite(found), name
        (1e-3 * found).backward()
        assert all(torch.isfinite(each.grad).all() for each in given if each.grad is not None), name


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("frozen", [False, True])
def test_the_whole_objective_stays_near_fp32(dtype, frozen):
    """Every term and the gradient of the total, through encoder, rollouts and heads that autocast rounds."""
    config = ObjectiveConfig(
        horizon=3,
        one_step=0.5,
        sigreg=SigregConfig(projections=64),
        hinge=HingeConfig(margin=1.0, alternatives=["zero", "shuffled"]),
        dynamics=DynamicsConfig(0.1),
        contrast=ContrastConfig(0.5, near=0),
        fixed_from=0.5,
    )
    objective, windows = Objective(config), batch(7, 8, place=4)

    def computed(**autocast) -> tuple[WorldModel, dict[str, float]]:
        model_config = small_config(4)
        model_config.predictor.dropout = 0.0
        model = disturbed(model_config).train()
        with torch.autocast("cpu", dtype, **autocast):
            losses = objective(model, windows, torch.Generator().manual_seed(9), progress=0.6 if frozen else 0)
        losses.total.backward()
        return model, {name: float(value.detach()) for name, value in losses.terms.items()}

    exact_model, exact = computed(enabled=False)
    model, found = computed()
    assert set(found) == set(exact) and len(exact) >= (5 if frozen else 7)
    tolerance = 0.01 if dtype == torch.float16 else 0.06
    for name, value in exact.items():
        assert found[name] == pytest.approx(value, rel=tolerance, abs=tolerance / 10), name
    gradient, expected = (
        torch.cat([each.grad.flatten() for each in of.parameters() if each.grad is not None])
        for of in (model, exact_model)
    )
    assert torch.cosine_similarity(gradient, expected, dim=0) > 1 - tolerance
