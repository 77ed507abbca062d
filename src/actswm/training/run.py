"""Train a world model on a dataset file: the one function behind `actswm train`."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.loggers import Logger, TensorBoardLogger
from lightning.pytorch.plugins import MixedPrecision
from lightning.pytorch.strategies import SingleDeviceStrategy, Strategy

from ..atomic import write_whole
from ..errors import UserError
from ..model import WorldModel
from ..model.device import chosen_device
from ..model.fit import require_finite
from ..model.products import fast_products
from ..origin import commit
from .checkpoints import LAST, ClockCheckpoint, damaged, read_checkpoint
from .config import Config, config_from_yaml, config_to_yaml
from .data import WindowData
from .interruption import Interruption
from .launch import is_first_process, peer_is_gone
from .metrics_log import metrics_log
from .module import TrainingModule
from .provenance import provenance
from .validation import Probe, Validation

CONFIG_FILE = "config.yaml"
MODEL_FOLDER = "model"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainingResult:
    """Where the run lies, and its last validation."""

    folder: Path
    model_folder: Path
    steps: int
    seconds: float
    validation: dict[str, float]


def train(
    config: Config,
    data: Path,
    folder: Path,
    *,
    resume: bool = False,
    device: str = "auto",
    probes: Iterable[Probe] = (),
    callbacks: Iterable[L.Callback] = (),
    command: str = "",
) -> TrainingResult:
    """Train into `folder`, or go on where a run of the same configuration stopped."""
    where = chosen_device(device)
    checkpoint = _resume_point(config, folder, resume)
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    warnings.filterwarnings(
        "ignore", ".*LeafSpec", FutureWarning
    )  # between Lightning and torch, not the user
    # it cannot know: our loader goes on after the steps that were taken
    warnings.filterwarnings("ignore", message="You're resuming from a checkpoint that ended before the epoch")
    warnings.filterwarnings("ignore", message="Experiment logs directory")  # metrics_log keeps them
    if config.training.threads:
        torch.set_num_threads(config.training.threads)
    module = TrainingModule(config)
    saved = read_checkpoint(checkpoint) if checkpoint else None
    start = int(saved["global_step"]) if saved else 0
    if saved:
        _require_this_model(module, saved, folder / LAST)
    windows = WindowData(config, data, module.objective.frames(config.model.predictor.context), start)
    if config.training.start_from:
        _start_from(module.model, config.training.start_from)
    else:
        module.model.action_scale.copy_(torch.from_numpy(windows.action_scale()))
    interruption = Interruption()
    clock = ClockCheckpoint(
        folder, config.training.checkpoint_minutes, config.training.checkpoint_steps, interruption
    )
    validation = Validation(windows, config.training.validate_every, probes)
    trainer = L.Trainer(
        default_root_dir=folder,
        accelerator=where.type,
        devices=config.training.devices,
        num_nodes=config.training.nodes,
        strategy=_strategy(config, where),
        use_distributed_sampler=False,
        max_steps=config.training.steps,
        max_epochs=-1,
        **_precision(config.training.precision, where),
        gradient_clip_val=config.training.clip,
        logger=_loggers(config, folder, start),
        log_every_n_steps=config.training.log_every,
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=False,  # its count begins anew when a run goes on
        num_sanity_val_steps=0,
        callbacks=[clock, validation, *callbacks],
    )
    folder.mkdir(parents=True, exist_ok=True)
    if trainer.is_global_zero:
        write_whole(folder / CONFIG_FILE, config_to_yaml(config))
    revision = commit()
    if start < config.training.steps:
        try:
            with interruption, fast_products():
                trainer.fit(module, datamodule=windows, ckpt_path=checkpoint, weights_only=True)
        except SystemExit:  # Lightning's answer to Ctrl+C
            raise KeyboardInterrupt from None
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RuntimeError) as error:
            if peer_is_gone(error):
                raise UserError(
                    f"{folder}: another process of this run is gone; start all again, with --resume"
                ) from None
            # Lightning and the optimiser look at the state only when they use it, at the latest in the first step
            if checkpoint is None or clock.has_stepped or isinstance(error, torch.OutOfMemoryError):
                raise
            raise damaged(checkpoint, error) from error
    else:
        assert saved is not None
        clock.load_state_dict(saved["callbacks"].get(clock.state_key, {"seconds": 0.0}))
    seconds = clock.seconds
    validation.latest = validation.latest or validation.measure(module, config.training.steps)
    module.model.eval()
    if trainer.is_global_zero:
        module.model.save_pretrained(
            folder / MODEL_FOLDER,
            provenance(
                data,
                command,
                revision,
                config.training.seed,
                config.training.steps,
                validation.latest,
                seconds,
            ),
        )
    return TrainingResult(folder, folder / MODEL_FOLDER, config.training.steps, seconds, validation.latest)


def _start_from(model: WorldModel, source: str) -> None:
    """Take over trained weights, and the scale of actions that they know."""
    trained = WorldModel.from_pretrained(source)
    if trained.config != model.config:
        raise UserError(f"training.start_from {source}: its model settings are not this run's")
    model.load_state_dict(trained.state_dict())


def _resume_point(config: Config, folder: Path, resume: bool) -> Path | None:
    """Refuse to overwrite; return the checkpoint to resume from, if any."""
    saved = folder / CONFIG_FILE
    if saved.exists() and is_first_process():  # the others may find what it has just written
        if not resume:
            raise UserError(f"{folder}: holds a run already; add --resume to go on, or choose another --out")
        if _saved_config(saved) != config:
            raise UserError(f"{saved}: is not this configuration; resume with the same preset and overrides")
    checkpoint = folder / LAST
    return checkpoint if checkpoint.exists() else None


def _strategy(config: Config, device: torch.device) -> str | Strategy:
    if config.training.devices * config.training.nodes == 1:
        return SingleDeviceStrategy(device)
    return "ddp" if config.objective.fixed_from >= 1 else "ddp_find_unused_parameters_true"


def _saved_config(path: Path) -> Config:
    try:
        return config_from_yaml(path.read_text())
    except (UserError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: damaged: {error}; remove it to go on with the given settings") from None


def _require_this_model(module: TrainingModule, saved: dict[str, Any], path: Path) -> None:
    require_finite(saved["state_dict"], str(path))
    try:
        module.load_state_dict(saved["state_dict"])
    except RuntimeError:
        raise UserError(f"{path}: is of another model; resume with the same preset and overrides") from None


def _precision(name: str, device: torch.device) -> dict[str, Any]:
    """What to tell Lightning's trainer."""
    if name == "auto" and device.type == "cuda":
        name = "16-mixed"
    elif name == "auto":
        name = "bf16-mixed" if device.type == "cpu" and _cpu_has_bf16_units() else "32-true"
    if name in ("16-mixed", "bf16-mixed"):  # by name it would turn fp16 on a CPU into bf16
        return {"plugins": [MixedPrecision(name, device.type)]}  # type: ignore[arg-type]
    return {"precision": name}


def _cpu_has_bf16_units() -> bool:
    """Without matrix units for it bf16 on a CPU is emulated, and slower than fp32."""
    try:
        return "amx_bf16" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def _loggers(config: Config, folder: Path, start: int) -> list[Logger]:
    loggers: list[Logger] = [
        metrics_log(folder, start),
        TensorBoardLogger(folder, name="", version="logs"),
    ]
    if config.training.wandb_project:
        if "wandb" not in sys.modules:
            try:
                import wandb  # noqa: F401
            except ImportError:
                raise UserError("training.wandb_project needs `pip install actswm[wandb]`") from None
        from lightning.pytorch.loggers import WandbLogger

        loggers.append(WandbLogger(project=config.training.wandb_project, name=folder.name, save_dir=folder))
    return loggers
