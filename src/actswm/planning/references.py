"""Reference runs: what a planner is to follow. Recorded from a task's expert once, then kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from ..atomic import write_whole, written_whole
from ..errors import UserError
from ..game import Game, Start
from ..task import Task

if TYPE_CHECKING:
    from torch import Tensor

AFTER_SUCCESS = 4
"""Chunks that the expert goes on for: the clip ends at the goal, not at the first frame that counts as success."""
COLUMNS, TILE, BORDER = 12, 96, 4
MARK = (255, 140, 0)


@dataclass(frozen=True)
class Reference:
    """All frames of a run (R * T + 1, h, w, 3) and its raw actions (T, R, A), T chunks of R raw steps."""

    clip: NDArray[np.uint8]
    actions: NDArray[np.float32]

    @property
    def frames(self) -> NDArray[np.uint8]:
        """The selected frames (T + 1, h, w, 3): one before each chunk, and the last."""
        return self.clip[:: self.actions.shape[1]]

    def __len__(self) -> int:
        return len(self.actions)

    def check(self, name: str, horizon: int) -> None:
        if len(self) < horizon:
            raise UserError(
                f"{name}: the reference has {len(self)} steps, fewer than the horizon of {horizon}"
            )


def goals_at(latents: Tensor, step: int, horizon: int) -> Tensor:
    """The goals (K, D) of a plan made after `step` chunks: by time, the last latent of (T + 1, D) held."""
    return latents[[min(step + ahead, len(latents) - 1) for ahead in range(1, horizon + 1)]]


def record_reference(
    game: Game, task: Task, start: Start, raw_steps: int, least: int = 0
) -> Reference:
    """Play the task's expert to success and a little further, for at least `least` chunks."""
    expert = task.expert(start)
    frame, info = game.reset(**start)
    infos, clip = [info], [frame]
    actions: list[NDArray[np.float32]] = []
    after: int | None = None
    while len(actions) < least * raw_steps or after != 0:
        for _ in range(raw_steps):
            action = expert.act(frame, info)
            frame, _, ended, truncated, info = game.step(action)
            infos.append(info)
            clip.append(frame)
            actions.append(action)
            if ended or truncated:
                raise UserError(f"task {task.name!r}: the expert's run from {start.get('seed')} ended early")
        if after is not None:
            after = max(0, after - 1)
        elif task.succeeded(infos):
            after = AFTER_SUCCESS
        elif len(actions) >= task.env_budget * raw_steps:
            raise UserError(f"task {task.name!r}: the expert does not succeed from seed {start.get('seed')}")
    return Reference(np.stack(clip), np.stack(actions).reshape(-1, raw_steps, len(actions[0])))


def save_reference(path: Path, reference: Reference) -> None:
    with written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, clip=reference.clip, actions=reference.actions)


def load_reference(path: Path) -> Reference:
    try:
        with np.load(path, allow_pickle=False) as file:
            clip, actions = file["clip"], file["actions"]
    except Exception as error:  # a damaged archive raises whatever its compression or numpy's header parser meets
        raise UserError(f"{path}: not a reference ({error}); remove it to have it recorded again") from None
    if clip.dtype != np.uint8 or clip.shape[3:] != (3,) or actions.dtype.kind != "f":
        raise UserError(f"{path}: frames are {clip.dtype} {clip.shape}, actions {actions.dtype}; remove the file")
    if not np.isfinite(actions).all():
        raise UserError(f"{path}: actions are not finite; remove the file")
    if actions.ndim != 3 or clip.ndim != 4 or len(clip) != actions.shape[0] * actions.shape[1] + 1:
        raise UserError(f"{path}: frames {clip.shape} do not fit actions {actions.shape}; remove the file")
    return Reference(clip, actions)


def write_filmstrip(path: Path, reference: Reference) -> None:
    """Every second raw frame of the clip, row by row; the selected frames, the planner's goals, have a border."""
    raw_steps = reference.actions.shape[1]
    stride = max(1, raw_steps // 2)
    tiles = []
    for number in range(0, len(reference.clip), stride):
        tile = cv2.resize(reference.clip[number], (TILE, TILE), interpolation=cv2.INTER_AREA)
        colour = MARK if number % raw_steps == 0 else (0, 0, 0)
        tile = cv2.copyMakeBorder(tile, BORDER, BORDER, BORDER, BORDER, cv2.BORDER_CONSTANT, value=colour)
        place = (BORDER + 4, TILE)
        cv2.putText(tile, str(number), place, cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 0, 0), 3, cv2.LINE_AA)
        cv2.putText(tile, str(number), place, cv2.FONT_HERSHEY_SIMPLEX, 0.4, (255, 255, 255), 1, cv2.LINE_AA)
        tiles.append(tile)
    tiles += [np.zeros_like(tiles[0])] * (-len(tiles) % COLUMNS)
    rows = [np.concatenate(tiles[first : first + COLUMNS], 1) for first in range(0, len(tiles), COLUMNS)]
    write_png(path, np.concatenate(rows, 0))


def write_png(path: Path, image: NDArray[np.uint8]) -> None:
    write_whole(path, cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR))[1].tobytes())
