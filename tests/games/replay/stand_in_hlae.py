"""HLAE and the game in one, as far as a kit can tell. Reads its misbehaviour from `plan.json` beside it.

It takes the launch line apart, executes the cfg, plays the demo's ticks, loses what comes before tick 96 and a
`spec_player` next to a seek, and records what the spectated player sees: a panorama that turns with the view.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

import av
import numpy as np

HEIGHT, WIDTH, SCALE = 90, 160, 60.0


def main() -> None:
    arguments = sys.argv[1:]
    here = Path(__file__).parent
    plan = json.loads((here / "plan.json").read_text())
    launches = here / "launches.json"
    log = json.loads(launches.read_text()) if launches.exists() else []
    mood = plan["moods"][len(log)] if len(log) < len(plan["moods"]) else "well"
    launches.write_text(json.dumps([*log, arguments]))
    words = ["-noGui", "-autoStart", "-noConfig", "-afxDisableSteamStorage", "-customLoader"]
    assert arguments[:5] == words and arguments[5] == "-hookDllPath" and arguments[7] == "-programPath"
    game, line = Path(arguments[8]), arguments[10]
    csgo = game.parents[2] / "csgo"
    assert (csgo / re.search(r'\+playdemo "(.*?)"', line)[1]).exists()
    if mood == "dialog":
        (here / "titles.txt").write_text("Something else\nError - AfxHookSource2\n")
        time.sleep(600)
    if mood == "crash":
        sys.exit(3)
    cfg = (csgo / "cfg" / f"{re.search(r'[+]exec .(.*?).[ ]', line)[1]}.cfg").read_bytes().decode()
    play(cfg.split("\r\n"), plan, mood)


def play(lines: list[str], plan: dict, mood: str) -> None:
    at: dict[int, list[str]] = {}
    settings = {}
    for line in lines:
        if found := re.fullmatch(r'mirv_cmd addAtTick (\d+) "(.*)"', line):
            at.setdefault(int(found[1]), []).append(found[2])
        elif found := re.fullmatch(r"mirv_streams record (\w+) (.*)", line):
            settings[found[1]] = found[2].strip('"')
    tick, slot, last_seek, begun, frames = 0.0, 1, -100, None, []
    fps = float(settings["fps"])
    while True:
        for command in at.get(int(tick), []) if tick >= 96 and tick == int(tick) else []:
            word, *rest = command.split()
            if word == "demo_gototick":
                tick = last_seek = int(rest[0])
            elif word == "spec_player" and mood != "drop" and abs(tick - last_seek) > 1:
                slot = int(rest[0])
            elif command == "mirv_streams record start":
                begun = tick
            elif command == "mirv_streams record end":
                return write(frames, Path(settings["name"]), fps)
            elif command == "quit":
                return None
        if begun is not None and (tick - begun) * fps / 64 >= len(frames):
            frames.append(view(plan, slot, tick))
            if mood == "early" and len(frames) > 20:
                return write(frames, Path(settings["name"]), fps)
        tick += 1


def view(plan: dict, slot: int, tick: float) -> np.ndarray:
    yaw = np.interp(tick, plan["ticks"], plan["yaws"][str(slot)])
    panorama = np.repeat(np.random.default_rng(7).integers(0, 255, (HEIGHT // 3, 2048)), 3, 0).astype(
        np.uint8
    )
    panorama = np.repeat(panorama, 4, 1)[:, : int(2 * np.pi * SCALE) // 2 * 2 * 4]
    start = round(-np.radians(yaw) * SCALE * 4)
    columns = (start + np.arange(0, WIDTH * 4)) % panorama.shape[1]
    grey = panorama[:, columns].reshape(HEIGHT, WIDTH, 4).mean(2).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, 2)


def write(frames: list[np.ndarray], take: Path, fps: float) -> None:
    folder = take / "take0000" / "screen"
    folder.mkdir(parents=True)
    with av.open(str(folder / "video.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=int(fps))
        stream.height, stream.width, stream.pix_fmt = HEIGHT, WIDTH, "yuv420p"
        for rgb in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(rgb, format="rgb24")))
        container.mux(stream.encode(None))


main()
