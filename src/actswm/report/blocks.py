"""What a page is built from; the template knows how each looks."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from ..intervals import Estimate
from ..origin import Origin

Colour = Callable[[str], int | None]
"""A model's place in the palette, the same on the whole page; None for what is no model."""


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Panel:
    title: str
    svg: Markup
    colour: int | None = None


@dataclass(frozen=True)
class Panels:
    """Charts side by side, one below the other on a phone."""

    panels: tuple[Panel, ...]
    caption: str
    origin: Origin | None
    legend: tuple[Cell, ...] = ()
    """The models whose lines the panels do not name."""


@dataclass(frozen=True)
class Cell:
    """A figure with its interval; `bar` draws it on a scale from 0 to 1."""

    text: str
    interval: str = ""
    bar: tuple[float, float, float] | None = None
    colour: int | None = None
    swatch: bool = False
    tone: str = ""
    """good, bad, or neither."""


@dataclass(frozen=True)
class Table:
    """The first cell of a row is its heading. A folded table opens on demand; one `at_a_glance` never scrolls: on a
    narrow screen each of its rows becomes a list."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    origin: Origin | None = None
    folded: bool = False
    at_a_glance: bool = False


@dataclass(frozen=True)
class Image:
    uri: str
    alt: str
    caption: str
    origin: Origin | None


@dataclass(frozen=True)
class Video:
    title: str
    outcome: str
    succeeded: bool
    uri: str
    colour: int | None


@dataclass(frozen=True)
class Videos:
    """Films of one episode, to be watched side by side."""

    title: str
    videos: tuple[Video, ...]
    origin: Origin | None


@dataclass(frozen=True)
class Listing:
    """Text as it stands in a file; opens on demand."""

    title: str
    text: str
    origin: Origin | None


Block = Text | Heading | Panels | Table | Image | Videos | Listing


@dataclass(frozen=True)
class Section:
    """`name` is the anchor, `short` the entry in the table of contents."""

    name: str
    short: str
    title: str
    blocks: tuple[Block, ...]


def data_uri(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def figure(estimate: Estimate | None, bar: bool = False, colour: int | None = None) -> Cell:
    """An estimate as a cell."""
    if estimate is None:
        return Cell("–")
    interval = "" if math.isnan(estimate.low) else f"{short(estimate.low)} to {short(estimate.high)}"
    shown = (estimate.low, estimate.mean, estimate.high) if bar and interval else None
    return Cell(short(estimate.mean), interval, shown, colour)


def short(value: float) -> str:
    """Two digits, without a negative zero; a dash where there is no number."""
    return "–" if math.isnan(value) else f"{round(value, 2) + 0.0:.2f}"


def heading(name: str, colour: Colour) -> Cell:
    """The first cell of a model's or method's row."""
    return Cell(name, colour=colour(name), swatch=True)
