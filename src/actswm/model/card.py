"""The model card: what the weights are, how to load them, how they were trained; with the front matter of the hub."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..saved_models import game_of
from .world_model import WorldModel

_METRICS = {
    "shuffled_gap": "what predictions lose under other actions (0: it is not action-sensitive)",
    "drift_gap": "what predictions lose without actions",
    "above_copy": "what predictions have over a copy of the last frame",
}
_LONGEST = 500
"""Letters of a value; what is longer (a recording merged of many) stands whole in config.json."""
_TRAINED = ("command", "data", "seed", "steps", "seconds", "machine", "commit")


def model_card(model: WorldModel, provenance: Mapping[str, Any], name: str = "this/folder") -> str:
    """`name`: how the model is loaded."""
    config = model.config
    size = sum(parameter.numel() for parameter in model.parameters())
    rest = {
        key: value for key, value in provenance.items() if key not in (*_TRAINED, "validation", "licence")
    }
    lines = [
        *_front_matter(provenance, name),
        "# ActSWM world model",
        "",
        f"{size / 1e6:.2f} M parameters: {config.encoder} encoder at {config.image_size} px, latent "
        f"{config.latent_dim}, context {config.predictor.context}, predictor depth {config.predictor.depth}.",
        f"Controls: {config.vocabulary} ({', '.join(model.encoding.vocabulary.names)}), "
        f"`{config.encoding}` encoding, frameskip {config.frameskip}.",
        "",
        "```python",
        "from actswm import WorldModel",
        f"model = WorldModel.from_pretrained({json.dumps(name)})",
        "```",
        "",
        *_section("How it was trained", {key: provenance[key] for key in _TRAINED if key in provenance}),
        *_section("Validation at the end of the training", provenance.get("validation")),
        *_section("More", rest),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _section(title: str, content: Any) -> list[str]:
    if not isinstance(content, Mapping) or not content:
        return []
    told = [f"- {key}: {_shown(value)}{_meaning(str(key))}" for key, value in content.items()]
    return [f"## {title}", "", *told, ""]


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return f"`{text}`" if len(text) <= _LONGEST else f"`{text[:_LONGEST]}` ... (the rest is in config.json)"


def _meaning(key: str) -> str:
    return f" ({_METRICS[key]})" if key in _METRICS else ""


def _front_matter(provenance: Mapping[str, Any], name: str) -> list[str]:
    """What the hub shows and searches by: YAML, each value as JSON, which YAML is a superset of."""
    data, scores = provenance.get("data"), provenance.get("validation")
    source = str(data.get("source") or "") if isinstance(data, Mapping) else ""
    game = game_of(source)
    found = {key: scores[key] for key in _METRICS if key in scores} if isinstance(scores, Mapping) else {}
    licence = provenance.get("licence")
    told: dict[str, Any] = {"license": str(licence).lower()} if licence else {}
    told |= {"library_name": "actswm", "tags": ["world-model", "jepa", "games", *filter(None, source.split(" + "))]}
    if game and found:
        told["metrics"] = list(found)
        result = {
            "task": {"type": "world-model", "name": "Prediction of latents under actions"},
            "dataset": {"type": game, "name": game, "split": "validation"},
            "metrics": [{"type": key, "name": _METRICS[key], "value": value} for key, value in found.items()],
        }
        told["model-index"] = [{"name": name.rsplit("/", 1)[-1], "results": [result]}]
    return ["---", *(f"{key}: {json.dumps(value)}" for key, value in told.items()), "---", ""]
