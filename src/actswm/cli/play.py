"""`actswm play`: a person plays in the browser, and sees what a world model expects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import UserError
from .arguments import DEVICE, existing_file, saved_models
from .checkpoints import Checkpoint, load_checkpoints
from .printing import say

if TYPE_CHECKING:
    from ..game import Game
    from ..play.board import Board
    from ..play.imagination import Imagination
    from ..play.session import Session

DEFAULT_SIZE = 128
MOST_STEPS = 64


def play(
    game_name: str = typer.Argument(metavar="GAME", help="family/world, such as freedoom/room"),
    checkpoint: Path = typer.Option(
        None, "--model", help="Model folder; without one you only play.", callback=saved_models
    ),
    data: Path = typer.Option(
        
        None,
        "--data",
        help="Dataset file whose frames stand in for what the model imagines.",
        callback=existing_file,
    
    ),
    save: Path = typer.Option(None, help="Keep what is played in this dataset file (.h5)."),
    owamcap: Path = typer.Option(None, help="Folder that gets every episode as OWAMcap (MCAP + MKV)."),
    size: int = typer.Option(
        None, min=8, help="Height and width of the frames (default: the model's, or 128)."
    ),
    controls: str = typer.Option(
        "", help="Only these controls do anything, e.g. W,Turn_L,Turn_R (default: the world's own)."
    ),
    steps: str = typer.Option("1,2,4,8", help="Model steps ahead at which the future is shown."),
    gallery: int = typer.Option(4000, min=1, help="Frames of --data to choose from."),
    device: str = DEVICE,
    seed: int = typer.Option(0, min=0, help="Where the episodes start."),
    port: int = typer.Option(0, min=0, max=65535, help="Port on this machine; 0: any free one."),
) -> None:
    """Play a game in the browser, with the future that a model imagines under the held keys beside it.

    Opens a page for this machine alone and prints its address. Ctrl+C ends it; what was played is then in the file.

    Example: actswm play freedoom/room --model runs/room/model --data room.h5 --save played.h5
    """
    from contextlib import ExitStack, closing
    from itertools import count

    from ..formats.keymap import DEFAULT_KEYS
    from ..games.episodes import RecordingPlan
    from ..games.guard import EngineDied
    from ..games.taping import Tape
    from ..play.bindings import browser_bindings
    from ..play.board import Board
    from ..play.hands import Hands
    from ..play.messages import About, lanes_of
    from ..play.server import PlayServer
    from ..play.session import Session

    if (checkpoint is None) != (data is None):
        raise UserError("--model and --data go together: the model's futures are shown as frames of the file")
    shown = _steps(steps)
    loaded = load_checkpoints([checkpoint], device)[0] if checkpoint else None
    pixels = size or (loaded.model.config.image_size if loaded else DEFAULT_SIZE)
    options = {"controls": controls.replace(" ", "").split(",")} if controls else {}
    plan = RecordingPlan(
        game_name, seed, (pixels, pixels), behaviour="person", episode_steps=0, options=options
    )
    with ExitStack() as last, ExitStack() as stack:
        game = stack.enter_context(closing(plan.open_game()))  # no engine starts before reset
        if loaded:
            _require_fit(loaded, game, pixels)
        key_map = DEFAULT_KEYS[game.vocabulary.name]
        tape = stack.enter_context(Tape(plan, game, save, owamcap))
        board = Board()
        hands = Hands(key_map, game.effective, loaded.model.encoding.frameskip if loaded else 1)
        seeds = (plan.episode_seed(number) for number in count(tape.before))
        session = Session(game, hands, tape, seeds, board, engine_errors=(EngineDied,))
        about = About(
            game=game.name,
            fps=game.fps,
            lanes=lanes_of(game, key_map),
            bindings=browser_bindings(key_map),
            saving=", ".join(path.name for path in (save, owamcap) if path),
            model=loaded.name if loaded else "",
            steps=shown if loaded else (),
            frameskip=loaded.model.encoding.frameskip if loaded else 1,
            context=loaded.model.context_length if loaded else 0,
        )
        server = stack.enter_context(closing(PlayServer(about, session, hands, board, port)))
        if loaded:
            session.imagination = stack.enter_context(
                closing(_imagination(loaded, data, gallery, shown, board))
            )
        last.enter_context(_ending(session))  # and closing is not interrupted either
        say(f"{game.name}: open {server.url} in a browser on this machine; Ctrl+C ends")
        session.run()
    for path in (save, owamcap):
        if path:
            episodes = f"{tape.episodes:,} new episode{'s' * (tape.episodes != 1)}"
            say(f"{path}: {tape.frames:,} new frames in {episodes}")


def _steps(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and 0 < int(part) <= MOST_STEPS for part in parts):
        raise UserError(f"--steps {text!r}: give numbers from 1 to {MOST_STEPS}, such as 1,2,4,8")
    return tuple(sorted({int(part) for part in parts}))


def _require_fit(checkpoint: Checkpoint, game: Game, pixels: int) -> None:
    model = checkpoint.model
    if model.encoding.vocabulary != game.vocabulary:
        raise UserError(
            f"{checkpoint.path}: the model speaks {model.encoding.vocabulary.name!r}, but {game.name} is played "
            f"with {game.vocabulary.name!r}; choose a model of this game"
        )
    if model.config.image_size != pixels:
        raise UserError(
            f"--size {pixels}: the model takes frames of {model.config.image_size} pixels; leave --size out"
        )


def _imagination(
    checkpoint: Checkpoint, data: Path, count: int, steps: tuple[int, ...], board: Board
) -> Imagination:
    import numpy as np
    import torch

    from ..data import open_checked
    from ..diagnosis.gallery import Gallery
    from ..play.imagination import Imagination
    from .bars import bars

    torch.set_num_threads(1)  # the game and the browser need the rest
    with open_checked(data) as file:
        rows = np.flatnonzero(file.frame_valid)
    if not len(rows):
        raise UserError(f"{data}: has no valid frame to show; choose another file")
    with bars() as move:
        show = partial(move, f"{checkpoint.name}: gallery")
        gallery = Gallery.of(checkpoint.model, data, rows, count, progress=show)
    return Imagination(checkpoint.model, gallery.nearest, steps, board)


@contextmanager
def _ending(session: Session) -> Iterator[None]:
    """Ctrl+C, `kill` and a closed terminal end the session after its current raw step, with everything in order."""
    import signal

    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {each: signal.signal(each, lambda *_: session.end()) for each in ends}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
