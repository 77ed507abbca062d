"""Inverse dynamics, the direct way: two neighbouring frames in, the step's action out. No world model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from ..atomic import write_whole
from ..controls import ActionEncoding, vocabulary_of
from ..data.loader import WindowDataset
from ..errors import UserError
from ..model.convnet import ConvConfig, ConvEncoder
from ..model.pretrained import require_finite
from .windows import WindowSample

CONFIG_FILE = "idm.json"
WEIGHTS_FILE = "idm.safetensors"
_BATCH = 64


@dataclass(frozen=True)
class IdmConfig:
    vocabulary: str = "keys14"
    frameskip: int = 4
    image_size: int = 64
    channels: list[int] = field(default_factory=lambda: [32, 64, 128, 128])
    hidden: int = 256

    @property
    def encoding(self) -> ActionEncoding:
        return ActionEncoding(vocabulary_of(self.vocabulary), "sliding", self.frameskip)


class InverseDynamics(nn.Module):
    """The two frames go into one convolutional encoder as six planes, so that it can see motion from the start."""

    scale: Tensor
    """Standard deviation of each continuous control's step sum; 1 for binary ones."""

    def __init__(self, config: IdmConfig) -> None:
        super().__init__()
        self.config = config
        self.encoding = config.encoding
        size = self.encoding.vocabulary.size
        self.encoder = ConvEncoder(ConvConfig(config.channels, config.hidden), config.image_size, planes=6)
        self.out = nn.Linear(config.hidden, size)
        self.register_buffer("scale", torch.ones(size))

    def forward(self, pixels: Tensor) -> Tensor:
        """Frames (B, 2, h, w, 3) uint8 -> (B, A): logits of binary controls, scaled continuous ones."""
        planes = pixels.to(self.scale.device).permute(0, 1, 4, 2, 3).flatten(1, 2)
        return self.out(self.encoder(planes.float() / 127.5 - 1))

    @torch.no_grad()
    def actions(self, pixels: Tensor) -> Tensor:
        """Step vectors (B, A), on the CPU: probabilities of binary controls, sums of continuous ones."""
        out = self(pixels)
        binary = torch.from_numpy(self.encoding.vocabulary.binary)
        return torch.where(binary, out.sigmoid().cpu(), (out * self.scale).cpu())

    def predict(self, sample: WindowSample) -> NDArray[np.float32]:
        """The actions (N, K, A) of sampled windows."""
        if sample.frameskip != self.config.frameskip:
            raise UserError(
                f"the idm's frameskip is {self.config.frameskip}, the windows' {sample.frameskip}; train another"
            )
        dataset = WindowDataset(
            sample.path, self.encoding, sample.steps + 1, sample.rows, self.config.image_size
        )
        windows = []
        for index in range(len(sample)):
            frames = dataset[index][0]
            pairs = torch.stack([frames[:-1], frames[1:]], 1)
            windows.append(torch.cat([self.actions(part) for part in pairs.split(_BATCH)]))
        return torch.stack(windows).numpy()

    def save(self, folder: Path, provenance: Mapping[str, Any]) -> None:
        weights = save({name: part.cpu().contiguous() for name, part in self.state_dict().items()})
        write_whole(folder / WEIGHTS_FILE, weights)
        content = {"config": asdict(self.config), "provenance": dict(provenance)}
        write_whole(folder / CONFIG_FILE, json.dumps(content, indent=2) + "\n")

    @staticmethod
    def load(folder: Path) -> InverseDynamics:
        try:
            config = IdmConfig(**json.loads((folder / CONFIG_FILE).read_text())["config"])
            model = InverseDynamics(config)
            state = load_file(folder / WEIGHTS_FILE)
            require_finite(state, str(folder / WEIGHTS_FILE))
            model.load_state_dict(state)
        except FileNotFoundError as error:
            raise UserError(f"{folder}: not a saved idm (no {Path(error.filename).name})") from None
        except (ValueError, KeyError, TypeError, SafetensorError, RuntimeError, ZeroDivisionError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"{folder}: not a sound idm ({reason}); train it again") from None
        return model.eval()
