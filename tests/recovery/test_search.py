from dataclasses import replace

import numpy as np
import pytest
import torch

from actswm.controls import KEYS14
from actswm.errors import UserError
from actswm.recovery.pool_search import PoolSearch
from actswm.recovery.prior import ActionPrior
from actswm.recovery.search import RecoverySettings, StepwiseSearch, recover

from ..model.small_models import disturbed, random_context, small_config
from .naive import naive_recovery, predict
from .worlds import MadeWorld, key_presses, made_pool

SMALL = RecoverySettings(candidates=24, elites=6, iterations=3)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("kind", ["sliding", "block"])
@pytest.mark.parametrize("frames", [4, 2])  # a full context whose window slides, and one that still grows
def test_equals_algorithm_1_line_by_line(kind, frames):
    model = disturbed(small_config(encoding=kind)).double()
    context = random_context(model, 1, frames, torch.float64)
    target = torch.randn(12, dtype=torch.float64)
    search = StepwiseSearch(model, made_pool(), SMALL, generator())
    found = recover(search, context, target.expand(5, -1))
    naive = naive_recovery(model, context, target, 5, made_pool(), SMALL, generator())
    assert torch.allclose(found.actions, naive, atol=1e-5, rtol=0)
    assert naive.std() > 0.05  # it did search


@torch.no_grad()
def test_costs_are_those_of_the_found_actions():
    model = disturbed(small_config(encoding="sliding")).double()
    context = random_context(model, 1, 4, torch.float64)
    target = torch.randn(12, dtype=torch.float64)
    search = StepwiseSearch(model, made_pool(), SMALL, generator())
    found = recover(search, context, target.expand(3, -1))
    state, buffer = list(context.latents[0]), list(context.actions[0])
    for action, cost in zip(found.actions, found.costs):
        state.append(predict(model, state, buffer, action))
        buffer.append(action)
        assert float(cost) == pytest.approx(float(((state[-1] - target) ** 2).sum()), rel=1e-6)


@pytest.mark.parametrize("clip", [False, True])
def test_only_a_clipped_search_presses_no_more_than_a_whole_key(clip):
    world = MadeWorld()
    context, out_of_reach = world.context(), torch.full((4, KEYS14.size), 30.0)
    search = StepwiseSearch(world, made_pool(), replace(SMALL, clip=clip), generator())
    actions = recover(search, context, out_of_reach).actions
    assert bool(((actions >= 0) & (actions <= 1)).all()) is clip


@pytest.mark.parametrize("kind", ["sliding", "block"])
@pytest.mark.parametrize("window", [1, 2])
def test_invertible_world_gives_all_controls_back(kind, window):
    world = MadeWorld(kind=kind)
    torch.manual_seed(1)
    context, true = world.context(), key_presses(np.random.default_rng(1), 12)
    future = context.latents[0, -1] + (torch.from_numpy(true) @ world.effect).cumsum(0)
    settings = RecoverySettings(1024, 128, 12 if window > 1 else 8)
    search = StepwiseSearch(world, made_pool(), settings, generator())
    found = recover(search, context, future, window=window, observed=future)
    assert np.array_equal(found.actions.numpy() > 0.5, true > 0.5)
    assert found.gain.min() > 0.5


def test_invertible_world_under_the_papers_far_target():
    """One step ahead, the far target and the step's own are the same frame."""
    world = MadeWorld()
    torch.manual_seed(2)
    context, true = world.context(), key_presses(np.random.default_rng(2), 1)
    target = context.latents[0, -1] + torch.from_numpy(true) @ world.effect
    found = recover(StepwiseSearch(world, made_pool(), RecoverySettings(), generator()), context, target)
    assert np.array_equal(found.actions.numpy() > 0.5, true > 0.5)


def test_pool_search_finds_the_exact_action_if_the_pool_has_it():
    world, pool = MadeWorld(), made_pool()
    torch.manual_seed(3)
    context, true = world.context(), pool.pool[7:17]
    future = context.latents[0, -1] + (torch.from_numpy(true) @ world.effect).cumsum(0)
    found = recover(PoolSearch(world, pool), context, future, observed=future)
    assert np.array_equal(found.actions.numpy(), true)


def test_random_draws_come_from_the_pool_and_more_of_them_are_better():
    model = disturbed(small_config(encoding="sliding"))
    context, target, pool = random_context(model, 1, 4), torch.randn(1, 12), made_pool()
    one = PoolSearch(model, pool, 1, generator()).find(context, target)
    many = PoolSearch(model, pool, 5000, generator()).find(context, target)
    everything = PoolSearch(model, pool).find(context, target)
    assert (pool.pool == one.actions.numpy()).all(1).any()
    assert float(everything.costs) == pytest.approx(float(many.costs)) and float(many.costs) < float(
        one.costs
    )


def test_a_blind_world_gains_nothing():
    world = MadeWorld(blind=True)
    context = world.context()
    search = StepwiseSearch(world, made_pool(), RecoverySettings(64, 8, 2), generator())
    found = recover(search, context, torch.randn(4, 14))
    assert found.gain.max() < 1e-5


def test_a_control_never_seen_pressed_can_still_be_found():
    """The floor under sigma: its spread in the pool is 0."""
    world = MadeWorld()
    pool = made_pool().pool.copy()
    pool[:, 3] = 0
    context, true = world.context(), np.zeros((1, 14), np.float32)
    true[0, 3] = 1
    future = context.latents[0, -1:] + torch.from_numpy(true) @ world.effect
    settings = RecoverySettings(1024, 128, 30, sigma_floor=0.1)
    search = StepwiseSearch(world, ActionPrior.of(pool, "made"), settings, generator())
    assert search.find(context, future).actions[0, 3] > 0.5


def test_a_context_keeps_what_the_model_needs():
    model = disturbed(small_config(encoding="sliding"))
    context = random_context(model, 1, 2)
    for _ in range(5):
        context = context.after(torch.randn(1, 1, 12), torch.rand(1, 1, 14), model.context_length)
    assert context.latents.shape == (1, 4, 12) and context.actions.shape == (1, 3 + 3, 14)


@pytest.mark.parametrize(
    "wrong", [{"elites": 2000}, {"iterations": 0}, {"pool_share": 1.5}, {"sigma_floor": 0.0}, {"elites": 0}]
)
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(UserError):
        RecoverySettings(**wrong)
