"""Line charts as inline SVG: colours come from the page's style sheet, so that light and dark both look right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH, HEIGHT = 380, 250
LEFT, TOP, BOTTOM = 52, 12, 38
LABELS, NO_LABELS = 94, 20
"""What is kept free on the right."""
LABEL_HEIGHT = 14.0
"""Labels at the lines' ends are kept this far apart."""
FLAT = 1e-9
"""Heights that differ by less than this, or this share, are one height."""


@dataclass(frozen=True)
class Line:
    """Points (x, y) in the colour of a model (None: grey); `style` is a class: solid, dashed, dotted, thin, points."""

    label: str
    points: Sequence[tuple[float, float]]
    colour: int | None = None
    style: str = "solid"
    band: Sequence[tuple[float, float]] | None = None
    """Low and high of each point."""


@dataclass(frozen=True)
class Axes:
    """What a chart's axes say; limits are found from the lines where they are None."""

    x: str
    y: str
    low: float | None = None
    high: float | None = None
    left: float | None = None


def line_chart(
    title: str, axes: Axes, lines: Sequence[Line], between: tuple[Line, Line] | None = None
) -> Markup:
    """An SVG picture; the area `between` two lines is tinted in the first one's colour."""
    drawn = [line for line in lines if any(math.isfinite(y) for _, y in line.points)]
    scale = _Scale.around(drawn, axes)
    parts = [*_grid(scale, axes)]
    if between:
        upper, lower = ([scale.at(*point) for point in line.points] for line in between)
        parts.append(_polygon([*upper, *reversed(lower)], f"area {_colour(between[0])}"))
    for line in drawn:
        if line.band:
            xs = [x for x, _ in line.points]
            low, high = ([scale.at(x, band[side]) for x, band in zip(xs, line.band)] for side in (0, 1))
            parts.append(_polygon([*high, *reversed(low)], f"band {_colour(line)}"))
    parts += [_line(scale, line) for line in drawn]
    parts += _labels(scale, drawn)
    return Markup(  # every text inside has been escaped
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )


@dataclass(frozen=True)
class _Scale:
    left: float
    right: float
    low: float
    high: float
    edge: float
    """Where the plot ends and the labels begin."""

    @classmethod
    def around(cls, lines: Sequence[Line], axes: Axes) -> _Scale:
        xs = [x for line in lines for x, _ in line.points] or [0.0, 1.0]
        ys = [y for line in lines for _, y in line.points if math.isfinite(y)] or [0.0, 1.0]
        low = min(ys) if axes.low is None else min(axes.low, *ys)
        high = max(ys) if axes.high is None else max(axes.high, *ys)
        edge = WIDTH - (LABELS if any(line.label for line in lines) else NO_LABELS)
        left = min(xs) if axes.left is None else axes.left
        flat = high - low <= FLAT * max(1.0, abs(low), abs(high))
        return cls(left, max(max(xs), left + 1), low, low + 1 if flat else high, edge)

    def at(self, x: float, y: float) -> tuple[float, float]:
        y = min(max(y, self.low), self.high)
        across = (x - self.left) / (self.right - self.left)
        up = (y - self.low) / (self.high - self.low)
        return LEFT + across * (self.edge - LEFT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between the limits."""
    rough = (high - low) / about
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(n * step, 10) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _grid(scale: _Scale, axes: Axes) -> list[str]:
    parts = []
    right, bottom = scale.edge, HEIGHT - BOTTOM
    for value in ticks(scale.low, scale.high):
        y = scale.at(scale.left, value)[1]
        strong = " zero" if value == 0 else ""
        parts.append(f'<line class="grid{strong}" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="end" x="{LEFT - 6}" y="{y + 4:.1f}">{value:g}</text>')
    for value in _whole_ticks(scale):
        x = scale.at(value, scale.low)[0]
        parts.append(f'<text class="middle" x="{x:.1f}" y="{bottom + 15}">{value:g}</text>')
    middle = (LEFT + right) / 2
    parts.append(f'<text class="middle name" x="{middle:.0f}" y="{HEIGHT - 6}">{escape(axes.x)}</text>')
    at = f'transform="translate(10 {(TOP + bottom) / 2:.0f}) rotate(-90)"'
    parts.append(f'<text class="middle name" {at}>{escape(axes.y)}</text>')
    return parts


def _whole_ticks(scale: _Scale) -> list[float]:
    """Whole numbers, the first step among them: it is the one that people look for."""
    found = [tick for tick in ticks(scale.left, scale.right) if tick == int(tick)]
    near = 0.08 * (scale.right - scale.left)
    return [scale.left, *(tick for tick in found if tick > scale.left + near)]


def _line(scale: _Scale, line: Line) -> str:
    places = [scale.at(x, y) for x, y in line.points if math.isfinite(y)]
    style = f"{line.style} {_colour(line)}"
    if line.style == "points":
        return "".join(f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="3.2"/>' for x, y in places)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline class="{style}" points="{path}"/>'


def _labels(scale: _Scale, lines: Sequence[Line]) -> list[str]:
    """Each line's name, after a piece of the line, beside its end; moved apart where ends meet."""
    ends = [[p for p in line.points if math.isfinite(p[1])][-1] for line in lines]
    named = sorted((scale.at(*end)[1], number) for number, end in enumerate(ends) if lines[number].label)
    placed: list[float] = []
    for y, _ in named:
        placed.append(max(y, placed[-1] + LABEL_HEIGHT) if placed else y)
    limit = HEIGHT - BOTTOM + LABEL_HEIGHT / 2
    for i in reversed(range(len(placed))):
        placed[i] = min(placed[i], limit)
        limit = placed[i] - LABEL_HEIGHT
    x = scale.edge + 6
    parts = []
    for y, (_, number) in zip(placed, named):
        line = lines[number]
        if line.style != "points":
            points = f"{x},{y:.1f} {x + 18},{y:.1f}"
            parts.append(f'<polyline class="{line.style} {_colour(line)}" points="{points}"/>')
        parts.append(f'<text class="label" x="{x + 23}" y="{y + 4:.1f}">{escape(line.label)}</text>')
    return parts


def _polygon(places: Sequence[tuple[float, float]], style: str) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places if math.isfinite(x + y))
    return f'<polygon class="{style}" points="{points}"/>'


def _colour(line: Line) -> str:
    return "grey" if line.colour is None else f"c{line.colour % 8}"
