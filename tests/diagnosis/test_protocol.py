"""The whole protocol on a world whose answers are known."""

import numpy as np
import pytest
import torch

from actswm.branches import Branches, Future
from actswm.data import DatasetFile, sample_windows, validate
from actswm.diagnosis.alternatives import KINDS
from actswm.diagnosis.drift import step_drift
from actswm.diagnosis.fidelity import counterfactual_fidelity
from actswm.diagnosis.futures import branchings, default_path, true_futures
from actswm.diagnosis.sensitivity import control_sensitivity, effective_controls
from actswm.diagnosis.sheet import counterfactual_sheet
from actswm.diagnosis.windows import encoded_cases
from actswm.errors import UserError
from actswm.model import WorldModel

from ..model.small_models import small_config
from .made_world import Exact, Ignorant, Plane, Share, ZeroIsSpecial, render, write_plane_file

REAL = ("shuffled", "edited", "random")


@pytest.fixture(scope="module")
def plane_file(tmp_path_factory):
    return write_plane_file(tmp_path_factory.mktemp("plane") / "plane.h5")


@pytest.fixture(scope="module")
def sample(plane_file):
    return sample_windows(plane_file, 40, split="train", context=8, horizon=6)


@pytest.fixture(scope="module")
def futures(sample, tmp_path_factory):
    return true_futures(sample, render(Plane()), tmp_path_factory.mktemp("futures") / "f.h5", seed=3)


def by_kind(fidelity):
    return {kind: fidelity.of_kind(kind) for kind in ("all", *dict.fromkeys(KINDS))}


def test_a_model_that_ignores_actions(sample, futures):
    drift = step_drift(Ignorant(), sample)
    assert np.all(drift.gap("zero") == 0) and np.all(drift.gap("shuffled") == 0)
    for kind, steps in by_kind(counterfactual_fidelity(Ignorant(), futures)).items():
        for step in steps:
            if kind != "recorded":
                assert step.fidelity.mean == 0.5 == step.fidelity.low == step.fidelity.high
    for entry in control_sensitivity(Ignorant(), sample, ["W", "D"]):
        assert entry.effect[-1].mean == pytest.approx(0, abs=1e-6)


def test_a_blind_guess_of_the_future_is_right_by_chance(futures):
    """One prediction for all eight questions: exactly one look of the future is hit."""
    for step in counterfactual_fidelity(Ignorant(), futures).of_kind("all"):
        assert step.top1.mean == pytest.approx(step.chance, abs=0.08) and step.chance >= 1 / 8


def test_a_model_that_integrates_actions_exactly(sample, futures):
    drift = step_drift(Exact(), sample)
    assert np.allclose(drift.mean("recorded"), 1) and drift.mean("copy")[-1] < 0.99
    assert drift.gap("zero").mean(0)[-1] > 0.01 and drift.gap("shuffled").mean(0)[-1] > 0.01
    for kind, steps in by_kind(counterfactual_fidelity(Exact(), futures)).items():
        for step in steps:
            assert kind == "recorded" or step.fidelity.mean == 1
            assert step.top1.mean == 1
            assert kind == "zero" or step.skill.mean == pytest.approx(1)


def test_skill_is_the_share_of_the_squared_way(futures):
    for share, skill in ((0.0, 0.0), (0.5, 0.75), (2.0, 0.0)):
        for step in counterfactual_fidelity(Share(share), futures).of_kind("all"):
            assert step.skill.mean == pytest.approx(skill, abs=1e-6)


def test_a_fresh_model_is_blind_although_its_arithmetic_is_not_exact(futures):
    torch.manual_seed(0)
    model = WorldModel(small_config(4)).eval()
    assert all(step.fidelity.mean == 0.5 for step in counterfactual_fidelity(model, futures).of_kind("all"))


def test_copy_and_random_by_hand(sample):
    drift, model = step_drift(Exact(), sample), Exact()
    (case,) = encoded_cases(sample, model, len(sample))
    now, other = case.context.latents[:, -1:], case.future[torch.from_numpy(sample.partner)]
    for curve, latents in (("copy", now), ("random", other)):
        expected = torch.cosine_similarity(latents, case.future, -1).numpy()
        np.testing.assert_allclose(drift.similarity[curve], expected, atol=1e-6)


