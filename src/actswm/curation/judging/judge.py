"""The judge's interface, and the judge that asks nobody."""

from __future__ import annotations

import hashlib
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Candidate:
    """A frame to be judged, at judging size."""

    pts_ns: int
    rgb: NDArray[np.uint8]
    still_ns: int = 0
    """For how long the picture had not changed."""

    def digest(self, context: str) -> str:
        """Names the question: the same picture under the same context (judge, model, prompt) is asked once."""
        head = hashlib.sha256(f"{context}\0{self.rgb.shape}\0".encode())
        head.update(np.ascontiguousarray(self.rgb).data)
        return head.hexdigest()


@dataclass(frozen=True)
class Verdict:
    """Gameplay or not, and what was seen: gameplay, menu, loading, death, spectator, black, refused..."""

    gameplay: bool
    label: str = "gameplay"


class Judge(Protocol):
    """Answers in its own time; the future may raise `UserError` if no answer can be had."""

    def submit(self, candidate: Candidate) -> Future[Verdict]: ...

    def close(self) -> None: ...


def decided(verdict: Verdict) -> Future[Verdict]:
    future: Future[Verdict] = Future()
    future.set_result(verdict)
    return future


class TrustingJudge:
    """Takes every frame for gameplay: for sources without menus, such as this project's own recordings."""

    def submit(self, candidate: Candidate) -> Future[Verdict]:
        return decided(Verdict(True))

    def close(self) -> None: ...
