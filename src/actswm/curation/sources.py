"""Opens a recording of any kind as a `Source`: every frame with its action and stage 1's decision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..errors import UserError
from ..formats.minestudio import FPS, MineStudioFolder
from ..formats.owamcap import read_recording
from ..formats.owamcap.published import out_of_sync
from ..formats.video import NS, decode, frame_times
from ..formats.vpt import read_vpt, video_of
from .frames import Drop, Source, nominal_fps, segmented
from .prefilter import prefilter
from .resampling import resampled
from .settings import CleanSettings

Kind = Literal["owamcap", "vpt", "minestudio"]


@dataclass(frozen=True)
class Item:
    """One recording to be cleaned; `part` names the episode inside a MineStudio folder."""

    kind: Kind
    path: Path
    part: str = ""

    @property
    def name(self) -> str:
        return f"{self.path.name}/{self.part}" if self.part else self.path.name

    def files(self) -> list[Path]:
        """The files whose change makes the recording another one."""
        if self.kind == "owamcap":
            return [self.path, self.path.with_suffix(".mkv"), self.path.with_suffix(".deaths.json")]
        if self.kind == "vpt":
            return [self.path, self.path.with_suffix(".mp4")]
        return sorted(self.path.glob("*/*/data.mdb")) + sorted(self.path.glob("*/data.mdb"))


@lru_cache(maxsize=16)
def _folder(path: Path) -> MineStudioFolder:
    return MineStudioFolder(path)


def find_items(kind: Kind, paths: list[Path]) -> list[Item]:
    """Recordings named by files, or all of them in folders, each once and in order."""
    pattern = {"owamcap": "*.mcap", "vpt": "*.jsonl", "minestudio": ""}[kind]
    items: dict[Item, None] = {}
    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
        if kind == "minestudio":
            found = _episodes(path, alone=len(paths) == 1)
        elif path.is_dir():
            found = [
                Item(kind, file) for file in sorted(path.rglob(pattern)) if not file.name.startswith(".")
            ]
            if not found:
                raise UserError(f"{path}: has no {pattern} recordings")
        else:
            found = [Item(kind, path)]
        items.update(dict.fromkeys(found))
    return list(items)


def _episodes(path: Path, alone: bool) -> list[Item]:
    """A folder that cannot be read counts as one recording that fails, unless it is all that there is."""
    try:
        return [Item("minestudio", path, episode) for episode in _folder(path).episodes]
    except UserError:
        if alone:
            raise
        return [Item("minestudio", path)]


def open_source(item: Item, settings: CleanSettings) -> Source:
    return {"owamcap": _owamcap, "vpt": _vpt, "minestudio": _minestudio}[item.kind](item, settings)


def _owamcap(item: Item, settings: CleanSettings) -> Source:
    recording = read_recording(item.path)
    pts_ns = frame_times(recording.video_path)
    key_map = settings.key_map
    if key_map is None and recording.key_map and recording.key_map.vocabulary == settings.vocabulary:
        key_map = recording.key_map
    key_map = key_map or settings.domain.key_map(settings.vocabulary)
    decoding = partial(decode, recording.video_path)
    about: dict[str, Any] = {"clock": recording.clock, "unreadable": recording.unreadable}
    if recording.key_map is None and (note := out_of_sync(item.path)):  # not of this project's own writer
        about["notes"] = (note,)
    if settings.fps is None:
        table = prefilter(recording, pts_ns, key_map, settings.prefilter, settings.cuts)
        return Source(item.name, table, nominal_fps(pts_ns), decoding, **about)
    steps_ns, shown_ns = resampled(pts_ns, settings.fps, settings.cuts.gap_ns)
    table = prefilter(recording, steps_ns, key_map, settings.prefilter, settings.cuts)
    table = replace(table, shown_ns=shown_ns)
    return Source(item.name, table, settings.fps, decoding, resampled=True, **about)


def _vpt(item: Item, settings: CleanSettings) -> Source:
    log, video = read_vpt(item.path), video_of(item.path)
    pts_ns = frame_times(video)
    count = min(len(log.action), len(pts_ns))
    if abs(len(log.action) - len(pts_ns)) > FPS:
        raise UserError(
            f"{item.path}: has {len(log.action)} lines but its video {len(pts_ns)} frames; download both again"
        )
    drop = np.zeros(count, np.uint8)
    drop[log.gui_open[:count]] = Drop.GUI_OPEN
    drop[~log.readable[:count]] = Drop.KEYBOARD_UNREADABLE
    pts_ns = pts_ns[:count]
    table = segmented(pts_ns, log.action[:count], drop, settings.cuts)
    rate = nominal_fps(pts_ns)
    return Source(item.name, table, rate, partial(decode, video), unreadable=log.unreadable)


def _minestudio(item: Item, settings: CleanSettings) -> Source:
    folder = _folder(item.path)
    log = folder.read(item.part)
    count = min(len(log.action), folder.count_images(item.part))
    drop = np.where(log.gui_open[:count], Drop.GUI_OPEN, Drop.KEPT).astype(np.uint8)
    pts_ns = np.arange(count, dtype=np.int64) * (NS // FPS)
    table = segmented(pts_ns, log.action[:count], drop, settings.cuts)
    return Source(item.name, table, float(FPS), partial(folder.decode, item.part))
