"""`actswm replay`: demos into clips whose controls are true."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ..atomic import write_whole
from .arguments import EXECUTOR, Executor
from .printing import say, text_console

if TYPE_CHECKING:
    from ..curation.replay.run import RenderReport
    from ..curation.replay.windows import WindowRules
    from ..formats.replay import Replay, Window

app = typer.Typer(
    help="Turn replays into clips with true controls.\n\nExample: actswm replay inspect match.dem.zst",
    no_args_is_help=True,
)
DEMO = typer.Argument(
    help="CS2 demo (.dem, .dem.zst), OpenArena demo (.dm_71), or a folder of Freedoom's .lmp."
)
DAMAGED = typer.Option(False, "--damaged", help="Take what can be read of a file that breaks off.")
PLAYERS = typer.Option("", help="Only these: names, account ids or slots, with commas.")
ROUNDS = typer.Option("", help="Only these: numbers with commas, or from-to.")
FREEZE = typer.Option(False, "--freeze-time", help="Keep the time in which nobody can move yet.")
MIN_SECONDS = typer.Option(1.0, min=0.0, help="Leave out shorter windows.")
WORKERS = typer.Option(1, min=1, help="Windows that are rendered at the same time.")
OWAMCAP = typer.Option(False, "--owamcap", help="Also write each clip as OWAMcap, for `actswm score`.")
_MOST_ROUNDS = 10_000
_LONGEST_SIDE = 8192
DRY = typer.Option(False, "--dry-run", help="Only say what would be rendered.")


@app.command()
def inspect(demo: Path = DEMO, damaged: bool = DAMAGED) -> None:
    """Say what a replay holds, and what of it cannot be read.

    Example: actswm replay inspect match.dem.zst
    """
    from rich.table import Table

    from .replay_files import read_replay

    replay = read_replay(demo, damaged)
    console = text_console()
    rate = f"{replay.tick_rate:g} ticks a second" if replay.tick_rate else "tick rate unknown"
    console.print(
        f"[bold]{demo}[/]: {replay.game} {replay.map}, build {replay.build or 'unknown'}, {rate}, "
        f"ticks {replay.first_tick} to {replay.last_tick}, {len(replay.rounds)} rounds, "
        f"{replay.count('kill')} kills, {replay.count('shot')} shots",
        highlight=False,
    )
    table = Table(
        "slot", "player", "account", "team", "ticks", "alive", "kills", "deaths", "ticks with input"
    )
    for player in replay.players:
        track = replay.tracks.get(player.slot)
        mine = [event.name for event in replay.events if event.slot == player.slot]
        told = track is not None and track.pressed is not None
        table.add_row(
            str(player.slot),
            player.name,
            str(player.account_id) if player.account_id else "bot or unknown",
            player.team,
            f"{len(track):,}" if track else "unknown",
            f"{track.alive.mean():.0%}" if track else "unknown",
            str(mine.count("kill")),
            str(mine.count("death")),
            f"{track.pressed.any(1).mean():.0%}"
            if told and track and track.pressed is not None
            else "unknown",
        )
    console.print(table)
    if replay.rounds:
        rounds = Table("round", "from tick", "live from", "to tick")
        for one in replay.rounds:
            live = "unknown" if one.live is None else str(one.live)
            rounds.add_row(str(one.number), str(one.start), live, str(one.end))
        console.print(rounds)
    for line in replay.missing:
        console.print(f"missing: {line}")


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
    rules, chosen = _choose(replay, players, rounds, freeze_time, min_seconds)
    _show_windows(replay, chosen)
    if json_file:
        write_whole(json_file, json.dumps(manifest(replay, chosen, rules), indent=1))


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
    rules, chosen = _choose(replay, players, rounds, freeze_time, min_seconds)
    if dry_run:
        _show_windows(replay, chosen)
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
    rules, chosen = _choose(replay, players, rounds, freeze_time, min_seconds)
    path = write_kit(
        out, replay, chosen, fps=fps, size=_size(size), capture=capture,  # type: ignore[arg-type]
        game_version=game_version, hlae_version=hlae_version,
    )  # fmt: skip
    write_whole(out / "windows.json", json.dumps(manifest(replay, chosen, rules), indent=1))
    _show_windows(replay, chosen)
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
    from ..errors import UserError
    from ..formats.replay import Window
    from ..games.cs2.kit import KitReplay
    from .bars import bars
    from .replay_files import read_replay

    try:
        stored = json.loads((folder / "kit.json").read_text())
        fields = ("slot", "player", "round", "start", "end", "part")
        chosen = [Window(**{name: one[name] for name in fields}) for one in stored["windows"]]
        demo, fps, capture = Path(stored["demo"]).name, float(stored["fps"]), str(stored["capture"])
        numbers = [one for window in chosen for one in (window.slot, window.round, window.start, window.end)]
        if not chosen or not 0 < fps < 1e4 or not all(type(one) is int and abs(one) < 2**31 for one in numbers):
            raise ValueError("its windows or frame rate are no numbers")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"{folder}: is not a kit ({error})") from None
    replay = read_replay(folder / demo, damaged=True)
    settings = ExportSettings(_size(size), fps, f"cs2, hlae {capture}", owamcap)
    engine = partial(KitReplay, folder=folder.absolute(), size=_size(size))
    with bars() as move:
        report = run(
            replay, chosen, WindowRules(), out, engine, settings, workers=workers,
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
    seed: int = typer.Option(0, help="Seed of who plays."),
    size: int = typer.Option(128, help="Freedoom: height and width of the frames in pixels."),
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


def _choose(
    replay: Replay, players: str, rounds: str, freeze_time: bool, min_seconds: float
) -> tuple[WindowRules, tuple[Window, ...]]:
    from ..curation.replay.windows import WindowRules, windows_of
    from ..errors import UserError

    names = tuple(word.strip() for word in players.split(",") if word.strip())
    rules = WindowRules(names, _numbers(rounds), freeze_time, min_seconds)
    chosen = windows_of(replay, rules)
    if not chosen:
        missing = f"; missing: {'; '.join(replay.missing)}" if replay.missing else ""
        raise UserError(
            f"{replay.path}: has no window of at least {min_seconds:g} s that was asked for{missing}"
        )
    return rules, chosen


def _numbers(text: str) -> tuple[int, ...]:
    from ..errors import UserError

    found: list[int] = []
    try:
        for word in filter(None, text.replace(" ", "").split(",")):
            first, dash, last = word.partition("-")
            wanted = range(int(first), int(last if dash else first) + 1)
            if wanted.stop - wanted.start > _MOST_ROUNDS:
                raise ValueError
            found += wanted
    except ValueError:
        raise UserError(f"--rounds {text!r} is not a list of numbers such as 1,3,5-8") from None
    return tuple(found)


def _size(text: str) -> tuple[int, int]:
    from ..errors import UserError

    height, cross, width = text.lower().partition("x")
    sides = [int(side) for side in (height, width) if side.isdecimal() and len(side) < 6]
    if not cross or len(sides) < 2 or any(side % 2 or not 2 <= side <= _LONGEST_SIDE for side in sides):
        raise UserError(f"--size {text!r} is not height x width in even pixels, such as 96x128")
    return sides[0], sides[1]


def _show_windows(replay: Replay, chosen: tuple[Window, ...]) -> None:
    from rich.table import Table

    from ..curation.replay.windows import hours, tick_rate_of

    table = Table("round", "slot", "player", "from tick", "to tick", "seconds")
    for one in chosen:
        seconds = f"{one.ticks / tick_rate_of(replay):.1f}"
        table.add_row(str(one.round), str(one.slot), one.player, str(one.start), str(one.end), seconds)
    console = text_console()
    console.print(table)
    console.print(f"{len(chosen)} windows, {hours(replay, chosen):.4f} hours")


def _show_report(report: RenderReport, out: Path) -> None:
    good = [outcome for outcome in report.outcomes if outcome.problem is None]
    valid, frames = sum(one.valid for one in good), sum(one.frames for one in good)
    again = f" ({report.reused} were done before)" if report.reused else ""
    say(f"{out}: {len(good)} windows{again}, {frames:,} frames, {valid / max(frames, 1):.2%} valid")
    say(f"{out / 'dataset.h5'}: {report.frames:,} frames with the demo's own controls")
    for failure in report.failures:
        say(f"failed: {failure.name}: {failure.problem}", err=True)
    if report.failures:
        raise typer.Exit(1)
