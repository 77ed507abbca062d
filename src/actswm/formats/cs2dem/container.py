"""The outside of a Source 2 demo: is it whole, and which game made it? `.dem.zst` is unpacked on the way.

A demo is `PBDEMS2\\0`, two offsets, then frames: command, tick and size as varints, and that many bytes. The last
frame of a whole file is `stop`, or the file info that the first offset points to.
"""

from __future__ import annotations

import contextlib
import mmap
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...errors import UserError

MAGIC = b"PBDEMS2\x00"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
MOST_BYTES = 4 << 30
"""A demo of a long match has some 500 MB."""
MOST_RATIO = 100
"""Demos are packed already: zstd makes them a little smaller, never this much."""
FREE_BYTES = 64 << 20
"""Small files may unpack to this much, whatever the ratio."""
STOP, FILE_HEADER, FILE_INFO, LAST_COMMAND = 0, 1, 2, 20
COMPRESSED = 0x40
NO_TICK = 0xFFFFFFFF


@dataclass(frozen=True)
class Outline:
    """What the frames alone say."""

    last_tick: int
    frames: int
    whole: bool
    """Does the file end as demos do?"""
    ends_at: int
    """Bytes up to the last whole frame."""


@contextlib.contextmanager
def plain_demo(path: Path) -> Iterator[Path]:
    """The demo's uncompressed file: `path` itself, or a temporary one that is removed afterwards."""
    if not path.is_file():
        raise UserError(f"{path}: no such demo file")
    with path.open("rb") as file:
        start = file.read(8)
    if not start:
        raise UserError(f"{path}: the demo is empty; copy it again")
    if not start.startswith(ZSTD_MAGIC):
        if start != MAGIC:
            raise UserError(f"{path}: is not a Source 2 demo (it does not begin with PBDEMS2)")
        yield path
        return
    folder = Path(tempfile.mkdtemp(prefix="actswm-demo-"))
    unpacked = folder / "unpacked.dem"
    try:
        _unpack(path, unpacked)
        with plain_demo(unpacked) as demo:
            yield demo
    except UserError as error:
        raise UserError(str(error).replace(str(unpacked), str(path))) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unpack(path: Path, out: Path) -> None:
    try:
        import zstandard
    except ImportError:
        raise UserError(f"{path}: needs zstandard: pip install 'actswm[cs2]'") from None
    most = min(MOST_BYTES, max(FREE_BYTES, MOST_RATIO * path.stat().st_size))
    written = 0
    try:
        with path.open("rb") as packed, out.open("wb") as file:
            # A frame's window is what the decoder must keep in memory: a bomb may ask for gigabytes.
            decoder = zstandard.ZstdDecompressor(max_window_size=1 << 27)
            with decoder.stream_reader(packed, read_across_frames=True) as reader:
                while chunk := reader.read(1 << 20):
                    written += len(chunk)
                    if written > most:
                        raise UserError(
                            f"{path}: unpacks to more than {most >> 20} MB, which no demo does; it is a zstd bomb"
                        )
                    file.write(chunk)
    except zstandard.ZstdError as error:
        raise UserError(f"{path}: cannot be unpacked ({error}); it is truncated or damaged") from None
    if not _is_whole_zstd(path):
        raise UserError(f"{path}: the zstd stream breaks off; copy it again")


def _is_whole_zstd(path: Path) -> bool:
    """Did the last zstd frame end? The streaming reader takes a cut one for the end of the file."""
    import zstandard

    decoder = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    with path.open("rb") as file:
        unit = decoder.decompressobj()
        while chunk := file.read(1 << 16):
            unit.decompress(chunk)
            while unit.eof and unit.unused_data:
                rest, unit = unit.unused_data, decoder.decompressobj()
                unit.decompress(rest)
    return bool(unit.eof)


def outline(path: Path) -> Outline:
    """Walk over the frames without reading them. `path` is uncompressed."""
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with data:
        info_at = int.from_bytes(data[8:12], "little")
        offset, last, frames, whole, first = 16, 0, 0, False, True
        while offset < len(data):
            begin = offset
            try:
                command, offset = _varint(data, offset)
                tick, offset = _varint(data, offset)
                size, offset = _varint(data, offset)
            except IndexError:
                offset = begin
                break
            kind = command & ~COMPRESSED
            sound = kind <= LAST_COMMAND and (kind == FILE_HEADER) == first
            if not sound or offset + size > len(data):
                offset = begin
                break
            first = False
            frames += 1
            if tick != NO_TICK:
                last = max(last, tick)
            offset += size
            if kind == FILE_INFO or (kind == STOP and info_at in (0, begin)):
                whole = offset == len(data) and info_at in (0, begin)
                break
        return Outline(last, frames, whole, offset)


def _varint(data: mmap.mmap, offset: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFF, offset
        shift += 7
        if shift > 28:
            raise IndexError("a varint of more than 32 bits")
