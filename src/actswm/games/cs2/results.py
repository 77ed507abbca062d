"""What a kit brought back from the Windows machine, as a `ReplayEngine`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UserError
from ...formats.replay import Capture, Replay, Window
from ...formats.video import NS, decode
from ...json_files import read_json
from .kit import KIT
from .spectated import shown_player


@dataclass(frozen=True)
class Kit:
    """`kit.json`, as far as the way back needs it."""

    folder: Path
    demo: Path
    fps: float
    tick_rate: float
    fov_degrees: float
    capture: str
    windows: tuple[Window, ...]
    starts: Mapping[str, int]
    """By a window's name the first tick that was captured."""
    yaws: Mapping[str, Mapping[str, list[float]]]
    """By a window's name, per slot: how everybody turned in its first frames."""


def read_kit(folder: Path) -> Kit:
    path = folder / KIT
    fields = ("slot", "player", "round", "start", "end", "part")
    try:
        stored = read_json(path)
        entries = {str(entry["name"]): entry for entry in stored["windows"]}
        return Kit(
            folder=folder.absolute(),
            demo=folder / stored["demo"],
            fps=float(stored["fps"]),
            tick_rate=float(stored["tick_rate"]),
            fov_degrees=float(stored["fov_degrees"]),
            capture=str(stored["capture"]),
            windows=tuple(Window(**{name: entry[name] for name in fields}) for entry in entries.values()),
            starts={name: int(entry["start_captured"]) for name, entry in entries.items()},
            yaws={name: dict(entry["yaws"]) for name, entry in entries.items()},
        )
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); is {folder} a kit?") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: is not a kit's list ({error!r}); write the kit again") from None


class KitReplay:
    """A `ReplayEngine` whose launches happened elsewhere: what it is told, the cfg did."""

    def __init__(self, replay: Replay, kit: Kit, size: tuple[int, int]) -> None:
        self.replay, self.kit, self.size = replay, kit, size

    def start(self) -> None: ...

    def seek(self, tick: int) -> None: ...

    def spectate(self, slot: int) -> None:
        """`capture` checks it."""

    def strip_hud(self) -> None: ...

    def stop(self) -> None: ...

    def capture(self, window: Window) -> Capture:
        kit, take = self.kit, self.kit.folder / "takes" / window.name
        if window.name not in kit.starts:
            raise UserError(
                f"{kit.folder / KIT}: knows no window {window.name}; collect with the kit's own choice"
            )
        video = take / str(_read(take / "result.json", "video")).replace("\\", "/")
        if kit.capture == "wgc":
            return self._grabbed(video, np.array(_read(take / "times.json"), np.float64).reshape(-1))
        shown = shown_player(video, kit.yaws[window.name], kit.fov_degrees)
        if shown is not None and shown != str(window.slot):
            (take / "result.json").unlink()
            raise UserError(
                f"{video}: shows the player in slot {shown}, not {window.slot}; run the kit again for it"
            )
        # By their times, not by counting what decodes: a damaged video may lack some.
        frames, numbers, sound = [], [], []
        for frame in decode(video):
            frames.append(frame.rgb(*self.size))
            numbers.append(round(frame.pts_ns * kit.fps / NS))
            sound.append(not frame.corrupt)
        number = np.array(numbers, np.int64)
        tick = np.floor(kit.starts[window.name] + kit.tick_rate / kit.fps * number + 1e-6).astype(np.int64)
        return Capture(frames, number / kit.fps, np.where(sound, tick, -1), fov_degrees=kit.fov_degrees)

    def _grabbed(self, video: Path, times: NDArray[np.float64]) -> Capture:
        """Frame k of the video was grabbed at `times[k]`; pictures that are not sound are left out."""
        frames, numbers = [], []
        for frame in decode(video):
            number = round(frame.pts_ns * self.kit.fps / NS)
            if not frame.corrupt and number < len(times):
                frames.append(frame.rgb(*self.size))
                numbers.append(number)
        return Capture(frames, times[np.array(numbers, np.int64)], fov_degrees=self.kit.fov_degrees)


def _read(path: Path, field: str | None = None) -> Any:
    try:
        stored = read_json(path)
        return stored if field is None else stored[field]
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(
            f"{path}: is not there or not whole; run the kit's run_kit.py on the Windows machine"
        ) from None
