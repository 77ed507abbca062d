"""A line of warning where a model meets another frame rate or frame size than it was trained on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..dataset_paths import label
from .printing import say

_SAME_RATE = 0.02


def warn_of_other_data(models: Iterable[Path], data: Path) -> None:
    """Compare the dataset file `data` with what each saved model was trained on."""
    from ..data import open_checked

    with open_checked(data) as file:
        fps, size = file.fps, (file.height, file.width)
    for model in models:
        warn_of_other_frames(model, label(data), fps, size)


def warn_of_other_frames(
    model: Path, name: str, fps: float | None = None, size: tuple[int, int] | None = None
) -> None:
    """`name` is what the frames come from; models that do not tell their rate are compared by size alone."""
    from ..saved_models import read_config

    content = read_config(model)
    trained = _fields(content["provenance"]).get("data")
    side = _fields(content["model"]).get("image_size")
    apart = []
    trained_fps = _fields(trained).get("fps")
    if fps and isinstance(trained_fps, (int, float)) and abs(trained_fps / fps - 1) > _SAME_RATE:
        apart.append(f"{trained_fps:g} steps a second, not {fps:g}")
    trained_size = tuple(_fields(trained).get("frame_size") or (side, side))
    if size and trained_size != size:
        apart.append(f"frames of {' x '.join(map(str, trained_size))} px, not {' x '.join(map(str, size))}")
    if apart:
        say(
            f"{model}: was trained on {', and '.join(apart)} as in {name}; expect it to be worse there",
            err=True,
        )


def warn_of_other_rate(idm: Path, fps: float) -> None:
    """The same for an inverse-dynamics model: at another rate all motion looks faster or slower."""
    from ..recovery.idm_file import read_provenance
    from ..recovery.saved_idm import load_motion_idm

    load_motion_idm(idm)
    trained = read_provenance(idm).get("fps")
    if isinstance(trained, (int, float)) and abs(trained / fps - 1) > _SAME_RATE:
        say(
            f"{idm}: was trained on {trained:g} steps a second, not {fps:g} as in the videos (see --fps); "
            "expect it to be worse there",
            err=True,
        )


def _fields(tree: Any) -> dict[str, Any]:
    return tree if isinstance(tree, dict) else {}
