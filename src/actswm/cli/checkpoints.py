"""Models named on the command line, for commands that compare several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UserError

if TYPE_CHECKING:
    from ..model import WorldModel


@dataclass(frozen=True)
class Checkpoint:
    """A loaded model and the short name under which results show it."""

    name: str
    path: Path
    model: WorldModel


def load_checkpoints(paths: Sequence[Path]) -> list[Checkpoint]:
    """Load models that can be compared: of one frameskip."""
    from ..model import WorldModel
    from ..model.pretrained import SHIPPED, locate

    folders = [locate(path) for path in paths]
    names = [
        str(folder.relative_to(SHIPPED))  # whole: every game has an `actswm`
        if folder.is_relative_to(SHIPPED)
        else (folder.resolve().parent if folder.name == "model" else folder).name
        for folder in folders
    ]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    loaded = [Checkpoint(*each, WorldModel.from_pretrained(each[1])) for each in zip(names, folders)]
    skips = {checkpoint.model.encoding.frameskip for checkpoint in loaded}
    if len(skips) > 1:
        raise UserError(f"the models have different frameskips ({skips}); windows cannot be the same for all")
    return loaded
