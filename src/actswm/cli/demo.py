"""`actswm demo`: the whole story in one command, stage by stage. What is done is not done again."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from .arguments import DEVICE
from .printing import say

ROOM = "freedoom-room/lewm-rollout freedoom-room/contrast"
MAZE = "freedoom-maze/lewm-rollout freedoom-maze/actswm freedoom-maze/contrast"


@dataclass(frozen=True)
class Size:
    """How much of everything: minutes for a first look, or seconds to see that it works."""

    frames: int
    steps: int
    windows: int
    futures: int
    episodes: int
    recovered: int
    inverse: int
    """Training steps of inverse dynamics, which recovery is compared with."""
    lasts: str


WITH_MODELS = ("train", "drift", "fidelity", "sheet", "plan", "recover")
INTERRUPTED = (130, -signal.SIGINT, -signal.SIGTERM)
"""Exit codes of a stage that was asked to stop."""
FULL = Size(
    frames=24_000, steps=400, windows=256, futures=48, episodes=3, recovered=4, inverse=600, lasts="about ten minutes"
)
QUICK = Size(
    frames=4_000, steps=20, windows=32, futures=4, episodes=1, recovered=1, inverse=20, lasts="two or three minutes"
)


def demo(
    out: Path = typer.Option(None, "--out", "-o", help="Folder of all it makes (default: runs/demo)."),
    quick: bool = typer.Option(False, "--quick", help="Two or three minutes: see that everything works."),
    device: str = DEVICE,
) -> None:
    """See a world model that ignores its actions beside an action-sensitive one, in a real game (Freedoom).

    Records, trains, diagnoses, plans, recovers, and writes OUT/report.html: about ten minutes on two cores.
    Interrupted, it goes on where it was.

    Example: actswm demo --quick
    """
    folder = out or Path("runs/demo-quick" if quick else "runs/demo")
    finished = folder / ".finished"
    finished.mkdir(parents=True, exist_ok=True)
    size = QUICK if quick else FULL
    stages = _stages(size)
    say(f"{len(stages)} stages, {size.lasts} on two cores; Ctrl+C stops, and the same command goes on from there")
    for number, (title, command) in enumerate(stages.items(), 1):
        if device != "auto" and command.startswith(WITH_MODELS):
            command += f" --device {device}"
        mark = finished / title.replace(" ", "-")
        if mark.exists() and mark.read_text() == command:
            say(f"[{number}/{len(stages)}] {title}: done before")
            continue
        say(f"[{number}/{len(stages)}] {title}: actswm {command}")
        (finished / "report").unlink(missing_ok=True)  # it shows what is about to change
        code = _run([sys.executable, "-m", "actswm", *command.split()], folder)
        if code in INTERRUPTED:
            say(f"stopped in stage {number} of {len(stages)} ({title}); the same command goes on from here", err=True)
            raise typer.Exit(130)
        if code:
            raise typer.Exit(code)
        mark.write_text(command)
    say(f"The report is {folder / 'report.html'}")


def _run(command: list[str], folder: Path) -> int:
    """The stage's exit code. A stage ends by itself when interrupted: it has something to save.

    A terminal sends Ctrl+C to the stage, too; a SIGTERM comes to this process alone and is passed on.
    """
    process = subprocess.Popen(command, cwd=folder)
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    if before[signal.SIGINT] is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        return process.wait()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _stages(size: Size) -> dict[str, str]:
    """Title and command of each stage; a command runs in the demo's folder, where its outputs stay."""
    drift = f"--windows {size.windows} --context 8 --horizon 8"
    futures = f"--data maze.h5 --windows {size.futures} --context 8 --split all"
    planning = f"--episodes {size.episodes} --horizon 8 --baselines random"
    recovery = f"--windows {size.recovered} --steps 16 --target every-step --search pool --idm idm"
    return {
        "record a room": f"record freedoom/room --steps {size.frames} --size 64 --seed 1 --out room.h5",
        "look at it": "inspect room.h5 --sheet room.png",
        "train a small model there": "train small/contrast --data room.h5 --out own --resume "
        f"training.steps={size.steps}",
        "is it action-sensitive": f"drift own {ROOM} --data room.h5 {drift} --json room-drift.json "
        "--plot room-drift.png",
        "what it imagines": "sheet own --data room.h5 --windows 16 --context 8 --out sheet-own.png",
        "record a maze": f"record freedoom/maze --steps {size.frames} --size 64 --seed 2 --out maze.h5",
        "are trained models action-sensitive there": f"drift {MAZE} --data maze.h5 --split all {drift} "
        "--json maze-drift.json --plot maze-drift.png",
        "against true futures": f"fidelity {MAZE} {futures} --json fidelity.json",
        "a sheet of true and imagined futures": f"sheet {MAZE} {futures} --out sheet-maze.png",
        "plan in the room": f"plan {ROOM} --task freedoom/follow-room {planning} --out plan-room",
        "plan in the maze": f"plan {MAZE} --task freedoom/follow-maze {planning} --out plan-maze",
        "train inverse dynamics": f"idm --data maze.h5 --steps {size.inverse} --batch 8 --out idm",
        "recover actions": f"recover {MAZE} --data maze.h5 {recovery} --picture recovery.png --json recovery.json",
        "report": "report . --out report.html",
    }
