"""What is known of the actions before a video is seen: their mean, spread, and a pool of observed ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..controls import ActionEncoding
from ..data import open_checked, split_file
from ..data.loader import require_vocabulary
from ..dataset_paths import label
from ..errors import UserError
from .steps import step_vectors

Guide = Literal["human-guide", "gt-dist", "zero-init"]
_PRESSED = 0.15
_MADE_POOL = 4096


@dataclass(frozen=True)
class ActionPrior:
    """mu_gt and sigma_gt (A,), and the action pool (P, A); `origin` says where they come from."""

    mean: NDArray[np.float32]
    std: NDArray[np.float32]
    pool: NDArray[np.float32]
    origin: str

    @classmethod
    def of(cls, vectors: NDArray[np.floating], origin: str) -> ActionPrior:
        vectors = vectors.astype(np.float32)
        return cls(vectors.mean(0), vectors.std(0), vectors, origin)

    def for_window(self, guide: Guide, recorded: NDArray[np.floating]) -> ActionPrior:
        """The prior of one window under a guide; `gt-dist` looks at the window's own future (K, A): an oracle."""
        if guide not in get_args(Guide):
            raise UserError(f"unknown guide {guide!r}; use one of {', '.join(get_args(Guide))}")
        if guide == "gt-dist":
            return ActionPrior.of(recorded, "oracle: the window's own future actions")
        return replace(self, mean=np.zeros_like(self.mean)) if guide == "zero-init" else self


def training_prior(path: Path, encoding: ActionEncoding) -> ActionPrior:
    """From all valid steps of the training split."""
    with open_checked(path) as file:
        require_vocabulary(file, encoding)
        skip = encoding.frameskip
        steps = []
        for episode in split_file(file).train:
            first, count = int(file.ep_offset[episode]), int(file.ep_len[episode]) // skip
            rows = slice(first, first + count * skip)
            valid = file.frame_valid[rows].reshape(count, skip).all(1)
            steps.append(step_vectors(file.action[rows], encoding)[valid])
    pool = np.concatenate(steps)
    if len(pool) == 0:
        raise UserError(f"{path}: its training split has no valid step of {skip} rows")
    return ActionPrior.of(pool, f"{label(path)}, training split")


def made_prior(
    encoding: ActionEncoding,
    spread: NDArray[np.floating],
    effective: Sequence[str] | None = None,
    seed: int = 0,
) -> ActionPrior:
    """For a video of unknown play: every button pressed now and then, independently of the others.

    `spread` (A,) are the raw standard deviations of continuous controls. `effective` names the controls that did
    anything where the model learned; the others stay at rest.
    """
    rng = np.random.default_rng(seed)
    names = encoding.vocabulary.names
    shape = (_MADE_POOL, len(names))
    buttons = rng.random(shape) < _PRESSED
    camera = rng.normal(size=shape) * spread * encoding.frameskip
    known = np.isin(names, names if effective is None else list(effective))
    return ActionPrior.of(
        np.where(encoding.vocabulary.binary, buttons, camera) * known,
        f"made: each of {int(known.sum())} controls active in {_PRESSED:.0%} of steps",
    )
