"""The Lightning module: one objective on one world model, with warm-up and cosine decay."""

from __future__ import annotations

import math
from typing import Any

import lightning as L
import torch
from torch import Tensor

from ..errors import UserError
from ..masks import apply_mask
from ..model import WorldModel
from ..objective import Batch, Losses, Objective
from .config import Config
from .optimizer import make_optimizer


class TrainingModule(L.LightningModule):
    """Every random number of a step is a function of (seed, step, rank), so a resumed run repeats nothing
    and misses nothing; SIGReg's directions are the same on all ranks."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        torch.manual_seed(config.training.seed)
        self.model = WorldModel(config.model)
        self.objective = Objective(config.objective)

    def losses(self, batch: tuple[Tensor, Tensor, Tensor, Tensor], step: int) -> Losses:
        pixels, actions, rows, moments = batch
        if self.config.training.mask != "none":
            pixels, half = pixels.clone(), len(pixels) // 2  # neighbours stay alike
            painted = apply_mask(self.config.training.mask, pixels[:half].cpu().numpy())
            pixels[:half] = torch.from_numpy(painted).to(pixels.device)
            # painted they are other frames
            rows, moments = (torch.cat([-1 - part[:half], part[half:]]) for part in (rows, moments))
        generator = torch.Generator().manual_seed(_mix(self.config.training.seed, step))
        windows = Batch(pixels, actions, rows, self.config.training.place.windows, moments)
        return self.objective(self.model, windows, generator, step / self.config.training.steps)

    def training_step(self, batch: tuple[Tensor, Tensor, Tensor, Tensor], batch_idx: int) -> Tensor:
        torch.manual_seed(_mix(self.config.training.seed, self.global_step, 1 + self.global_rank))
        losses = self.losses(batch, self.global_step)
        if not torch.isfinite(losses.total):
            terms = ", ".join(f"{name} {float(value.detach()):.3g}" for name, value in losses.terms.items())
            raise UserError(
                f"the loss is not finite at step {self.global_step} ({terms}); "
                "lower training.learning_rate or raise the precision; the last checkpoint is kept"
            )
        self.log("loss", losses.total.detach(), prog_bar=True)
        for name, value in losses.terms.items():
            self.log(name, value.detach(), prog_bar=True)
        if (self.global_step + 1) % self.config.training.log_every == 0:  # the steps that Lightning writes down
            self.log_dict(latent_health(losses.latents.detach()), prog_bar=True)
        return losses.total

    def configure_optimizers(self) -> Any:
        training = self.config.training
        optimizer = make_optimizer(self, training)
        warmup = max(1, round(training.warmup * training.steps))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: learning_rate_factor(step, warmup, training.steps)
        )
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def learning_rate_factor(step: int, warmup: int, steps: int) -> float:
    """Linear to 1 over `warmup` steps, then a cosine to 0 at `steps`."""
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warmup) / max(1, steps - warmup))))


def latent_health(latents: Tensor) -> dict[str, float]:
    """Does the representation collapse? Latents (B, T, D) -> mean standard deviation and effective rank.

    The effective rank is exp(entropy) of the normalised covariance spectrum: D for an isotropic cloud.
    """
    rows = latents.flatten(0, 1).float()
    centred = rows - rows.mean(0)
    spectrum = torch.linalg.eigvalsh((centred.T @ centred / len(rows)).cpu()).clamp_min(0)
    shares = spectrum / spectrum.sum().clamp_min(1e-12)
    entropy = -(shares * shares.clamp_min(1e-12).log()).sum()
    return {"latent_std": float(centred.std(0).mean()), "latent_rank": float(entropy.exp())}


def _mix(*numbers: int) -> int:
    """One seed from several numbers, well spread."""
    mixed = 0
    for number in numbers:
        mixed = (mixed * 6364136223846793005 + number + 1442695040888963407) % 2**63
    return mixed
