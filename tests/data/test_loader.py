import multiprocessing

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from actswm.controls import KEYS14, MINECRAFT, ActionEncoding
from actswm.data import Column, DatasetFile, DatasetSpec, DatasetWriter, WindowShape, starts_in
from actswm.data.loader import PlaceSampler, StepSampler, WindowDataset, _as_read, window_loader
from actswm.errors import UserError


def all_starts(path, steps, frameskip):
    with DatasetFile(path) as file:
        return starts_in(file, WindowShape(steps, frameskip), np.arange(file.num_episodes))


@pytest.mark.parametrize("kind", ["block", "sliding"])
@pytest.mark.parametrize("frameskip", [1, 4])
def test_windows_hold_the_frames_and_actions_of_their_rows(square_file, kind, frameskip):
    encoding = ActionEncoding(KEYS14, kind, frameskip)
    starts = all_starts(square_file, 6, frameskip)
    dataset = WindowDataset(square_file, encoding, 6, starts)
    with DatasetFile(square_file) as file:
        frames, raw = file.pixels[:], file.action
        offsets = np.repeat(file.ep_offset, file.ep_len)
    for index in [0, 1, 5, len(starts) // 2, len(starts) - 1]:
        start = starts[index]
        pixels, actions = dataset[index]
        np.testing.assert_array_equal(pixels, frames[start : start + 5 * frameskip + 1 : frameskip])
        first = start - encoding.lead * frameskip
        rows = np.arange(first, start + 5 * frameskip)
        expected = np.where((rows >= offsets[start])[:, None], raw[np.maximum(rows, 0)], 0)
        np.testing.assert_array_equal(actions, encoding.step_actions(expected))


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_read_the_same_batches(square_file, method):
    dataset = WindowDataset(square_file, ActionEncoding(KEYS14), 6, all_starts(square_file, 6, 4))
    dataset[0]  # opened in the parent: workers must not share that handle
    expected = list(window_loader(dataset, StepSampler(len(dataset), 8, 5, seed=1)))
    loader = DataLoader(
        dataset,
        batch_sampler=StepSampler(len(dataset), 8, 5, seed=1),
        collate_fn=_as_read,
        num_workers=2,
        multiprocessing_context=method,
    )
    for got, wanted in zip(loader, expected, strict=True):
        assert torch.equal(got[0], wanted[0]) and torch.equal(got[1], wanted[1])


def test_compressed_files_read_the_same(square_file, tmp_path):
    with DatasetFile(square_file) as file:
        spec = DatasetSpec(
            KEYS14, 32, 32, 20.0, "made/square", columns={"seed": Column("int64")}, compression="blosc-zstd"
        )
        with DatasetWriter(tmp_path / "c.h5", spec) as writer:
            for offset, length in zip(file.ep_offset, file.ep_len):
                part = slice(offset, offset + length)
                writer.append(file.pixels[part], file.action[part], seed=file.column("seed")[part])
    encoding, starts = ActionEncoding(KEYS14), all_starts(square_file, 6, 4)
    plain, packed = (WindowDataset(path, encoding, 6, starts) for path in (square_file, tmp_path / "c.h5"))
    for index in (0, 77, len(starts) - 1):
        assert torch.equal(plain[index][0], packed[index][0])


def test_images_are_resized_to_the_models_size(square_file):
    dataset = WindowDataset(
        square_file, ActionEncoding(KEYS14), 2, all_starts(square_file, 2, 4), image_size=16
    )
    full = WindowDataset(square_file, ActionEncoding(KEYS14), 2, all_starts(square_file, 2, 4))
    small, large = dataset[3][0].numpy(), full[3][0].numpy().astype(float)
    halved = large.reshape(2, 16, 2, 16, 2, 3).mean((2, 4))
    assert small.shape == (2, 16, 16, 3) and np.abs(small - halved).max() <= 1


def test_another_vocabulary_is_refused(square_file):
    with pytest.raises(UserError, match="'keys14', but the model speaks 'minecraft'"):
        WindowDataset(square_file, ActionEncoding(MINECRAFT), 2, np.array([0]))


def test_a_resumed_sampler_goes_on_where_it_stopped():
    whole = list(StepSampler(windows=37, batch=8, steps=30, seed=3))
    assert list(StepSampler(37, 8, 30, 3, start=11)) == whole[11:]
    seen = np.concatenate(whole)
    for epoch in range(len(seen) // 37):
        assert sorted(seen[epoch * 37 : (epoch + 1) * 37]) == list(range(37))


def test_ranks_share_each_batch():
    whole = list(StepSampler(50, 8, 6, 1))
    halves = [list(StepSampler(50, 8, 6, 1, rank=rank, ranks=2)) for rank in range(2)]
    for batch, *parts in zip(whole, *halves):
        assert sorted(batch) == sorted([*parts[0], *parts[1]]) and len(parts[0]) == 4


@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    group=st.integers(1, 5),
    reach=st.integers(0, 30),
)
def test_windows_of_a_place_are_neighbours_in_one_episode(lengths, group, reach):
    episodes = np.repeat(np.arange(len(lengths)), lengths)
    anchors = StepSampler(len(episodes), 3, 7, seed=5)
    batches = list(PlaceSampler(anchors, group, reach, episodes))
    for batch, first in zip(batches, anchors, strict=True):
        places = np.array(batch).reshape(3, group)
        assert (places[:, 0] == first).all()
        assert (episodes[places] == episodes[first][:, None]).all()
        assert (np.abs(places - np.array(first)[:, None]) <= reach).all()
    resumed = StepSampler(len(episodes), 3, 7, seed=5, start=4)
    assert list(PlaceSampler(resumed, group, reach, episodes)) == batches[4:]
