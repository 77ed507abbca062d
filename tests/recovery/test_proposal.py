import numpy as np
import pytest
import torch

from actswm.controls import KEYS14
from actswm.data import sample_windows
from actswm.errors import UserError
from actswm.recovery.idm_training import IdmTraining
from actswm.recovery.metrics import balanced_difference, score
from actswm.recovery.motion_training import train_motion_idm
from actswm.recovery.proposal import Proposal, propose
from actswm.recovery.proposal_search import ProposalSearch, ProposalSettings, chosen_weights, combined
from actswm.recovery.steps import step_actions
from actswm.recovery.windows import Case

from .panning import write_panning_file
from .test_motion_idm import CONFIG
from .worlds import MadeWorld, key_presses, made_pool

BINARY = KEYS14.binary


def guess(actions: np.ndarray, rng: np.random.Generator) -> Proposal:
    """Right in 70 % of presses, and says so."""
    right = np.where(rng.random(actions.shape) < 0.7, actions, 1 - actions)
    probability = np.where(right > 0.5, 0.7, 0.3).astype(np.float32)
    return Proposal(probability, right.astype(np.float32), np.ones((len(actions), 4, 14), np.float32))


def judged(world: MadeWorld, windows: int, seed: int, steps: int = 5):
    """Windows of the made world, proposals of their actions, and what the world makes of them."""
    rng = np.random.default_rng(seed)
    pool = made_pool()
    actions = pool.pool[rng.integers(len(pool.pool), size=(windows, steps))]
    search = ProposalSearch(world, pool, ProposalSettings(candidates=400, continuations=2, window=2))
    proposals, evidence = [], []
    for index in range(windows):
        context = world.context()
        done = step_actions(torch.from_numpy(actions[index]), world.encoding)
        future = MadeWorld(seed=0).rollout(context, done[None, None])
        proposals.append(guess(actions[index], rng))
        evidence.append(search.evidence(Case(context, future[0, 0]), proposals[-1], index))
    return actions, proposals, evidence


def labels(proposals, evidence, weights):
    found = np.stack([combined(one, each, weights, BINARY) for one, each in zip(proposals, evidence)])
    return (found > 0.5).astype(np.float32)


@pytest.mark.parametrize("kind", ["sliding", "block"])
def test_a_world_that_listens_puts_the_proposal_right(kind):
    world = MadeWorld(kind=kind)
    weights, losses = chosen_weights(*judged_parts(world, 6, 1), BINARY)
    assert (weights > 0).all() and losses.shape == (9, 14)
    actions, proposals, evidence = judged(world, 4, 2)
    alone = np.stack([one.decided for one in proposals])
    both = labels(proposals, evidence, weights)
    assert score(alone, actions, KEYS14).key_accuracy.mean < 0.75
    assert score(both, actions, KEYS14).key_accuracy.mean > 0.9
    gained = balanced_difference(both, alone, actions, KEYS14)
    assert gained["all"].low > 0.1 and set(gained) == {"all", *KEYS14.names}


def test_a_blind_world_gets_no_say():
    world = MadeWorld(blind=True)
    actions, proposals, evidence = judged(world, 6, 1)
    weights, _ = chosen_weights(proposals, evidence, actions, BINARY)
    assert not weights.any()
    heavy = [combined(one, each, np.full(14, 8.0), BINARY) for one, each in zip(proposals, evidence)]
    assert np.allclose(heavy, [one.probability for one in proposals], atol=1e-5), "a blind world says nothing at all"


def judged_parts(world, windows, seed):
    actions, proposals, evidence = judged(world, windows, seed)
    return proposals, evidence, actions


def test_without_weight_the_proposal_stays_as_it_is():
    _, proposals, evidence = judged(MadeWorld(), 2, 3)
    for one, each in zip(proposals, evidence):
        assert np.array_equal(combined(one, each, np.zeros(14), BINARY), one.probability)


def test_the_odds_are_those_of_counting_candidates_by_hand():
    _, [proposal], [evidence] = judged(MadeWorld(), 1, 4)
    step, control, weight = 2, 3, 0.5
    mass = np.exp(evidence.prior[step]) * np.exp(-weight * evidence.errors[step]).mean(-1)
    blind, down = np.exp(evidence.prior[step]), evidence.vectors[step, :, control] > 0.5
    before = proposal.probability[step, control]
    odds = before / (1 - before) * (mass[down].sum() / mass[~down].sum()) / (blind[down].sum() / blind[~down].sum())
    found = combined(proposal, evidence, np.full(14, weight), BINARY)[step, control]
    assert found == pytest.approx(odds / (1 + odds), rel=1e-5)


def test_a_key_is_down_when_the_idm_sees_it_down():
    raw = np.ones((2, 4, 14), np.float32)
    raw[1, :, 0] = [0, 0, 1, 1]
    proposal = Proposal(np.full((2, 14), 0.5, np.float32), np.zeros((2, 14), np.float32), raw)
    pressed = torch.from_numpy(np.stack([KEYS14.action(["W", "A"])] * 2)).float()
    block = proposal.step_actions(pressed, 0, MadeWorld(kind="block").encoding).reshape(2, 4, 14)
    assert block[0, :, :2].all() and block[1, :, 0].tolist() == [0, 0, 1, 1] and block[1, :, 1].all()
    assert not block[..., 2:].any()
    assert torch.equal(proposal.step_actions(pressed, 0, MadeWorld().encoding), pressed)
    assert torch.equal(proposal.step_actions(pressed[1:], 1, MadeWorld(kind="block").encoding)[0], block[1].flatten())


def test_proposals_of_a_trained_idm_are_its_own_labels(tmp_path):
    data = write_panning_file(tmp_path / "panning.h5", episodes=10, length=80)
    model, _ = train_motion_idm(data, CONFIG, IdmTraining(20, 8, 4e-3))
    sample = sample_windows(data, 3, horizon=6, context=3, split="all")
    proposals = propose(model, sample)
    assert np.array_equal(np.stack([one.decided for one in proposals]), model.predict(sample))
    assert all(one.raw.shape == (6, 4, 14) and one.raw.any(1).all() for one in proposals)


def test_windows_differ_only_by_their_number():
    rng, world = np.random.default_rng(0), MadeWorld()
    actions = key_presses(rng, 4)
    proposal, case = guess(actions, rng), Case(world.context(), torch.randn(4, 14))
    search = ProposalSearch(world, made_pool(), ProposalSettings(16, 3, 3))
    one, again, other = (search.evidence(case, proposal, index) for index in (0, 0, 1))
    assert np.array_equal(one.errors, again.errors) and not np.array_equal(one.errors, other.errors)
    assert one.vectors.shape == (4, 16, 14) and one.errors.shape == (4, 16, 3)
    with pytest.raises(UserError, match="at least 1"):
        ProposalSettings(window=0)
