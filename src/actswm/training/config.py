"""Training configuration: typed dataclasses, presets `<size>/<variant>`, and `key=value` overrides."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ..errors import UserError
from ..model import ModelConfig
from ..model.settings import typed_settings
from ..objective import ObjectiveConfig
from ..presets import preset_texts


@dataclass
class PlaceConfig:
    """A batch holds groups of neighbouring windows, each of one place. The paper's: single windows."""

    windows: int = 1
    """Windows of a place; they follow one another in the batch."""
    reach: int = 100
    """Raw steps between the first of them and the others, at most."""
    siblings: float = 0.5
    """Share of places that are forks with their siblings, in files that have them (`actswm record --branches`)."""
    twins: bool = True
    """Half of a place's windows, if their number is even, show the moments of the others in another look, in files that
    have such (`actswm record --looks`). Contrast then asks for the frame in the other look."""


PRECISIONS = ("auto", "32-true", "16-mixed", "bf16-mixed", "bf16-true")


@dataclass
class TrainingConfig:
    """How to optimise. Defaults are the paper's (Appendix A)."""

    steps: int = 100_000
    batch: int = 32
    place: PlaceConfig = field(default_factory=PlaceConfig)
    optimizer: str = "adamw"
    """`adamw`, or `muon`: matrices move by orthogonalised momentum at `muon_rate`, all else by AdamW."""
    muon_rate: float = 0.02
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
    """Processes on each machine: one for each GPU."""
    nodes: int = 1
    """Machines, on each of which torchrun or SLURM starts the same command."""
    checkpoint_minutes: float = 5.0
    checkpoint_steps: int = 0
    """Also every so many steps, if not 0."""
    log_every: int = 20
    validate_every: int = 500
    """Steps between validations; 0: only at the end."""
    validation_windows: int = 256
    wandb_project: str = ""
    """Log to Weights & Biases under this project (needs the `wandb` extra)."""

    def __post_init__(self) -> None:
        if self.optimizer not in ("adamw", "muon"):
            raise UserError(f"unknown training.optimizer {self.optimizer!r}; use adamw or muon")
        if self.precision not in PRECISIONS:
            raise UserError(f"unknown training.precision {self.precision!r}; use {', '.join(PRECISIONS)}")
        if self.devices < 1 or self.nodes < 1:
            raise UserError(f"training.devices and training.nodes are at least 1, not {self.devices} and {self.nodes}")


@dataclass
class Config:
    model: ModelConfig = field(default_factory=ModelConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)


def load_config(preset: str, overrides: Sequence[str] = ()) -> Config:
    """Size, then variant, then `section.key=value` overrides, each checked against the dataclasses."""
    layers = (*(yaml.safe_load(text) or {} for text in preset_texts(preset)), _parse(overrides))
    for layer in layers:
        _require_known(layer)
    return typed_settings(Config, *layers)


def config_from_yaml(text: str) -> Config:
    """A configuration as `config_to_yaml` wrote it, or an earlier version of it."""
    try:
        layer = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"not valid YAML ({' '.join(str(error).split())})") from None
    if not isinstance(layer, dict):
        raise UserError("not a configuration: it has no settings")
    dynamics = (layer.get("objective") or {}).get("dynamics")
    if isinstance(dynamics, dict):  # until version 0.1 places belonged to it
        former = {key: dynamics.pop(key) for key in ("windows", "reach") if key in dynamics}
        layer["training"] = {**(layer.get("training") or {}), **({"place": former} if former else {})}
    temporal = (layer.get("objective") or {}).get("temporal")
    if isinstance(temporal, dict) and not temporal.get("weight"):  # a loss that lost, and was never on by default
        del layer["objective"]["temporal"]
    _require_known(layer)
    return typed_settings(Config, layer)


def config_to_yaml(config: Config) -> str:
    return OmegaConf.to_yaml(OmegaConf.structured(config))


def _parse(overrides: Sequence[str]) -> dict[str, Any]:
    parsed: Any = OmegaConf.create()
    for override in overrides:
        name, equals, _ = override.partition("=")
        if not equals or not all(part.isidentifier() for part in name.split(".")):
            raise UserError(f"override {override!r} is not of the form section.key=value")
        try:
            parsed = OmegaConf.merge(parsed, OmegaConf.from_dotlist([override]))
        except (yaml.YAMLError, OmegaConfBaseException, ValueError, TypeError, RecursionError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"override {override!r} cannot be read ({reason})") from None
    return OmegaConf.to_container(parsed)  # type: ignore[return-value]


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
