"""Windows as training batches. The only module of `data` that needs torch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Protocol

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Sampler
from torch.utils.data import Dataset as TorchDataset

from ..controls import ActionEncoding
from ..dataset_paths import AnyDataset, dataset_path
from ..errors import UserError
from .dataset import Dataset
from .evaluation import WindowSample
from .frames import FrameReader
from .opening import open_checked

PREFETCHED = 4
"""Batches that each loader process keeps ready: a step that takes longer to read holds nobody up."""


class WindowDataset(TorchDataset):
    """Windows of `steps` frames at given start rows, with the step actions between them.

    An item is (pixels (n, h, w, 3) uint8, actions (lead + n - 1, A') float32). Frames between the kept ones
    are never read. Each process opens the files for itself, so workers may be forked or spawned.

    With `before`, so many earlier frames stand in front (n = before + steps); where the episode is younger they
    are its first frame, and their actions no-ops.
    """

    def __init__(
        self,
        path: AnyDataset,
        encoding: ActionEncoding,
        steps: int,
        starts: NDArray[np.integer],
        image_size: int | None = None,
        before: int = 0,
    ) -> None:
        self.path = dataset_path(path)
        self.encoding = encoding
        self.steps = steps
        self.before = before
        self.starts = np.asarray(starts)
        with open_checked(path) as file:
            require_vocabulary(file, encoding)
            self._action = file.action
            first = np.repeat(file.ep_offset, file.ep_len)
            self.episode_start = first[self.starts]
            self.image_size = image_size or file.height
            self._shape, self._parts = (file.height, file.width, 3), file.parts
        self._opened: tuple[int, FrameReader] | None = None

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_opened": None}

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def _frames(self) -> FrameReader:
        if self._opened is None or self._opened[0] != os.getpid():
            self._opened = (os.getpid(), FrameReader(self._parts, self._shape))
        return self._opened[1]

    def actions_at(self, rows: NDArray[np.integer]) -> NDArray[np.float32]:
        """Raw actions (len(rows), A)."""
        return self._action[rows]

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        pixels, actions = self.read([index])
        return pixels[0], actions[0]

    def __getitems__(self, indices: Sequence[int]) -> tuple[torch.Tensor, ...]:
        """What torch's loader asks for."""
        return self.read(indices)

    def read(self, indices: Sequence[int] | NDArray[np.integer]) -> tuple[torch.Tensor, torch.Tensor]:
        """A whole batch, read into one array: pixels (B, n, h, w, 3), actions (B, lead + n - 1, A')."""
        index = np.asarray(indices)
        frames = self._frames
        skip = self.encoding.frameskip
        pixels = np.empty((len(index), self.before + self.steps, *frames.shape), np.uint8)
        offsets = skip * np.arange(-self.before, self.steps)
        for window, start, first in zip(pixels, self.starts[index], self.episode_start[index]):
            frames.read(np.maximum(start + offsets, first), window)
        return torch.from_numpy(self._resized(pixels)), torch.from_numpy(self.step_actions(index))

    def step_actions(self, index: NDArray[np.integer]) -> NDArray[np.float32]:
        """Steps from `lead` before the window to its last transition; zeros before the episode's start."""
        skip = self.encoding.frameskip
        offsets = np.arange(-(self.encoding.lead + self.before) * skip, (self.steps - 1) * skip)
        rows = self.starts[index, None] + offsets
        inside = rows >= self.episode_start[index, None]
        raw = np.where(inside[..., None], self._action[np.maximum(rows, 0)], 0)
        return self.encoding.step_actions(raw)

    def _resized(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        size = self.image_size
        if pixels.shape[2:4] == (size, size):
            return pixels
        out = np.empty((*pixels.shape[:2], size, size, 3), np.uint8)
        for source, target in zip(pixels.reshape(-1, *pixels.shape[2:]), out.reshape(-1, size, size, 3)):
            cv2.resize(source, (size, size), dst=target, interpolation=cv2.INTER_AREA)
        return out


class Viewer(Protocol):
    """What decides how a model sees a window; `WorldModel` does."""

    encoding: ActionEncoding

    @property
    def context_length(self) -> int: ...
    @property
    def image_size(self) -> int: ...


def sampled_windows(sample: WindowSample, model: Viewer, future: bool = True) -> WindowDataset:
    """The sample as a model sees it: its last H frames up to t, no more than the sample's, and the future."""
    if model.encoding.frameskip != sample.frameskip:
        raise UserError(
            f"the model's frameskip is {model.encoding.frameskip}, the windows' {sample.frameskip}; "
            "compare models of one frameskip"
        )
    steps = 1 + (sample.horizon if future else 0)
    before = min(sample.context, model.context_length) - 1
    return WindowDataset(sample.path, model.encoding, steps, sample.rows, model.image_size, before)


def require_vocabulary(file: Dataset, encoding: ActionEncoding) -> None:
    """Refuse a file whose actions mean something else."""
    if file.vocabulary != encoding.vocabulary:
        raise UserError(
            f"{file.path}: its vocabulary is {file.vocabulary.spelling!r}, but the model speaks "
            f"{encoding.vocabulary.spelling!r}; set model.vocabulary or use a matching checkpoint"
        )


class StepSampler(Sampler[list[int]]):
    """The batch of every training step as a function of (seed, step): a resumed run sees the same batches.

    Each pass over the windows is a fresh permutation. With several ranks each takes its share of a batch.
    """

    def __init__(
        self, windows: int, batch: int, steps: int, seed: int, start: int = 0, rank: int = 0, ranks: int = 1
    ) -> None:
        if windows < 1:
            raise UserError("there is no window to sample")
        if batch % ranks:
            raise UserError(f"batch size {batch} cannot be split over {ranks} processes")
        self.windows, self.batch, self.steps, self.seed = windows, batch, steps, seed
        self.start, self.rank, self.ranks = start, rank, ranks

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[list[int]]:
        epoch, order = -1, np.zeros(0, np.int64)
        for step in range(self.start, self.steps):
            position = np.arange(step * self.batch, (step + 1) * self.batch)
            chosen = np.empty(self.batch, np.int64)
            for part in np.unique(position // self.windows):
                if part != epoch:
                    epoch, order = (
                        int(part),
                        np.random.default_rng((self.seed, part)).permutation(self.windows),
                    )
                here = position // self.windows == part
                chosen[here] = order[position[here] % self.windows]
            yield chosen[self.rank :: self.ranks].tolist()


class PlaceSampler(Sampler[list[int]]):
    """Batches in groups of windows of one place: at most `reach` starts from the group's first, or a fork's siblings.

    The first of every group comes from `anchors`, so that a resumed run sees the same batches here, too; it counts the
    windows `among` which to choose. `places`: each window's place, ascending. `whole`: a group is its place's windows,
    from the first on, and over again where they are fewer: the siblings of a fork.
    """

    def __init__(
        self,
        anchors: StepSampler,
        group: int,
        reach: int,
        places: NDArray[np.integer],
        among: NDArray[np.integer] | None = None,
        whole: bool = False,
    ) -> None:
        self.anchors, self.group, self.reach, self.places = anchors, group, reach, places
        self.among, self.whole = among, whole

    def __len__(self) -> int:
        return len(self.anchors)

    def __iter__(self) -> Iterator[list[int]]:
        for step, chosen in enumerate(self.anchors, self.anchors.start):
            first = np.array(chosen) if self.among is None else self.among[chosen]
            begin, end = (np.searchsorted(self.places, self.places[first], side) for side in ("left", "right"))
            if self.whole:
                yield (begin + np.arange(self.group)[:, None] % (end - begin)).T.ravel().tolist()
                continue
            low, high = np.maximum(begin, first - self.reach), np.minimum(end, first + self.reach + 1)
            rng = np.random.default_rng((self.anchors.seed, step, self.anchors.rank))
            windows = rng.integers(low, high, (self.group, len(first)))
            windows[0] = first
            yield windows.T.ravel().tolist()


class WithTwins(Sampler[list[int]]):
    """Batches in which the second half of every group shows the moments of the first half in another look.

    `twins` (N,) is the window that shows each window's moments elsewhere; the window itself where there is none.
    Groups are even.
    """

    def __init__(self, batches: PlaceSampler, twins: NDArray[np.integer]) -> None:
        self.batches, self.twins = batches, twins

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[list[int]]:
        for batch in self.batches:
            groups = np.array(batch).reshape(-1, self.batches.group)
            half = self.batches.group // 2
            groups[:, half:] = self.twins[groups[:, :half]]
            yield groups.ravel().tolist()


class SideBySide(Sampler[list[int]]):
    """Batches of several samplers, one behind the other."""

    def __init__(self, *parts: PlaceSampler | WithTwins) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return len(self.parts[0])

    def __iter__(self) -> Iterator[list[int]]:
        for batches in zip(*self.parts):
            yield [window for batch in batches for window in batch]


def window_loader(
    dataset: WindowDataset, sampler: Sampler[list[int]], workers: int = 0, pin: bool = False
) -> DataLoader:
    """Batches of (pixels, actions) in the sampler's order. `pin`: in memory that a GPU can fetch by itself."""
    return DataLoader(
        dataset,
        batch_sampler=sampler,
        num_workers=workers,
        collate_fn=_as_read,  # type: ignore[arg-type]
        persistent_workers=workers > 0,
        prefetch_factor=PREFETCHED if workers else None,
        pin_memory=pin,
    )


def _as_read(batch: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """`__getitems__` has already made the batch."""
    return batch
