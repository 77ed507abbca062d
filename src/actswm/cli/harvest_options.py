"""What `actswm harvest` and its first stage are asked for: the same options, told once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

import typer

PACK = typer.Option(None, help="Template pack in place of the domain's (see actswm hud learn).")


@dataclass(frozen=True)
class Wanted:
    """Each field is an option."""

    domain: str = typer.Option(
        None, help="Game: gta5, apex, openarena, freedoom, minetest, or a file of your own (.yaml)."
    )
    keywords: list[str] = typer.Option([], help="Search words; may be given again.")
    urls: list[str] = typer.Option(
        [], "--url", help="A video, channel, playlist, page or RSS feed; may be given again."
    )
    seeds: list[Path] = typer.Option([], help="A file with one URL a line.")
    local: list[Path] = typer.Option([], help="A local video or a folder of them.")
    search: str = typer.Option(
        "ytsearch", help="A search of yt-dlp, or a URL with {words} in it whose answer is a feed."
    )
    most: int = typer.Option(50, min=1, help="Most videos of one search, channel, list or feed.")
    hours: float = typer.Option(None, min=0.0, help="Stop when so many hours of clips are kept.")
    max_bytes: str = typer.Option(None, help="Most to download, as in 500M or 2G.")
    videos: int = typer.Option(None, min=1, help="Most videos.")
    licence: list[str] = typer.Option(
        [], help="Words of the licence field that are wanted; cc: Creative Commons, public domain."
    )
    pack: str = PACK
    size: str = typer.Option(None, help="Of the clips, as in 640x360.")
    fps: int = typer.Option(None, min=1, help="Frames a second of the clips.")


def asks_what(command: Callable[..., None]) -> Callable[..., None]:
    """The command's parameter `wanted` becomes one option for each field of `Wanted`, at its place."""
    hints, wanted_hints = get_type_hints(command), get_type_hints(Wanted)
    options = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default)
        for one in fields(Wanted)
    ]
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(command).parameters.values():
        parameters += options if one.name == "wanted" else [one.replace(kind=inspect.Parameter.KEYWORD_ONLY)]

    @functools.wraps(command)
    def told(**given: Any) -> None:
        wanted = Wanted(**{name: given.pop(name) for name in wanted_hints})
        command(wanted=wanted, **given)

    hints.pop("wanted")
    told.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    told.__annotations__ = {**wanted_hints, **hints}
    return told
