import numpy as np
import pytest
import torch

from actswm.data import sample_windows
from actswm.data.loader import sampled_windows
from actswm.errors import UserError
from actswm.recovery.baselines import blind_baselines
from actswm.recovery.metrics import score
from actswm.recovery.prior import ActionPrior, made_prior, training_prior
from actswm.recovery.protocol import Recovery, RecoveryOptions, final_costs, run_protocol
from actswm.recovery.search import RecoverySettings
from actswm.recovery.steps import held_raw, step_actions, step_vectors
from actswm.recovery.windows import load_case, truth_of

from ..model.naive import naive_rollout
from ..model.small_models import disturbed, small_config
from .worlds import MadeWorld

QUICK = RecoverySettings(candidates=64, elites=8, iterations=3)


@pytest.fixture(scope="module")
def setting(square_file):
    model = disturbed(small_config(context=3, image_size=32, encoding="sliding"))
    sample = sample_windows(square_file, 3, horizon=5, context=4)
    return model, sample, truth_of(sample, model.encoding), training_prior(square_file, model.encoding)


@pytest.mark.parametrize("target", ["far", "every-step", "joint"])
@pytest.mark.parametrize("kind", ["sliding", "block"])
def test_every_target_runs_on_both_encodings_and_repeats(setting, target, kind):
    _, sample, truth, prior = setting
    model = disturbed(small_config(context=3, image_size=32, encoding=kind))
    options = RecoveryOptions(QUICK, target=target, joint_window=2)
    one, two = (run_protocol(model, sample, truth, prior, options) for _ in range(2))
    assert one.actions.shape == (3, 5, 14) and np.array_equal(one.actions, two.actions)
    if target == "far":  # the others do not aim at the frame that the gap is measured at
        assert one.gap.mean > 0 and one.verdict is None


def test_costs_are_those_of_a_naive_rollout(setting):
    model, sample, truth, prior = setting
    found = run_protocol(model, sample, truth, prior, RecoveryOptions(QUICK))
    for index in range(3):
        case = load_case(sampled_windows(sample, model), model, index)
        actions = torch.from_numpy(found.actions[index])[None, None]
        with torch.no_grad():
            last = naive_rollout(model, case.context, actions)[0, 0, -1]
        assert found.cem[index] == pytest.approx(float((last - case.future[-1]).square().sum()), rel=1e-3)


def test_a_window_does_not_depend_on_its_neighbours(setting):
    model, sample, truth, prior = setting
    everything = run_protocol(model, sample, truth, prior, RecoveryOptions(QUICK))
    first = sample.first(1)
    alone = run_protocol(model, first, truth, prior, RecoveryOptions(QUICK))
    assert np.array_equal(alone.actions[0], everything.actions[0])


def test_a_blind_world_shows_no_gap_and_the_report_says_so(setting):
    _, sample, truth, prior = setting
    found = run_protocol(MadeWorld(blind=True), sample, truth, prior, RecoveryOptions(QUICK))
    assert abs(found.gap.mean) < 1e-5 and found.gap.low <= 0 <= found.gap.high + 1e-5
    assert "nothing can be recovered" in (found.verdict or "")


def test_a_search_no_better_than_chance_is_called_so():
    costs = np.array([4.0, 5.0, 6.0])
    nothing = np.zeros((3, 1, 14), np.float32), np.zeros((3, 1), np.float32)
    worse = Recovery(*nothing, costs, costs + [0.5, -0.5, 0.1], np.ones(3), costs)
    better = Recovery(*nothing, costs, costs + 1, np.ones(3), costs)
    assert "no nearer" in (worse.verdict or "") and better.verdict is None
    assert better.gap.mean == pytest.approx(1)
    assert better.relative_gap.mean == pytest.approx(np.mean(1 / (costs + 1)))


