"""Presets `<size>/<variant>`: two files of settings, the variant's over the size's."""

from __future__ import annotations

import difflib
from importlib import resources

from ..errors import UserError


def preset_names() -> list[str]:
    """All `<size>/<variant>`."""
    return [f"{size}/{variant}" for size in _stems("size") for variant in _stems("variant")]


def preset_texts(preset: str) -> tuple[str, str]:
    """The YAML of its size and of its variant."""
    require_preset(preset)
    size, variant = preset.split("/")
    folder = resources.files(__package__)
    return (folder / "size" / f"{size}.yaml").read_text(), (folder / "variant" / f"{variant}.yaml").read_text()


def require_preset(preset: str) -> None:
    if preset not in preset_names():
        near = difflib.get_close_matches(preset, preset_names(), 1, 0.3)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UserError(f"unknown preset {preset!r}{hint} Known: {', '.join(preset_names())}")


def _stems(kind: str) -> list[str]:
    entries = (resources.files(__package__) / kind).iterdir()
    return sorted(entry.name.removesuffix(".yaml") for entry in entries if entry.name.endswith(".yaml"))
