"""Train the inverse-dynamics baseline on the same training split as the world models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..data import WindowShape, open_checked, split_file, starts_in
from ..data.loader import StepSampler, WindowDataset, window_loader
from ..errors import UserError
from ..model.device import chosen_device
from ..results import Scores
from .idm import IdmConfig, InverseDynamics
from .metrics import score
from .prior import training_prior

_HELD_OUT = 1024


@dataclass(frozen=True)
class IdmTraining:
    steps: int = 2000
    batch: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 1e-3
    seed: int = 3072

    def __post_init__(self) -> None:
        if self.steps < 1 or self.batch < 1:
            raise UserError(f"training needs steps and a batch, not {self.steps} and {self.batch}")


def action_loss(out: Tensor, true: Tensor, binary: Tensor, scale: Tensor) -> Tensor:
    """(..., A): cross-entropy of buttons, squared error of continuous controls in units of `scale`."""
    wrong_keys = F.binary_cross_entropy_with_logits(out, (true > 0.5).float(), reduction="none")
    return torch.where(binary, wrong_keys, (out - true / scale).square())


def fit(
    parameters: Iterable[nn.Parameter],
    training: IdmTraining,
    losses: Iterable[Tensor],
    progress: Callable[[int, float], None],
) -> None:
    """One step for each of the losses, which are computed as they are asked for."""
    optimizer = torch.optim.AdamW(parameters, training.learning_rate, weight_decay=training.weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, training.learning_rate, training.steps)
    for step, loss in enumerate(losses, 1):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        progress(step, float(loss.detach()))


def train_idm(
    data: Path,
    config: IdmConfig,
    training: IdmTraining,
    progress: Callable[[int, float], None] = lambda step, loss: None,
    device: str = "cpu",
) -> tuple[InverseDynamics, Scores]:
    """The trained model and its scores on pairs of the validation split; `progress` hears step and loss."""
    encoding = config.encoding
    shape = WindowShape(2, encoding.frameskip)
    with open_checked(data) as file:
        split = split_file(file)
        train_starts, held_out_starts = (
            starts_in(file, shape, part) for part in (split.train, split.validation)
        )
    torch.manual_seed(training.seed)
    where = chosen_device(device)
    model = InverseDynamics(config).train().to(where)
    binary = torch.from_numpy(encoding.vocabulary.binary).to(where)
    spread = torch.from_numpy(training_prior(data, encoding).std).to(where)
    model.scale.copy_(torch.where(binary | (spread == 0), 1.0, spread))
    pairs = WindowDataset(data, encoding, 2, train_starts, config.image_size)
    loader = window_loader(pairs, StepSampler(len(pairs), training.batch, training.steps, training.seed))
    losses = (
        action_loss(model(pixels), actions[:, -1].to(where), binary, model.scale).mean() for pixels, actions in loader
    )
    fit(model.parameters(), training, losses, progress)
    return model.eval(), _validate(model, data, held_out_starts)


def _validate(model: InverseDynamics, data: Path, starts: np.ndarray) -> Scores:
    chosen = np.random.default_rng(0).choice(starts, min(_HELD_OUT, len(starts)), replace=False)
    dataset = WindowDataset(data, model.encoding, 2, chosen, model.config.image_size)
    pixels, actions = dataset.read(range(len(dataset)))
    predicted = torch.cat([model.actions(part) for part in pixels.split(64)])
    return score(predicted[:, None].numpy(), actions[:, -1:].numpy(), model.encoding.vocabulary)
