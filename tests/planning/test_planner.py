"""Plans in small models: exact costs, context from the first frame on, refusals."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actswm.chunks import load_library
from actswm.controls import KEYS14
from actswm.errors import UserError
from actswm.model.history import encode_frames, observed
from actswm.planning.costs import COSTS
from actswm.planning.planner import Planner, PlanSettings, own_horizon
from actswm.planning.precision import check_precision
from actswm.planning.spaces import ChunkSpace, ControlSpace

from ..model.naive import naive_rollout
from ..model.small_models import disturbed, random_context, small_config

SETTINGS = PlanSettings(horizon=5, candidates=24, iterations=3, batch=7)
FOLLOW = load_library("keys14/follow")


@pytest.mark.parametrize("search", ["categorical", "library-init"])
@pytest.mark.parametrize("cost", ["tracking", "final"])
@pytest.mark.parametrize("encoding", ["block", "sliding"])
def test_a_plans_cost_is_that_of_the_naive_rollout(search, cost, encoding):
    model = disturbed(small_config(encoding=encoding))
    context, goals = random_context(model, 1, 4), torch.randn(5, 12)
    planner = Planner(model, FOLLOW, dataclasses.replace(SETTINGS, search=search, cost=cost))
    plan = planner.plan(context, goals)
    steps = model.encoding.step_actions(plan.raw.reshape(-1, KEYS14.size))
    with torch.no_grad():
        future = naive_rollout(model, context, torch.from_numpy(steps)[None, None])[0, 0]
    assert plan.cost == pytest.approx(float(COSTS[cost](future, goals)), rel=1e-5)
    assert plan.raw.shape == (5, 4, 14) and len(plan.names) == 5


def test_the_best_of_all_plans_is_found():
    """9 chunks, 2 decisions: 81 plans, and one of them is the reference's."""
    model = disturbed(small_config())
    context = random_context(model, 1, 4)
    secret = torch.tensor([[4, 7]])
    space = ChunkSpace(FOLLOW)
    steps = torch.from_numpy(model.encoding.step_actions(space.raw(secret).reshape(1, 8, 14)))
    with torch.no_grad():
        goals = naive_rollout(model, context, steps[None])[0, 0]
    settings = dataclasses.replace(SETTINGS, horizon=2, candidates=128)
    plan = Planner(model, FOLLOW, settings).plan(context, goals)
    assert plan.names == ("turn left", "forward right") and plan.cost < 1e-4


def test_a_growing_window_is_planned_no_further_than_it_grows():
    def horizon(**predictor):
        return own_horizon(disturbed(small_config(4, predictor)))

    assert (horizon(), horizon(window="grow"), horizon(window="grow", positions=20)) == (12, 4, 12)


def test_seed_step_and_batch():
    model = disturbed(small_config())
    context, goals = random_context(model, 1, 4), torch.randn(5, 12)

    def first(**changes):
        return Planner(model, FOLLOW, dataclasses.replace(SETTINGS, iterations=1, **changes))

    plan = first().plan(context, goals)
    assert torch.equal(first().plan(context, goals).found.best, plan.found.best)
    batched = first(batch=24).plan(context, goals).found
    assert torch.equal(batched.best, plan.found.best), "the batch size is no part of the result"
    assert not torch.equal(first().plan(context, goals, step=1).found.elites, plan.found.elites)
    assert not torch.equal(first(seed=1).plan(context, goals).found.elites, plan.found.elites)


def test_a_warm_start_is_never_worse_than_the_shifted_plan():
    model = disturbed(small_config())
    context, goals = random_context(model, 1, 4), torch.randn(5, 12)
    planner = Planner(model, FOLLOW, SETTINGS)
    previous = planner.plan(context, goals)
    shifted = torch.cat([previous.found.best[1:], previous.found.best[-1:]])
    with torch.no_grad():
        known = float(planner.cost(context, goals)(shifted[None]))
    hasty = Planner(model, FOLLOW, dataclasses.replace(SETTINGS, candidates=1, iterations=1))
    assert hasty.plan(context, goals, 1, previous).cost == pytest.approx(known, rel=1e-6)


