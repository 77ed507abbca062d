"""A model has one colour, in every chart and on the page: the usual ones by their name, others by what is left."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle

PALETTE = ("#0072b2", "#c85200", "#00875f", "#b0508a", "#7a5cc0", "#9a7400", "#2f8fa8", "#6b6b6b")
"""After Okabe and Ito; the page's style sheet has the same, and others of the same hues for the dark."""
_USUAL = {"lewm-rollout": 0, "actswm": 1, "actswm-plus": 2, "contrast": 3}


def places(names: Iterable[str]) -> dict[str, int]:
    """The place in the palette of each model."""
    asked = list(dict.fromkeys(names))
    usual: dict[str, int] = {}
    for name in asked:
        place = _USUAL.get(name.rsplit("/", 1)[-1])
        if place is not None and place not in usual.values():
            usual[name] = place
    left = cycle([place for place in range(len(PALETTE)) if place not in usual.values()])
    return {name: usual[name] if name in usual else next(left) for name in asked}


def shades(names: Iterable[str]) -> dict[str, str]:
    """The colour of each model."""
    return {name: PALETTE[place] for name, place in places(names).items()}
