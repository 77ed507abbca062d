"""Template packs: pieces of a game's HUD and menus, and how they are found again in a picture.

A pack is a folder: `pack.json` and a PNG file for each element, whose alpha channel says which pixels count.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ...atomic import write_whole
from ...errors import UserError
from ...json_files import read_json, write_json

HEIGHT, WIDTH = 360, 640
"""The picture that an element's box refers to."""
PLAY = "play"
SCALES = (1.0, 0.9, 1.1, 0.8, 1.25)
_TOLERANCE = 5
"""Pixels by which an element may be off its place."""
_FLAT = 3.0


@dataclass(frozen=True)
class Element:
    """`box` is left, top, width, height in a picture of 640 x 360."""

    name: str
    state: str
    """`play` or a bad state; a state of several looks has one set of elements for each (`menu`, `menu:options`)."""
    box: tuple[int, int, int, int]
    luma: NDArray[Any]
    mask: NDArray[Any]

    def place(self, scale: float, width: int) -> tuple[int, int]:
        """Left and top in a picture `width` wide: a HUD keeps its distance from the nearest edge or the middle."""
        left, top, w, h = self.box
        return _anchored(left, w, WIDTH, width, scale), _anchored(top, h, HEIGHT, HEIGHT, scale)


@dataclass(frozen=True)
class Pack:
    name: str
    elements: tuple[Element, ...]
    match: float = 0.7
    """Correlation from which on an element is seen."""
    enough: float = 0.5
    """Share of what a bad state draws that tells it."""
    digest: str = ""

    def states(self) -> list[str]:
        return sorted({element.state for element in self.elements})


def load_pack(name: str) -> Pack:
    """A pack of ours by name, or a folder."""
    ours = Path(str(resources.files("actswm.curation.harvest") / "packs")) / name
    folder = ours if "/" not in name and (ours / "pack.json").is_file() else Path(name)
    if not (folder / "pack.json").is_file():
        raise UserError(f"{name}: no template pack (pack.json) there; make one with: actswm hud learn")
    try:
        told = read_json(folder / "pack.json")
        elements = tuple(
            Element(one["name"], one["state"], tuple(one["box"]), *_picture(folder / one["file"]))
            for one in told["elements"]
        )
        sums = hashlib.sha256((folder / "pack.json").read_bytes())
        for one in told["elements"]:
            sums.update((folder / one["file"]).read_bytes())
        return Pack(told["name"], elements, told["match"], told["enough"], sums.hexdigest()[:16])
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise UserError(f"{folder}/pack.json: is no template pack ({error!r}); make it again") from None


class PackMatcher:
    """Looks for a pack in the pictures of one video, whose HUD has one scale: once found, it is tried first."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self._scale: float | None = None
        self._scaled: dict[float, list[tuple[Element, NDArray[Any], NDArray[Any]]]] = {}

    def shares(self, luma: NDArray[Any]) -> dict[str, float]:
        """Of what each state draws, the share of pixels whose elements are seen in a picture 360 pixels high."""
        if self._scale is not None:
            found, _ = self._at(luma, self._scale)
            if max(found.values()) >= self.pack.enough:
                return found
        tried = {scale: self._at(luma, scale) for scale in SCALES}
        best = max(SCALES, key=lambda scale: (max(tried[scale][0].values()), tried[scale][1]))
        found, _ = tried[best]
        if found.get(PLAY, 0.0) >= self.pack.enough:
            self._scale = best
        return found

    def _at(self, luma: NDArray[Any], scale: float) -> tuple[dict[str, float], float]:
        """Shares by state, and how well all elements fit on average."""
        drawn, seen = Counter[str](), Counter[str]()
        fits = []
        for element, picture, mask in self._elements(scale):
            fits.append(correlation(luma, picture, mask, element.place(scale, luma.shape[1])))
            size = int(np.count_nonzero(element.mask > 127))  # chance finds small ones more easily
            drawn[element.state] += size
            seen[element.state] += size * (fits[-1] >= self.pack.match)
        return {state: seen[state] / size for state, size in drawn.items()}, float(np.mean(fits))

    def _elements(self, scale: float) -> list[tuple[Element, NDArray[Any], NDArray[Any]]]:
        if scale not in self._scaled:
            self._scaled[scale] = [
                (element, _resized(element.luma, scale), _resized(element.mask, scale))
                for element in self.pack.elements
            ]
        return self._scaled[scale]


def correlation(
    luma: NDArray[Any], picture: NDArray[Any], mask: NDArray[Any], place: tuple[int, int]
) -> float:
    """The best correlation of the masked pixels within a few pixels of `place`; 0 where nothing is drawn."""
    left, top = place
    height, width = picture.shape
    x, y = max(0, left - _TOLERANCE), max(0, top - _TOLERANCE)
    region = luma[y : top + height + _TOLERANCE, x : left + width + _TOLERANCE]
    if region.shape[0] < height or region.shape[1] < width or region.std() < _FLAT:
        return 0.0
    weight = (mask > 127).astype(np.float32)
    if weight.sum() < 8:
        return 0.0
    found = cv2.matchTemplate(
        region.astype(np.float32), picture.astype(np.float32), cv2.TM_CCOEFF_NORMED, mask=weight
    )
    found = found[np.isfinite(found) & (found <= 1.001)]
    return float(found.max()) if found.size else 0.0


def write_pack(
    folder: Path, name: str, elements: Sequence[Element], match: float = 0.7, enough: float = 0.5
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for element in elements:
        file = f"{element.state.replace(':', '-')}-{element.name}.png"
        rgba = np.dstack([element.luma] * 3 + [element.mask])
        _, png = cv2.imencode(".png", rgba)
        write_whole(folder / file, png.tobytes())
        listed.append({"name": element.name, "state": element.state, "box": list(element.box), "file": file})
    write_json(folder / "pack.json", {"name": name, "match": match, "enough": enough, "elements": listed})
    for stale in folder.glob("*.png"):
        if stale.name not in {one["file"] for one in listed}:
            stale.unlink()


def _picture(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    rgba = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if rgba is None or rgba.ndim != 3 or rgba.shape[2] != 4:
        raise ValueError(f"{path.name} is no picture with an alpha channel")
    return np.ascontiguousarray(rgba[..., 0]), np.ascontiguousarray(rgba[..., 3])


def _resized(picture: NDArray[Any], scale: float) -> NDArray[Any]:
    if scale == 1.0:
        return picture
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    return cv2.resize(picture, None, fx=scale, fy=scale, interpolation=how)


def _anchored(first: int, length: int, reference: int, whole: int, scale: float) -> int:
    middle = first + length / 2
    if middle < reference / 3:
        return round(first * scale)
    if middle > reference * 2 / 3:
        return round(whole - (reference - first) * scale)
    return round(whole / 2 + (first - reference / 2) * scale)
