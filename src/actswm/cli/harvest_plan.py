"""The options of `actswm harvest` as a plan, checked before anything is asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..curation.harvest.named import Named
from ..curation.harvest.plan import Budget, Plan
from ..curation.harvest.settings import settings_of
from ..curation.harvest.web import Manners
from ..errors import UserError
from .harvest_options import Wanted


def plan_of(wanted: Wanted) -> Plan:
    if wanted.domain is None:
        raise UserError("--domain is missing: say which game, as in --domain gta5")
    if not (wanted.keywords or wanted.urls or wanted.seeds or wanted.local):
        raise UserError("nothing is named: give --keywords, --url, --seeds or --local")
    settings = settings_of(wanted.domain)
    if wanted.pack:
        settings = replace(settings, filter=replace(settings.filter, pack=pack_name(wanted.pack)))
    if wanted.size:
        height, width = _size(wanted.size)
        settings = replace(settings, height=height, width=width)
    if wanted.fps:
        settings = replace(settings, fps=wanted.fps)
    seeds, local = (tuple(map(str, paths)) for paths in (wanted.seeds, wanted.local))
    named = Named(tuple(wanted.keywords), tuple(wanted.urls), seeds, local, wanted.search, wanted.most)
    named.web()  # bad names end here
    most_bytes = _amount("--max-bytes", wanted.max_bytes) if wanted.max_bytes else None
    return Plan(settings, named, Budget(wanted.hours, most_bytes, wanted.videos), tuple(wanted.licence))


def pack_name(pack: str) -> str:
    return str(Path(pack).resolve()) if Path(pack).is_dir() else pack


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    whole = width.isdecimal() and height.isdecimal()
    if not whole or int(width) % 2 or int(height) % 2 or not int(width) * int(height):
        raise UserError(f"--size {text!r} must be WIDTHxHEIGHT with even numbers, as in 640x360")
    return int(height), int(width)


def _amount(option: str, text: str) -> int:
    units = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    try:
        return round(float(number) * units[unit])
    except (KeyError, ValueError):
        raise UserError(f"{option} {text!r} must be a number of bytes, as in 500M") from None


def manners_of(pause: float, rate: str, timeout: float) -> Manners:
    return Manners(pause, pause / 3, _amount("--rate", rate), timeout=timeout)


def required(out: Path | None) -> Path:
    if out is None:
        raise UserError("--out is missing: name the folder for the clips")
    return out
