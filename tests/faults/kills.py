"""Real commands, killed at random moments and run again: the result is that of a run that nobody disturbed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from . import contents
from .marked import orphans, shared_memory_of
from .running import Running, WarmServer
from .sound import RECORD, SEARCH
from .verdict import markdown

LONGEST = 300.0
"""Seconds after which a command hangs: they take some ten on a quiet machine, most of them to start."""
PATIENCE = 60.0
"""Seconds in which what a killed command leaves running must have noticed: one is enough on a quiet machine."""
ATTEMPTS = 5
"""A command that was done before its signal came is no kill: it is started again, for an earlier moment."""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Target:
    """A command that runs in a folder of its own; `S/` is the folder of sound inputs."""

    name: str
    line: str
    output: str
    read: Callable[[Path], Any]
    again: str = ""
    """What is added to run it a second time."""
    refuses_twice: bool = False
    """Its finished output is not made again."""


TARGETS = (
    Target("record", f"record {RECORD} --steps 600 --out out.h5", "out.h5", contents.dataset),
    Target("clean", "clean S/takes --judge rules --size 32 --out out.h5", "out.h5", contents.dataset),
    Target(
        "clean --workers 2",
        "clean S/takes --judge rules --size 32 --workers 2 --out out.h5",
        "out.h5",
        contents.dataset,
    ),
    Target(
        "merge", "merge S/large.h5 S/large.h5 --out out.h5", "out.h5", contents.dataset, refuses_twice=True
    ),
    Target(
        "train",
        "train tiny/actswm --quiet --data S/room.h5 --out run training.steps=60 training.checkpoint_steps=7 "
        "training.threads=1 training.validation_windows=8 training.log_every=5",
        "run",
        contents.trained,
        again="--resume",
    ),
    Target(
        "annotate",
        f"annotate S/model S/clips/0.mkv S/clips/1.mkv S/clips/2.mkv --out out.h5 {SEARCH}",
        "out.h5",
        contents.dataset,
    ),
    Target(
        "annotate --workers 2",
        f"annotate S/model S/clips/0.mkv S/clips/1.mkv S/clips/2.mkv --workers 2 --out out.h5 {SEARCH}",
        "out.h5",
        contents.dataset,
    ),
    Target(
        "plan",
        "plan S/model --task freedoom/follow-room --episodes 3 --candidates 8 --iterations 1 --horizon 3 "
        "--baselines random --out plans",
        "plans",
        contents.plans,
    ),
)


@dataclass(frozen=True)
class Undisturbed:
    """What a run leaves, and how long it works after the first file appears."""

    content: Any
    files: frozenset[str]
    temporary: frozenset[str]
    seconds: float


@dataclass(frozen=True)
class Kill:
    """One kill; `fault` is empty where all was well."""

    target: str
    signal: str
    number: int
    after: float
    code: int
    equal: bool
    orphans: int
    leftovers: tuple[str, ...]
    fault: str

    @property
    def fine(self) -> bool:
        return self.equal and not self.orphans and not self.leftovers and not self.fault


class KeptKills:
    """The kills of one seed and commit, one a line of a file, so that a run that was cut short goes on."""

    def __init__(self, file: Path, seed: int, commit: str) -> None:
        self._file, self._key = file, {"seed": seed, "commit": commit}
        self.found: dict[tuple[str, str, int], Kill] = {}
        file.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text() if file.exists() else ""
        for line in text.splitlines():
            with contextlib.suppress(json.JSONDecodeError):  # being written when the machine went away
                kept = json.loads(line)
                if {name: kept.pop(name) for name in self._key} == self._key and not commit.endswith("+"):
                    one = Kill(**kept | {"leftovers": tuple(kept["leftovers"])})
                    self.found[one.target, one.signal, one.number] = one
        if text and not text.endswith("\n"):
            file.write_text(f"{text}\n")

    def add(self, one: Kill) -> None:
        with self._file.open("a") as file:
            file.write(json.dumps(self._key | asdict(one)) + "\n")


class Place:
    """A fresh folder for a target, with its own temporary folder."""

    def __init__(self, server: WarmServer, folder: Path, sound: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.server, self.sound = server, sound
        self.work, self.temporary = folder / "work", folder / "tmp"
        self.work.mkdir(parents=True)
        self.temporary.mkdir()

    def start(self, target: Target, more: str = "") -> Running:
        words = [word.replace("S/", f"{self.sound}/") for word in shlex.split(f"{target.line} {more}")]
        return self.server.start(words, self.work, seconds=LONGEST, temporary=str(self.temporary))

    def files(self) -> frozenset[str]:
        """Each part of a training writes a TensorBoard file of its own, named after the moment."""
        found = (str(path.relative_to(self.work)) for path in self.work.rglob("*") if path.is_file())
        return frozenset(re.sub(r"(tfevents)\..*", r"\1", name) for name in found)

    def temporaries(self) -> frozenset[str]:
        return frozenset(path.name for path in self.temporary.iterdir())


def undisturbed(target: Target, server: WarmServer, folder: Path, sound: Path) -> Undisturbed:
    place = Place(server, folder, sound)
    running = place.start(target)
    _first_file(place, running)
    began = time.monotonic()
    done = running.finish()
    assert done.code == 0, f"{target.name}: {done.err}"
    seconds = time.monotonic() - began
    content = target.read(place.work / target.output)
    return Undisturbed(content, place.files(), place.temporaries(), seconds)


def _first_file(place: Place, running: Running) -> None:
    """Before that there is nothing that could be lost."""
    while not running.ended and not any(place.work.iterdir()):
        time.sleep(0.005)


def kill(
    target: Target,
    sent: signal.Signals,
    expected: Undisturbed,
    number: int,
    seed: int,
    server: WarmServer,
    folder: Path,
    sound: Path,
) -> Kill:
    """Start, kill somewhere between the first file and a little after the usual end, run again, compare."""
    rng = np.random.default_rng([seed, TARGETS.index(target), number, sent])
    for attempt in range(ATTEMPTS):
        place = Place(server, folder, sound)
        running = place.start(target)
        _first_file(place, running)
        after = float(rng.uniform(0, 1.1 * expected.seconds / 2**attempt))
        _sleep(after, running)
        memory, late = shared_memory_of(server.mark), running.ended
        if not late:
            with contextlib.suppress(ProcessLookupError):
                # as a terminal does: Ctrl+C reaches the whole group; `kill` only the one process
                (os.killpg if sent is signal.SIGINT else os.kill)(running.pid, sent)
        done = running.finish()
        if not late and (done.code != 0 or sent is signal.SIGINT):  # which may end well, if it waited for the end
            break
    fault = ""
    if done.hung:
        fault = f"did not end after {sent.name}"
    if "Traceback" in done.err:
        fault = f"traceback after {sent.name}: {done.err.strip().splitlines()[-1]}"
    left = orphans(server.mark, PATIENCE, server.pid)
    content = None
    if not (target.refuses_twice and (place.work / target.output).exists()):  # which appears when it is complete
        second = place.start(target, target.again).finish()
        if second.hung:
            fault = "the second run hangs"
        elif second.code != 0:
            fault = fault or f"the second run failed: {second.err.strip()[-300:]}"
        left += orphans(server.mark, PATIENCE, server.pid)
    if (place.work / target.output).exists():
        content = target.read(place.work / target.output)
    beside = place.files() - expected.files | place.temporaries() - expected.temporary
    beside |= {str(path) for path in memory if path.exists()}
    equal = content == expected.content
    if not equal and content is not None:
        names = [name for name in expected.content if content.get(name) != expected.content[name]]
        fault = fault or f"differs in {', '.join(names[:4])}"
    return Kill(target.name, sent.name, number, round(after, 3), done.code, equal, left, tuple(sorted(beside)), fault)


def _sleep(seconds: float, running: Running) -> None:
    """Not longer than the command works."""
    end = time.monotonic() + seconds
    while not running.ended and (left := end - time.monotonic()) > 0:
        time.sleep(min(left, 0.02))


def kills(
    rounds: Iterable[int],
    seed: int,
    server: WarmServer,
    sound: Path,
    scratch: Path,
    targets: tuple[Target, ...],
    kept: KeptKills,
) -> Iterator[Kill]:
    """Each target by each signal, round by round: a run that is cut short has met all of them, and goes on there."""
    expected: dict[str, Undisturbed] = {}
    for number, target, sent in product(rounds, targets, SIGNALS):
        one = kept.found.get((target.name, sent.name, number))
        if one is None:
            if target.name not in expected:
                expected[target.name] = undisturbed(target, server, scratch / "undisturbed", sound)
            one = kill(target, sent, expected[target.name], number, seed, server, scratch / "killed", sound)
            kept.add(one)
        yield one


def make_long_inputs(sound: Path) -> None:
    """Inputs that take a while: several recordings and videos, and a file worth merging."""
    from ..conftest import write_square_file
    from ..made.recordings import MadeRecording
    from ..recovery.test_annotation import made_video

    (sound / "takes").mkdir()
    (sound / "clips").mkdir()
    for number in range(4):
        MadeRecording(sound / "takes", f"take{number}", frames=150 + 10 * number).write()
    for number in range(3):
        made_video(sound / "clips" / f"{number}.mkv", 40 + number, seed=number)
    write_square_file(sound / "large.h5", episodes=60, length=400)


def kill_table(found: list[Kill]) -> str:
    """Target x signal, as Markdown."""
    rows: list[list[object]] = []
    for target, sent in sorted({(each.target, each.signal) for each in found}):
        here = [each for each in found if (each.target, each.signal) == (target, sent)]
        met = sum(each.code != 0 for each in here)
        sums = (sum(each.equal for each in here), sum(each.orphans for each in here))
        left = sum(len(each.leftovers) for each in here)
        rows.append([target, sent, len(here), met, *sums, left, sum(bool(each.fault) for each in here)])
    head = [
        "command",
        "signal",
        "kills",
        "still at work",
        "equal result",
        "orphans",
        "leftovers",
        "other faults",
    ]
    return markdown(head, rows)