def test_the_pool_search_is_the_best_of_the_pool(setting):
    model, sample, truth, prior = setting
    options = RecoveryOptions(QUICK, method="pool", target="every-step")
    found = run_protocol(model, sample, truth, prior, options)
    pool = {tuple(row) for row in prior.pool.tolist()}
    assert all(tuple(row) in pool for row in found.actions.reshape(-1, 14).tolist())


def test_guides(setting):
    *_, truth, prior = setting
    oracle = prior.for_window("gt-dist", truth.actions[0])
    assert np.allclose(oracle.mean, truth.actions[0].mean(0)) and "oracle" in oracle.origin
    assert np.allclose(oracle.std, truth.actions[0].std(0))
    zero = prior.for_window("zero-init", truth.actions[0])
    assert not zero.mean.any() and np.array_equal(zero.pool, prior.pool)
    assert prior.for_window("human-guide", truth.actions[0]) is prior
    with pytest.raises(UserError, match="unknown guide"):
        prior.for_window("guess", truth.actions[0])


def test_prior_holds_the_training_split_only(square_file, setting):
    from actswm.data import DatasetFile, split_episodes

    *_, prior = setting
    with DatasetFile(square_file) as file:
        train = split_episodes(file.num_episodes).train
        steps = [
            file.action[file.ep_offset[e] : file.ep_offset[e] + 140].reshape(35, 4, 14).max(1) for e in train
        ]
    assert np.array_equal(prior.pool, np.concatenate(steps))
    assert np.allclose(prior.mean, np.concatenate(steps).mean(0), atol=1e-6)


def test_blind_baselines(setting):
    model, _, truth, prior = setting
    guesses = blind_baselines(truth, prior)
    scores = {name: score(guess, truth.actions, model.encoding.vocabulary) for name, guess in guesses.items()}
    assert scores["always-on"].active_accuracy.mean == 1 and scores["always-off"].active_accuracy.mean == 0
    assert scores["always-on"].balanced_accuracy.mean == scores["always-off"].balanced_accuracy.mean == 0.5
    assert (guesses["copy-last"] == truth.before[:, None]).all()
    large = np.zeros((200, 50, 14), np.float32)
    drawn = blind_baselines(type(truth)(large, large[:, 0]), prior)["pool-frequency"]
    assert np.allclose(drawn.mean((0, 1)), prior.mean, atol=0.03)


@pytest.mark.parametrize(
    "wrong",
    [{"target": "near"}, {"method": "luck"}, {"joint_window": 0}, {"method": "pool", "target": "joint"}],
)
def test_options_that_make_no_sense(wrong):
    with pytest.raises(UserError):
        RecoveryOptions(**wrong)


@pytest.mark.parametrize("vocabulary", ["keys14", "minecraft"])
@pytest.mark.parametrize("kind", ["sliding", "block"])
def test_vectors_become_what_the_encoding_makes_of_held_actions(vocabulary, kind):
    encoding = small_config(vocabulary=vocabulary, encoding=kind).action_encoding
    vectors = made_prior(encoding, np.full(encoding.vocabulary.size, 2.0)).pool[:20]
    held = held_raw(vectors, encoding)
    made = step_actions(torch.from_numpy(vectors), encoding).numpy()
    assert np.allclose(made, encoding.step_actions(held), atol=1e-5)
    assert np.allclose(step_vectors(held, encoding), vectors, atol=1e-4)


def test_final_costs_of_several_sequences(setting):
    world = MadeWorld()
    context, target = world.context(), torch.zeros(14)
    sequences = torch.rand(4, 3, 14)
    ends = context.latents[0, -1] + sequences.sum(1) @ world.effect
    assert torch.allclose(final_costs(world, context, sequences, target), ends.square().sum(-1), rtol=1e-4)


def test_an_empty_pool_is_an_error(tmp_path):
    from .test_windows import write_numbered

    path = write_numbered(tmp_path / "n.h5", [3, 3, 3], np.ones(9, bool))
    with pytest.raises(UserError, match="no valid step"):
        training_prior(path, small_config().action_encoding)
    assert ActionPrior.of(np.ones((2, 14)), "x").std.max() == 0
