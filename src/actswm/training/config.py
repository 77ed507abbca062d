"""Training configuration: typed dataclasses, presets `<size>/<variant>`, and `key=value` overrides."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import resources
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ..errors import UserError
from ..model import ModelConfig
from ..objective import ObjectiveConfig


@dataclass
class TrainingConfig:
    """How to optimise. Defaults are the paper's (Appendix A)."""

    steps: int = 100_000
    batch: int = 32
    learning_rate: float = 1e-4
    weight_decay: float = 1e-3
    warmup: float = 0.01
    """Share of the steps with a linearly growing learning rate; cosine to zero follows."""
    clip: float = 1.0
    precision: str = "auto"
    """Lightning's names; `auto`: 16-mixed on a GPU, bf16-mixed on CPUs with bf16 matrix units, else 32-true."""
    start_from: str = ""
    """Weights to begin with: a run, a saved model, or shipped weights by name. Empty: at random."""
    mask: str = "none"
    """Paint this mask over half of the windows, for planners that will paint it over all they see."""
    seed: int = 3072
    validity: str = "strict"
    workers: int = 0
    """Loader processes; 0 reads in the training process."""
    threads: int = 0
    """CPU threads; 0 leaves torch's choice."""
    devices: int = 1
    checkpoint_minutes: float = 5.0
    checkpoint_steps: int = 0
    """Also every so many steps, if not 0."""
    log_every: int = 20
    validate_every: int = 500
    """Steps between validations; 0: only at the end."""
    validation_windows: int = 256
    wandb_project: str = ""
    """Log to Weights & Biases under this project (needs the `wandb` extra)."""


@dataclass
class Config:
    model: ModelConfig = field(default_factory=ModelConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)


def preset_names() -> list[str]:
    """All `<size>/<variant>`."""
    return [f"{size}/{variant}" for size in _stems("size") for variant in _stems("variant")]


def load_config(preset: str, overrides: Sequence[str] = ()) -> Config:
    """Size, then variant, then `section.key=value` overrides, each checked against the dataclasses."""
    if preset not in preset_names():
        near = difflib.get_close_matches(preset, preset_names(), 1, 0.3)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UserError(f"unknown preset {preset!r}{hint} Known: {', '.join(preset_names())}")
    size, variant = preset.split("/")
    merged = OmegaConf.structured(Config)
    for layer in (_read("size", size), _read("variant", variant), _parse(overrides)):
        _require_known(layer)
        try:
            merged = OmegaConf.merge(merged, layer)
        except OmegaConfBaseException as error:
            raise UserError(f"bad setting: {str(error).splitlines()[0]}") from None
    return _as_object(merged)


def config_from_yaml(text: str) -> Config:
    """A configuration as `config_to_yaml` wrote it."""
    layer = yaml.safe_load(text)
    _require_known(layer)
    return _as_object(OmegaConf.merge(OmegaConf.structured(Config), layer))


def config_to_yaml(config: Config) -> str:
    return OmegaConf.to_yaml(OmegaConf.structured(config))


def _as_object(merged: Any) -> Config:
    config = OmegaConf.to_object(merged)
    assert isinstance(config, Config)
    return config


def _stems(kind: str) -> list[str]:
    folder = resources.files("actswm") / "presets" / kind
    return sorted(
        entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml")
    )


def _read(kind: str, name: str) -> dict[str, Any]:
    text = (resources.files("actswm") / "presets" / kind / f"{name}.yaml").read_text()
    return yaml.safe_load(text) or {}


def _parse(overrides: Sequence[str]) -> dict[str, Any]:
    for override in overrides:
        if "=" not in override or override.startswith("="):
            raise UserError(f"override {override!r} is not of the form section.key=value")
    return OmegaConf.to_container(OmegaConf.from_dotlist(list(overrides)))  # type: ignore[return-value]


def _require_known(layer: Any) -> None:
    known = dict.fromkeys(_paths(Config))
    for key in _leaves(layer):
        if key not in known and not any(path.startswith(f"{key}.") for path in known):
            near = difflib.get_close_matches(key, known, 1, 0)
            raise UserError(f"unknown setting {key!r}; the nearest known one is {near[0]!r}")


def _leaves(layer: Any, prefix: str = "") -> Iterator[str]:
    for key, value in (layer or {}).items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _paths(kind: type, prefix: str = "") -> Iterator[str]:
    """Dotted names of all settings."""
    for entry in fields(kind):
        default = entry.default_factory() if callable(entry.default_factory) else entry.default
        if is_dataclass(default):
            yield from _paths(type(default), f"{prefix}{entry.name}.")
        else:
            yield f"{prefix}{entry.name}"
