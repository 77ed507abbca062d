"""`actswm import lerobot` and `lance`: datasets of other tools become dataset files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import UserError
from .arguments import file_to_write
from .clean import import_app
from .printing import say

if TYPE_CHECKING:
    from ..exchange.importing import Importable

_OUT = typer.Option(..., "--out", "-o", help="New dataset file (.h5).", callback=file_to_write)
_SIZE = typer.Option(None, min=1, help="Stretch the frames to this height and width (default: as they are).")
_CAMERA = typer.Option(None, help="Which pictures to take, where there are several.")
_VOCABULARY = typer.Option(
    None,
    help="What the numbers of an action are: keys14, minecraft, or spelled, such as rover(Forward,steer~), with ~ "
    "after what is continuous (default: as exported by actswm; else all are continuous).",
)


@import_app.command("lerobot")
def import_lerobot(
    folder: Path = typer.Argument(help="LeRobotDataset v3: a folder with meta/, data/ and videos/."),
    out: Path = _OUT,
    size: int = _SIZE,
    camera: str = _CAMERA,
    vocabulary: str = _VOCABULARY,
) -> None:
    """Import a LeRobotDataset v3. One that was exported here comes back with all that it was.

    Example: actswm import lerobot datasets/pusht --size 64 --out pusht.h5
    """
    with needed_packages("lerobot"):
        from ..exchange.lerobot_import import LeRobotFolder
    _import(LeRobotFolder(folder, camera, vocabulary), out, size)


@import_app.command("lance")
def import_lance(
    table: Path = typer.Argument(
        help="A Lance table in the form of stable-worldmodel: a folder <table>.lance."
    ),
    out: Path = _OUT,
    size: int = _SIZE,
    camera: str = _CAMERA,
    vocabulary: str = _VOCABULARY,
    fps: float = typer.Option(
        None, min=0.1, help="Frames a second, where the table was not exported by actswm."
    ),
) -> None:
    """Import a Lance table as stable-worldmodel writes it. One that was exported here comes back with all that it was.

    Example: actswm import lance pusht.lance --fps 10 --size 64 --out pusht.h5
    """
    with needed_packages("lance"):
        from ..exchange.lance_table import LanceTable
    _import(LanceTable(table, camera, vocabulary, fps), out, size)


def _import(source: Importable, out: Path, size: int | None) -> None:
    from ..exchange.importing import import_dataset
    from .bars import bars

    with bars() as move:
        episodes, frames = import_dataset(
            source, out, size, lambda done: move("importing", done, source.num_frames, "frames")
        )
    say(f"{out}: {frames:,} frames in {episodes:,} episodes")


@contextmanager
def needed_packages(extra: str) -> Iterator[None]:
    """Around an import that an extra makes possible."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UserError(f"{extra} needs {error.name}: pip install 'actswm[{extra}]'") from None
