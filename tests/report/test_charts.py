import math
import xml.etree.ElementTree as ElementTree
from importlib import resources
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from actswm.report.colours import PALETTE, places
from actswm.report.line_chart import HEIGHT, LABEL_HEIGHT, WIDTH, Axes, Line, line_chart, ticks
from actswm.report.roll_chart import presses, roll_chart

heights = st.floats(-1, 1) | st.just(math.nan)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_even_and_inside(low, span):
    found = ticks(low, low + span)
    assert 1 <= len(found) <= 11 and found == sorted(found)
    assert all(low - 1e-6 * span <= tick <= low + 1.000001 * span for tick in found)


@given(st.lists(st.lists(heights, min_size=1, max_size=6), min_size=1, max_size=6))
def test_lines_stay_inside_and_labels_apart(curves):
    lines = [Line(f"line {i}", list(enumerate(curve, 1)), i) for i, curve in enumerate(curves)]
    svg = ElementTree.fromstring(str(line_chart("a title", Axes("x", "y"), lines)))
    drawn = [p for p in svg.iter("polyline")]
    for part in drawn:
        for point in part.get("points").split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= WIDTH and 0 <= y <= HEIGHT
    labels = sorted(float(text.get("y")) for text in svg.iter("text") if text.get("class") == "label")
    assert len(labels) == sum(any(map(math.isfinite, curve)) for curve in curves)
    assert all(b - a >= LABEL_HEIGHT - 0.11 for a, b in pairwise(labels))


def test_names_cannot_break_the_picture():
    svg = line_chart('"><script>', Axes("<x>", "&"), [Line("<b>", [(1, 0.5)], 0, band=[(0.4, 0.6)])])
    tree = ElementTree.fromstring(str(svg))
    assert tree.get("aria-label") == '"><script>' and "<b>" in [text.text for text in tree.iter("text")]


@given(st.text("01", max_size=40))
def test_presses_are_the_runs_of_ones(lane):
    again = ["0"] * len(lane)
    runs = presses(lane)
    for first, last in runs:
        assert first < last
        again[first:last] = "1" * (last - first)
    assert "".join(again) == lane
    assert all(end < start for (_, end), (start, _) in pairwise(runs)), "neighbours are one press"


def test_the_roll_shows_hits_and_false_presses_of_used_controls():
    svg = roll_chart("roll", {"W": "0110", "A": "0000", "S": "0000"}, {"W": "0011", "A": "1000", "S": "0000"})
    tree = ElementTree.fromstring(str(svg))
    bars = [bar.get("class") for bar in tree.iter("rect")]
    assert (bars.count("recorded"), bars.count("hit"), bars.count("false")) == (1, 1, 2)
    assert {"W", "A"} <= {text.text for text in tree.iter("text")} and "S" not in [
        t.text for t in tree.iter("text")
    ]


def test_a_model_has_one_colour_and_models_beside_each_other_differ():
    assert places(["mine", "freedoom-maze/contrast", "mine"]) == {"mine": 0, "freedoom-maze/contrast": 3}
    assert places(["lewm-rollout", "contrast"])["contrast"] == 3
    many = places([f"{room}/contrast" for room in range(len(PALETTE))])
    assert sorted(many.values()) == list(range(len(PALETTE)))
    sheet = resources.files("actswm.report").joinpath("templates", "page.css").read_text()
    assert all(f"--c{number}: {colour};" in sheet for number, colour in enumerate(PALETTE))
