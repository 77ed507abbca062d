"""The offset between a recording's two clocks: log time minus video time.

A screen message is logged a little after its frame was taken, but not always equally late: the first one falls into
the recorder's start-up, and while the picture stands still a message waits for the next frame, half a second at
times. So the offset is the median over the messages that were followed soon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..video import MS

_SOON = 1.5
"""Times the interval that a tenth of the frames keep to: twice that interval is a frame left out."""
_OUTLIER_NS = 10 * MS
"""Half a frame of the fastest usual recordings: a clock this far off moves labels to the neighbouring frame."""


@dataclass(frozen=True)
class ClockOffset:
    """`video_ns = log_ns - offset_ns`; `first_ns` is how far the first screen message is from that."""

    offset_ns: int
    first_ns: int
    messages: int
    """How many screen messages the offset was taken from."""

    @property
    def first_is_outlier(self) -> bool:
        return abs(self.first_ns) > _OUTLIER_NS


def clock_offset(log_ns: NDArray[np.int64], pts_ns: NDArray[np.int64]) -> ClockOffset:
    """Estimate the offset from all screen messages, in the order of the file."""
    late = log_ns - pts_ns
    wait = np.diff(pts_ns)
    forward = wait > 0
    late_soon = (
        late[:-1][forward & (wait <= _SOON * np.quantile(wait[forward], 0.1))] if forward.any() else late
    )
    # An element and not a mean of two: nanoseconds since 1970 are too long for floats.
    offset_ns = int(np.sort(late_soon)[(len(late_soon) - 1) // 2])
    return ClockOffset(offset_ns, int(late[0]) - offset_ns, len(late_soon))
