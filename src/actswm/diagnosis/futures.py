"""True alternative futures of recorded windows, rendered once by the game and kept for every model compared.

The file is a dataset file at the pace of model steps. Window w's future i is episode 8 w + i: the frame at t
and K more; `raw` holds the raw actions taken in each. A future that ends early (a death) repeats its last
frame, marked invalid. An interrupted rendering goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..branches import Branches, BranchPoint, Render
from ..controls import ActionEncoding
from ..data import Column, Dataset, DatasetSpec, DatasetWriter, WindowSample, open_checked
from ..data.evaluation import partners
from ..data.loader import WindowDataset
from ..data.siblings import actions_before
from ..dataset_paths import home, label
from ..errors import UserError
from ..game import POSE
from .alternatives import KINDS, Habits, draw_alternatives
from .sensitivity import effective_controls


@dataclass(frozen=True)
class TrueFutures:
    """`raw` (N, 8, K * frameskip, A) actions, `valid` (N, 8, K) and poses (N, 8, K, 5) of N windows; frames stay in
    the file."""

    path: Path
    sample: WindowSample
    raw: NDArray[np.float32]
    valid: NDArray[np.bool_]
    pose: NDArray[np.float32]

    def frames(self, image_size: int | None = None) -> WindowDataset:
        """Item 8 w + i: the K + 1 frames of future i of window w, as a model of `image_size` sees them."""
        with open_checked(self.path) as file:
            encoding = ActionEncoding(file.vocabulary, "block", 1)
            return WindowDataset(self.path, encoding, self.valid.shape[2] + 1, file.ep_offset, image_size)


def default_path(sample: WindowSample, seed: int) -> Path:
    """Beside the recording, named after everything that determines the futures."""
    key = hashlib.sha256(json.dumps(_attributes(sample, seed)).encode()).hexdigest()[:10]
    beside = home(sample.path)
    return beside.with_name(f"{beside.stem}.futures-{key}.h5")


def true_futures(
    sample: WindowSample,
    render: Render,
    path: Path,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> TrueFutures:
    """Render what `path` does not hold yet of the sample's futures; `progress` hears the windows done."""
    spec = _spec(sample, seed)
    if path.exists():
        _require_same(path, spec)
    points = branchings(sample, seed)
    with DatasetWriter(path, spec) as writer, open_checked(sample.path) as file:
        first, skip = divmod(writer.num_episodes, len(KINDS))
        progress(first)
        if first < len(points):
            for window, rendered in enumerate(render(points[first:]), first):
                _require_recorded(file, sample, window, rendered)
                for future in range(skip, len(KINDS)):
                    _append(writer, points[window], rendered, future, sample.horizon)
                skip = 0
                progress(window + 1)
    with open_checked(path) as file:
        shape = (len(points), len(KINDS), sample.horizon + 1)
        raw = file.column("raw").reshape(*shape, sample.frameskip, -1)[:, :, :-1]
        valid = file.frame_valid.reshape(shape)[:, :, 1:]
        pose = file.column("pose").reshape(*shape, len(POSE))[:, :, 1:]
        return TrueFutures(path, sample, raw.reshape(*shape[:2], -1, raw.shape[-1]), valid, pose)


def branchings(sample: WindowSample, seed: int) -> list[BranchPoint]:
    """Where each window branches, and its eight action sequences: functions of the sample and the seed."""
    controls = effective_controls(sample)
    with open_checked(sample.path) as file:
        seeds = file.column("seed")
        habits = Habits.of(file.vocabulary, file.action)
        now = sample.rows
        rng = np.random.default_rng((seed, 1))
        second = partners(file.episode_idx[now], rng)
        rows = sample.horizon * sample.frameskip
        points = []
        for window, row in enumerate(now):
            others = [file.action[now[who[window]] :][:rows] for who in (sample.partner, second)]
            recorded = file.action[row : row + rows]
            drawn = draw_alternatives(
                recorded, others, controls, habits, np.random.default_rng((seed, 2, window))
            )
            prefix = actions_before(file, int(row))
            points.append(BranchPoint(int(seeds[row]), prefix, drawn, sample.frameskip))
    return points


def _append(writer: DatasetWriter, point: BranchPoint, rendered: Branches, future: int, horizon: int) -> None:
    told = rendered.futures[future]
    frames = np.concatenate([rendered.start[None], told.frames])
    missing = horizon + 1 - len(frames)
    raw = np.float32(point.alternatives[future]).reshape(horizon, point.every, -1)
    raw = np.concatenate([raw, np.zeros_like(raw[:1])])
    pose = np.full((horizon + 1, len(POSE)), np.nan, np.float32)
    pose[1 : len(frames)] = told.pose
    writer.append(
        np.concatenate([frames, np.repeat(frames[-1:], missing, 0)]),
        raw[:, 0],
        frame_valid=np.arange(horizon + 1) < len(frames),
        raw=raw,
        pose=pose,
    )


def _spec(sample: WindowSample, seed: int) -> DatasetSpec:
    with open_checked(sample.path) as file:
        return DatasetSpec(
            vocabulary=file.vocabulary,
            height=file.height,
            width=file.width,
            fps=file.fps / sample.frameskip,
            source=file.source,
            attributes=_attributes(sample, seed),
            columns={
                "raw": Column("float32", (sample.frameskip, file.vocabulary.size)),
                "pose": Column("float32", (len(POSE),)),
            },
        )


def _attributes(sample: WindowSample, seed: int) -> dict[str, Any]:
    with open_checked(sample.path) as file:
        if "seed" not in file.extra_columns:
            raise UserError(
                f"{file.path}: has no column 'seed', so its states cannot be reached again; "
                "record a game with `actswm record`"
            )
        seeds = file.column("seed")
        if seeds.ndim != 1 or seeds.dtype.kind not in "iu":
            raise UserError(f"{file.path}: column 'seed' holds {seeds.dtype} {seeds.shape}, not one integer a row")
        content = hashlib.sha256(f"{file.source} {file.height}x{file.width}".encode())
        first = sample.rows - (sample.context - 1) * sample.frameskip
        for column in (file.action, seeds, first, sample.partner):
            content.update(np.ascontiguousarray(column).tobytes())
    return {
        "true_futures_of": content.hexdigest(),
        "recording": label(sample.path),
        "windows": len(sample),
        "context": sample.context,
        "horizon": sample.horizon,
        "frameskip": sample.frameskip,
        "seed": seed,
        "kinds": list(KINDS),
        "pose": list(POSE),
    }


def _require_same(path: Path, spec: DatasetSpec) -> None:
    with open_checked(path, may_be_empty=True) as file:
        for name, value in spec.attributes.items():
            if name != "recording" and file.attributes.get(name) != value:
                raise UserError(
                    f"{path}: holds other futures ({name} {file.attributes.get(name)!r}, not {value!r}); "
                    "choose another file"
                )


def _require_recorded(file: Dataset, sample: WindowSample, window: int, rendered: Branches) -> None:
    """The recorded actions must give the recorded frames, or the other futures are not to be believed."""
    now = sample.rows[window]
    rows = now + sample.frameskip * np.arange(sample.horizon + 1)
    frames = np.concatenate([rendered.start[None], rendered.futures[0].frames])
    if not np.array_equal(frames, file.frames(rows)):
        raise UserError(
            f"{file.path}: playing the actions before row {now} again does not give the recorded frames; "
            "was it recorded by another version of the engine?"
        )
