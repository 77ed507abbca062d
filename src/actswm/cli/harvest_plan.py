"""The options of `actswm harvest` as a plan, checked before anything is asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..curation.harvest.named import Named
from ..curation.harvest.plan import Budget, Plan
from ..curation.harvest.settings import settings_of
from ..curation.harvest.web import Manners
from ..errors import UserError


def plan_of(
    domain: str | None, keywords: list[str], urls: list[str], seeds: list[Path], local: list[Path], search: str,
    most: int, hours: float | None, max_bytes: str | None, videos: int | None, licence: list[str], pack: str | None,
    size: str | None, fps: int | None,
) -> Plan:  # fmt: skip
    if domain is None:
        raise UserError("--domain is missing: say which game, as in --domain gta5")
    if not (keywords or urls or seeds or local):
        raise UserError("nothing is named: give --keywords, --url, --seeds or --local")
    settings = settings_of(domain)
    if pack:
        settings = replace(settings, filter=replace(settings.filter, pack=pack_name(pack)))
    if size:
        height, width = _size(size)
        settings = replace(settings, height=height, width=width)
    if fps:
        settings = replace(settings, fps=fps)
    named = Named(tuple(keywords), tuple(urls), tuple(map(str, seeds)), tuple(map(str, local)), search, most)
    named.web()  # bad names end here
    budget = Budget(hours, _amount("--max-bytes", max_bytes) if max_bytes else None, videos)
    return Plan(settings, named, budget, tuple(licence))


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
