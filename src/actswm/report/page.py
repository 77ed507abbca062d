"""The HTML report: one file that needs nothing else, with pictures, films and charts inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from ..atomic import write_whole
from ..origin import Origin
from .action_sections import planning_section, recovery_section
from .blocks import Colour, Image, Section, data_uri
from .colours import places
from .drift_section import drift_section
from .fidelity_section import fidelity_section, sheet_section
from .look_at import LOOK_AT
from .sources import Picture, Sources
from .summary_section import summary_section
from .training_section import data_section, training_section

TITLE = "Is the world model action-sensitive?"


@dataclass(frozen=True)
class Page:
    title: str
    sections: tuple[Section, ...]
    commands: tuple[Origin, ...]
    """What made the figures, in their order; a figure refers to its command by number."""


def build_page(sources: Sources, title: str = TITLE, episodes: int = 2) -> Page:
    """Sections for what was found, none for what was not; films of so many episodes a task."""
    models = _models(sources)
    colour: Colour = places(models).get
    drawn = {each.origin.command for each in sources.drift} | {each.origin.command for each in sources.recoveries}
    sections = [
        summary_section(sources, models, colour),
        drift_section(sources.drift, sources.fidelity, _images(sources, "drift", drawn), colour),
        fidelity_section(sources.fidelity, colour),
        sheet_section(_images(sources, "sheet")),
        planning_section(sources.plans, episodes, colour),
        recovery_section(sources.recoveries, _images(sources, "piano-roll", drawn), colour),
        data_section(_images(sources, "contact-sheet")),
        training_section(sources.runs, colour),
    ]
    shown = tuple(section for section in sections if section)
    blocks = [block for section in shown for block in section.blocks]
    made = [*(getattr(block, "origin", None) for block in blocks), *(run.origin for run in sources.runs)]
    return Page(title, shown, tuple(dict.fromkeys(one for one in made if one and one.command)))


def write_page(page: Page, path: Path) -> None:
    """Written to a temporary name, then renamed."""
    environment = Environment(
        loader=PackageLoader("actswm.report", "templates"),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    numbers = {origin: number for number, origin in enumerate(page.commands, 1)}
    html = environment.get_template("page.html.j2").render(page=page, numbers=numbers, look_at=LOOK_AT)
    write_whole(path, html.encode(errors="backslashreplace"))  # halves of surrogate pairs


def _models(sources: Sources) -> list[str]:
    """Names of models in the order in which results mention them; baselines are none."""
    names = [model.name for drift in sources.drift for model in drift.models]
    names += [model.name for fidelity in sources.fidelity for model in fidelity.models]
    names += [each.method for filmed in sources.plans for each in filmed.plan.methods if each.plan_cpu_seconds]
    names += [name for result in sources.recoveries for name in result.scores if result.costs.get(name)]
    return list(dict.fromkeys([*names, *(run.name for run in sources.runs)]))


def _images(sources: Sources, kind: str, drawn: Sequence[str] | set[str] = ()) -> list[Image]:
    """Pictures of a kind, without those whose figures a chart of the page already shows."""
    wanted = [each for each in sources.pictures if each.note.kind == kind and each.note.origin.command not in drawn]
    return [_image(picture) for picture in wanted]


def _image(picture: Picture) -> Image:
    note = picture.note
    return Image(data_uri("image/png", picture.png), note.alt, note.caption, note.origin)