@pytest.mark.parametrize("search", ["categorical", "library-init"])
def test_the_references_own_keys_are_left_only_for_a_cheaper_plan(search):
    model = disturbed(small_config())
    context, goals = random_context(model, 1, 4), torch.randn(5, 12)
    wanted = ["forward", "forward", "turn left", "forward right", "turn left"]
    raw = np.stack([FOLLOW[name].steps for name in wanted])

    def plan(margin, **changes):
        planner = Planner(
            model, FOLLOW, dataclasses.replace(SETTINGS, search=search, begin="reference", margin=margin, **changes)
        )
        keys = planner.space.plan(raw)
        assert np.array_equal(planner.space.raw(keys), raw), "chunks of the library are found again"
        with torch.inference_mode():
            return planner.plan(context, goals, keys=keys), float(planner.cost(context, goals)(keys[None]))

    free, own = plan(0.0)
    assert free.cost < own and free.names != tuple(wanted)
    bold, _ = plan(0.9 * (1 - free.cost / own))
    assert bold.names == free.names, "it pays by more than the margin"
    kept, _ = plan(1.1 * (1 - free.cost / own))
    assert kept.names == tuple(wanted) and kept.cost == pytest.approx(own, rel=1e-6)
    hasty, _ = plan(0.0, candidates=1, iterations=1)
    assert hasty.names == tuple(wanted), "they are tried first"


def test_bf16_plans_cost_as_little():
    model = disturbed(small_config())
    context, goals = random_context(model, 1, 4), torch.randn(5, 12)
    check = check_precision(model, FOLLOW, dataclasses.replace(SETTINGS, candidates=128), context, goals)
    assert model.dtype is torch.float32, "the model itself stays as it is"
    assert check.cost_ratio == pytest.approx(1, abs=0.01) and 0.9 < check.reseeded_ratio < 1.1
    assert 0.7 < check.elite_overlap <= 1


@settings(max_examples=20)
@given(st.integers(1, 9), st.sampled_from(["block", "sliding"]))
def test_history_is_filled_up_with_the_first_frame_and_no_ops(count, encoding):
    model = disturbed(small_config(4, encoding=encoding))
    rng = np.random.default_rng(count)
    frames = rng.integers(0, 255, (count, 16, 16, 3), dtype=np.uint8)
    raw = (rng.random((count - 1, 4, 14)) < 0.5).astype(np.float32)
    context = observed(model, None, None, frames[0])
    for frame, actions in zip(frames[1:], raw):
        context = observed(model, context, actions, frame)
    filled = np.concatenate([frames[:1].repeat(4, 0), frames])[-4:]
    assert torch.allclose(context.latents[0], encode_frames(model, filled), atol=1e-5)
    lead = model.encoding.lead
    steps = model.encoding.step_actions(np.concatenate([np.zeros((8, 4, 14)), raw]).reshape(-1, 14))
    assert np.array_equal(context.actions[0], steps[len(steps) - (lead + 3) :])


@pytest.mark.parametrize("name", ["minecraft/build-pillar", "minecraft/mine-stone", "keys14/follow"])
def test_controls_of_a_library_rebuild_its_chunks(name):
    library = load_library(name)
    space = ControlSpace(library)
    start = space.start(3)
    assert np.array_equal(space.raw(start.values[:, None])[:, 0], library.steps)
    assert space.names(start.values) == library.names
    refitted = start.refit(start.sample(64, torch.Generator().manual_seed(0)))
    raw = space.raw(refitted.sample(64, torch.Generator().manual_seed(0)))
    assert (raw.max((0, 1, 2)) <= library.steps.max((0, 1))).all(), "no unused control, no faster turn"
    assert (raw.min((0, 1, 2)) >= library.steps.min((0, 1))).all()
    if name != "minecraft/build-pillar":
        assert (raw == raw[:, :, :1]).all(), "controls that chunks hold are held"


def test_what_does_not_fit_is_refused():
    model = disturbed(small_config())
    with pytest.raises(UserError, match=r"knows the controls of 'keys14'.*speaks 'minecraft'"):
        Planner(model, load_library("minecraft/mine-stone"), SETTINGS)
    skipping = disturbed(small_config(frameskip=2))
    with pytest.raises(UserError, match="steps 2 raw steps at a time"):
        Planner(skipping, FOLLOW, SETTINGS)
    for wrong in ({"search": "grid"}, {"cost": "cosine"}, {"precision": "fp8"}, {"horizon": 0}):
        with pytest.raises(UserError):
            Planner(model, FOLLOW, dataclasses.replace(SETTINGS, **wrong))
