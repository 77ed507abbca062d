"""Reads the coded marker that an engine draws into its first and last rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...formats.replay import CELLS, CHECK_BITS, CODE_BITS, marker_check

CONTRAST = 64
"""Least difference of grey levels between white and black cells."""


def read_marker(frame: NDArray[np.uint8], strip_rows: int) -> int | None:
    """The marker's number; None where it is damaged, or where top and bottom differ: the frame is torn."""
    top = _read_strip(frame[:strip_rows])
    return top if top is not None and top == _read_strip(frame[-strip_rows:]) else None


def draw_marker(frame: NDArray[np.uint8], number: int, strip_rows: int) -> None:
    """What engines do, in Python."""
    bits = 1 | number << 2 | marker_check(number) << (2 + CODE_BITS)
    cell = frame.shape[1] // CELLS
    for strip in (frame[:strip_rows], frame[-strip_rows:]):
        strip[:] = 0
        for index in range(CELLS):
            strip[:, index * cell : (index + 1) * cell] = 255 * (bits >> index & 1)


def _read_strip(strip: NDArray[np.uint8]) -> int | None:
    cell = strip.shape[1] // CELLS
    if cell == 0:
        return None
    inner = strip[strip.shape[0] // 4 : -(strip.shape[0] // 4) or None, : cell * CELLS]
    levels = inner.mean((0, 2)).reshape(CELLS, cell)[:, cell // 4 : cell - cell // 4].mean(1)
    white, black = levels[0], levels[1]
    if white - black < CONTRAST:
        return None
    bits = levels > (white + black) / 2
    number = int(bits[2 : 2 + CODE_BITS] @ (1 << np.arange(CODE_BITS)))
    check = int(bits[2 + CODE_BITS :] @ (1 << np.arange(CHECK_BITS)))
    return number if check == marker_check(number) else None
