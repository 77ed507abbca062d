"""The game's part of diagnosis: true futures of recorded windows, rendered by the engine that recorded them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import UserError

if TYPE_CHECKING:
    from ..branches import Render
    from ..data import WindowSample
    from ..diagnosis.futures import TrueFutures
    from ..diagnosis.poses import PoseGallery
    from ..model import WorldModel


def renderer(data: Path, workers: int, own_game: str | None = None) -> Render:
    """Branches the game of a recording, `workers` engines side by side.

    A file may come from anybody: code that it names runs only if the user names it as well.
    """
    from ..data import open_checked
    from ..games.branching import branch_all
    from ..games.own import names_code

    with open_checked(data) as file:
        name, size, attributes = file.source, (file.height, file.width), file.attributes
    if attributes.get("task"):
        raise UserError(
            f"{data}: shows task {attributes['task']!r}, whose starts are no seeds; record its game"
        )
    if names_code(name) and own_game != name:
        raise UserError(f"{data}: was recorded from {name}; if you trust that code, add --game {name}")
    if own_game and own_game != name:
        raise UserError(f"{data}: was recorded from {name}, not from {own_game}; leave --game out")
    options = attributes.get("options", {})
    if not isinstance(options, dict):
        raise UserError(f"{data}: its attribute 'options' is no JSON object of the game's options")

    return partial(branch_all, name, size=size, workers=workers, options=options)


def pose_gallery(model: WorldModel, futures: TrueFutures, frames: int, name: str) -> PoseGallery | None:
    """Frames of the futures' recording with their poses, and rooms where the game knows them; None without poses."""
    from ..data import open_checked
    from ..diagnosis.gallery import Gallery
    from ..diagnosis.poses import PoseGallery
    from ..game import POSE
    from ..games.freedoom.rooms import Rooms
    from ..games.freedoom.worlds import WORLDS
    from .bars import bars

    path = futures.sample.path
    with open_checked(path) as file:
        if "pose" not in file.extra_columns:
            return None
        pose, episode = file.column("pose"), file.episode_idx
        if pose.shape != (file.num_frames, len(POSE)) or pose.dtype.kind != "f":
            names = ", ".join(POSE)
            raise UserError(f"{path}: its column 'pose' is not {names} of every frame; --gallery 0 does without")
        rows = np.flatnonzero(file.frame_valid & np.isfinite(pose[:, :2]).all(1))
        family, _, world = file.source.partition("/")
    if not len(rows) or not np.isfinite(futures.pose[..., :2]).any():
        return None
    known = family == "freedoom" and world in WORLDS and len(WORLDS[world].maps) == 1
    with bars() as move:
        gallery = Gallery.of(model, path, rows, frames, progress=partial(move, f"{name}: gallery"))
    shown = gallery.frames.starts
    return PoseGallery(gallery, episode[shown], pose[shown], Rooms.of(world).at if known else None)


def rendered_futures(
    sample: WindowSample, seed: int, workers: int, path: Path | None, own_game: str | None = None
) -> TrueFutures:
    """The sample's true futures, from the file that keeps them or else from the game, with a bar."""
    from ..diagnosis.futures import default_path, true_futures
    from .results import progress

    path = path or default_path(sample, seed)
    with progress(f"true futures: {path.name}", len(sample)) as show:
        return true_futures(sample, renderer(sample.path, workers, own_game), path, seed, show)
