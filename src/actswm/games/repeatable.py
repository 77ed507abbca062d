"""Is a game as deterministic as it says? Played twice, and looked at."""

from __future__ import annotations

import numpy as np

from ..errors import UserError
from ..game import Game
from .behaviour import make_behaviour
from .own import CheckedGame

STEPS = 48
SEED = 20_261


def require_repeatable(game: Game) -> None:
    """Refuse another's game in which the same seed and actions show something else the second time.

    Between the two it plays something different, so that what an episode leaves behind is noticed, too.
    """
    if not game.deterministic:
        raise UserError(f"{game.name}: does not say that it is deterministic, so its states cannot be reached again")
    if not isinstance(game, CheckedGame):
        return  # ours have their tests
    first = _frames(game, SEED, 1)
    _frames(game, SEED + 1, 2)
    again = _frames(game, SEED, 1)
    for step, (one, other) in enumerate(zip(first, again)):
        if not np.array_equal(one, other):
            raise UserError(
                f"{game.name}: says that it is deterministic, but step {step} of the same seed and actions looked "
                "different the second time; does reset(seed=...) set everything?"
            )
    if len(first) != len(again):
        raise UserError(f"{game.name}: says that it is deterministic, but the same episode ended at another step")


def _frames(game: Game, seed: int, stream: int) -> list[np.ndarray]:
    player = make_behaviour("random", game, np.random.default_rng((seed, stream)))
    frame, info = game.reset(seed=seed)
    frames = [frame]
    for _ in range(STEPS):
        frame, _, terminated, truncated, info = game.step(player.act(frame, info))
        frames.append(frame)
        if terminated or truncated:
            break
    return frames
