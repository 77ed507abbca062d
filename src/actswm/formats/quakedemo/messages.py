"""A Quake III demo, message by message: what the server told the recording player, as far as its own state goes.

A demo file is a row of (sequence number, length, message). A message holds the server's commands and then a snapshot,
whose player state is told as the difference to an earlier one. The other entities come last in a message, and are
not read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .bits import BitReader, OutOfBits

GAMESTATE, CONFIGSTRING, COMMAND, SNAPSHOT, END, NOTHING = 2, 3, 5, 7, 8, 1
MOST_BYTES = 1 << 14
"""No message is longer."""
BACKUP = 32
"""Snapshots that a later one may refer to."""

FIELDS: tuple[tuple[str, int], ...] = (
    ("commandTime", 32), ("origin0", 0), ("origin1", 0), ("bobCycle", 8), ("velocity0", 0), ("velocity1", 0),
    ("yaw", 0), ("pitch", 0), ("weaponTime", -16), ("origin2", 0), ("velocity2", 0), ("legsTimer", 8),
    ("pm_time", -16), ("eventSequence", 16), ("torsoAnim", 8), ("movementDir", 4), ("event0", 8), ("legsAnim", 8),
    ("event1", 8), ("pm_flags", 16), ("groundEntityNum", 10), ("weaponstate", 4), ("eFlags", 16),
    ("externalEvent", 10), ("gravity", 16), ("speed", 16), ("delta_yaw", 16), ("externalEventParm", 8),
    ("viewheight", -8), ("damageEvent", 8), ("damageYaw", 8), ("damagePitch", 8), ("damageCount", 8),
    ("generic1", 8), ("pm_type", 8), ("delta_pitch", 16), ("delta_roll", 16), ("torsoTimer", 12),
    ("eventParm0", 8), ("eventParm1", 8), ("clientNum", 8), ("weapon", 5), ("roll", 0), ("grapple0", 0),
    ("grapple1", 0), ("grapple2", 0), ("jumppad_ent", 10), ("loopSound", 16),
)  # fmt: skip
"""The player state's fields in the order of the wire, with their bits: 0 is a float, below 0 signed."""
ARRAYS = (("stats", 16), ("persistant", 16), ("ammo", 16), ("powerups", 32))
"""Arrays of 16 that follow, and the bits of an entry."""


class Damaged(ValueError):
    """A message that cannot be read."""


@dataclass(frozen=True)
class Message:
    """`ends_at` is the file's position after it; the rest is what it holds."""

    sequence: int
    ends_at: int
    commands: tuple[str, ...] = ()
    config: Mapping[int, str] = field(default_factory=dict)
    """Config strings of a new game state."""
    server_ms: int | None = None
    state: Mapping[str, float] | None = None
    """The player state of a snapshot; `stats.0` is the first entry of an array."""


def messages(data: bytes) -> Iterator[Message]:
    """All messages in order; `Damaged` where the file breaks off or a message is no message."""
    at = 0
    kept: dict[int, Mapping[str, float]] = {}
    while True:
        if at + 8 > len(data):
            raise Damaged(f"the file breaks off at byte {at:,}")
        sequence, length = struct.unpack_from("<ii", data, at)
        if sequence == length == -1:
            return
        if not 0 < length <= MOST_BYTES:
            raise Damaged(f"a message of {length} bytes at byte {at:,}")
        if at + 8 + length > len(data):
            raise Damaged(f"the file breaks off at byte {at:,}")
        body = data[at + 8 : at + 8 + length]
        try:
            message = _read(sequence, at + 8 + length, BitReader(body), kept)
        except OutOfBits as error:
            raise Damaged(f"the message at byte {at:,}: {error}") from None
        at += 8 + length
        if message.state is not None:
            kept[sequence] = message.state
            kept.pop(sequence - BACKUP, None)
        yield message


def _read(sequence: int, ends_at: int, bits: BitReader, kept: Mapping[int, Mapping[str, float]]) -> Message:
    bits.bits(32)  # the last command of ours that the server knows
    commands = []
    while True:
        kind = bits.bits(8)
        if kind == COMMAND:
            bits.bits(32)
            commands.append(bits.text())
        elif kind == GAMESTATE:
            return Message(sequence, ends_at, tuple(commands), config=_config(bits))
        elif kind == SNAPSHOT:
            server_ms, state = _snapshot(sequence, bits, kept)
            return Message(sequence, ends_at, tuple(commands), server_ms=server_ms, state=state)
        elif kind == END:
            return Message(sequence, ends_at, tuple(commands))
        elif kind != NOTHING:
            raise OutOfBits(f"unknown content {kind}")


def _config(bits: BitReader) -> dict[int, str]:
    bits.bits(32)
    config = {}
    while bits.bits(8) == CONFIGSTRING:
        index = bits.bits(16)
        config[index] = bits.text()
    return config


def _snapshot(
    sequence: int, bits: BitReader, kept: Mapping[int, Mapping[str, float]]
) -> tuple[int, Mapping[str, float] | None]:
    """The server's time, and the player state unless it builds on one that the file does not have."""
    server_ms = bits.bits(32)
    back = bits.bits(8)
    bits.bits(8)  # flags
    for _ in range(bits.bits(8)):
        bits.bits(8)  # which areas are seen
    if back and sequence - back not in kept:
        return server_ms, None
    state = dict(kept[sequence - back]) if back else {}
    for name, size in FIELDS[: bits.bits(8)]:
        if bits.bits(1):
            state[name] = bits.float() if size == 0 else bits.signed(-size) if size < 0 else bits.bits(size)
    if bits.bits(1):
        for array, size in ARRAYS:
            if bits.bits(1):
                changed = bits.bits(16)
                for index in range(16):
                    if changed >> index & 1:
                        state[f"{array}.{index}"] = bits.signed(size)
    return server_ms, state
