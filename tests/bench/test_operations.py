"""The operations that an iteration is said to need are those that a rollout of one plan makes."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from actswm.bench.operations import needed_operations
from actswm.bench.planning import Problem, engine_costs
from actswm.model import WorldModel
from actswm.training.config import load_config


def _problem(model: WorldModel, plans: int) -> Problem:
    torch.manual_seed(0)
    frames, size = model.context_length, model.config.image_size
    pixels = torch.randint(0, 255, (1, frames + 1, size, size, 3), dtype=torch.uint8)
    history = torch.randn(1, frames - 1, model.encoding.step_dim)
    return Problem(pixels[:, :-1], pixels[:, -1:], history, torch.randint(4, (plans, 5)))


def _model(window: str) -> WorldModel:
    config = load_config("small/lewm-rollout").model
    torch.manual_seed(0)
    model = WorldModel(replace(config, predictor=replace(config.predictor, window=window))).eval()
    for parameter in model.parameters():
        parameter.data.add_(0.03 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize("window", ["slide", "grow"])
def test_needed_operations_are_those_of_one_rollout(window: str) -> None:
    model = _model(window)
    problem = _problem(model, 1)
    with torch.no_grad(), FlopCounterMode(display=False) as counted:
        engine_costs.__wrapped__(model, problem)
    needed = needed_operations(model, problem)
    # the rest: action features, and products whose result a mask takes away
    assert 0.9 * counted.get_total_flops() < needed < 1.02 * counted.get_total_flops()


def test_a_growing_window_needs_less() -> None:
    slide, grow = _model("slide"), _model("grow")
    assert needed_operations(grow, _problem(grow, 16)) < needed_operations(slide, _problem(slide, 16))
