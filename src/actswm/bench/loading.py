"""Random training windows through our loader and through stable-worldmodel's HDF5 dataset, on the same file."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from ..controls import KEYS14, ActionEncoding
from ..data import DatasetSpec, DatasetWriter, WindowShape, open_checked, starts_in
from ..data.agreement import spec_of
from ..data.layout import PACKINGS
from ..data.loader import StepSampler, WindowDataset, window_loader
from ..data.merging import copy_episode
from ..errors import UserError
from ..integrations.stable_worldmodel import peer

STEPS, FRAMESKIP, SIZE, BATCH = 44, 4, 128, 16


@dataclass(frozen=True)
class DataBench:
    """Milliseconds of CPU per window are for information; the ratio is what is measured."""

    windows: int
    milliseconds_per_window: float
    peer_milliseconds_per_window: float | None
    speedup_vs_peer: float | None
    reason: str


def bench_data(batches: int = 12, rounds: int = 3) -> DataBench:
    """Windows of 44 steps at 128 px and frameskip 4, batches of 16, in this process (no workers)."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        path = _noise_file(Path(folder) / "noise.h5")
        with open_checked(path) as file:
            starts = starts_in(file, WindowShape(STEPS, FRAMESKIP), np.arange(file.num_episodes))
        dataset = WindowDataset(path, ActionEncoding(KEYS14, "block", FRAMESKIP), STEPS, starts)
        ours = lambda seed: window_loader(dataset, StepSampler(len(dataset), BATCH, batches, seed))  # noqa: E731
        try:
            theirs: Callable[[int], Iterable[Any]] | None = _peer_loader(path)
            reason = ""
        except UserError as error:
            theirs, reason = None, str(error)
        best: dict[str, float] = {}
        for round_number in range(rounds):
            for name, loader in (("ours", ours), ("peer", theirs)):
                if loader is not None:
                    seconds = _cpu_seconds(loader(round_number), batches)
                    best[name] = min(best.get(name, float("inf")), seconds)
    windows = batches * BATCH
    peer_seconds = best.get("peer")
    return DataBench(
        windows=windows,
        milliseconds_per_window=1e3 * best["ours"] / windows,
        peer_milliseconds_per_window=None if peer_seconds is None else 1e3 * peer_seconds / windows,
        speedup_vs_peer=None if peer_seconds is None else peer_seconds / best["ours"],
        reason=reason,
    )


def _noise_file(path: Path, episodes: int = 5, length: int = 800) -> Path:
    rng = np.random.default_rng(0)
    with DatasetWriter(path, DatasetSpec(KEYS14, SIZE, SIZE, 35.0, "made/noise")) as writer:
        for _ in range(episodes):
            pixels = rng.integers(0, 255, (length, SIZE, SIZE, 3), dtype=np.uint8)
            writer.append(pixels, (rng.random((length, KEYS14.size)) < 0.2).astype(np.float32))
    return path


def _peer_loader(path: Path) -> Callable[[int], Iterable[Any]]:
    dataset = peer("data.formats.hdf5").HDF5Dataset(
        path=path, frameskip=FRAMESKIP, num_steps=STEPS, keys_to_load=["pixels", "action"]
    )

    def loader(seed: int) -> Iterable[Any]:
        generator = torch.Generator().manual_seed(seed)
        return DataLoader(dataset, BATCH, shuffle=True, generator=generator)

    return loader


def _cpu_seconds(loader: Iterable[Any], batches: int) -> float:
    began = time.process_time()
    for _ in islice(loader, batches):
        pass
    return time.process_time() - began


@dataclass(frozen=True)
class PackedBench:
    """Frames of a recording packed, over the same raw. Processor time, that of loader workers, too."""

    frames: int
    size_over_raw: float
    throughput_over_raw: float


def bench_packed(
    recording: Path, batches: int, rounds: int, workers: int = 2, most: int = 8000
) -> dict[str, PackedBench]:
    """Random windows as above from the first episodes of a recording, about `most` frames, by loader workers."""
    with tempfile.TemporaryDirectory() as folder, open_checked(recording) as file:
        loaders, sizes = {}, {}
        for name, compression in (("raw", None), *((each, each) for each in PACKINGS)):
            path = Path(folder) / f"{name}.h5"
            spec = replace(spec_of(file), compression=compression)
            columns = {column: file.column(column) for column in spec.columns}
            with DatasetWriter(path, spec) as writer:
                for episode in range(file.num_episodes):
                    if writer.num_frames < most:
                        copy_episode(file, episode, writer, columns)
                frames = writer.num_frames
            sizes[name] = path.stat().st_size
            with open_checked(path) as copied:
                starts = starts_in(copied, WindowShape(STEPS, FRAMESKIP), np.arange(copied.num_episodes))
            dataset = WindowDataset(path, ActionEncoding(file.vocabulary, "block", FRAMESKIP), STEPS, starts)
            loaders[name] = lambda seed, windows=dataset: window_loader(
                windows, StepSampler(len(windows), BATCH, batches, seed), workers
            )
        best = dict.fromkeys(loaders, float("inf"))
        for turn in range(rounds):
            for name, loader in loaders.items():
                best[name] = min(best[name], _seconds_with_workers(loader(turn)))
    return {each: PackedBench(frames, sizes[each] / sizes["raw"], best["raw"] / best[each]) for each in PACKINGS}


def _seconds_with_workers(loader: DataLoader) -> float:
    """The system counts what a process spent to its parent when it has ended."""
    began = sum(os.times()[:4])
    for _ in loader:
        pass
    del loader, _
    return sum(os.times()[:4]) - began