def test_f_is_over_the_futures_that_look_different(futures):
    with DatasetFile(futures.path) as file:
        looks = file.pixels[:].reshape(len(futures.raw), len(KINDS), -1, *file.pixels.shape[1:])[:, :, 1:]
    different = (looks[:, 1:] != looks[:, :1]).any((3, 4, 5)).sum((0, 1))
    steps = counterfactual_fidelity(Exact(), futures).of_kind("all")
    assert [step.distinct for step in steps] == different.tolist()
    assert steps[0].distinct < steps[0].cases == 7 * len(futures.raw)


def test_a_sheet_shows_the_recorded_frames_nearest_to_the_predictions(sample, futures):
    """The exact model predicts the true frames, so no frame of the gallery is nearer to them than its stand-ins."""
    window, steps = 3, (1, 2, 6)
    sheet = counterfactual_sheet(Exact(), futures, window, steps, gallery=10**6)
    with DatasetFile(sample.path) as file:
        elsewhere = file.pixels[:][file.episode_idx != sample.episode[window]]
    places = elsewhere[:, 0, 0, :2].astype(float)
    with DatasetFile(futures.path) as file:
        true = file.pixels[:].reshape(-1, len(KINDS), sample.horizon + 1, *file.pixels.shape[1:])[window]
    for number, shown in enumerate(sheet.futures):
        assert shown.kind == KINDS[number]
        for column, step in enumerate(steps):
            assert np.array_equal(shown.true[column], true[number, step])
            place, stand_in = (
                f[0, 0, :2].astype(float) for f in (true[number, step], shown.predicted[column])
            )
            nearest = np.linalg.norm(places - place, axis=1).min()
            assert np.linalg.norm(stand_in - place) == pytest.approx(nearest)


def test_a_model_to_which_only_zero_is_special(sample, futures):
    drift = step_drift(ZeroIsSpecial(), sample)
    assert drift.gap("zero").mean(0)[-1] > 0.1
    assert np.all(drift.gap("shuffled") == 0)
    fidelity = by_kind(counterfactual_fidelity(ZeroIsSpecial(), futures))
    assert all(step.fidelity.mean == 0.5 for kind in REAL for step in fidelity[kind])
    assert fidelity["zero"][-1].fidelity.mean != 0.5


def test_windows_are_the_same_whatever_the_context_length(sample):
    short, long = (list(encoded_cases(sample, Exact(context), 16)) for context in (2, 32))
    for one, other in zip(short, long, strict=True):
        assert one.context.latents.shape[1] == 2 and other.context.latents.shape[1] == 8
        assert torch.equal(one.context.latents, other.context.latents[:, -2:])
        assert torch.equal(one.future, other.future)
        assert torch.equal(one.recorded, other.recorded) and torch.equal(one.shuffled, other.shuffled)


def test_the_recorded_action_of_a_frame_leads_to_the_next(sample):
    """The exact integrator, fed the context's last action as the first decision, would be one step late."""
    case = next(encoded_cases(sample, Exact(), 16))
    rollout = Exact().rollout(case.context, case.recorded[:, None])[:, 0]
    assert torch.equal(rollout, case.future)


def test_partners_come_from_other_episodes(sample):
    with DatasetFile(sample.path) as file:
        episode = file.episode_idx[sample.rows]
    assert np.array_equal(episode, sample.episode) and sample.episodes == len(np.unique(episode)) > 5
    assert np.all(episode != episode[sample.partner])


def test_sensitivity_finds_the_controls_that_act(sample):
    assert effective_controls(sample) == ("W", "A", "S", "D")
    entries = {entry.control: entry for entry in control_sensitivity(Exact(), sample, ["W", "D", "Jump"])}
    assert entries["W"].effect[-1].low > 0.01 and entries["D"].effect[-1].low > 0.01
    assert entries["Jump"].effect[-1].mean == pytest.approx(0, abs=1e-6)
    assert entries["W"].press_gap[-1].mean > 0 and entries["W"].release_gap[-1].mean > 0
    assert entries["Jump"].press_gap[-1].mean == pytest.approx(0, abs=1e-6)
    assert np.isnan(entries["Jump"].release_gap[-1].mean)  # never pressed, so never released


