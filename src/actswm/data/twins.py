"""Twins in a dataset file: episodes that show the same moments in places of different looks.

The column `twin` says for each row how many rows further up its moment was shown in the first look (0: this is it). It
counts within the file, so it survives merging. Files without the column have no twins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TWIN = "twin"


def twins_of(moments: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each of several rows, given by their `moments`, the number of one that shows the same in another look.

    It is the next one of them, after the last the first again, and the row itself where it is alone.
    """
    order = np.argsort(moments, kind="stable")
    new = np.flatnonzero(np.diff(moments[order], prepend=-1))
    follower = np.roll(order, -1)
    follower[np.append(new[1:], len(order)) - 1] = order[new]
    twins = np.empty_like(order)
    twins[order] = follower
    return twins
