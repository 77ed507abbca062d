"""Real-time captures of OpenArena while two processes keep the cores busy, and the true tick of each frame.

`python -m tests.games.replay.under_load --seeds 5 6 7` records a match per seed, captures it and says how far each
way of alignment is from the truth; docs/replays.md publishes that.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from actswm.curation.replay.alignment import Alignment, align
from actswm.curation.replay.windows import WindowRules, windows_of
from actswm.formats.quakedemo import read_quake_demo
from actswm.formats.replay import STRIP_ROWS, Capture, Replay, Window
from actswm.games.openarena.demos import record_match
from actswm.games.openarena.replay import OpenArenaReplay

SIZE = (72, 128)
TICKS = 260
BUSY = 2
HEAD = "seed  load  frames  truth  marker exact  wrong yet valid  fitted: valid  within 1 of valid  within 1 of all"


@dataclass(frozen=True)
class Loaded:
    """A capture under load."""

    window: Window
    capture: Capture
    truth: list[set[int]]
    """Per frame: the ticks that its picture was drawn for; none where the engine never drew such a picture."""
    load: float
    """The machine's load average over the last minute, when the capture ended."""


def longest_window(replay: Replay, after: int = 0) -> Window:
    """Bots may end a life early."""
    windows = [replace(one, start=max(one.start, after)) for one in windows_of(replay, WindowRules())]
    return max(windows, key=lambda window: window.ticks)


def capture_under_load(replay: Replay, busy: int = BUSY) -> Loaded:
    longest = longest_window(replay, after=75)  # the engine seeks to three seconds before it
    window = replace(longest, end=min(longest.end, longest.start + TICKS))
    engine = OpenArenaReplay(replay, SIZE, mode="realtime", marker=True, keep_log=True)
    others = []
    try:
        engine.start()
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        engine.seek(window.start)
        engine.spectate(window.slot)
        engine.strip_hud()
        capture = engine.capture(window)
        load = os.getloadavg()[0]
        return Loaded(window, capture, true_ticks(engine, capture), load)
    finally:
        for process in others:
            process.kill()
            process.wait()
        engine.stop()


def true_ticks(engine: OpenArenaReplay, capture: Capture) -> list[set[int]]:
    """By its pixels, of which the engine took a hash when it drew them: a still picture may be several ticks'."""
    noted: dict[int, set[int]] = {}
    for position, value in engine.board.log().tolist():
        tick = engine.tick_at(position)
        noted.setdefault(value, set()).add(-1 if tick is None else tick)
    known: dict[bytes, int] = {}
    truth = []
    for frame in capture.frames:
        inner = np.ascontiguousarray(frame[STRIP_ROWS:-STRIP_ROWS][::-1, :, ::-1]).tobytes()
        if inner not in known:
            known[inner] = fnv(inner)
        truth.append(noted.get(known[inner], set()))
    return truth


def fnv(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


@dataclass(frozen=True)
class Nearness:
    """How near an alignment is to the truth, over all frames: of one that the engine never drew, no tick is right."""

    valid: float
    """Share of the frames that the alignment vouches for."""
    of_valid: float
    """Share of those that are within so many ticks."""
    of_all: float
    """Share of all frames that are valid and within so many ticks."""


def nearness(alignment: Alignment, truth: list[set[int]], ticks: int) -> Nearness:
    valid = alignment.valid
    near = np.array(
        [any(abs(tick - one) <= ticks for one in true) for tick, true in zip(alignment.tick.tolist(), truth)]
    )
    return Nearness(
        float(valid.mean()), float(near[valid].mean()) if valid.any() else 0.0, float((near & valid).mean())
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", required=True)
    parser.add_argument("--captures", type=int, default=1, help="of each match")
    parser.add_argument("--busy", type=int, default=BUSY, help="processes that do nothing but compute")
    options = parser.parse_args()
    sys.stdout.write(f"{HEAD}\n")
    for seed in options.seeds:
        with tempfile.TemporaryDirectory() as folder:
            match = record_match(
                Path(folder) / "match.dm_71", steps=560, bots=3, seed=seed, give_up_at=(390,)
            )
            replay = read_quake_demo(match.path)
            for _ in range(options.captures):
                one = capture_under_load(replay, options.busy)
                marked = nearness(align(one.capture, replay, one.window), one.truth, 0)
                fitted = nearness(align(replace(one.capture, marked=False), replay, one.window), one.truth, 1)
                known = sum(map(bool, one.truth)) / len(one.truth)
                wrong = marked.valid - marked.of_all
                sys.stdout.write(
                    f"{seed:4d} {one.load:5.1f} {len(one.truth):7d} {known:6.1%} {marked.of_all:13.1%}"
                    f" {wrong:16.1%} {fitted.valid:14.1%} {fitted.of_valid:18.1%} {fitted.of_all:16.1%}\n"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
