"""The piano roll as inline SVG: one lane a control, what was recorded above what was recovered."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup, escape

STEP, LANE, LEFT, TOP, BOTTOM = 10.0, 22.0, 56.0, 4.0, 22.0


def roll_chart(title: str, recorded: Mapping[str, str], recovered: Mapping[str, str]) -> Markup:
    """Lanes of 0 and 1. Controls that neither side ever presses are left out."""
    used = [name for name in recorded if "1" in recorded[name] + recovered[name]] or list(recorded)
    steps = max(len(lane) for lane in recorded.values())
    width, height = LEFT + STEP * steps + 10, TOP + LANE * len(used) + BOTTOM
    parts = []
    for number, name in enumerate(used):
        top = TOP + LANE * number
        if number % 2 == 0:
            parts.append(
                f'<rect class="stripe" x="{LEFT:g}" y="{top:g}" width="{STEP * steps:g}" height="{LANE:g}"/>'
            )
        parts.append(f'<text class="end" x="{LEFT - 6:g}" y="{top + 14.5:g}">{escape(name)}</text>')
        true, mine = recorded[name], recovered[name]
        both = "".join("01"[a == b == "1"] for a, b in zip(true, mine))
        alone = "".join("01"[a == "0" and b == "1"] for a, b in zip(true, mine))
        for lane, place, style in ((true, 2, "recorded"), (both, 11.5, "hit"), (alone, 11.5, "false")):
            parts += [_bar(top + place, first, last, style) for first, last in presses(lane)]
    for step in range(0, steps + 1, 8):
        parts.append(f'<text class="middle" x="{LEFT + STEP * step:g}" y="{height - 8:g}">{step}</text>')
    return Markup(  # every text inside has been escaped
        f'<svg class="chart roll" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )


def presses(lane: str) -> list[tuple[int, int]]:
    """Runs of 1 in a lane as (first, one past the last) step."""
    edges = [i for i, (a, b) in enumerate(zip("0" + lane, lane + "0")) if a != b]
    return list(zip(edges[::2], edges[1::2]))


def _bar(top: float, first: int, last: int, style: str) -> str:
    x, width = LEFT + STEP * first + 0.5, STEP * (last - first) - 1
    return f'<rect class="{style}" x="{x:g}" y="{top:g}" width="{width:g}" height="8" rx="1.5"/>'
