"""Thousands of mutated inputs, kills and full disks; ends with tables, and with exit code 1 if there is a fault."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from actswm.origin import commit

from .fuzz import fuzz, schedule
from .kills import TARGETS, KeptKills, Kill, kill_table, kills, make_long_inputs
from .kinds import KIND, KINDS, Kind
from .outputs import COMMANDS, outputs
from .running import WarmServer
from .sound import make_model_and_room, make_sound
from .verdict import Case, failures, table

PARTS = ("inputs", "kills", "outputs")
PROGRESS_EVERY = 30.0
"""Seconds."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be repeated")
    parser.add_argument("--cases", type=int, default=3000, help="inputs: how many commands to run on them")
    parser.add_argument("--kind", choices=KIND, action="append", help="inputs: only this kind")
    parser.add_argument("--number", type=int, help="inputs: only this input of the kind")
    parser.add_argument("--first", type=int, default=0, help="leave out so many inputs, or rounds of kills")
    parser.add_argument("--kills", type=int, default=15, help="kills: of each command by each signal")
    parser.add_argument("--target", choices=[target.name for target in TARGETS], action="append", help="kills")
    parser.add_argument("--command", choices=[each.name for each in COMMANDS], action="append", help="outputs")
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument(
        "--kept-kills",
        type=Path,
        default=Path("build/kills.jsonl"),
        help="each kill as it comes: those of this seed and commit are not made again",
    )
    parser.add_argument("--json", type=Path, help="write everything to this file")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell starts us with Ctrl+C ignored
    parts: dict[str, Callable[..., Iterator[Any]]] = {"inputs": _inputs, "kills": _kills, "outputs": _outputs}
    found: dict[str, list[Any]] = {}
    faults, stopped = 0, False
    with tempfile.TemporaryDirectory(prefix="actswm-faults-") as name, WarmServer() as server:
        sound = Path(name, "sound")
        (make_model_and_room if options.part == ["kills"] else make_sound)(sound, server)
        for part in options.part or PARTS:
            began = told = time.monotonic()
            found[part] = []
            try:
                for one in parts[part](options, server, sound, Path(name, part)):
                    found[part].append(one)
                    _show(one)
                    if time.monotonic() - told > PROGRESS_EVERY:
                        told = time.monotonic()
                        sys.stderr.write(f"{part}: {len(found[part])} cases, {told - began:.0f} s\n")
            except KeyboardInterrupt:
                stopped = True
            wrong = [each for each in found[part] if not each.fine]
            faults += len(wrong)
            say(kill_table(found[part]) if part == "kills" else table(found[part]))
            for line in map(str, wrong) if part == "kills" else failures(wrong):
                say(f"\n{line}")
            say(f"\n{_done(part, found[part])}, {len(wrong)} faults, {time.monotonic() - began:.0f} s\n")
            if stopped:
                say("stopped by Ctrl+C: the tables hold what was met so far")
                break
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        everything = {part: [asdict(each) for each in cases] for part, cases in found.items()}
        options.json.write_text(json.dumps(everything, indent=1))
    return bool(faults or stopped)


def _inputs(options: argparse.Namespace, server: WarmServer, sound: Path, scratch: Path) -> Iterator[Case]:
    kinds = [kind for kind in KINDS if not options.kind or kind.name in options.kind]
    plan: Iterator[tuple[Kind, int]] = islice(schedule(kinds), options.first, None)
    if options.number is not None:
        plan = iter([(kinds[0], options.number)])
    return fuzz(server, sound, scratch, options.cases, options.seed, plan)


def _kills(options: argparse.Namespace, server: WarmServer, sound: Path, scratch: Path) -> Iterator[Kill]:
    make_long_inputs(sound)
    targets = tuple(target for target in TARGETS if not options.target or target.name in options.target)
    kept = KeptKills(options.kept_kills, options.seed, commit())
    return kills(range(options.first, options.kills), options.seed, server, sound, scratch, targets, kept)


def _outputs(options: argparse.Namespace, server: WarmServer, sound: Path, scratch: Path) -> Iterator[Case]:
    commands = [command for command in COMMANDS if not options.command or command.name in options.command]
    return outputs(server, sound, scratch, commands)


def _done(part: str, cases: list[Any]) -> str:
    """How much, so that a run which was stopped can go on with --first."""
    inputs = len({(case.kind, case.number) for case in cases}) if part == "inputs" else 0
    return f"{part}: {len(cases)} cases" + (f" of {inputs} inputs" if inputs else "")


def _show(one: Case | Kill) -> None:
    """At once, for whoever waits."""
    if not one.fine:
        what = str(one)
        if isinstance(one, Case):
            what = f"{one.verdict}: {one.command} of {one.kind} {one.number} ({one.mutation})"
        sys.stderr.write(what.encode(errors="backslashreplace").decode() + "\n")


def say(text: str) -> None:
    sys.stdout.write(text.encode(errors="backslashreplace").decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
