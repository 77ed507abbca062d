"""Perceptual hashes (pHash): 64 bits that survive another size, codec and a watermark."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

_BITS = np.uint64(1) << np.arange(64, dtype=np.uint64)
_BLANK = 4.0


def picture_hash(luma: NDArray[Any]) -> np.uint64:
    """Signs of the lowest frequencies around their median; 0 for a picture that shows nothing."""
    small = cv2.resize(luma, (32, 32), interpolation=cv2.INTER_AREA).astype(np.float32)
    if small.std() < _BLANK:
        return np.uint64(0)
    low = cv2.dct(small)[:8, :8].ravel()
    return np.uint64(_BITS[low > np.median(low[1:])].sum(dtype=np.uint64))


def distance(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[Any]:
    """Bits that differ, pair by pair."""
    return np.bitwise_count(left ^ right)
