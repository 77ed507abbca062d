"""Near-duplicate clips, as re-uploads bring them: found by perceptual hashes, kept once."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .hashes import distance

_BANDS = 4
"""Parts of 16 bits: hashes that share one are compared."""
_CLOSE = 10
"""Bits of 64 that may differ between pictures of the same moment."""
_SHARE = 0.7
"""Of a clip's pictures that must be close to those of the other, at one and the same offset."""
_FEWEST = 4
_TRIED = 5


@dataclass(frozen=True)
class Signature:
    """Hashes of a clip's pictures at times (seconds, of the source)."""

    key: tuple[str, int]
    """Source and number of the clip."""
    times: NDArray[np.float64]
    hashes: NDArray[np.uint64]


class DuplicateIndex:
    """Clips in the order in which they are kept: the first one stays."""

    def __init__(self) -> None:
        self._signatures: list[Signature] = []
        self._bands: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)

    def find(self, signature: Signature) -> tuple[str, int] | None:
        """The key of an earlier clip that shows the same."""
        shown = signature.hashes != 0
        if shown.sum() < _FEWEST:
            return None
        votes: Counter[tuple[int, int]] = Counter()
        for time, value in zip(signature.times[shown].tolist(), signature.hashes[shown].tolist()):
            for band in _split(value):
                for other, at in self._bands.get(band, ())[:200]:
                    votes[other, round(2 * (at - time))] += 1
        for (other, offset), _ in votes.most_common(_TRIED):
            if self._same(signature, self._signatures[other], offset / 2):
                return self._signatures[other].key
        return None

    def add(self, signature: Signature) -> None:
        number = len(self._signatures)
        self._signatures.append(signature)
        for time, value in zip(signature.times.tolist(), signature.hashes.tolist()):
            if value:
                for band in _split(value):
                    self._bands[band].append((number, time))

    def _same(self, left: Signature, right: Signature, offset: float) -> bool:
        """Is enough of the shorter one found in the other, at the time it should be, give or take one picture?"""
        if len(left.times) > len(right.times):
            left, right, offset = right, left, -offset
        shown = left.hashes != 0
        wanted = left.times[shown] + offset
        near = np.searchsorted(right.times, wanted)
        best = np.full(len(wanted), 64)
        for step in (-2, -1, 0, 1):
            place = np.clip(near + step, 0, len(right.times) - 1)
            apart = distance(left.hashes[shown], right.hashes[place])
            best = np.minimum(best, np.where(np.abs(right.times[place] - wanted) <= 0.5, apart, 64))
        return bool(shown.sum() >= _FEWEST and np.mean(best <= _CLOSE) >= _SHARE)


def _split(value: int) -> list[tuple[int, int]]:
    return [(band, (value >> 16 * band) & 0xFFFF) for band in range(_BANDS)]
