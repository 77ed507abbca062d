from dataclasses import replace

import cv2
import numpy as np
import pytest

from actswm.intervals import Estimate
from actswm.report.drift_plot import plot_drift
from actswm.report.sheet_picture import Expectation, draw_sheet
from actswm.report.success_plot import plot_successes
from actswm.results import Drift, DriftModel, DriftStep, read_result
from actswm.results.drift import COLUMNS

from . import made_results as made


def drift(**levels):
    def model(name, level):
        figures = [Estimate(*(level - 0.1 * i,) * 3) for i in range(len(COLUMNS))]
        return DriftModel(name, tuple(DriftStep(k, *figures) for k in range(1, 7)))

    return Drift("room.h5", 12, tuple(model(*each) for each in levels.items()))


def test_drift_plot_shows_every_model(tmp_path):
    plot_drift(drift(a=0.9), tmp_path / "one.png")
    plot_drift(drift(a=0.9, b=0.5, c=0.2), tmp_path / "three.png")
    one, three = (cv2.imread(str(tmp_path / name)) for name in ("one.png", "three.png"))
    blue, vermilion = (178, 114, 0), (0, 82, 200)  # BGR of the first two colours
    assert (one == blue).all(-1).any() and not (one == vermilion).all(-1).any()
    assert (three == blue).all(-1).any() and (three == vermilion).all(-1).any()
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["one.png", "three.png"]


def test_sheet_shows_true_and_predicted_frames(tmp_path):
    red, green = (np.full((3, 8, 8, 3), colour, np.uint8) for colour in ((200, 10, 10), (10, 200, 10)))
    blue = np.full((3, 8, 8, 3), (10, 10, 200), np.uint8)
    futures, context = ["recorded", "zero"], np.full((2, 8, 8, 3), 90, np.uint8)
    drawn = np.stack([blue, blue])
    models = [Expectation("one", np.stack([green, red])), Expectation("other", np.stack([red, red]), drawn)]
    draw_sheet(context, (1, 2, 4), futures, np.stack([red, red]), models, "a title", tmp_path / "s.png")
    picture = cv2.imread(str(tmp_path / "s.png"))
    colours = ((10, 10, 200), (10, 200, 10), (200, 10, 10))
    reds, greens, blues = ((picture == colour).all(-1).sum() for colour in colours)
    assert greens > 1000 and 4 < reds / greens < 6 and 1.5 < blues / greens < 2.5


def test_successes_have_one_colour_a_method(tmp_path):
    plan = read_result(made.write(tmp_path / "plan.json", made.plan(a=4, b=1, random=1)))
    again = replace(plan, task="another/task")
    other = replace(read_result(made.write(tmp_path / "other.json", made.plan(b=1, random=1))), task=again.task)
    blue, vermilion, grey = (178, 114, 0), (0, 82, 200), (138, 138, 138)
    for name, plans in (("two", [plan, again]), ("mixed", [plan, other])):
        plot_successes(plans, tmp_path / f"{name}.png")
    two, mixed = (cv2.imread(str(tmp_path / f"{name}.png")) for name in ("two", "mixed"))
    long, short = ((two == colour).all(-1).sum() for colour in (blue, vermilion))
    assert long > 2 * short > 0  # four successes of four against one
    right = mixed[:, mixed.shape[1] // 2 :]
    assert (right == vermilion).all(-1).any() and not (right == blue).all(-1).any()
    greys, vermilions = ((right == colour).all(-1).sum() for colour in (grey, vermilion))
    assert greys == pytest.approx(vermilions, rel=0.1)  # one success each: what does not plan has no colour


def test_results_of_one_task_are_one_panel(tmp_path):
    baselines = read_result(made.write(tmp_path / "plan.json", made.plan(random=1)))
    whole = read_result(made.write(tmp_path / "whole.json", made.plan(a=4, random=1)))
    later = replace(whole, methods=whole.methods[:1])
    plot_successes([baselines, later, baselines], tmp_path / "parts.png")
    plot_successes([whole], tmp_path / "whole.png")
    parts, at_once = (cv2.imread(str(tmp_path / f"{name}.png")) for name in ("parts", "whole"))
    assert np.array_equal(parts, at_once), "planners first, each method once"
