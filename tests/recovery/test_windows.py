from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actswm.controls import KEYS14, ActionEncoding
from actswm.data import DatasetFile, DatasetSpec, DatasetWriter, sample_windows, split_episodes
from actswm.data.loader import sampled_windows
from actswm.errors import UserError
from actswm.recovery.protocol import RecoveryOptions
from actswm.recovery.windows import load_case, truth_of

from ..model.small_models import disturbed, small_config


def write_numbered(path: Path, lengths: list[int], valid: np.ndarray, compression: str | None = None) -> Path:
    """Row i shows its number in its pixels; its action presses the bits of i."""
    spec = DatasetSpec(KEYS14, 16, 16, 20.0, "made/numbered", compression=compression)
    row = 0
    with DatasetWriter(path, spec) as writer:
        for length in lengths:
            rows = np.arange(row, row + length)
            pixels = np.zeros((length, 16, 16, 3), np.uint8)
            pixels[:, 0, 0, 0], pixels[:, 0, 0, 1] = rows % 256, rows // 256
            writer.append(pixels, (rows[:, None] >> np.arange(14) & 1).astype(np.float32), valid[rows])
            row += length
    return path


@settings(max_examples=25)
@given(
    st.lists(st.integers(1, 60), min_size=3, max_size=6),
    st.integers(0, 1000),
    st.sampled_from(["strict", "endpoints"]),
)
def test_windows_obey_the_validity_rule(tmp_path_factory, lengths, seed, validity):
    valid = np.random.default_rng(seed).random(sum(lengths)) < 0.97
    path = write_numbered(tmp_path_factory.mktemp("w") / "n.h5", lengths, valid)
    steps, skip, context = 3, 4, 2
    try:
        sample = sample_windows(
            path, 15, horizon=steps, frameskip=skip, validity=validity, context=context, split="train"
        )
    except UserError:
        return
    train = split_episodes(len(lengths)).train
    with DatasetFile(path) as file:
        for row in sample.rows:
            target = row + steps * skip
            assert file.episode_idx[row] == file.episode_idx[target] and file.episode_idx[row] in train
            assert file.frame_valid[row] and file.frame_valid[target]
            if validity == "strict":
                first = row - (context - 1) * skip
                assert file.frame_valid[first : target + 1].all()
                assert len(set(file.episode_idx[first : target + 1])) == 1
    assert len(set(sample.rows)) == len(sample) <= 15


def test_a_sample_is_repeatable_and_recovery_draws_with_42(square_file):
    one, two = (
        sample_windows(square_file, 5, horizon=8, context=4, seed=RecoveryOptions().seed),
        sample_windows(square_file, 5, horizon=8, context=4, seed=42),
    )
    other = sample_windows(square_file, 5, horizon=8, context=4, seed=43)
    assert np.array_equal(one.rows, two.rows) and not np.array_equal(one.rows, other.rows)


@pytest.mark.parametrize("compression", [None, "blosc-zstd", "blosc-lz4"])
@pytest.mark.parametrize("kind", ["sliding", "block"])
def test_contexts_are_filled_up_at_the_start_of_an_episode(tmp_path, kind, compression):
    """Young episodes: the first frame repeated, no-ops before it, and nothing of the episode before."""
    lengths = [37, 41, 29]
    path = write_numbered(tmp_path / "n.h5", lengths, np.ones(107, bool), compression)
    model = disturbed(small_config(context=5, encoding=kind))
    sample = sample_windows(path, 1, horizon=2, validity="endpoints", context=5, split="train")
    start = [0, 37, 78][int(split_episodes(3).train[0])]
    sample = replace(sample, rows=np.array([start + 6]))
    pixels, actions = sampled_windows(sample, model)[0]
    shown = pixels[:, 0, 0, 0].int() + 256 * pixels[:, 0, 0, 1].int()
    assert shown.tolist() == [start, start, start, start + 2, start + 6, start + 10, start + 14]
    raw = np.zeros((4 * (model.encoding.lead + 6), 14), np.float32)
    rows = np.arange(start, start + 14)
    raw[-14:] = rows[:, None] >> np.arange(14) & 1
    assert np.array_equal(actions.numpy(), model.encoding.step_actions(raw))


def test_truth_and_case_agree_with_the_file(square_file):
    model = disturbed(small_config(context=3, image_size=32, encoding="sliding"))
    sample = sample_windows(square_file, 3, horizon=6, context=4)
    truth = truth_of(sample, model.encoding)
    case = load_case(sampled_windows(sample, model), model, 1)
    with DatasetFile(square_file) as file:
        row = int(sample.rows[1])
        pressed = file.action[row : row + 24].reshape(6, 4, 14).max(1)
        assert np.array_equal(truth.actions[1], pressed)
        assert np.array_equal(truth.before[1], file.action[row - 4 : row].max(0))
        frames = torch.from_numpy(np.stack([file.pixels[row + 4 * k] for k in range(-2, 7)]))
    latents = model.encode(frames[None])
    assert torch.allclose(case.context.latents, latents[:, :3], atol=1e-5)
    assert torch.allclose(case.future, latents[0, 3:], atol=1e-5)
    assert torch.equal(case.context.actions[0, -1], torch.from_numpy(truth.before[1]))


def test_models_of_another_frameskip_are_refused(square_file):
    model = disturbed(small_config(image_size=32, frameskip=2))
    with pytest.raises(UserError, match="frameskip"):
        sampled_windows(sample_windows(square_file, 2, horizon=4, context=3), model)


def test_other_vocabularies_are_refused(square_file):
    from actswm.controls import MINECRAFT

    with pytest.raises(UserError, match="vocabulary"):
        truth_of(sample_windows(square_file, 2, horizon=4, context=3), ActionEncoding(MINECRAFT, "sliding"))
