from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from actswm.errors import UserError
from actswm.model import Context, WorldModel
from actswm.objective import Batch, Objective, ObjectiveConfig
from actswm.objective.config import (
    ContrastConfig,
    DynamicsConfig,
    HingeConfig,
    ReadoutLossConfig,
    SigregConfig,
)

from ..model.naive import naive_rollout
from ..model.small_models import disturbed, small_config


def batch(frames: int, size: int = 4, place: int = 1) -> Batch:
    generator = torch.Generator().manual_seed(3)
    pixels = torch.randint(0, 255, (size, frames, 16, 16, 3), dtype=torch.uint8, generator=generator)
    actions = torch.rand(size, frames - 1, 56, generator=generator).round()
    begin = torch.arange(size) % 4 + 40 * (torch.arange(size) // 4)  # four windows begin a raw step apart
    rows = begin[:, None] + 4 * torch.arange(frames)
    return Batch(pixels, actions, rows, place)


def test_the_whole_objective_by_hand():
    """Weights, alignment of actions and targets, and the no-op rollout, on a model in evaluation mode."""
    model = disturbed(small_config(4))
    config = ObjectiveConfig(
        horizon=3,
        sigreg=SigregConfig(0.2, projections=50),
        hinge=HingeConfig(0.7, 0.9),
        readout=ReadoutLossConfig(0.3, 0.5),
    )
    objective, windows = Objective(config), batch(7)
    found = objective(model, windows, torch.Generator().manual_seed(9))

    z = model.encode(windows.pixels)
    context = Context(z[:, :4], windows.actions[:, :3])
    future = windows.actions[:, 3:]
    recorded, noop = naive_rollout(model, context, torch.stack([future, 0 * future], 1)).unbind(1)
    prediction = (recorded - z[:, 4:]).square().mean()
    hinge = (F.cosine_similarity(recorded, noop, dim=-1) - 0.1).clamp_min(0).mean()
    q = model.readout
    readout = (q(z[:, 3:6], z[:, 4:]) - future).square().mean()
    readout = (
        readout + 0.5 * (q(torch.cat([z[:, 3:4], recorded[:, :2]], 1), recorded) - future).square().mean()
    )
    sigreg = objective.sigreg(z.transpose(0, 1), torch.Generator().manual_seed(9))
    expected = prediction + 0.2 * sigreg + 0.7 * hinge + 0.3 * readout
    torch.testing.assert_close(found.total, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("windows", [1, 2])
def test_what_changes_is_regularised_place_by_place(windows):
    """`dynamics` is SIGReg on latents from which the mean of each place's windows has been taken."""
    model = disturbed(small_config(4))
    objective = Objective(ObjectiveConfig(horizon=3, dynamics=DynamicsConfig(0.4, 0.5)))
    shown = batch(7, place=windows)
    found = objective(model, shown, torch.Generator().manual_seed(9))
    z = model.encode(shown.pixels)
    generator = torch.Generator().manual_seed(9)
    objective.sigreg(z.transpose(0, 1), generator)  # draws its directions first
    changes = torch.cat([(part - part.mean((0, 1))) / 0.5 for part in z.split(windows)])
    expected = objective.sigreg(changes.transpose(0, 1), generator)
    torch.testing.assert_close(found.terms["dynamics"], expected)


@pytest.mark.parametrize(("later", "weight"), [(None, 0.4), (0.1, 0.1)])
def test_the_hinge_can_end_half_way_and_another_weight_begin(later, weight):
    model, windows = disturbed(small_config(4)), batch(7)
    dynamics = DynamicsConfig(weight=0.4, later=later)
    objective = Objective(ObjectiveConfig(horizon=3, hinge=HingeConfig(until=0.5), dynamics=dynamics))
    before, after = (
        objective(model, windows, torch.Generator().manual_seed(1), progress) for progress in (0.49, 0.5)
    )
    assert "hinge" in before.terms and "hinge" not in after.terms
    weights = {"prediction": 1.0, "sigreg": 0.09, "hinge": 0.5, "readout": 1.0}
    for found, dynamic in ((before, 0.4), (after, weight)):
        total = sum({**weights, "dynamics": dynamic}[name] * term for name, term in found.terms.items())
        torch.testing.assert_close(found.total, total)


def test_rollouts_may_be_joined_by_one_step_predictions_of_the_context():
    model, windows = disturbed(small_config(4)), batch(7)
    config = ObjectiveConfig(horizon=3, one_step=0.5, hinge=HingeConfig(0.0), readout=ReadoutLossConfig(0.0))
    found = Objective(config)(model, windows, torch.Generator().manual_seed(1))
    z = model.encode(windows.pixels)
    expected = (model.predict(z[:, :4], windows.actions[:, :4]) - z[:, 1:5]).square().mean()
    torch.testing.assert_close(found.terms["one_step"], expected)
    total = found.terms["prediction"] + 0.5 * expected + 0.09 * found.terms["sigreg"]
    torch.testing.assert_close(found.total, total)


@pytest.mark.parametrize(("among", "twins"), [("batch", False), ("place", False), ("batch", True)])
def test_contrast_by_hand(among, twins):
    """One step from every position and rollouts, each among all frames of the batch, or of two windows of a place.

    Of twins, predictions of one window have to pick the frames of the other.
    """
    model = disturbed(small_config(4, {"window": "grow", "positions": 6, "residual": True}))
    windows = batch(7, place=2)
    if twins:  # the third window's partner shows other moments
        windows = replace(windows, moments=windows.rows[[0, 0, 2, 3]])
    config = ObjectiveConfig(
        horizon=3,
        prediction=0.3,
        one_step=0.2,
        contrast=ContrastConfig(0.6, among, temperature=0.4, near=1),
        hinge=HingeConfig(0.0),
        readout=ReadoutLossConfig(0.0),
    )
    found = Objective(config)(model, windows, torch.Generator().manual_seed(1))
    z = model.encode(windows.pixels)
    one_step = model.predict(z[:, :6], windows.actions)
    rollout = naive_rollout(model, Context(z[:, :4], windows.actions[:, :3]), windows.actions[:, None, 3:])[:, 0]

    def cross_entropy(predicted, first):
        shown = windows.moments if twins else windows.rows
        keys, rows = z.flatten(0, 1).detach().double().numpy(), shown.flatten().numpy()
        losses = []
        for b in range(4):
            for k, prediction in enumerate(predicted[b].detach().double().numpy()):
                own = (1 - b if twins and b < 2 else b) * 7 + first + k
                logits = -((prediction - keys) ** 2).mean(1) / 0.4
                others = np.abs(rows - rows[own]) > 1
                if among == "place":
                    others &= np.arange(28) // 14 == own // 14
                others[own] = True
                losses.append(np.log(np.exp(logits[others]).sum()) - logits[own])
        return np.mean(losses)

    expected = {"contrast": cross_entropy(one_step, 1), "rollout_contrast": cross_entropy(rollout, 4)}
    for name, value in expected.items():
        assert found.terms[name].item() == pytest.approx(value, rel=1e-5)
    squared = 0.2 * (one_step - z[:, 1:]).square().mean() + 0.3 * (rollout - z[:, 4:]).square().mean()
    total = squared + 0.6 * sum(expected.values()) + 0.09 * found.terms["sigreg"]
    torch.testing.assert_close(found.total, total.float())


def test_rollouts_begin_when_they_are_due():
    model, windows = disturbed(small_config(4)), batch(7)
    objective = Objective(ObjectiveConfig(horizon=3, rollout_from=0.4, one_step=1.0))
    before, after = (objective(model, windows, progress=progress).terms for progress in (0.39, 0.4))
    assert set(before) == {"sigreg", "one_step"}
    assert set(after) == {"sigreg", "one_step", "prediction", "hinge", "readout"}


def test_a_fixed_encoder_stays_and_the_predictor_goes_on():
    torch.manual_seed(0)
    model, windows = WorldModel(small_config(4)).train(), batch(7, 8)
    objective = Objective(ObjectiveConfig(horizon=3, fixed_from=0.5, fixed_weight=4.0, one_step=0.5))
    parts = {"encoder": model.encoder, "projector": model.projector, "predictor": model.predictor}
    for progress, moving in ((0.4, set(parts)), (0.5, {"predictor"})):
        before = {name: [b.clone() for b in part.buffers()] for name, part in parts.items()}
        model.zero_grad()
        found = objective(model, windows, torch.Generator().manual_seed(1), progress)
        found.total.backward()
        assert {n for n, part in parts.items() if any(p.grad is not None for p in part.parameters())} == moving
        same = all(map(torch.equal, before["projector"], model.projector.buffers()))
        assert same == ("projector" not in moving), "running averages"
        assert model.projector.training and model.encoder.training
    terms = found.terms
    total = 4 * terms["prediction"] + 2 * terms["one_step"] + 0.5 * terms["hinge"] + terms["readout"]
    torch.testing.assert_close(found.total, total)
    with torch.no_grad():
        torch.testing.assert_close(found.latents, model.eval().encode(windows.pixels))


def test_one_step_training_predicts_every_position():
    model = disturbed(small_config(4))
    config = ObjectiveConfig(rollout=False, hinge=HingeConfig(weight=0), readout=ReadoutLossConfig(weight=0))
    objective, windows = Objective(config), batch(5)
    found = objective(model, windows, torch.Generator().manual_seed(1))
    z = model.encode(windows.pixels)
    expected = (model.predict(z[:, :4], windows.actions) - z[:, 1:]).square().mean()
    torch.testing.assert_close(found.terms["prediction"], expected)
    assert set(found.terms) == {"prediction", "sigreg"}


def test_a_term_that_would_be_left_out_is_refused():
    with pytest.raises(UserError, match="hinge, readout would be left out"):
        Objective(ObjectiveConfig(rollout=False))
    with pytest.raises(UserError, match="no alternatives"):
        HingeConfig(weight=0.5, alternatives=[])


@pytest.mark.parametrize("term", ["hinge", "readout"])
def test_each_term_can_be_switched_off(term):
    config = ObjectiveConfig(horizon=3)
    getattr(config, term).weight = 0.0
    assert term not in Objective(config)(disturbed(small_config(4)), batch(7)).terms


@pytest.mark.parametrize("trainable", [False, True])
def test_the_frozen_readout_stays_while_gradients_pass_through_it(trainable):
    """`idm.stop_grad=true`: parameters out of the optimiser, inputs not detached."""
    config = small_config(4)
    config.readout.trainable = trainable
    torch.manual_seed(0)
    model = WorldModel(config).train()
    before = {name: value.clone() for name, value in model.readout.state_dict().items()}
    objective = Objective(ObjectiveConfig(horizon=3))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    for _ in range(3):
        optimizer.zero_grad()
        losses = objective(model, batch(7, 8))
        losses.total.backward(retain_graph=True)
        optimizer.step()
    same = all(torch.equal(before[name], value) for name, value in model.readout.state_dict().items())
    assert same != trainable

    readout = objective(model, batch(7, 8)).terms["readout"]
    encoder, predictor = model.encoder.out.weight, model.predictor.blocks[0].expand.weight
    for gradient in torch.autograd.grad(readout, [encoder, predictor]):
        assert gradient.abs().max() > 0
