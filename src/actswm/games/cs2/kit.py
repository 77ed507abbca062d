"""A kit: all that renders a demo's windows on a Windows machine; `results` is the way back."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ...atomic import writing
from ...errors import UserError
from ...formats.cs2dem.container import plain_demo
from ...formats.replay import Replay, Window
from ...json_files import write_json
from .schedule import capture_start, cfg_text, cmd_line, launch_arguments, schedule
from .spectated import LOOK

CaptureKind = Literal["streams", "wgc"]
KIT = "kit.json"
HLAE_WORDS = slice(1, 6)
"""Of the launch line: HLAE's own switches."""


def write_kit(
    folder: Path,
    replay: Replay,
    windows: Sequence[Window],
    *,
    fps: float = 32.0,
    size: tuple[int, int] = (720, 1280),
    capture: CaptureKind = "streams",
    game_version: str = "",
    hlae_version: str = "",
) -> Path:
    """Write the kit; `kit.json` comes last. Versions, where given, are what the runner insists on."""
    if replay.game != "cs2" or replay.tick_rate is None:
        raise UserError(f"{replay.path}: a kit is for demos of Counter-Strike 2 whose tick rate is known")
    if capture not in ("streams", "wgc"):
        raise UserError(f"--capture {capture!r} is unknown; use one of: streams, wgc")
    streams = capture == "streams"
    cfgs = {
        window.name: cfg_text(window, schedule(window, replay.tick_rate, streams=streams), fps, streams=streams)
        for window in windows
    }
    package = resources.files(str(__package__))
    with plain_demo(replay.path) as demo, writing(folder):
        (folder / "cfg").mkdir(parents=True, exist_ok=True)
        for name, text in cfgs.items():
            (folder / "cfg" / f"{name}.cfg").write_bytes(text.encode())
        shutil.copyfile(demo, folder / "demo.dem")
        for source, name in (("runner.py", "run_kit.py"), ("spectated.py", "spectated.py")):
            (folder / name).write_text((package / source).read_text())
        (folder / "README.txt").write_text(_readme(len(windows)), newline="\r\n")
    stored = {
        "demo": "demo.dem",
        "source": replay.path.name,
        "map": replay.map,
        "build": replay.build,
        "tick_rate": replay.tick_rate,
        "fps": fps,
        "size": list(size),
        "fov_degrees": round(across(size), 3),
        "capture": capture,
        "versions": {"game": game_version, "hlae": hlae_version},
        "hlae_arguments": launch_arguments("HLAE.exe", "", "")[HLAE_WORDS],
        "windows": [_entry(replay, window, fps, size) for window in windows],
    }
    write_json(folder / KIT, stored)
    return folder / KIT


def across(size: tuple[int, int]) -> float:
    """The game's angle of view across a window: 90 degrees at 4:3, more where it is wider."""
    height, width = size
    return float(2 * np.degrees(np.arctan(width / height * 3 / 4)))


def _entry(replay: Replay, window: Window, fps: float, size: tuple[int, int]) -> dict[str, Any]:
    rate = replay.tick_rate or 1.0
    start = capture_start(window)
    ticks = start + rate / fps * np.arange(LOOK)
    return {
        **asdict(window),
        "name": window.name,
        "start_captured": start,
        "seconds": (window.end - start) / rate,
        "frames": int((window.end - start) * fps / rate),
        "cmd_line": cmd_line("actswm.dem", f"actswm/{window.name}", size),
        "yaws": {
            str(slot): np.round(
                np.interp(ticks, track.tick, np.degrees(np.unwrap(np.radians(track.yaw)))), 3
            ).tolist()
            for slot, track in replay.tracks.items()
            if track.alive[track.rows(start, start + 1)].any()
        },
    }


def _readme(windows: int) -> str:
    return f"""This kit renders {windows} windows of a Counter-Strike 2 demo with HLAE.

1. Install Python 3, Counter-Strike 2 and HLAE (advancedfx.org) with its FFmpeg.
2. Optional, to check at once whose eyes each video shows: py -m pip install numpy opencv-python
   For captures by Windows Graphics Capture (kit.json says "wgc"): py -m pip install windows-capture
3. Close Steam's overlay and every running game, then:
   py run_kit.py --hlae C:\\HLAE\\HLAE.exe --game "C:\\...\\Counter-Strike Global Offensive\\game\\bin\\win64\\cs2.exe"
   The same command again goes on after an interruption, and tries again what failed.
4. Carry this folder back (takes\\ is what counts) and run: actswm replay collect FOLDER --out clips
"""
