"""Models named on the command line, for commands that compare several."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UserError

if TYPE_CHECKING:
    from ..data import WindowSample
    from ..model import WorldModel


@dataclass(frozen=True)
class Checkpoint:
    """A loaded model and the short name under which results show it."""

    name: str
    path: Path
    model: WorldModel


def load_checkpoints(paths: Sequence[Path], device: str = "auto") -> list[Checkpoint]:
    """Load models that can be compared: of one frameskip."""
    from ..model import WorldModel
    from ..model.device import chosen_device
    from ..saved_models import locate

    folders = [locate(path) for path in paths]
    names = _short_names([folder.resolve() for folder in folders])
    where = chosen_device(device)
    loaded = [Checkpoint(*each, WorldModel.from_pretrained(each[1], where)) for each in zip(names, folders)]
    skips = {checkpoint.model.encoding.frameskip for checkpoint in loaded}
    if len(skips) > 1:
        raise UserError(f"the models have different frameskips ({skips}); windows cannot be the same for all")
    return loaded


def windows_for(
    loaded: Sequence[Checkpoint], data: Path, count: int, *, split: str, context: int, horizon: int, seed: int
) -> WindowSample:
    """The windows that all of them are judged on; a model that does not fit the file fails before the long work."""
    from ..data import sample_windows
    from ..data.loader import sampled_windows

    frameskip = loaded[0].model.encoding.frameskip
    sample = sample_windows(data, count, split=split, context=context, horizon=horizon, frameskip=frameskip, seed=seed)
    for checkpoint in loaded:
        sampled_windows(sample, checkpoint.model)
    return sample


def _short_names(folders: Sequence[Path]) -> list[str]:
    """The shortest ends of the paths that tell them apart; a shipped model's name is whole."""
    from ..saved_models import SHIPPED

    shipped = SHIPPED.resolve()
    runs = [folder.parent if folder.name == "model" else folder for folder in folders]
    if len(set(runs)) < len(runs):
        raise UserError("a checkpoint is named twice")
    for length in itertools.count(1):
        names = [
            str(run.relative_to(shipped))
            if run.is_relative_to(shipped)
            else "/".join(run.parts[1:][-length:])
            for run in runs
        ]
        if len(set(names)) == len(names):
            break
    return names
