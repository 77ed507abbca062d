"""Real engines in lockstep behind the `Game` protocol, by name and as Gymnasium environments."""

from __future__ import annotations

from .registry import game_names, gymnasium_id, make_game, register_with_gymnasium

__all__ = ["game_names", "gymnasium_id", "make_game", "register_with_gymnasium"]

register_with_gymnasium()
