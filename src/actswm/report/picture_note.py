"""What a PNG shows and which command made it, as a text chunk inside the picture itself."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

from ..atomic import write_whole
from ..origin import UNKNOWN, Origin
from ..results.form import decode, encode

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER_END = 33
"""The signature and the IHDR chunk, which comes first and has 13 bytes."""
_KEYWORD = b"actswm\0\0\0\0\0"
"""An uncompressed, untranslated iTXt chunk of this name: UTF-8 text."""


@dataclass(frozen=True)
class PictureNote:
    """`caption` is for everybody, `alt` says in words what can be seen."""

    kind: str
    caption: str
    alt: str
    origin: Origin = UNKNOWN


def write_note(path: Path, kind: str, caption: str, alt: str, origin: Origin) -> None:
    """Put the note into a PNG."""
    picture = path.read_bytes()
    note = PictureNote(kind, caption, alt, replace(origin, machine=""))
    body = b"iTXt" + _KEYWORD + json.dumps(encode(note)).encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    write_whole(path, picture[:_HEADER_END] + chunk + picture[_HEADER_END:])


def read_note(picture: bytes) -> PictureNote | None:
    """The note of a PNG's bytes; None where there is none."""
    place = len(SIGNATURE)
    if not picture.startswith(SIGNATURE):
        return None
    while place + 8 <= len(picture):
        length = int.from_bytes(picture[place : place + 4])
        chunk = picture[place + 4 : place + 8 + length]
        if chunk.startswith(b"iTXt" + _KEYWORD):
            try:
                return decode(PictureNote, json.loads(chunk[4 + len(_KEYWORD) :]))
            except (KeyError, TypeError, ValueError, RecursionError):
                return None
        place += 12 + length
    return None
