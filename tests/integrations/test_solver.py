"""Our models under stable-worldmodel's CEM solver, and its LeWM under our engine."""

import gymnasium as gym
import numpy as np
import pytest
import torch

from actswm.integrations.stable_worldmodel import SolverModel, lewm_to_world_model, peer

from ..model.small_models import disturbed, small_config
from .lewm import make_lewm
from .test_lewm_parity import as_peer_sees, pixels


@pytest.fixture(scope="module")
def pair():
    theirs = make_lewm()
    return theirs, SolverModel(lewm_to_world_model(theirs.state_dict(), vocabulary="keys14", frameskip=4))


def case(frames: int, samples: int = 5, horizon: int = 6, shared: bool = True):
    """The `info` of one environment, and candidates in the published version's form."""
    torch.manual_seed(frames)
    context, goal = as_peer_sees(pixels(1, frames)), as_peer_sees(pixels(1, 1))
    candidates = torch.randn(1, samples, frames - 1 + horizon, 56)
    if shared:
        candidates[:, :, : frames - 1] = candidates[:, :1, : frames - 1]

    def info():
        expanded = {"pixels": context, "goal": goal, "action": torch.zeros(1, frames, 56)}
        return {
            name: part.unsqueeze(1).expand(1, samples, *part.shape[1:]) for name, part in expanded.items()
        }

    return info, candidates


@torch.no_grad()
@pytest.mark.parametrize("frames", [1, 3])
@pytest.mark.parametrize("shared", [True, False])
def test_costs_equal_those_of_their_evaluator(pair, frames, shared):
    theirs, ours = pair
    info, candidates = case(frames, shared=shared)
    expected = theirs.get_cost(info(), candidates)
    assert torch.allclose(ours.get_cost(info(), candidates), expected, rtol=1e-4)
    assert expected.std() > 1e-3, "candidates that all cost the same prove nothing"


@torch.no_grad()
def test_history_may_come_apart_as_in_their_next_version(pair):
    _, ours = pair
    info, candidates = case(3)
    apart = info() | {"action_history": candidates[:, :, :2]}
    assert torch.allclose(ours.get_cost(apart, candidates[:, :, 2:]), ours.get_cost(info(), candidates))


def test_their_cem_solver_improves_our_plans():
    lewm = make_lewm(depth=1)  # skips where the peer is absent
    del lewm
    torch.manual_seed(0)
    model = SolverModel(disturbed(small_config()))
    solver = peer("solver.cem").CEMSolver(model, num_samples=64, n_steps=6, topk=8)
    config = peer("policy").PlanConfig(horizon=4, receding_horizon=1, action_block=4)
    space = gym.spaces.Box(-np.inf, np.inf, (2, 14))
    solver.configure(action_space=space, n_envs=2, config=config)
    info = {name: torch.randint(0, 255, (2, 1, 3, 16, 16), dtype=torch.uint8) for name in ("pixels", "goal")}
    found = solver.solve(dict(info))["actions"]
    assert found.shape == (2, 4, 56)

    def cost(actions):
        return model.get_cost({name: part.unsqueeze(1) for name, part in info.items()}, actions.unsqueeze(1))

    with torch.no_grad():
        assert (cost(found) < cost(torch.zeros_like(found))).all()
