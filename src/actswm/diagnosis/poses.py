"""Where is the imagination? The pose of the recorded frame that is nearest to a prediction, against the true one.

Latent distances mean nothing to a person; map units, degrees and rooms do. Frames of the window's own episode do not
stand for choice, so no prediction can point at the very frame that was recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from .gallery import Gallery

RoomAt = Callable[[NDArray[np.floating]], NDArray[np.int64]]
"""Points (..., 2) -> numbers of rooms, -1 for none."""


@dataclass(frozen=True)
class PoseErrors:
    """Of predictions (...): distance in map units, angle in degrees, and is it the right room? (NaN: unknown)"""

    distance: NDArray[np.float64]
    angle: NDArray[np.float64]
    room: NDArray[np.float64]


@dataclass(frozen=True)
class PoseGallery:
    """Recorded frames with their episodes (n,) and poses (n, 5): x, y, z, yaw, pitch."""

    gallery: Gallery
    episode: NDArray[np.integer]
    pose: NDArray[np.float32]
    room_at: RoomAt | None = None

    def errors(
        self, predicted: Tensor, true: NDArray[np.floating], episode: NDArray[np.integer]
    ) -> PoseErrors:
        """Latents (B, ..., D) predicted in windows of B episodes (B,), and the true poses (B, ..., 5)."""
        shown = np.empty_like(true)
        for window, latents in enumerate(predicted):
            elsewhere = self.episode != episode[window]
            nearest = self.gallery.nearest_index(latents.flatten(0, -2), elsewhere)
            shown[window] = self.pose[nearest].reshape(true.shape[1:])
        return pose_errors(shown, true, self.room_at)


def pose_errors(
    shown: NDArray[np.floating], true: NDArray[np.floating], room_at: RoomAt | None
) -> PoseErrors:
    """Poses (..., 5) each."""
    distance = np.linalg.norm(shown[..., :2].astype(np.float64) - true[..., :2], axis=-1)
    turn = shown[..., 3].astype(np.float64) - true[..., 3]
    angle = np.abs((turn + 180) % 360 - 180)
    room = np.full(distance.shape, np.nan)
    if room_at is not None:
        mine, right = room_at(shown[..., :2]), room_at(true[..., :2])
        room = np.where(right < 0, np.nan, mine == right)
    return PoseErrors(distance, angle, room)
