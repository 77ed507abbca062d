"""The game's part of a captured frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def game_part(frame: NDArray[np.uint8], strip_rows: int) -> NDArray[np.uint8]:
    """Without the marker's rows. The camera's angle of view across stays what it is."""
    return frame[strip_rows : len(frame) - strip_rows]
