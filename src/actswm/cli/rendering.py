"""The game's part of diagnosis: true futures of recorded windows, rendered by the engine that recorded them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UserError

if TYPE_CHECKING:
    from ..diagnosis.futures import Branching, Render, Rendered, TrueFutures
    from ..diagnosis.windows import WindowSample


def renderer(data: Path, workers: int) -> Render:
    """Branches the game of a recording, `workers` engines side by side."""
    from ..data import DatasetFile
    from ..diagnosis.futures import Rendered
    from ..games.branching import BranchPoint, branch_all

    with DatasetFile(data) as file:
        name, size, attributes = file.source, (file.height, file.width), file.attributes
    if attributes.get("task"):
        raise UserError(
            f"{data}: shows task {attributes['task']!r}, whose starts are no seeds; record its game"
        )

    def render(points: Iterable[Branching]) -> Iterator[Rendered]:
        asked = [BranchPoint(p.seed, p.prefix, list(p.alternatives), p.every) for p in points]
        options = attributes.get("options", {})
        for result in branch_all(name, asked, size=size, workers=workers, **options):
            yield Rendered(result.start, tuple(future.frames for future in result.futures))

    return render


def rendered_futures(sample: WindowSample, seed: int, workers: int, path: Path | None) -> TrueFutures:
    """The sample's true futures, from the file that keeps them or else from the game, with a bar."""
    from ..diagnosis.futures import default_path, true_futures
    from .results import progress

    path = path or default_path(sample, seed)
    with progress(f"true futures: {path.name}", len(sample)) as show:
        return true_futures(sample, renderer(sample.path, workers), path, seed, show)
