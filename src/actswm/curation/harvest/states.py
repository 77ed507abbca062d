"""What a sample picture shows: play, or a state that is not wanted. One small interface, two filters (Algorithm 2)."""

from __future__ import annotations

from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from ...errors import UserError
from .packs import PLAY, PackMatcher, load_pack
from .settings import FilterRules


class StateReader(Protocol):
    """Sees the samples of one video in order."""

    def state(self, bgr: NDArray[Any]) -> str: ...


class NegativeReader:
    """Play is what shows no bad state: no words that betray one, no picture of one, neither dark nor empty."""

    def __init__(self, rules: FilterRules) -> None:
        from .words import WordReader

        self._rules = rules
        self._words = WordReader(rules.words) if rules.words else None
        self._matcher = PackMatcher(load_pack(rules.pack)) if rules.pack else None

    def state(self, bgr: NDArray[Any]) -> str:
        if shows_nothing(bgr, self._rules):
            return "loading"
        if self._matcher is not None:
            seen = _bad_state(self._matcher, cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY))
            if seen is not None:
                return seen
        return (self._words.state(bgr) if self._words is not None else None) or PLAY


class PositiveReader:
    """Play is what shows the HUD of play, and nothing of a bad state over it."""

    def __init__(self, rules: FilterRules) -> None:
        if not rules.pack:
            raise UserError(
                "a positive filter needs a template pack: make one from your own frames with actswm hud learn, "
                "and name it with --pack or in a copy of the domain's file"
            )
        self._rules, pack = rules, load_pack(rules.pack)
        if PLAY not in pack.states():
            raise UserError(f"{rules.pack}: the pack has no elements of play; learn some with --state play")
        self._matcher = PackMatcher(pack)
        self._words = None
        if rules.words:
            from .words import WordReader

            self._words = WordReader(rules.words)

    def state(self, bgr: NDArray[Any]) -> str:
        if shows_nothing(bgr, self._rules):
            return "loading"
        luma = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
        shares = self._matcher.shares(luma)
        bad = _worst(shares, self._matcher.pack.enough)
        if bad is not None:
            return bad
        if shares[PLAY] < self._rules.need:
            return "no hud"
        return (self._words.state(bgr) if self._words is not None else None) or PLAY


def reader_of(rules: FilterRules) -> StateReader:
    return PositiveReader(rules) if rules.kind == "positive" else NegativeReader(rules)


def shows_nothing(bgr: NDArray[Any], rules: FilterRules) -> bool:
    """Dark or near-uniform: a loading screen or a transition."""
    small = cv2.resize(bgr, (160, 90), interpolation=cv2.INTER_AREA)
    return bool(
        np.percentile(small.max(2), 99) < rules.dark or cv2.meanStdDev(small)[1].max() < rules.uniform
    )


def _bad_state(matcher: PackMatcher, luma: NDArray[Any]) -> str | None:
    return _worst(matcher.shares(luma), matcher.pack.enough)


def _worst(shares: dict[str, float], enough: float) -> str | None:
    bad = {state: share for state, share in shares.items() if state != PLAY and share >= enough}
    return max(bad, key=lambda state: bad[state]).split(":")[0] if bad else None
