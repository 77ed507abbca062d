"""Every command that writes, on a full disk and in a folder that cannot be written: one line, and nothing is lost."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import contents
from .commands import Command
from .running import Outcome, WarmServer
from .verdict import Case, Verdict, verdict_of

SIZES = (0, 16, 128, 512, 1024)
"""KiB that are left on the disk: it is full at once, in the middle, or at the last file."""
ROOM = 512 << 20
COMMANDS = (
    Command("record", "record RECORD --steps 500 --out new.h5", writes="new.h5"),
    Command("record, going on", "record RECORD --steps 900 --out room.h5", writes="room.h5"),
    Command("record --owamcap", "record RECORD --steps 120 --out new.h5 --owamcap mcap", writes="new.h5"),
    Command("clean", "clean S/recording CLEAN --out out.h5 --segments cut", writes="out.h5"),
    Command("clean, going on", "clean S/recording S/recording2 CLEAN --out cleaned.h5", writes="cleaned.h5"),
    Command("import vpt", "import vpt S/vpt --size 64 --out out.h5", writes="out.h5"),
    Command("import minestudio", "import minestudio S/studio --size 64 --out out.h5", writes="out.h5"),
    Command("merge", "merge S/room.h5 S/room.h5 --out out.h5", writes="out.h5"),
    Command("inspect --sheet", "inspect S/room.h5 --sheet s.png"),
    Command("train", "train TRAIN ROOM --out new training.steps=2 training.checkpoint_steps=1"),
    Command("train --resume", "train TRAIN ROOM --out run --resume training.steps=4 training.log_every=1"),
    Command("export", "export S/model --out shared --full"),
    Command("export --format lerobot", "export S/room.h5 --format lerobot --out folder"),
    Command("export --format lance", "export S/room.h5 --format lance --out table.lance"),
    Command("idm", "idm ROOM --out new --steps 1 --batch 4 --size 32"),
    Command("drift", "drift S/model ROOM WINDOWS --json d.json --csv d.csv --plot d.png"),
    Command("fidelity", "fidelity S/model ROOM WINDOWS --workers 1 --truths t.npz --json f.json --csv f.csv"),
    Command("sheet", "sheet S/model ROOM WINDOWS RENDER --truths t.npz --out s.png"),
    Command("recover", "recover S/model ROOM RECOVER --json r.json --picture r.png"),
    Command("score", "score S/recording/run.mcap S/recording/run.mcap --steps 3 --json s.json"),
    Command("annotate", "annotate S/model S/clip.mkv S/clip2.mkv --out new.h5 SEARCH", writes="new.h5"),
    Command("annotate, going on", "annotate S/model S/clip2.mkv --out annotated.h5 SEARCH", writes="annotated.h5"),
    Command("annotate --owamcap", "annotate S/model S/clip.mkv --out new.h5 --owamcap mcap SEARCH", writes="new.h5"),
    Command("plan", "plan S/model PLAN --film --out new --json p.json --picture p.png"),
    Command("report", "report S/results --out report.html"),
    Command("play --record", "play freedoom/room --record new.h5 --size 32", writes="new.h5"),
    Command(
        "bench precision",
        "bench precision S/model S/reference.npz --library S/library.yaml --moments 1 --json b.json",
    ),
    Command("record, own game", "record S/rover/rover.py:Rover OWN --branches 1", writes="out.h5"),
    Command("merge of shards", "merge S/shards S/room.h5 --out out.h5", writes="out.h5"),
    Command("tasks check", "tasks check S/rover/beacon.yaml --workers 1 --json t.json"),
    Command("decoder", "decoder S/model ROOM --frames 8 --steps 1 --width 16 --out drawn"),
    Command("strip", "strip S/drawn ROOM --windows 2 --horizon 2 --split all --cell 32 --out s.gif"),
    Command("idm --latents", "idm ROOM --latents S/model --out new --steps 1 --batch 4"),
    Command("idm-score", "idm-score S/idm ROOM --json i.json"),
    Command("annotate --idm", "annotate S/clip.mkv --idm S/idm --force --out new.h5", writes="new.h5"),
    Command("results fill", "results fill stale.md"),
    Command("harvest", "harvest --domain S/domain.yaml --local S/clip.mkv --out clips"),
    Command("hud learn", "hud learn S/frames --out pack"),
    Command("replay record", "replay record freedoom/room --steps 24 --size 32 --episode-steps 12 --out demos"),
    Command("replay windows", "replay windows S/demos --min-seconds 0 --json w.json"),
    Command("replay render", "replay render S/demos --size 32x32 --min-seconds 0 --out clips"),
)  # fmt: skip
BEFORE = (
    "room.h5", "cleaned.h5", "cleaned.h5.manifest.json", "annotated.h5", "run", "records", "stale.md",
)  # fmt: skip
"""What lies in the folder already, and must be there afterwards."""


@dataclass(frozen=True)
class Disk:
    """A folder, and how a command on it is limited (see `server.run_command`)."""

    folder: Path
    limits: dict[str, int]
    mounted: bool = False

    def grow(self) -> None:
        if self.mounted:
            _mount("-o", f"remount,size={ROOM}", str(self.folder))


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True).returncode == 0


@contextmanager
def full_disk(folder: Path, sound: Path, free: int) -> Iterator[Disk]:
    """A small file system of its own with `free` bytes left; where none may be mounted, a limit on files' sizes."""
    folder.mkdir(parents=True)
    mounted = _mount("-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder))
    try:
        fill(folder, sound)
        if mounted:
            used = os.statvfs(folder)
            taken = (used.f_blocks - used.f_bfree) * used.f_frsize
            _mount("-o", f"remount,size={taken + free}", str(folder))
        yield Disk(folder, {} if mounted else {"file_size": max(free, 1)}, mounted)
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", folder], check=True)
        shutil.rmtree(folder)


@contextmanager
def read_only(folder: Path, sound: Path) -> Iterator[Disk]:
    """Nobody may write here; root may everywhere, so the command gives that right up."""
    folder.mkdir(parents=True)
    fill(folder, sound)
    places = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for path in (*places, *(path for path in folder.rglob("*") if path.is_file())):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield Disk(folder, {"obey": 1})
    finally:
        for path in places:
            path.chmod(0o755)
        shutil.rmtree(folder)


def fill(folder: Path, sound: Path) -> None:
    for name in BEFORE:
        (shutil.copytree if (sound / name).is_dir() else shutil.copy2)(sound / name, folder / name)


def on_full_disk(server: WarmServer, sound: Path, scratch: Path, command: Command, free: int) -> Case:
    """Refused in one line, nothing lost; and with room on the disk the same command does its work."""
    with full_disk(scratch / "disk", sound, free) as disk:
        outcome = server.run(command.arguments(sound), disk.folder, until=command.until, **disk.limits)
        verdict = verdict_of(outcome)
        if verdict in (Verdict.REFUSED, Verdict.ACCEPTED) and lost(server, sound, disk.folder):
            verdict = Verdict.CHANGED
        if verdict is Verdict.REFUSED:
            disk.grow()
            more = ["--resume"] if command.name == "train" else []
            again = server.run([*command.arguments(sound), *more], disk.folder, until=command.until)
            if again.code != 0:
                outcome, verdict = again, Verdict.UNCLEAR
    return _case("full disk", free, command, f"{free >> 10} KiB free", verdict, outcome)


def in_read_only_folder(server: WarmServer, sound: Path, scratch: Path, command: Command) -> Case:
    with read_only(scratch / "folder", sound) as disk:
        outcome = server.run(command.arguments(sound), disk.folder, until=command.until, **disk.limits)
        verdict = verdict_of(outcome)
        if verdict is Verdict.ACCEPTED:
            verdict = Verdict.LAUNDERED  # it says that it has written
        elif verdict is Verdict.REFUSED and lost(server, sound, disk.folder):
            verdict = Verdict.CHANGED
    return _case("read-only", 0, command, "folder and files", verdict, outcome)


def lost(server: WarmServer, sound: Path, folder: Path) -> bool:
    """Is something gone that was there before, or is a dataset file not sound any more?"""
    for name in ("room.h5", "cleaned.h5", "annotated.h5"):
        if (folder / name).exists() and filecmp.cmp(sound / name, folder / name, shallow=False):
            continue
        if server.run(["inspect", name], folder).code != 0:
            return True
        before, after = (contents.episodes(place / name) for place in (sound, folder))
        if after[: len(before)] != before:
            return True
    return not all((folder / name).exists() for name in BEFORE)


def _case(
    kind: str, number: int, command: Command, mutation: str, verdict: Verdict, outcome: Outcome
) -> Case:
    lines = " / ".join(outcome.err.strip().splitlines()[-4:])[-700:]
    return Case(
        kind, number, command.name, mutation, verdict, outcome.arguments, lines, round(outcome.cpu, 3)
    )


def outputs(
    server: WarmServer, sound: Path, scratch: Path, commands: Sequence[Command] = COMMANDS
) -> Iterator[Case]:
    for command in commands:
        yield in_read_only_folder(server, sound, scratch, command)
        for free in SIZES:
            yield on_full_disk(server, sound, scratch, command, free << 10)
