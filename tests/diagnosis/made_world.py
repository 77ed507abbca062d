"""A world with known answers, and hand-made models of it: a point on a plane, shown as the colour of the frame.

W A S D move the point; Fire does nothing but is always held, so that a real alternative is never all zero.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch

from actswm.controls import KEYS14, ActionEncoding
from actswm.data import Column, DatasetSpec, DatasetWriter
from actswm.games.branching import branch
from actswm.model import Context

SIZE = 8
FIRE = KEYS14.index("Fire")
WASD = [KEYS14.index(name) for name in "WASD"]


def moved(position, action):
    w, a, s, d = (action[..., i] for i in WASD)
    x, y = position[..., 0] + d - a, position[..., 1] + s - w
    return np.stack([x, y], -1).clip(0, 255)


class Plane:
    """The game: deterministic, one unit a raw step; dies at x = 255 if `deadly`."""

    name = "made/plane"
    vocabulary = KEYS14
    effective = np.isin(np.arange(KEYS14.size), WASD)
    fps = 20.0
    deterministic = True

    def __init__(self, deadly: bool = False) -> None:
        self.deadly = deadly

    def frame(self):
        frame = np.zeros((SIZE, SIZE, 3), np.uint8)
        frame[..., :2] = self.position
        return frame

    def reset(self, *, seed=None, options=None):
        self.position = np.random.default_rng(seed).integers(90, 166, 2).astype(float)
        return self.frame(), {"events": [], "telemetry": {}}

    def step(self, action):
        self.position = moved(self.position, np.asarray(action))
        dead = self.deadly and self.position[0] >= 200
        return self.frame(), 0.0, bool(dead), False, {"events": [], "telemetry": {}}

    def close(self):
        pass


def render(game):
    """What the command line does with a real game."""

    def run(points):
        for point in points:
            yield branch(game, point.seed, point.prefix, point.alternatives, every=point.every)

    return run


def write_plane_file(path: Path, episodes: int = 20, length: int = 160) -> Path:
    effective = [KEYS14.names[i] for i in WASD]
    spec = DatasetSpec(
        KEYS14, SIZE, SIZE, 20.0, "made/plane", attributes={"effective": effective},
        columns={"seed": Column("int64")},
    )  # fmt: skip
    game = Plane()
    rng = np.random.default_rng(5)
    with DatasetWriter(path, spec) as writer:
        for seed in range(episodes):
            frame, _ = game.reset(seed=seed)
            frames, actions, held = [], [], np.zeros(4)
            for _ in range(length):
                held = np.where(rng.random(4) < 0.1, rng.random(4) < 0.5, held)
                action = KEYS14.action(["Fire"])
                action[WASD] = held
                frames.append(frame)
                actions.append(action)
                frame = game.step(action)[0]
            writer.append(np.array(frames), np.array(actions), seed=np.full(length, seed))
    return path


class MadeModel:
    """What diagnosis asks of a `WorldModel`; the latent is (x, y, a constant)."""

    def __init__(self, context: int = 4) -> None:
        self.context_length = context
        self.encoding = ActionEncoding(KEYS14, "block", 4)
        self.config, self.image_size = SimpleNamespace(image_size=SIZE), SIZE
        self.action_scale = torch.ones(KEYS14.size)

    def encode(self, pixels):
        point = pixels[..., 0, 0, :2].float() - 128
        return torch.cat([point, torch.full_like(point[..., :1], 20)], -1)


class Ignorant(MadeModel):
    """Drifts on, whatever the actions are."""

    def rollout(self, context: Context, actions):
        steps = torch.arange(1, actions.shape[2] + 1)[:, None] * torch.tensor([1.0, 0.5, 0])
        return (context.latents[:, -1, None, None] + steps).expand(-1, actions.shape[1], -1, -1)


class Exact(MadeModel):
    """Integrates the actions, walls included."""

    def rollout(self, context: Context, actions):
        raw = self.encoding.raw_actions(actions.numpy())
        position = context.latents[:, -1, None, :2].expand(-1, actions.shape[1], -1).numpy() + 128.0
        out = []
        for t in range(raw.shape[2]):
            position = moved(position, raw[:, :, t])
            if t % 4 == 3:
                out.append(position - 128)
        point = torch.from_numpy(np.stack(out, 2)).float()
        return torch.cat([point, torch.full_like(point[..., :1], 20)], -1)


class Share(Exact):
    """Goes a `share` of the right way: 0 copies the last frame."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def rollout(self, context: Context, actions):
        return torch.lerp(context.latents[:, -1, None, None], super().rollout(context, actions), self.share)


class ZeroIsSpecial(Ignorant):
    """Knows the no-op from everything else, and nothing more."""

    def rollout(self, context: Context, actions):
        off = 300.0 * (actions == 0).all(-1, keepdim=True)
        return super().rollout(context, actions) + off * torch.tensor([1.0, -1.0, 0])
