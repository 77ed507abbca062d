"""A made world for optical flow: the keys turn a window over a large smooth picture."""

from pathlib import Path

import cv2
import numpy as np

from actswm.controls import KEYS14
from actswm.data import DatasetSpec, DatasetWriter

SIZE = 32
MOVES = {"Turn_L": (0, -2), "Turn_R": (0, 2), "Look_U": (-2, 0), "Look_D": (2, 0)}


def panorama(seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).integers(0, 256, (256, 256, 3), dtype=np.uint8)
    smooth = cv2.GaussianBlur(noise, (0, 0), 2.5, borderType=cv2.BORDER_WRAP).astype(float)
    return np.clip((smooth - 127) * 6 + 127, 0, 255).astype(np.uint8)


def panning_episode(rng: np.random.Generator, length: int, world: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Frames and raw actions: one key, rarely none, held for some steps."""
    y, x = rng.integers(0, 256, 2)
    pixels, actions, left, held = [], [], 0, ()
    for _ in range(length):
        if left == 0:
            left = int(rng.integers(5, 12))
            held = tuple(rng.choice([*MOVES, *MOVES, *MOVES, ""], 1))
        action = KEYS14.action(key for key in held if key)
        pixels.append(np.roll(world, (-y, -x), (0, 1))[:SIZE, :SIZE])
        actions.append(action)
        for key in held:
            dy, dx = MOVES.get(key, (0, 0))
            y, x = y + dy, x + dx
        left -= 1
    return np.stack(pixels), np.stack(actions)


def write_panning_file(path: Path, episodes: int = 40, length: int = 160, seed: int = 0) -> Path:
    rng, world = np.random.default_rng(seed), panorama()
    with DatasetWriter(path, DatasetSpec(KEYS14, SIZE, SIZE, fps=20.0, source="made/panning")) as writer:
        for _ in range(episodes):
            writer.append(*panning_episode(rng, length, world))
    return path
