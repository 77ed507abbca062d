"""What page and server tell each other, as JSON."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..formats.keymap import KeyMap
from ..game import Game
from .bindings import lane_codes
from .board import Imagined, Moment
from .hands import Report


@dataclass(frozen=True)
class Lane:
    """A control as the page shows it: its name, the browser codes that press it, and whether it does anything."""

    name: str
    codes: tuple[str, ...]
    effective: bool


@dataclass(frozen=True)
class About:
    """What a page has to know once."""

    game: str
    fps: float
    lanes: tuple[Lane, ...]
    bindings: dict[str, tuple[str, ...]]
    """What a report may name -> the browser codes that press it."""
    saving: str = ""
    """Where episodes are kept; empty: nowhere."""
    models: tuple[str, ...] = ()
    """Those that imagine."""
    drawn: tuple[bool, ...] = ()
    """Are its latents shown as drawings of its decoder? Else as the nearest recorded frames."""
    steps: tuple[int, ...] = ()
    """Model steps ahead that are shown."""
    frameskip: int = 1
    contexts: tuple[int, ...] = ()
    """Real frames that each model goes on from."""
    aspect: float = 1.0
    """Width over height of the game's picture."""


def lanes_of(game: Game, key_map: KeyMap) -> tuple[Lane, ...]:
    return tuple(
        Lane(name, lane_codes(key_map, index), bool(game.effective[index]))
        for index, name in enumerate(game.vocabulary.names)
    )


def report_of(told: Mapping[str, Any]) -> Report:
    way = float(told.get("dx", 0)), float(told.get("dy", 0))
    if not all(map(math.isfinite, way)):
        raise ValueError("the mouse's way is not finite")
    return Report(frozenset(told["held"]), frozenset(told.get("tapped", ())), *way)


def moment_message(moment: Moment) -> dict[str, Any]:
    return {
        **{name: getattr(moment, name) for name in ("episode", "step", "running", "fps", "news")},
        "kept": asdict(moment.kept),
        "action": moment.action.tolist(),
        "presses": moment.presses,
        "jpeg": _text(moment.jpeg),
        "seen": _text(moment.seen),
        "dreams": [_text(each) for each in moment.dreams],
        "dreamt": moment.dreamt,
    }


def imagined_message(imagined: Imagined) -> dict[str, Any]:
    futures = [
        {"held": future.held, "jpegs": [_text(each) for each in future.jpegs]} for future in imagined.futures
    ]
    return {
        "model": imagined.model,
        "episode": imagined.episode,
        "step": imagined.step,
        "latency": imagined.latency,
        "futures": futures,
    }


def _text(picture: bytes) -> str:
    return base64.b64encode(picture).decode()
