"""Small pictures of kept and rejected frames, a bounded and even sample however long the recording."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_MOST = 48
_WIDTH = 160


@dataclass(frozen=True)
class Thumbnail:
    pts_ns: int
    jpeg_base64: str


@dataclass
class ThumbnailSheet:
    """Groups (`gameplay`, `menu`, `input silent`...) of thumbnails. A full group keeps every second one."""

    groups: dict[str, list[Thumbnail]] = field(default_factory=dict)
    _stride: dict[str, int] = field(default_factory=dict)
    _seen: dict[str, int] = field(default_factory=dict)

    def add(self, group: str, thumbnail: Thumbnail) -> None:
        seen = self._seen.get(group, 0)
        self._seen[group] = seen + 1
        stride = self._stride.setdefault(group, 1)
        if seen % stride:
            return
        pictures = self.groups.setdefault(group, [])
        pictures.append(thumbnail)
        if len(pictures) > _MOST:
            del pictures[1::2]
            self._stride[group] = 2 * stride


def thumbnail(pts_ns: int, rgb: NDArray[np.uint8]) -> Thumbnail:
    import cv2

    height, width = rgb.shape[:2]
    small = cv2.resize(rgb, (_WIDTH, max(1, round(height * _WIDTH / width))), interpolation=cv2.INTER_AREA)
    _, jpeg = cv2.imencode(".jpg", small[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 75])
    return Thumbnail(pts_ns, base64.b64encode(jpeg.tobytes()).decode())
