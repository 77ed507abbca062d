"""What the files of a harvest's folder must look like: a person may have edited one, and a disk may have damaged it.

A form is a type or several (numbers are finite and not endless), `{name: form}`, or `[form]` for a list of them.
"""

from __future__ import annotations

import math
from pathlib import Path
from types import NoneType
from typing import Any

from ...errors import UserError

NUMBER = (int, float)
_VIDEO = {
    "id": str, "url": str, "path": str, "title": str, "uploader": str, "licence": str, "date": str,
    "duration": (*NUMBER, NoneType), "bytes": (int, NoneType), "found_by": str,
}  # fmt: skip
_TIMELINE = {
    "path": str, "frames": int, "time_base": [int], "first_pts": int, "end_pts": int, "fps": NUMBER,
    "variable": bool, "height": int, "width": int, "crop": [int], "holes": [[int]], "codec": str, "audio": bool,
}  # fmt: skip
_CLIP = {
    "first": int, "end": int, "start_pts": int, "end_pts": int, "start_s": NUMBER, "end_s": NUMBER,
    "verdict": str, "bad": NUMBER, "static": NUMBER, "states": dict,
}  # fmt: skip
_DONE = {"key": str, "seconds": NUMBER}
FORMS: dict[str, Any] = {
    "plan": {
        "settings": dict,
        "named": {"keywords": [str], "urls": [str], "seeds": [str], "local": [str], "search": str, "most": int},
        "budget": {
            "hours": (*NUMBER, NoneType),
            "bytes": (int, NoneType),
            "videos": (int, NoneType),
        },
        "licences": [str],
    },
    "video": _VIDEO,
    "discover": {"most": int, "web": [str]},
    "download": {"path": str, "bytes": int, "sha256": str, "format": str, "video": _VIDEO},
    "normalise": {**_DONE, "timeline": _TIMELINE},
    "cut": {**_DONE, "frames": int, "cuts": [dict]},
    "filter": {**_DONE, "clips": [_CLIP]},
    "export": {**_DONE, "clips": [{"file": str, "frames": int, "sha256": str}]},
}
_LARGEST = 2**63


def require_form(content: Any, name: str, path: Path) -> None:
    if not _fits(content, FORMS[name]):
        raise UserError(f"{path}: is not what a harvest writes there; remove it and run again")


def _fits(value: Any, form: Any) -> bool:
    if isinstance(form, dict):
        return isinstance(value, dict) and all(name in value and _fits(value[name], form[name]) for name in form)
    if isinstance(form, list):
        return isinstance(value, list) and all(_fits(each, form[0]) for each in value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _allows(form, type(value)) and math.isfinite(value) and abs(value) < _LARGEST
    if isinstance(value, str):
        return _allows(form, str) and value == value.encode(errors="ignore").decode()  # no lone surrogates
    return _allows(form, type(value))


def _allows(form: Any, kind: type) -> bool:
    return kind in (form if isinstance(form, tuple) else (form,))
