"""A person plays: one raw step a tick of the game's clock, episode after episode, until the end is asked for."""

from __future__ import annotations

import contextlib
import itertools
import logging
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..game import Frame, Game
from ..processes import interrupts_held_back
from ..tape import AddRow, Tape
from .board import Board, Kept, Moment, jpeg
from .hands import Hands

if TYPE_CHECKING:
    from .imagination import Imagination
    from .picture import LargePicture

log = logging.getLogger(__name__)

Wish = Literal["save", "reset"]
"""`save` keeps the episode and starts the next; `reset` starts the next without keeping it."""
PATIENCE = 0.05
"""Longest sleep in seconds: how soon a wish is noticed."""
TOO_LATE = 0.25
"""Seconds behind the clock beyond which lost time is let go, not made up for."""


class _TakenBack(Exception):
    """The episode is not to be kept."""


class Session:
    """`run` plays in the calling thread; everything else may be called from any thread."""

    def __init__(
        self,
        game: Game,
        hands: Hands,
        tape: Tape,
        seeds: Iterator[int],
        board: Board,
        engine_errors: tuple[type[Exception], ...] = (),
    ) -> None:
        self._game, self._hands, self._tape, self._seeds = game, hands, tape, seeds
        self._board, self._engine_errors = board, engine_errors
        self.imaginations: tuple[Imagination, ...] = ()
        self.large: LargePicture | None = None
        self._wish: Wish | None = None
        self._imagining = self._dreaming = False
        self._down = np.zeros(game.vocabulary.size, bool)
        self._presses = np.zeros(game.vocabulary.size, int)
        self._running = self._ended = False
        self._due = 0.0
        self._ticks: deque[float] = deque(maxlen=1 + round(game.fps))
        self._news = ""

    def end(self) -> None:
        """Finish the episode and return from `run`. Only sets a flag, so a signal handler may call it."""
        self._ended = True

    def wish(self, wish: Wish) -> None:
        self._wish = wish

    def imagine(self, wanted: bool) -> None:
        """Play on inside the models, from the next model step; or come back to where the game was left."""
        if wanted and not self.imaginations:
            raise UserError("there is no model to play in; start with --model")
        self._imagining = wanted

    def set_running(self, running: bool) -> None:
        """Start or stop the game's clock; hands are empty while it stands."""
        self._running = running
        if not running:
            self._hands.release()

    def run(self) -> None:
        """Play until `end`. The episode that is being played then is kept."""
        for episode in itertools.count(1):
            if self._ended:
                break
            kept, frames = self._tape.episodes, self._tape.frames
            with contextlib.suppress(_TakenBack), self._tape.episode(seed := next(self._seeds)) as keep:
                self._news = self._play(episode, seed, keep)
            if self._tape.episodes > kept:
                self._news += f" Saved {self._tape.frames - frames:,} frames."
        self._running = False
        self._show_clock()

    def _play(self, episode: int, seed: int, keep: AddRow) -> str:
        """One episode; returns why it ended."""
        frame, info = self._reset(seed)
        self._wish, self._imagining = None, False
        self._hands.begin(info["telemetry"])
        large = self.large.reset(seed, frame, info) if self.large else frame
        self._show(episode, 0, frame, large, self._game.vocabulary.noop())
        for imagination in self.imaginations:
            imagination.begin(episode, frame, self._hands.holding())
        for step in itertools.count(1):
            if self._imagining and (step - 1) % self.imaginations[0].frameskip == 0:
                self._dream(self.imaginations[0].frameskip)
            if not self._tick():
                if self._wish == "reset" and not self._ended:
                    self._news = "Started anew."
                    raise _TakenBack
                return ""
            action = self._hands.take()
            keep(frame, action, info)
            try:
                frame, _, terminated, truncated, info = self._game.step(action)
            except self._engine_errors as error:
                log.warning("%s", error)
                return "The engine died."
            self._ticks.append(time.monotonic())
            self._hands.saw(info["telemetry"])
            self._presses += (action != 0) & ~self._down
            self._down = action != 0
            large = self.large.step(action, frame, info) if self.large else frame
            self._show(episode, step, frame, large, action)
            for imagination in self.imaginations:
                imagination.see(episode, step, action, frame, self._hands.holding())
            if terminated or truncated:
                events = ", ".join(event["name"] for event in info["events"])
                return f"The game ended the episode{events and f' ({events})'}."
        raise AssertionError("unreachable")

    def _dream(self, frameskip: int) -> None:
        """The game waits, and every model goes on by itself under what is done, until the person comes back."""
        reality = self._board.view.moment
        assert reality is not None
        try:
            dreams = [each.dream() for each in self.imaginations]
        except UserError as error:
            self._news, self._imagining = str(error), False
            return
        self._dreaming = True
        raw = deque([self._game.vocabulary.noop()], frameskip)
        for step in itertools.count():
            if step and step % frameskip == 0:
                for dream in dreams:
                    dream.step(np.stack(raw))
            if step % frameskip == 0:
                pictures = tuple(jpeg(dream.frame) for dream in dreams)
            self._post(replace(reality, action=raw[-1], dreams=pictures, dreamt=step // frameskip))
            if not self._tick():
                break
            raw.append(self._hands.take())
            self._ticks.append(time.monotonic())
        self._dreaming = False
        self._hands.begin({})
        self._post(reality)

    def _reset(self, seed: int) -> tuple[Frame, dict[str, Any]]:
        try:
            with interrupts_held_back():  # nor does an engine that starts here ever hear of them
                return self._game.reset(seed=seed)
        except self._engine_errors as error:
            raise UserError(str(error)) from None

    def _tick(self) -> bool:
        """Wait until the next raw step is due; False if the episode, or the dream, is to end instead."""
        while not (self._ended or self._wish or (self._dreaming and not self._imagining)):
            self._show_clock()
            now = time.monotonic()
            if self._running and now >= self._due:
                late = now - self._due > TOO_LATE
                self._due = (now if late else self._due) + 1 / self._game.fps
                return True
            time.sleep(min(PATIENCE, self._due - now) if self._running else PATIENCE)
        return False

    def _show(
        self, episode: int, step: int, frame: Frame, large: Frame, action: NDArray[np.float32]
    ) -> None:
        seen = b"" if large is frame else jpeg(frame)
        moment = Moment(
            episode, step, jpeg(large), action, self._running, 0.0, self._news, self._kept(), seen=seen
        )
        self._post(moment)

    def _post(self, moment: Moment) -> None:
        """The moment as it is now: the clock's rate, and what was pressed so far."""
        span = self._ticks[-1] - self._ticks[0] if self._ticks else 0.0
        fps = (len(self._ticks) - 1) / span if span else 0.0
        presses = tuple(self._presses.tolist())
        self._board.post(replace(moment, running=self._running, fps=fps, news=self._news, presses=presses))

    def _kept(self) -> Kept:
        return Kept(self._tape.episodes, self._tape.frames)

    def _show_clock(self) -> None:
        """Say that the clock was started or stopped, or that the session is at its end."""
        moment = self._board.view.moment
        if moment is not None and (moment.running != self._running or self._ended):
            self._ticks.clear()
            self._board.post(replace(moment, running=self._running, news=self._news, kept=self._kept()))
