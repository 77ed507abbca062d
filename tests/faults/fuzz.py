"""Many mutated inputs, each before several commands that read it."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from actswm.data.shard_index import INDEX

from .command_lines import with_mutation
from .commands import Command
from .kinds import KINDS, Kind
from .running import Outcome, WarmServer
from .verdict import Case, Verdict, verdict_of

COMMANDS_AN_INPUT = 3
BLIND = ("report", "train --resume")
"""They do not read a folder of weights: the one tells where they come from, the other writes them anew."""


def schedule(kinds: Sequence[Kind] = KINDS) -> Iterator[tuple[Kind, int]]:
    """(kind, number) for ever, each kind as often as its share says."""
    given, total = [0] * len(kinds), sum(kind.share for kind in kinds)
    turn = 0
    while True:
        turn += 1
        behind = [turn * kind.share / total - count for kind, count in zip(kinds, given)]
        chosen = int(np.argmax(behind))
        yield kinds[chosen], given[chosen]
        given[chosen] += 1


def fuzz(
    server: WarmServer,
    sound: Path,
    scratch: Path,
    cases: int,
    seed: int,
    plan: Iterable[tuple[Kind, int]],
) -> Iterator[Case]:
    """At least `cases` cases (or all of `plan`); the same arguments make the same inputs."""
    done = 0
    for kind, number in plan:
        for case in mutated_input(server, sound, scratch, kind, number, seed):
            done += 1
            yield case
        if done >= cases:
            break


def mutated_input(
    server: WarmServer, sound: Path, scratch: Path, kind: Kind, number: int, seed: int
) -> Iterator[Case]:
    """All cases of one input. Each command gets its own copy of it."""
    rng = np.random.default_rng([seed, zlib.crc32(kind.name.encode()), number])
    mutated = scratch / "mutated"
    shutil.rmtree(mutated, ignore_errors=True)
    mutated.mkdir(parents=True)
    for name in kind.files:
        _copy(sound / name, mutated / name)
    mutation = kind.mutate(mutated, rng)
    unsound = False
    if kind.dataset:
        command = Command("inspect", f"inspect {kind.dataset}")
        case, outcome = _run(server, sound, mutated, scratch / "case", kind, number, mutation, command)
        unsound = outcome.code != 0 and (mutated / kind.dataset).exists()  # a file that is gone may be made
        yield case
    shares = np.array([command.share for command in kind.commands])
    count = min(COMMANDS_AN_INPUT, len(kind.commands))
    for chosen in rng.choice(len(kind.commands), count, replace=False, p=shares / shares.sum()):
        command = kind.commands[int(chosen)]
        case, _ = _run(server, sound, mutated, scratch / "case", kind, number, mutation, command, unsound)
        yield case


def _run(
    server: WarmServer,
    sound: Path,
    mutated: Path,
    folder: Path,
    kind: Kind,
    number: int,
    mutation: str,
    command: Command,
    unsound: bool = False,
) -> tuple[Case, Outcome]:
    shutil.rmtree(folder, ignore_errors=True)
    _copy(mutated, folder)
    arguments = with_mutation(kind.name, command.arguments(sound), mutated)
    outcome = server.run(arguments, folder, until=command.until)
    verdict = verdict_of(outcome)
    if verdict is Verdict.REFUSED and not command.works_on and not _same(mutated, folder, kind):
        verdict = Verdict.CHANGED
    if verdict is Verdict.ACCEPTED and (unsound or (command.name not in BLIND and _silent(mutation, outcome))):
        verdict = Verdict.LAUNDERED
    if verdict in (Verdict.ACCEPTED, Verdict.REFUSED) and command.writes and not unsound:
        written = folder / command.writes
        if written.is_file() and written.name not in kind.files and not _sound(server, written, verdict):
            verdict = Verdict.LAUNDERED
    lines = " / ".join((outcome.err.strip() or outcome.out.strip()).splitlines()[-4:])
    cpu = round(outcome.cpu, 3)
    case = Case(kind.name, number, command.name, mutation, verdict, outcome.arguments, lines[-700:], cpu)
    return case, outcome


def _sound(server: WarmServer, written: Path, verdict: Verdict) -> bool:
    """A file of no episode is no lie if the command said that it kept nothing."""
    opinion = server.run(["inspect", written], written.parent)
    return opinion.code == 0 or (verdict is Verdict.REFUSED and "holds no episode" in opinion.err)


def _silent(mutation: str, outcome: Outcome) -> bool:
    """Weights that are not numbers, and nobody says so."""
    broken = mutation.startswith(("nan in", "inf in"))
    return broken and not any(word in outcome.err for word in ("finite", "NaN", "nan"))


def _same(before: Path, after: Path, kind: Kind) -> bool:
    """A command that refuses an input leaves it as it was; the index of a folder of shards is kept up to date."""
    names = (file.relative_to(before) for name in kind.files for file in _files(before / name))
    names = (name for name in names if name.name != INDEX)
    return all(
        (after / name).is_file() and (after / name).read_bytes() == (before / name).read_bytes()
        for name in names
    )


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]


def _copy(source: Path, target: Path) -> None:
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
