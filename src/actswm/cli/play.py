"""`actswm play`: a person plays in the browser, and sees what a world model expects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import UserError
from .arguments import DEVICE, existing_dataset, saved_models
from .checkpoints import Checkpoint, load_checkpoints
from .printing import say

if TYPE_CHECKING:
    from ..diagnosis.gallery import Gallery
    from ..game import Game
    from ..model.decoder import Draw
    from ..play.session import Session

DEFAULT_SIZE = 128
MOST_STEPS = 64
MOST_MODELS = 2
"""As many as fit side by side."""


def play(
    game_name: str = typer.Argument(
        metavar="GAME", help="family/world, such as freedoom/room, or your own: my_module:MyGame, gym:CartPole-v1."
    ),
    checkpoints: list[Path] = typer.Option(
        [],
        "--model",
        help="A run, a saved model's folder, or shipped weights by name; two are shown side by side.",
        callback=saved_models,
    ),
    data: Path = typer.Option(
        None,
        "--data",
        help="Dataset file whose frames stand in for what a model without a decoder imagines.",
        callback=existing_dataset,
    ),
    save: Path = typer.Option(None, "--record", "--save", help="Keep what is played in this dataset file (.h5)."),
    owamcap: Path = typer.Option(None, help="Folder that gets every episode as OWAMcap (MCAP + MKV)."),
    size: int = typer.Option(
        None, min=8, help="Height and width of the recorded frames (default: the model's, or 128)."
    ),
    view: int = typer.Option(
        480, min=0, help="Height of the picture for you, where the game is deterministic (0: the recorded frames)."
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
    """Play a game in the browser, see what a model expects under the keys you hold, and play inside the model (Tab).

    Opens a page for this machine alone and prints its address. Ctrl+C ends it; what was played is then in the file.

    Example: actswm play freedoom/maze --model freedoom-maze/contrast --record played.h5
    """
    from contextlib import ExitStack, closing
    from itertools import count

    from ..games.episodes import RecordingPlan
    from ..games.guard import EngineDied
    from ..games.taping import open_tape
    from ..play.bindings import browser_bindings
    from ..play.board import Board
    from ..play.hands import Hands
    from ..play.messages import About, lanes_of
    from ..play.own_keys import key_map_of
    from ..play.picture import LargePicture
    from ..play.server import PlayServer
    from ..play.session import Session

    if data and not checkpoints:
        raise UserError("--data: its frames show what a model imagines; name the model with --model")
    if len(checkpoints) > MOST_MODELS:
        raise UserError(f"--model: {len(checkpoints)} are named; {MOST_MODELS} fit side by side")
    shown = _steps(steps)
    loaded = load_checkpoints(checkpoints, device) if checkpoints else []
    pixels = size or (loaded[0].model.config.image_size if loaded else DEFAULT_SIZE)
    frameskip = loaded[0].model.encoding.frameskip if loaded else 1
    options = {"controls": controls.replace(" ", "").split(",")} if controls else {}
    plan = RecordingPlan(
        game_name, seed, (pixels, pixels), behaviour="person", episode_steps=0, options=options
    )
    with ExitStack() as last, ExitStack() as stack:
        game = stack.enter_context(closing(plan.open_game()))  # no engine starts before reset
        for each in loaded:
            _require_fit(each, game, pixels)
        draws = _pictures(loaded, data, gallery) if loaded else []
        key_map = key_map_of(game)
        tape = stack.enter_context(open_tape(plan, game, save, owamcap))
        board = Board()
        hands = Hands(key_map, game.effective, frameskip)
        seeds = (plan.episode_seed(number) for number in count(tape.before))
        session = Session(game, hands, tape, seeds, board, engine_errors=(EngineDied,))
        aspect = getattr(game, "aspect", 1.0) if view and game.deterministic else 1.0
        if view and game.deterministic:
            large = stack.enter_context(closing(replace(plan, size=(view, round(aspect * view))).open_game()))
            session.large = LargePicture(large, engine_errors=(EngineDied,))
        about = About(
            game=game.name,
            fps=game.fps,
            lanes=lanes_of(game, key_map),
            bindings=browser_bindings(key_map),
            saving=", ".join(path.name for path in (save, owamcap) if path),
            models=tuple(each.name for each in loaded),
            drawn=tuple(drawn for _, drawn in draws),
            steps=shown,
            frameskip=frameskip,
            contexts=tuple(each.model.context_length for each in loaded),
            aspect=aspect,
        )
        server = stack.enter_context(closing(PlayServer(about, session, hands, board, port)))
        for number, (each, (draw, _)) in enumerate(zip(loaded, draws)):
            from ..play.imagination import Imagination  # and torch, which who only plays does not wait for

            imagination = Imagination(each.model, draw, shown, board, number)
            session.imaginations += (stack.enter_context(closing(imagination)),)
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


def _pictures(loaded: Sequence[Checkpoint], data: Path | None, count: int) -> list[tuple[Draw, bool]]:
    """How each model's latents are shown, and whether its decoder draws them: else by the nearest recorded frames."""
    import torch

    from ..model.decoder import load_decoder

    torch.set_num_threads(1)  # the game and the browser need the rest
    decoders = [load_decoder(each.model, each.path) for each in loaded]
    shown: list[tuple[Draw, bool]] = []
    for each, decoder in zip(loaded, decoders):
        if decoder is not None:
            shown.append((decoder.draw, True))
        elif data is not None:
            shown.append((_gallery(each, data, count).nearest, False))
        else:
            raise UserError(
                f"{each.path}: has no decoder that draws what it imagines; train one with `actswm decoder`, or name "
                "recorded frames that stand in with --data FILE.h5"
            )
    return shown


def _gallery(checkpoint: Checkpoint, data: Path, count: int) -> Gallery:
    import numpy as np

    from ..data import open_checked
    from ..diagnosis.gallery import Gallery
    from .bars import bars

    with open_checked(data) as file:
        rows = np.flatnonzero(file.frame_valid)
    if not len(rows):
        raise UserError(f"{data}: has no valid frame to show; choose another file")
    with bars() as move:
        show = partial(move, f"{checkpoint.name}: gallery")
        return Gallery.of(checkpoint.model, data, rows, count, progress=show)


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
