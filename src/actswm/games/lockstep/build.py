"""The preload shim: compiled from the package's C source on first use, kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from ...errors import UserError

SOURCES = ("shim.c", "server.h", "input.h")
FLAGS = ("-O2", "-shared", "-fPIC")
LIBRARIES = ("-ldl", "-lpthread")


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "actswm"


def shim_library() -> Path:
    """Path of the compiled shim."""
    return preload_library("lockstep", str(__package__), SOURCES)


def preload_library(name: str, package: str, parts: Sequence[str]) -> Path:
    """Path of the library compiled from C files of a package, the first of which includes the others.

    Its name carries the sources' hash; concurrent first uses are safe.
    """
    folder = files(package)
    sources = {part: folder.joinpath(part).read_bytes() for part in parts}
    digest = hashlib.sha256(b"\0".join([*sources.values(), " ".join(FLAGS).encode()])).hexdigest()[:16]
    library = cache_folder() / f"{name}-{digest}.so"
    if not library.exists():
        _compile(sources, library)
    return library


def _compile(sources: dict[str, bytes], library: Path) -> None:
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise UserError("no C compiler found; install one with: apt-get install -y gcc libc6-dev")
    library.parent.mkdir(parents=True, exist_ok=True)
    # Built beside the library, so that the rename is atomic and the loser of a race replaces like with like.
    with tempfile.TemporaryDirectory(dir=library.parent, prefix="build-") as build:
        for name, source in sources.items():
            Path(build, name).write_bytes(source)
        built = Path(build, library.name)
        command = [*compiler.split(), *FLAGS, "-o", str(built), str(Path(build, next(iter(sources)))), *LIBRARIES]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            raise UserError(
                f"compiling {library.stem} with {compiler!r} failed: {run.stderr.strip()[:500]}"
            )
        os.replace(built, library)
