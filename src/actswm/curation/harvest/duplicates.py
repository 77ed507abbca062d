"""Near-duplicate clips, as re-uploads bring them: found by perceptual hashes, kept once.

In a fast turn a picture is another one after a thirtieth of a second. So some pictures of one clip are looked for among
all of the other.
"""

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
_SOME_HZ = 4.0
_REACH_S = 0.3
"""How far a picture may be from where the clips' offset, known to half a second, puts it."""


@dataclass(frozen=True)
class Signature:
    """Hashes of all of a clip's pictures at times (seconds, of the source)."""

    key: tuple[str, int]
    """Source and number of the clip."""
    times: NDArray[np.float64]
    hashes: NDArray[np.uint64]

    def some(self) -> Signature:
        """A few pictures a second, of those that show something."""
        _, first = np.unique(np.floor(self.times * _SOME_HZ), return_index=True)
        chosen = first[self.hashes[first] != 0]
        return Signature(self.key, self.times[chosen], self.hashes[chosen])


class DuplicateIndex:
    """Clips in the order in which they are kept: the first one stays."""

    def __init__(self) -> None:
        self._signatures: list[Signature] = []
        self._bands: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)

    def find(self, signature: Signature) -> tuple[str, int] | None:
        """The key of an earlier clip that shows the same."""
        shown = signature.hashes != 0
        votes: Counter[tuple[int, int]] = Counter()
        before: list[tuple[int, int]] = []
        for time, value in zip(signature.times[shown].tolist(), signature.hashes[shown].tolist()):
            here = _split(value)
            changed = set(here) - set(before)  # a view that rests votes once
            before = here
            for band in sorted(changed):
                for other, at in self._bands.get(band, ())[:200]:
                    votes[other, round(2 * (at - time))] += 1
        for (other, offset), _ in votes.most_common(_TRIED):
            if self._same(signature, self._signatures[other], offset / 2):
                return self._signatures[other].key
        return None

    def add(self, signature: Signature) -> None:
        number = len(self._signatures)
        self._signatures.append(signature)
        some = signature.some()
        for time, value in zip(some.times.tolist(), some.hashes.tolist()):
            for band in _split(value):
                self._bands[band].append((number, time))

    def _same(self, left: Signature, right: Signature, offset: float) -> bool:
        """Is enough of the shorter one found in the other, about where it should be?"""
        if np.ptp(left.times) > np.ptp(right.times):
            left, right, offset = right, left, -offset
        some = left.some()
        if len(some.times) < _FEWEST:
            return False
        found = 0
        for time, value in zip(some.times + offset, some.hashes):
            first, end = np.searchsorted(right.times, [time - _REACH_S, time + _REACH_S])
            found += bool(np.any(distance(value, right.hashes[first:end]) <= _CLOSE))
        return found >= _SHARE * len(some.times)


def _split(value: int) -> list[tuple[int, int]]:
    return [(band, (value >> 16 * band) & 0xFFFF) for band in range(_BANDS)]
