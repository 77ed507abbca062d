import cv2
import numpy as np

from actswm.report.drift_plot import LINES, DriftCurves, plot_drift
from actswm.report.sheet_picture import FutureRows, draw_sheet


def curves(name, level):
    return DriftCurves(name, {curve: np.full(6, level - 0.1 * i) for i, curve in enumerate(LINES)})


def test_drift_plot_shows_every_model(tmp_path):
    plot_drift([curves("a", 0.9)], tmp_path / "one.png")
    plot_drift([curves("a", 0.9), curves("b", 0.5), curves("c", 0.2)], tmp_path / "three.png")
    one, three = (cv2.imread(str(tmp_path / name)) for name in ("one.png", "three.png"))
    blue, vermilion = (178, 114, 0), (0, 94, 213)  # BGR of the first two colours
    assert (one == blue).all(-1).any() and not (one == vermilion).all(-1).any()
    assert (three == blue).all(-1).any() and (three == vermilion).all(-1).any()
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["one.png", "three.png"]


def test_sheet_shows_true_and_predicted_frames(tmp_path):
    red, green = (np.full((3, 8, 8, 3), colour, np.uint8) for colour in ((200, 10, 10), (10, 200, 10)))
    rows = [FutureRows("recorded", red, green), FutureRows("zero", red, red), FutureRows("random", red, red)]
    draw_sheet(np.full((2, 8, 8, 3), 90, np.uint8), (1, 2, 4), rows, "a title", tmp_path / "s.png")
    picture = cv2.imread(str(tmp_path / "s.png"))
    reds, greens = ((picture == colour).all(-1).sum() for colour in ((10, 10, 200), (10, 200, 10)))
    assert greens > 1000 and reds > 4 * greens
