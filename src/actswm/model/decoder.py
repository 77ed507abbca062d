"""Pictures of latents: a small network beside a finished model. It teaches the model nothing and decides nothing.

It learns to draw real frames from the latents that the frozen encoder gives them (`training/decoder.py`), and has never
seen a prediction. What it draws of a predicted latent is therefore what the model expects, as far as a latent says.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn import functional as F

from ..atomic import write_whole
from ..errors import UserError
from .fit import require_finite, require_fit
from .world_model import WorldModel

Draw = Callable[[Tensor], NDArray[np.uint8]]
"""Latents (n, D) -> frames (n, h, w, 3) that show what they stand for: drawings, or the nearest real frames."""
DECODER_FILE = "decoder.safetensors"
COARSEST = 8
"""Height and width of the first feature map."""


@dataclass(frozen=True)
class DecoderConfig:
    """The first feature map has `width` planes, each doubling of the picture halves them, down to 16."""

    latent_dim: int
    image_size: int
    width: int = 64
    hidden: int = 384


class Decoder(nn.Module):
    """Latents (n, D) -> pictures (n, 3, h, w) in [0, 1]."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        doublings = (config.image_size // COARSEST).bit_length() - 1
        if COARSEST << doublings != config.image_size:
            raise UserError(f"a decoder draws {COARSEST}, 16, 32, ... pixels, not {config.image_size}")
        self.lift = nn.Linear(config.latent_dim, config.hidden)
        self.spread = nn.Linear(config.hidden, config.width * COARSEST**2)
        planes = [max(16, config.width >> level) for level in range(doublings)] + [3]
        self.doublings = nn.ModuleList(
            nn.Conv2d(before, 4 * after, 3, padding=1) for before, after in itertools.pairwise(planes)
        )

    def forward(self, latents: Tensor) -> Tensor:
        features = self.spread(F.silu(self.lift(latents))).unflatten(1, (self.config.width, COARSEST, COARSEST))
        for doubling in self.doublings:
            features = F.pixel_shuffle(doubling(F.silu(features)), 2)
        return torch.sigmoid(features)

    @torch.no_grad()
    def draw(self, latents: Tensor) -> NDArray[np.uint8]:
        """Latents (n, D) -> frames (n, h, w, 3)."""
        pictures = self(latents.to(self.spread.weight.device)).mul(255).round().byte()
        return pictures.permute(0, 2, 3, 1).cpu().numpy()


def save_decoder(decoder: Decoder, model: WorldModel, folder: Path, origin: dict[str, str]) -> Path:
    """Beside the model's weights, in fp16, with how it came about."""
    state = {name: tensor.detach().to("cpu", torch.float16) for name, tensor in decoder.state_dict().items()}
    about = {"config": json.dumps(asdict(decoder.config)), "of": fingerprint(model), **origin}
    path = folder / DECODER_FILE
    write_whole(path, save({name: tensor.contiguous() for name, tensor in state.items()}, metadata=about))
    return path


def load_decoder(model: WorldModel, folder: Path) -> Decoder | None:
    """The decoder that lies beside a model, on the model's device; None if there is none."""
    path = folder / DECODER_FILE
    if not path.exists():
        return None
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            state = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
        config = DecoderConfig(**json.loads(about["config"]))
        if about["of"] != fingerprint(model):
            raise UserError(f"{path}: draws the latents of other weights; train it again with `actswm decoder`")
        if (config.latent_dim, config.image_size) != (model.config.latent_dim, model.config.image_size):
            raise ValueError("its sizes are not the model's")
        require_fit(lambda: Decoder(config), state, path, path)
        require_finite(state, str(path))
        decoder = Decoder(config)
        decoder.load_state_dict(state)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, ArithmeticError, RuntimeError) as error:
        raise UserError(f"{path}: not a decoder ({' '.join(str(error).split())[:200]}); remove it") from None
    return decoder.eval().to(model.device)


def fingerprint(model: WorldModel) -> str:
    """Of the weights that make latents, the same in fp32 and fp16."""
    weights = model.projector.state_dict()
    content = hashlib.sha256()
    for name in sorted(weights):
        if weights[name].is_floating_point():
            content.update(weights[name].detach().to("cpu", torch.float16).numpy().tobytes())
    return content.hexdigest()[:16]