def test_alternatives_are_what_their_kinds_say(sample):
    points = branchings(sample, seed=3)
    assert len(points) == len(sample)
    for point in points:
        recorded = point.alternatives[0]
        assert not point.alternatives[1].any()
        assert all(len(np.flatnonzero((edit != recorded).any(0))) == 1 for edit in point.alternatives[4:6])
        assert point.alternatives[1:, :, 6][1:].all()  # real alternatives keep holding Fire
    again = branchings(sample, seed=3)
    other = branchings(sample, seed=4)
    assert all(np.array_equal(a.alternatives, b.alternatives) for a, b in zip(points, again))
    assert not all(np.array_equal(a.alternatives, b.alternatives) for a, b in zip(points, other))


def test_an_interrupted_rendering_goes_on(sample, futures, tmp_path):
    def dies_after(count):
        def run(points):
            for number, rendered in enumerate(render(Plane())(points)):
                if number == count:
                    raise KeyboardInterrupt
                yield rendered

        return run

    path = tmp_path / "cut.h5"
    with pytest.raises(KeyboardInterrupt):
        true_futures(sample, dies_after(5), path, seed=3)
    rendered_again = []

    def counting(points):
        for rendered in render(Plane())(points):
            rendered_again.append(1)
            yield rendered

    resumed = true_futures(sample, counting, path, seed=3)
    assert len(rendered_again) == len(sample) - 5
    validate(path)
    assert np.array_equal(resumed.raw, futures.raw)
    with DatasetFile(path) as one, DatasetFile(futures.path) as other:
        assert np.array_equal(one.pixels[:], other.pixels[:])
    rendered_again.clear()
    true_futures(sample, counting, path, seed=3)
    assert not rendered_again


def test_futures_of_something_else_are_refused(sample, futures):
    assert default_path(sample, 3) != default_path(sample, 4)
    with pytest.raises(UserError, match="other futures"):
        true_futures(sample, render(Plane()), futures.path, seed=4)


def test_a_game_that_no_longer_gives_the_recorded_frames_is_refused(sample, tmp_path):
    class Another(Plane):
        def step(self, action):
            return super().step(2 * np.asarray(action))

    with pytest.raises(UserError, match="does not give the recorded frames"):
        true_futures(sample, render(Another()), tmp_path / "f.h5", seed=3)


def test_a_future_that_ends_early_is_no_case_from_then_on(sample, tmp_path):
    def cut(points):
        for rendered in render(Plane())(points):
            *whole, last = rendered.futures
            yield Branches(rendered.start, (*whole, Future(last.frames[:2], last.pose[:2])))

    futures = true_futures(sample, cut, tmp_path / "f.h5", seed=3)
    assert futures.valid[:, 7, :2].all() and not futures.valid[:, 7, 2:].any() and futures.valid[:, :7].all()
    shown = counterfactual_sheet(Exact(), futures, 0, (2, 3)).futures
    assert shown[7].true[0].any() and not shown[7].true[1].any() and shown[6].true[1].any()
    random = counterfactual_fidelity(Exact(), futures).of_kind("random")
    assert [step.cases for step in random] == [80, 80, 40, 40, 40, 40]
    assert all(step.fidelity.mean == 1 and step.top1.mean == 1 for step in random)


def test_a_recording_without_seeds_is_refused(tmp_path):
    from actswm.controls import KEYS14
    from actswm.data import Column, DatasetSpec, DatasetWriter

    made = {"no column 'seed'": None, "not one integer a row": Column("int64", (2,)), "float32": Column("float32")}
    for number, (message, seed) in enumerate(made.items()):
        path = tmp_path / f"{number}.h5"
        columns = {} if seed is None else {"seed": seed}
        with DatasetWriter(path, DatasetSpec(KEYS14, 8, 8, 20.0, "made/plane", columns=columns)) as writer:
            for _ in range(4):
                filled = {name: np.zeros((80, *column.shape)) for name, column in columns.items()}
                writer.append(np.zeros((80, 8, 8, 3), np.uint8), np.zeros((80, 14)), **filled)
        sample = sample_windows(path, 4, split="train", context=4, horizon=4)
        with pytest.raises(UserError, match=message):
            default_path(sample, 0)
