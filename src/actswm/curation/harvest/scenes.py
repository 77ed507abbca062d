"""Where scenes begin: PySceneDetect's detectors, and a check that a fast turn or a flash is not taken for a cut."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ...errors import UserError
from .settings import CutRules

HEIGHT, WIDTH = 90, 160
"""Size at which pictures are compared."""
_STILL = 0.35
"""Mean change below which a frame repeats the one before."""
_REPEATS = 4
"""So many repeats are left out, as 12 pictures a second in a video of 60 have; after more of them the scene rests."""
_PATCH = (26, 40)
_ROWS = (8, 34)
_COLUMNS = (6, 42, 78, 114)
_AROUND = (15, 15)
_NOISE = 6.0
"""Contrast, in grey levels, of which nothing is made."""
_FLAT = 0.15
"""A patch with a smaller standard deviation can be found anywhere."""
_APART = 14
"""Patches that moved together end up within so many pixels of each other's shift."""
_AGREE = 3
_BACK = 0.35
_MOST = 0.5
"""A cut changes more of the picture; the sky stays where a horizon jumps."""
_TILES = (16, 9)
_TILE_CHANGES = 2.5
"""Mean change of a tile's luminance; coding noise stays below."""
_AFTER = 6
"""Frames after a change in which the picture from before may come back, as after a flash."""


def load() -> Any:
    try:
        import scenedetect
        from scenedetect.detectors import AdaptiveDetector, ThresholdDetector
    except ImportError:
        raise UserError("cutting scenes needs PySceneDetect: pip install 'actswm[web]'") from None
    return scenedetect, AdaptiveDetector, ThresholdDetector


class CutFinder:
    """Fed with every frame in order, (HEIGHT, WIDTH, 3) BGR; `cuts` are the first frames of new scenes."""

    def __init__(self, rules: CutRules) -> None:
        scenedetect, adaptive, fades = load()
        self._rules = rules
        self._timecode = lambda index: scenedetect.FrameTimecode(index, fps=1000.0)
        self._changes = adaptive(
            adaptive_threshold=rules.adaptive_threshold,
            min_scene_len=1,
            window_width=rules.window,
            min_content_val=rules.least_content,
        )
        self._fades = fades(threshold=rules.fade, min_scene_len=1, fade_bias=0.0)
        self._recent: deque[tuple[int, NDArray[Any]]] = deque(maxlen=2 * rules.window + _AFTER + 3)
        self._open: list[int] = []
        self._last: NDArray[Any] | None = None
        self._repeats = 0
        self._found: set[int] = set()

    def feed(self, index: int, bgr: NDArray[Any], luma: NDArray[Any]) -> None:
        self._found.update(cut.frame_num for cut in self._fades.process_frame(self._timecode(index), bgr))
        still = self._last is not None and float(np.mean(cv2.absdiff(luma, self._last))) < _STILL
        self._repeats = self._repeats + 1 if still else 0
        if 0 < self._repeats <= _REPEATS:
            return
        self._last = luma
        self._recent.append((index, luma))
        self._open += [cut.frame_num for cut in self._changes.process_frame(self._timecode(index), bgr)]
        self._settle(everything=False)

    def finish(self) -> list[int]:
        self._settle(everything=True)
        return sorted(self._found - {0})

    def _settle(self, everything: bool) -> None:
        """Decide on changes behind which enough frames have come."""
        while self._open:
            indices = [index for index, _ in self._recent]
            if self._open[0] not in indices:  # it has left the window; cannot be checked, so it counts
                self._found.add(self._open.pop(0))
                continue
            place = indices.index(self._open[0])
            if not everything and len(indices) - 1 - place < _AFTER:
                return
            cut = self._open.pop(0)
            pictures = [picture for _, picture in self._recent]
            before, after = pictures[max(0, place - 1)], pictures[place : place + _AFTER + 1]
            if changed(before, after[0]) < _MOST or _comes_back(before, after):
                continue
            if not any(moved(before, new) >= self._rules.turn for new in after[:3]):
                self._found.add(cut)


def changed(old: NDArray[Any], new: NDArray[Any]) -> float:
    """Share of a picture's tiles that show something else than before."""
    tiles = cv2.resize(cv2.absdiff(old, new), _TILES, interpolation=cv2.INTER_AREA)
    return float(np.mean(tiles > _TILE_CHANGES))


def _comes_back(before: NDArray[Any], after: list[NDArray[Any]]) -> bool:
    """After a flash the picture is nearly what it was before."""
    jump = float(np.mean(cv2.absdiff(before, after[0])))
    return any(float(np.mean(cv2.absdiff(before, new))) < _BACK * jump for new in after[1:])


def moved(old: NDArray[Any], new: NDArray[Any]) -> float:
    """How well parts of a picture are found in another, all shifted alike: 1 for the same scene turned to.

    The median correlation of the largest group of patches that agree; 0 if fewer than three do. Patches lie above the
    middle, where neither a HUD nor a weapon stands still while the world changes. They are compared by their local
    contrast: a shot lights up a room while somebody turns in it.
    """
    old, new = _contrast(old), _contrast(new)
    found = []
    for top in _ROWS:
        for left in _COLUMNS:
            patch = old[top : top + _PATCH[0], left : left + _PATCH[1]]
            if patch.std() < _FLAT:
                continue
            match = cv2.matchTemplate(new[:76], patch, cv2.TM_CCOEFF_NORMED)
            _, best, _, (x, y) = cv2.minMaxLoc(match)
            found.append((best, x - left, y - top))
    best_group = 0.0
    for _, x, y in found:
        group = [score for score, other_x, other_y in found if abs(other_x - x) + abs(other_y - y) <= _APART]
        if len(group) >= _AGREE:
            best_group = max(best_group, float(np.median(group)))
    return best_group


def _contrast(luma: NDArray[Any]) -> NDArray[Any]:
    """Each pixel against its surroundings: in units of their spread, light falls out."""
    grey = luma.astype(np.float32)
    mean = cv2.blur(grey, _AROUND)
    spread = np.sqrt(np.maximum(cv2.blur(grey * grey, _AROUND) - mean * mean, 0))
    return (grey - mean) / (spread + _NOISE)


def pieces(first: int, end: int, seconds: float, longest: float) -> list[tuple[int, int]]:
    """A stretch of frames in as few even parts as are no longer than `longest`."""
    count = max(1, int(np.ceil(seconds / longest - 1e-9)))
    edges = np.linspace(first, end, count + 1).round().astype(int).tolist()
    return [(a, b) for a, b in itertools.pairwise(edges) if b > a]
