"""What a PNG shows and which command made it, as a text chunk inside the picture itself."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

from ..atomic import written_whole
from ..origin import UNKNOWN, Origin
from ..results.form import decode, encode

KEYWORD = "actswm"
"""Of the text chunk."""


@dataclass(frozen=True)
class PictureNote:
    """`caption` is for everybody, `alt` says in words what can be seen."""

    kind: str
    caption: str
    alt: str
    origin: Origin = UNKNOWN


def write_note(path: Path, kind: str, caption: str, alt: str, origin: Origin) -> None:
    """Put the note into a PNG."""
    from PIL import Image, PngImagePlugin

    chunks = PngImagePlugin.PngInfo()
    chunks.add_itxt(KEYWORD, json.dumps(encode(PictureNote(kind, caption, alt, replace(origin, machine="")))))
    with Image.open(path) as picture, written_whole(path) as temporary:
        picture.save(temporary, "PNG", pnginfo=chunks)


def read_note(picture: bytes) -> PictureNote | None:
    """The note of a PNG's bytes; None where there is none."""
    from PIL import Image

    try:
        with Image.open(BytesIO(picture), formats=["PNG"]) as opened:  # reads what stands before the pixels
            return decode(PictureNote, json.loads(opened.info[KEYWORD]))
    except Exception:  # damaged bytes make Pillow raise anything
        return None
