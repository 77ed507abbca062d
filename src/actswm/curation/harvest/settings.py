"""A game's harvest settings: how its video is cut, and what is kept, in a checked data file that can be copied."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from ...errors import UserError

_LONGEST_SIDE, _FASTEST = 8192, 1000


@dataclass(frozen=True)
class CutRules:
    """Of PySceneDetect's detectors, and of our own check that a fast turn is not a cut."""

    adaptive_threshold: float = 2.5
    """A frame that changes this many times as much as its neighbours may begin a scene."""
    window: int = 2
    least_content: float = 12.0
    fade: float = 8.0
    """Mean brightness (0-255) below which a fade has reached black."""
    turn: float = 0.45
    """A picture whose parts are found again, shifted alike, with this correlation, was turned to."""
    hole: float = 1.0
    """Seconds without a frame that end a scene."""
    shortest: float = 2.0
    longest: float = 10.0
    """Seconds; longer scenes are split evenly."""


@dataclass(frozen=True)
class FilterRules:
    """`negative` keeps what shows no bad state, `positive` what shows the HUD of play (Algorithm 2)."""

    kind: Literal["negative", "positive"] = "negative"
    most_bad: float = 0.25
    """Largest share of a clip in bad states (positive: that is not play)."""
    most_static: float | None = 0.60
    """Largest share in which nothing moves; null where players may rest."""
    sample_hz: float = 1.0
    dark: int = 16
    uniform: float = 4.0
    still: float = 0.12
    """A moment is static while at most this share of the picture's tiles moves."""
    split: bool = True
    """Cut a scene where its state changes, so that a menu costs the menu and not the play around it."""
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """State -> phrases on the screen that betray it, read by OCR."""
    pack: str | None = None
    """Template pack: a name of ours or a folder made by `actswm hud learn`."""
    need: float = 0.34
    """positive: share of what the pack's elements of play draw that must be seen."""


@dataclass(frozen=True)
class HarvestSettings:
    name: str
    title: str
    keywords: tuple[str, ...] = ()
    kept: float = 0.4
    """Share of footage that is likely kept, for plans."""
    height: int = 360
    width: int = 640
    fps: int = 20
    cut: CutRules = field(default_factory=CutRules)
    filter: FilterRules = field(default_factory=FilterRules)

    def describe(self) -> dict[str, Any]:
        return asdict(self)


def names() -> tuple[str, ...]:
    files = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in files if name.endswith(".yaml")))


def settings_of(name: str) -> HarvestSettings:
    """A game of ours by name, or a data file by path."""
    import yaml

    if name in names():
        file, where, base = _folder() / f"{name}.yaml", f"{name}.yaml", Path()
    elif Path(name).suffix in (".yaml", ".yml") and Path(name).is_file():
        file, where, base = Path(name), name, Path(name).resolve().parent
    else:
        raise UserError(
            f"unknown domain {name!r}; known: {', '.join(names())}, or a file of your own (.yaml)"
        )
    try:
        content = yaml.safe_load(file.read_text())
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{where}: is not YAML ({' '.join(str(error).split())})") from None
    return from_content(content, where, base)


def from_content(content: Any, where: str, base: Path = Path()) -> HarvestSettings:
    """Checked: an unknown or ill-typed field is named."""
    whole = _fields(HarvestSettings, content, where)
    cut = CutRules(**_fields(CutRules, whole.pop("cut", {}), f"{where}: cut"))
    rules = _fields(FilterRules, whole.pop("filter", {}), f"{where}: filter")
    words = rules.pop("words", None) or {}
    if not isinstance(words, dict) or not all(isinstance(some, (list, tuple)) for some in words.values()):
        raise UserError(f"{where}: filter: words must list phrases for each state")
    if rules.get("pack") and base != Path() and (base / rules["pack"]).is_dir():
        rules["pack"] = str(base / rules["pack"])
    filter_rules = FilterRules(words={state: tuple(map(str, some)) for state, some in words.items()}, **rules)
    if filter_rules.kind not in ("negative", "positive"):
        raise UserError(f"{where}: filter: kind must be negative or positive, not {filter_rules.kind!r}")
    if "name" not in whole or "title" not in whole:
        raise UserError(f"{where}: needs name and title")
    whole["keywords"] = tuple(whole.get("keywords", ()))
    settings = HarvestSettings(**whole, cut=cut, filter=filter_rules)
    for share in ("most_bad", "most_static", "need", "still"):
        value = getattr(filter_rules, share)
        if value is not None and not 0 <= value <= 1:
            raise UserError(f"{where}: filter: {share} must be from 0 to 1, not {value}")
    sides, whole_numbers = (settings.height, settings.width), (settings.height, settings.width, settings.fps)
    if not all(isinstance(one, int) for one in whole_numbers) or not 1 <= settings.fps <= _FASTEST:
        raise UserError(f"{where}: height, width and fps must be whole numbers, and fps from 1 to {_FASTEST}")
    if any(side % 2 or not 2 <= side <= _LONGEST_SIDE for side in sides):
        raise UserError(f"{where}: height and width must be even, and at most {_LONGEST_SIDE}")
    if not 0 < cut.shortest <= cut.longest:
        raise UserError(f"{where}: cut: shortest must be positive and at most longest")
    return settings


def _fields(kind: type, content: Any, where: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise UserError(f"{where}: must be a mapping of fields")
    known = {one.name: one.default for one in fields(kind)}
    for name, value in content.items():
        if name not in known:
            raise UserError(f"{where}: unknown field {name!r}; known: {', '.join(known)}")
        default = known[name]
        if isinstance(default, bool) and not isinstance(value, bool):
            raise UserError(f"{where}: {name} must be true or false, not {value!r}")
        if isinstance(default, (int, float)) and not isinstance(default, bool) and value is not None:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise UserError(f"{where}: {name} must be a number, not {value!r}")
        elif isinstance(default, str) and not isinstance(value, str):
            raise UserError(f"{where}: {name} must be a text, not {value!r}")
    return dict(content)


def _folder() -> Any:
    return resources.files("actswm.curation.harvest") / "domains"
