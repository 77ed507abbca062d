"""Two ways to search over a chunk library (reading 20 of the paper).

`categorical` decides for one chunk per step. `library-init` is the paper's: the first plans are put together from
chunks, later ones are drawn control by control, Gaussian for cameras and Bernoulli for buttons. What the library
never tells apart stays together there: a control that every chunk holds for its 4 raw steps is drawn once for all
four, and a control that no chunk uses is never touched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..chunks import ChunkLibrary
from ..errors import UserError
from .distributions import Bernoulli, Categorical, Distribution, FromLibrary, Gaussian, Mixed

SPREAD_FLOOR = 0.05
"""Least standard deviation of a camera control, as a share of the library's range."""


class Space(Protocol):
    """What plans of a search are made of."""

    def start(self, horizon: int) -> Distribution: ...

    def raw(self, plans: Tensor) -> NDArray[np.float32]:
        """Plans (..., K, *) -> raw actions (..., K, R, A)."""
        ...

    def plan(self, raw: NDArray[np.float32]) -> Tensor:
        """Raw actions (K, R, A) as the nearest plan (K, *)."""
        ...

    def names(self, plan: Tensor) -> tuple[str, ...]:
        """One word or two for each decision, for people."""
        ...


@dataclass(frozen=True)
class ChunkSpace:
    """A plan is (K,) indices of chunks."""

    library: ChunkLibrary

    def start(self, horizon: int) -> Categorical:
        return Categorical(torch.from_numpy(self.library.weights).float().repeat(horizon, 1))

    def raw(self, plans: Tensor) -> NDArray[np.float32]:
        return self.library.steps[plans.numpy()]

    def plan(self, raw: NDArray[np.float32]) -> Tensor:
        away = np.square(raw[:, None] - self.library.steps).sum((-2, -1))
        return torch.from_numpy(away.argmin(1))

    def names(self, plan: Tensor) -> tuple[str, ...]:
        return tuple(self.library.names[choice] for choice in plan.tolist())


@dataclass(frozen=True)
class ControlSpace:
    """A plan is (K, F) values, one for each group of library entries that always go together."""

    library: ChunkLibrary

    @cached_property
    def _entries(self) -> NDArray[np.float32]:
        """(C, R * A)"""
        return self.library.steps.reshape(len(self.library.names), -1)

    @cached_property
    def _groups(self) -> list[NDArray[np.intp]]:
        """Entries that are equal in every chunk, control by control; entries that never change are in none."""
        groups: list[NDArray[np.intp]] = []
        size = self.library.vocabulary.size
        for control in range(size):
            entries = np.arange(control, self._entries.shape[1], size)
            _, kind = np.unique(self._entries[:, entries], axis=1, return_inverse=True)
            groups += [entries[kind.ravel() == number] for number in range(kind.max() + 1)]
        return [group for group in groups if np.ptp(self._entries[:, group[0]])]

    @cached_property
    def _values(self) -> NDArray[np.float32]:
        """(C, F)"""
        return np.stack([self._entries[:, group[0]] for group in self._groups], 1)

    @cached_property
    def _binary(self) -> NDArray[np.bool_]:
        size = self.library.vocabulary.size
        return np.array([self.library.vocabulary.binary[group[0] % size] for group in self._groups])

    def start(self, horizon: int) -> FromLibrary:
        values, binary = torch.from_numpy(self._values), torch.from_numpy(self._binary)
        weights = torch.from_numpy(self.library.weights).float()
        reach = (values.amax(0) - values.amin(0))[~binary]
        blank = torch.zeros(horizon, len(binary))
        then = Mixed(
            binary,
            Bernoulli(blank[:, binary]),
            Gaussian(blank[:, ~binary], blank[:, ~binary], SPREAD_FLOOR * reach),
        )
        return FromLibrary(values, weights, horizon, then)

    def raw(self, plans: Tensor) -> NDArray[np.float32]:
        """Cameras turn no faster than the library's chunks do."""
        bounded = plans.numpy().clip(self._values.min(0), self._values.max(0))
        raw = np.broadcast_to(self._entries[0], (*plans.shape[:-1], self._entries.shape[1])).copy()
        for number, group in enumerate(self._groups):
            raw[..., group] = bounded[..., number, None]
        return raw.reshape(*plans.shape[:-1], *self.library.steps.shape[1:])

    def plan(self, raw: NDArray[np.float32]) -> Tensor:
        entries = raw.reshape(len(raw), -1)
        return torch.from_numpy(np.stack([entries[:, group].mean(1) for group in self._groups], 1))

    def names(self, plan: Tensor) -> tuple[str, ...]:
        """The nearest chunk of each decision, with a `~` where it is only near."""
        scale = np.maximum(np.ptp(self._values, axis=0), 1e-6)
        away = np.abs((plan.numpy()[:, None] - self._values) / scale).sum(-1)
        nearest = zip(away.argmin(1), away.min(1))
        return tuple(("" if off < 1e-6 else "~") + self.library.names[choice] for choice, off in nearest)


SPACES: dict[str, Callable[[ChunkLibrary], Space]] = {"categorical": ChunkSpace, "library-init": ControlSpace}


def space_of(search: str, library: ChunkLibrary) -> Space:
    if search not in SPACES:
        raise UserError(f"unknown search {search!r}; known: {', '.join(SPACES)}")
    return SPACES[search](library)
