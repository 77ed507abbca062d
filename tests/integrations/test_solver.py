"""Our models under stable-worldmodel's CEM solver, and its LeWM under our engine."""

import re
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest
import torch
from torch import nn

from actswm.errors import UserError
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


BOX, KEYS = gym.spaces.Box(-10, 10, (2, 14)), gym.spaces.Discrete(14)
SOLVERS = {
    "CEMSolver": (BOX, {"num_samples": 64, "n_steps": 6, "topk": 8}),
    "ICEMSolver": (BOX, {"num_samples": 64, "n_steps": 6, "topk": 8}),
    "MPPISolver": (BOX, {"num_samples": 64, "n_steps": 6, "topk": 8}),
    "PredictiveSamplingSolver": (BOX, {"num_samples": 64}),
    "GradientSolver": (BOX, {"n_steps": 6, "num_samples": 4, "optimizer_kwargs": {"lr": 0.01}}),
    "LagrangianSolver": (BOX, {"n_steps": 4, "num_samples": 4, "optimizer_kwargs": {"lr": 0.01}}),
    "PGDSolver": (KEYS, {"n_steps": 4, "num_samples": 4}),
    "CategoricalCEMSolver": (KEYS, {"num_samples": 64, "n_steps": 6, "topk": 8}),
}


def planner(name, model, block=4):
    space, options = SOLVERS[name]
    solver = getattr(peer("solver"), name)(model, **options)
    config = peer("policy").PlanConfig(horizon=4, receding_horizon=1, action_block=block)
    solver.configure(action_space=space, n_envs=2, config=config)
    return solver


@pytest.mark.parametrize("name", SOLVERS)
def test_their_solvers_improve_our_plans(name):
    lewm = make_lewm(depth=1)  # skips where the peer is absent
    del lewm
    assert set(SOLVERS) == {each for each in peer("solver").__all__ if each != "Solver"}
    torch.manual_seed(0)
    model = SolverModel(disturbed(small_config()))
    solver = planner(name, model)
    info = {name: torch.randint(0, 255, (2, 1, 3, 16, 16), dtype=torch.uint8) for name in ("pixels", "goal")}
    found = solver.solve(dict(info))["actions"]
    if name in ("PGDSolver", "CategoricalCEMSolver"):
        assert found.shape[:2] == (2, 4) and found.min() >= 0
        found = nn.functional.one_hot(found.long(), 14).flatten(2).float() if found.shape[2] == 4 else found
    assert found.shape == (2, 4, 56)

    def cost(actions):
        return model.get_cost({name: part.unsqueeze(1) for name, part in info.items()}, actions.unsqueeze(1))

    with torch.no_grad():
        if SOLVERS[name][0] is KEYS:  # nothing at all is no choice here: one key a raw step
            choices = nn.functional.one_hot(torch.randint(14, (64, 2, 4, 4)), 14).flatten(3).float()
            ordinary = torch.stack([cost(choice) for choice in choices]).mean(0)
        else:
            ordinary = cost(torch.zeros_like(found))
        assert (cost(found) < ordinary).all()
    assert all(parameter.grad is None for parameter in model.parameters()), "plans leave the model alone"


@pytest.mark.parametrize(("encoding", "block", "right"), [("sliding", 4, 1), ("block", 1, 4)])
def test_a_wrong_action_block_is_refused(encoding, block, right):
    make_lewm(depth=1)
    model = SolverModel(disturbed(small_config(encoding=encoding)))
    info = {name: torch.zeros(2, 1, 3, 16, 16, dtype=torch.uint8) for name in ("pixels", "goal")}
    with pytest.raises(UserError, match=rf"action_block={right}\)"):
        planner("CEMSolver", model, block).solve(dict(info))
    assert planner("CEMSolver", model, right).solve(dict(info))["actions"].shape == (2, 4, 14 * right)


def test_only_what_is_offered_is_claimed():
    """Their next version's `Dynamics` asks for `encode` and `rollout` of its own signature."""
    model = SolverModel(disturbed(small_config()))
    assert not hasattr(model, "rollout") and not hasattr(model, "encode")
    assert callable(model.get_cost) and callable(model.criterion)


def test_the_documented_snippet_runs_without_torchvision(tmp_path):
    make_lewm(depth=1)
    text = (Path(__file__).parents[2] / "docs" / "planning.md").read_text()
    (block,) = [part for part in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "peer(" in part]
    done = subprocess.run(
        [sys.executable, "-c", f"{block}\nassert plan.shape == (1, 4, 56)"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
