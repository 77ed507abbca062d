"""`actswm replay`: demos into clips whose controls are true."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ..json_files import write_json
from .arguments import EXECUTOR, Executor
from .printing import say
from .replay_windows import FREEZE, MIN_SECONDS, PLAYERS, ROUNDS, choose, show_windows

if TYPE_CHECKING:
    from ..curation.replay.run import RenderReport

app = typer.Typer(
    help="Turn replays into clips with true controls.\n\nExample: actswm replay inspect match.dem.zst",
    no_args_is_help=True,
)
DEMO = typer.Argument(
    help="CS2 demo (.dem, .dem.zst), OpenArena demo (.dm_71), or a folder of Freedoom's .lmp."
)
DAMAGED = typer.Option(False, "--damaged", help="Take what can be read of a file that breaks off.")
WORKERS = typer.Option(1, min=1, help="Windows that are rendered at the same time.")
OWAMCAP = typer.Option(False, "--owamcap", help="Also write each clip as OWAMcap, for `actswm score`.")
DRY = typer.Option(False, "--dry-run", help="Only say what would be rendered.")


@app.command()
def inspect(demo: Path = DEMO, damaged: bool = DAMAGED) -> None:
    """Say what a replay holds, and what of it cannot be read.

    Example: actswm replay inspect match.dem.zst
    """
    from .replay_files import read_replay
    from .replay_table import show_replay

    show_replay(read_replay(demo, damaged))


@app.command()
def windows(
    demo: Path = DEMO,
    players: str = PLAYERS,
    rounds: str = ROUNDS,
    freeze_time: bool = FREEZE,
    min_seconds: float = MIN_SECONDS,
    damaged: bool = DAMAGED,
    json_file: Path = typer.Option(None, "--json", help="Write the manifest to this file."),
) -> None:
    """List what would be rendered of a replay, and how many hours that is.

    Example: actswm replay windows match.dem --players 6721005 --rounds 1-12
    """
    from ..curation.replay.windows import manifest
    from .replay_files import read_replay

    replay = read_replay(demo, damaged)
    rules, chosen = choose(replay, players, rounds, freeze_time, min_seconds)
    show_windows(replay, chosen)
    if json_file:
        write_json(json_file, manifest(replay, chosen, rules))


@app.command()
def render(
    demo: Path = DEMO,
    out: Path = typer.Option(..., "--out", "-o", help="Folder; an unfinished one is continued."),
    size: str = typer.Option("128x128", help="Height x width of the clips in pixels."),
    fps: float = typer.Option(None, min=1.0, help="Frames a second (default: the demo's ticks)."),
    mode: Literal["lockstep", "realtime"] = typer.Option(
        "lockstep", help="Exact, or with a screen grabber."
    ),
    marker: bool = typer.Option(
        True, help="Real time: draw a coded tick beside the picture, and cut it off."
    ),
    players: str = PLAYERS,
    rounds: str = ROUNDS,
    freeze_time: bool = FREEZE,
    min_seconds: float = MIN_SECONDS,
    damaged: bool = DAMAGED,
    workers: int = WORKERS,
    executor: Executor = EXECUTOR,
    owamcap: bool = OWAMCAP,
    dry_run: bool = DRY,
) -> None:
    """Replay every window on this machine: a mute clip, a frame table, and a dataset file of all of them.

    The same command again does only what is missing. Exit code 1: some windows failed.

    Example: actswm replay render match.dm_71 --out clips --size 96x128
    """
    from ..curation.replay.render import ExportSettings
    from ..curation.replay.run import render as run
    from .bars import bars
    from .replay_files import read_replay, shown

    replay = read_replay(demo, damaged)
    how = shown(replay, _size(size), fps, mode, marker)
    rules, chosen = choose(replay, players, rounds, freeze_time, min_seconds)
    if dry_run:
        show_windows(replay, chosen)
        return
    settings = ExportSettings(_size(size), how.fps, how.words, owamcap)
    with bars() as move:
        report = run(
            replay, chosen, rules, out, how.open_engine, settings, workers=workers,
            executor=executor,
            finish=lambda name, done, total: move("windows", done, total, name), spec=how.spec,
        )  # fmt: skip
    _show_report(report, out)


@app.command()
def kit(
    demo: Path = DEMO,
    out: Path = typer.Option(..., "--out", "-o", help="Folder of the kit."),
    size: str = typer.Option("720x1280", help="Height x width of the game's window."),
    fps: float = typer.Option(32.0, min=1.0, help="Frames a second of game time."),
    capture: Literal["streams", "wgc"] = typer.Option(
        "streams", help="HLAE's streams, deterministic, or Windows' capture (the paper's way)."
    ),
    game_version: str = typer.Option("", help="PatchVersion of the game that the kit insists on."),
    hlae_version: str = typer.Option("", help="Version of HLAE that the kit insists on."),
    players: str = PLAYERS,
    rounds: str = ROUNDS,
    freeze_time: bool = FREEZE,
    min_seconds: float = MIN_SECONDS,
    damaged: bool = DAMAGED,
) -> None:
    """Write all that renders a CS2 demo on a Windows machine: cfgs, launch lines and a program that runs them.

    Example: actswm replay kit match.dem --out kit
    """
    from ..curation.replay.windows import manifest
    from ..games.cs2.kit import write_kit
    from .replay_files import read_replay

    replay = read_replay(demo, damaged)
    rules, chosen = choose(replay, players, rounds, freeze_time, min_seconds)
    path = write_kit(
        out, replay, chosen, fps=fps, size=_size(size), capture=capture,  # type: ignore[arg-type]
        game_version=game_version, hlae_version=hlae_version,
    )  # fmt: skip
    write_json(out / "windows.json", manifest(replay, chosen, rules))
    show_windows(replay, chosen)
    say(f"{path.parent}: carry it to the Windows machine and follow README.txt there")


@app.command()
def collect(
    folder: Path = typer.Argument(help="A kit that was run and brought back."),
    out: Path = typer.Option(..., "--out", "-o", help="Folder; an unfinished one is continued."),
    size: str = typer.Option("128x128", help="Height x width of the clips in pixels."),
    workers: int = WORKERS,
    executor: Executor = EXECUTOR,
    owamcap: bool = OWAMCAP,
) -> None:
    """Make clips, frame tables and a dataset file of a kit's results.

    Example: actswm replay collect kit --out clips
    """
    from ..curation.replay.render import ExportSettings
    from ..curation.replay.run import render as run
    from ..curation.replay.windows import WindowRules
    from ..games.cs2.results import KitReplay, read_kit
    from .bars import bars
    from .replay_files import read_replay

    kit = read_kit(folder)
    replay = read_replay(kit.demo, damaged=True)
    settings = ExportSettings(_size(size), kit.fps, f"cs2, hlae {kit.capture}", owamcap)
    engine = partial(KitReplay, kit=kit, size=_size(size))
    with bars() as move:
        report = run(
            replay, kit.windows, WindowRules(), out, engine, settings, workers=workers,
            executor=executor,
            finish=lambda name, done, total: move("windows", done, total, name),
        )  # fmt: skip
    _show_report(report, out)


@app.command()
def record(
    game: str = typer.Argument(help="openarena/MAP, or freedoom/WORLD."),
    out: Path = typer.Option(
        ..., "--out", "-o", help="Demo (.dm_71), or for Freedoom a folder of .lmp demos."
    ),
    steps: int = typer.Option(1000, min=10, help="Raw steps."),
    bots: int = typer.Option(3, min=0, help="OpenArena: opponents."),
    seed: int = typer.Option(0, min=0, help="Seed of who plays."),
    size: int = typer.Option(128, min=1, help="Freedoom: height and width of the frames in pixels."),
    episode_steps: int = typer.Option(800, min=2, help="Freedoom: longest episode in raw steps."),
) -> None:
    """Record a match as the engine's own demo, with what was pressed inside it.

    Example: actswm replay record openarena/oa_dm1 --out match.dm_71
    """
    from ..errors import UserError
    from .bars import bars

    family, _, world = game.partition("/")
    with bars() as move:
        if family == "openarena":
            from ..games.openarena.demos import record_match

            record_match(
                out, world=world, steps=steps, bots=bots, seed=seed,
                progress=lambda done: move(game, done, steps),
            )  # fmt: skip
        elif family == "freedoom":
            from ..games.episodes import RecordingPlan
            from ..games.freedoom.demos import record_lmp

            plan = RecordingPlan(game, seed, (size, size), episode_steps=episode_steps)
            record_lmp(plan, steps, out, progress=lambda done: move(game, done, steps))
        else:
            raise UserError(f"{game!r} records no demos; use openarena/MAP or freedoom/WORLD")
    say(f"{out}: {steps:,} steps of {game}")


def _size(text: str) -> tuple[int, int]:
    from ..errors import UserError

    words = text.lower().split("x")
    sides = [int(word) for word in words if word.isascii() and word.isdigit()]
    if len(words) != 2 or len(sides) != 2 or any(side % 2 or not 8 <= side <= 8192 for side in sides):
        raise UserError(f"--size {text!r} is not height x width in even pixels, such as 96x128")
    return sides[0], sides[1]


def _show_report(report: RenderReport, out: Path) -> None:
    good = [outcome for outcome in report.outcomes if outcome.problem is None]
    valid, frames = sum(one.valid for one in good), sum(one.frames for one in good)
    again = f" ({report.reused} were done before)" if report.reused else ""
    say(f"{out}: {len(good)} windows{again}, {frames:,} frames, {valid / max(frames, 1):.2%} valid")
    if report.frames:
        controls = "the demo's own controls" if report.true_controls else "no controls: the demo does not tell them"
        say(f"{out / 'dataset.h5'}: {report.frames:,} frames with {controls}")
    for failure in report.failures:
        say(f"failed: {failure.name}: {failure.problem}", err=True)
    if report.failures:
        raise typer.Exit(1)
