"""Mutations of recordings: OWAMcap with its video, VPT, MineStudio's LMDB, and bare videos."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from ..made.recordings import INTERVAL_MS, write_mcap, write_video
from .raw_bytes import mutate_bytes, not_a_file
from .trees import ODD, TEXTS, mutate_json_lines, mutate_tree

Rng = np.random.Generator
Row = tuple[int, str, Any]


def mutate_owamcap(path: Path, rng: Rng) -> str:
    """Messages, the container of messages, or the video beside it."""
    way = rng.random()
    video = path.with_suffix(".mkv")
    if way < 0.2:
        return mutate_bytes(path, rng)
    if way < 0.4:
        return mutate_video(video, rng)
    if way < 0.44:
        return not_a_file(video, rng)
    rows = rows_of(path)
    said = [_message(rows, rng) for _ in range(int(rng.integers(1, 4)))]
    write_mcap(path, rows)
    return ", ".join(said)


def rows_of(path: Path) -> list[Row]:
    """The messages of a recording that `made.recordings` wrote, as it takes them."""
    from mcap.reader import make_reader

    from ..made.recordings import MS, START

    with path.open("rb") as file:
        found = make_reader(file).iter_messages()
        return [((m.log_time - START) // MS, c.topic, json.loads(m.data)) for _, c, m in found]


def _message(rows: list[Row], rng: Rng) -> str:
    at = int(rng.integers(len(rows)))
    ms, topic, message = rows[at]
    way = int(rng.integers(7))
    if way < 3 and isinstance(message, dict):
        said = mutate_tree(message, rng)
        rows[at] = (ms, topic, _encoded(message))
        return f"{topic}: {said}"
    if way == 3:
        text = TEXTS[int(rng.integers(len(TEXTS)))]
        rows[at] = (ms, topic, text.encode("utf-8", "surrogatepass"))
        return f"{topic} is {text!r:.20}"
    if way == 4:
        rows[at] = (ms, ("keyboard", "screen", "window", "mouse/raw")[int(rng.integers(4))], message)
        return f"{topic} renamed {rows[at][1]}"
    if way == 5:
        gone = [row for row in rows if row[1] != topic]
        rows[:] = gone or rows
        return f"no {topic}"
    shift = int((-(10**6), -1000, 1000, 10**9)[int(rng.integers(4))])
    for index in range(at, len(rows)):
        rows[index] = (max(-(10**12), rows[index][0] + shift), *rows[index][1:])
    return f"clock jumps by {shift} ms at message {at}"


def _encoded(message: Any) -> bytes:
    return json.dumps(message).encode("utf-8", "surrogatepass")


def mutate_video(path: Path, rng: Rng) -> str:
    way = rng.random()
    if way < 0.7:
        return mutate_bytes(path, rng)
    if way < 0.75:
        return not_a_file(path, rng)
    frames = int((1, 2, 3, 40)[int(rng.integers(4))])
    times = [int(time) for time in rng.integers(0, 2000, frames)]
    if rng.random() < 0.5:
        times = [index * INTERVAL_MS * 10**5 for index in range(frames)]
    sides = tuple(int(side) for side in rng.choice([2, 16, 32, 64, 130], 2))
    write_video(path, times, rng.integers(0, 255, (frames, *sides, 3), dtype=np.uint8))
    return f"{path.name}: {frames} frames of {sides} at odd times"


def mutate_vpt(path: Path, rng: Rng) -> str:
    way = rng.random()
    if way < 0.15:
        return mutate_bytes(path, rng)
    if way < 0.35:
        return mutate_video(path.with_suffix(".mp4"), rng)
    return mutate_json_lines(path, rng)


def mutate_minestudio(root: Path, rng: Rng) -> str:
    """The database file, or the rows in it."""
    import lmdb

    part = sorted(root.glob("*/part-0"))[int(rng.integers(3))]
    data = part / "data.mdb"
    way = rng.random()
    if way < 0.3:
        return f"{part.parent.name} {mutate_bytes(data, rng)}"
    if way < 0.34:
        return f"{part.parent.name} {not_a_file(data, rng)}"
    with lmdb.open(str(part), map_size=2**26) as database, database.begin(write=True) as transaction:
        keys = [bytes(key) for key, _ in transaction.cursor()]
        key = keys[int(rng.integers(len(keys)))]
        said = _database_row(transaction, key, rng)
    return f"{part.parent.name} {key.decode()}: {said}"


def _database_row(transaction: Any, key: bytes, rng: Rng) -> str:
    way = int(rng.integers(6))
    old = bytes(transaction.get(key))
    if way == 0:
        transaction.delete(key)
        return "gone"
    if way == 1:
        scratch = bytearray(old)
        for _ in range(3):
            scratch[int(rng.integers(len(scratch)))] = int(rng.integers(256))
        transaction.put(key, bytes(scratch))
        return "flipped"
    if way == 2:
        transaction.put(key, old[: int(rng.integers(len(old)))])
        return "cut"
    if way == 3 and old[:1] == b"\x80":
        tree = [pickle.loads(old)]
        said = mutate_tree(tree, rng)
        transaction.put(key, pickle.dumps(tree[0] if tree else None))
        return said
    values = [
        *ODD,
        np.zeros(0),
        np.zeros((3, 3)),
        np.array(["x"], object),
        np.array("x"),
        np.zeros(2, "M8[s]"),
        2**62,
    ]
    chosen = values[int(rng.integers(len(values)))]
    transaction.put(key, pickle.dumps(chosen))
    return f"{chosen!r:.30}"
