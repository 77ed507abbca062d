"""Which kind of replay a path is, and which engine shows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UserError

if TYPE_CHECKING:
    from ..curation.replay.engine import OpenEngine
    from ..data import DatasetSpec
    from ..formats.replay import Replay


@dataclass(frozen=True)
class Shown:
    """How a replay is shown: by what, at which frame rate, and into which dataset file if not the usual one."""

    open_engine: OpenEngine
    words: str
    fps: float
    spec: DatasetSpec | None = None


def read_replay(path: Path, damaged: bool = False) -> Replay:
    if path.is_dir() or path.suffix in (".json", ".lmp"):
        from ..formats.lmp import lmp_replay, read_lmp_run

        return lmp_replay(read_lmp_run(path.parent if path.suffix == ".lmp" else path))
    if path.suffix.startswith(".dm_"):
        from ..formats.quakedemo import read_quake_demo

        return read_quake_demo(path, damaged=damaged)
    if path.name.endswith((".dem", ".dem.zst")):
        from ..formats.cs2dem import read_cs2_demo

        return read_cs2_demo(path, damaged=damaged)
    raise UserError(
        f"{path}: is no replay by its name; known: .dem, .dem.zst (CS2), .dm_71 (OpenArena), "
        "a folder of .lmp demos (Freedoom)"
    )


def shown(replay: Replay, size: tuple[int, int], fps: float | None, mode: str, marker: bool) -> Shown:
    """The engine that shows a replay on this machine."""
    if mode not in ("lockstep", "realtime"):
        raise UserError(f"--mode {mode!r} is unknown; use one of: lockstep, realtime")
    if replay.game == "openarena":
        from ..games.openarena.replay import OpenArenaReplay

        words = f"openarena, {mode}" + (", marker" if marker and mode == "realtime" else "")
        engine = partial(OpenArenaReplay, size=size, mode=mode, marker=marker)  # type: ignore[arg-type]
        return Shown(engine, words, fps or replay.tick_rate or 25.0)
    if replay.game == "freedoom":
        from ..formats.lmp import read_lmp_run
        from ..games.freedoom.demos import FreedoomReplay, recorders_spec

        if mode != "lockstep":
            raise UserError(f"{replay.path}: Freedoom replays in lockstep only (--mode)")
        spec = recorders_spec(read_lmp_run(replay.path))
        if (spec.height, spec.width) != size or (fps or spec.fps) != spec.fps:
            raise UserError(
                f"{replay.path}: was recorded at {spec.height}x{spec.width} and {spec.fps:g} frames a second, and is "
                f"rendered so; use --size {spec.height}x{spec.width} --fps {spec.fps:g}"
            )
        return Shown(FreedoomReplay, "freedoom", spec.fps, spec)
    raise UserError(
        f"{replay.path}: Counter-Strike 2 renders on a Windows machine; write a kit for it with: actswm replay kit"
    )
