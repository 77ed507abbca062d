"""The stock OpenArena (ioquake3) in lockstep: its folder, settings, boot and raw steps.

Commands go in through the engine's own command pipe; what it says comes out of its log.
"""

from __future__ import annotations

import os
import re
import shutil
from typing import Any

from ...errors import UserError
from ...game import Frame
from ..guard import EngineDied
from ..lockstep import Engine

STEP_NS = 40_000_000
PLAYER = "actswm"
BOTS = ("sarge", "grism", "kyonshi", "major")
MAX_BOTS = 6
RESTART_STEPS = 400
LOG_BYTES = 4 << 20
"""The engine's log starts anew beyond this."""

BINDS = {
    "W": ("w", "+forward"), "A": ("a", "+moveleft"), "S": ("s", "+back"), "D": ("d", "+moveright"),
    "Shift": ("x", "+speed"), "Ctrl": ("c", "+movedown"), "Fire": ("f", "+attack"), "Aim": ("z", "+zoom"),
    "Reload": ("r", "weapnext"), "Jump": ("e", "+moveup"), "Turn_L": ("j", "+left"), "Turn_R": ("l", "+right"),
    "Look_U": ("i", "+lookup"), "Look_D": ("k", "+lookdown"),
}  # fmt: skip
"""Per control the key that we press and what the engine does on it."""

_VIEW = re.compile(r"^\((-?\d+) (-?\d+) (-?\d+)\) : (-?\d+)")
_COLOUR = re.compile(r"\^\d")


class Client:
    """A running OpenArena."""

    def __init__(self, name: str, world: str, size: tuple[int, int], bots: int) -> None:
        program = openarena_program()
        self.telemetry: dict[str, float] = {}
        self._read = 0
        self.engine = Engine(name, size, wall_clock=True)
        try:
            self._boot(program, world, size, bots)
        except BaseException:
            self.engine.close()
            raise

    def _boot(self, program: str, world: str, size: tuple[int, int], bots: int) -> None:
        home = self.engine.folder / ".openarena" / "baseoa"
        home.mkdir(parents=True)
        # A long command line overflows the engine's parser: settings go into a file.
        (home / "autoexec.cfg").write_text(_settings(size))
        command = [program, "+devmap", world]
        for index in range(bots):
            command += ["+addbot", BOTS[index % len(BOTS)], "3"]
        self.engine.start(command, {"SDL_AUDIODRIVER": "dummy", "SDL_VIDEODRIVER": "x11"})
        self.engine.await_boot(lambda: f"{PLAYER} entered the game" in self._new_text())
        frames = self.engine.gate.frames
        self.engine.await_boot(lambda: self.engine.gate.frames > frames + 10)
        self._pipe = os.open(home / "commands", os.O_WRONLY | os.O_NONBLOCK)
        self.engine.lock(STEP_NS)

    def step(self, keys: list[tuple[int, bool]]) -> list[dict[str, Any]]:
        """One raw step; returns what happened in it. Telemetry is that of the frame before."""
        self.command("viewpos")
        self.engine.step(STEP_NS, keys)
        events = []
        for line in self._new_text().splitlines():
            view = _VIEW.match(line)
            if view:
                self.telemetry = dict(zip(("x", "y", "z", "yaw"), map(float, view.groups())))
            elif line.startswith(PLAYER) and not line.startswith(
                (f"{PLAYER} entered", f"{PLAYER} connected")
            ):
                events.append({"name": "death", "text": line.strip()})
            elif line.rstrip().endswith(f"by {PLAYER}"):
                events.append({"name": "kill", "text": line.strip()})
        return events

    def command(self, text: str) -> None:
        """A console command, which the engine runs before its next frame."""
        os.write(self._pipe, f"{text}\n".encode())

    def begin(self) -> None:
        """Start the match anew, with every weapon in hand."""
        self._truncate_log()
        self.command("map_restart 0")
        for _ in range(RESTART_STEPS):
            self.engine.step(STEP_NS)
            if f"{PLAYER} entered the game" in self._new_text():
                break
        else:
            raise EngineDied(f"{self.engine.name}: the match did not restart; call reset() again")
        self._rest(12)
        self.command("give all")
        self._rest(10)  # before that the weapons cannot be chosen

    def _rest(self, steps: int) -> None:
        for _ in range(steps):
            self.step([])

    def frame(self) -> Frame:
        return self.engine.gate.frame()

    def close(self) -> None:
        if hasattr(self, "_pipe"):
            os.close(self._pipe)
            del self._pipe
        self.engine.close()

    def _new_text(self) -> str:
        """What the engine said since the last call, in whole lines, without colour codes."""
        with self.engine.log.open("rb") as log:
            log.seek(self._read)
            data = log.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        return _COLOUR.sub("", whole.decode("latin-1"))

    def _truncate_log(self) -> None:
        if self._read > LOG_BYTES:
            os.truncate(self.engine.log, 0)
            self._read = 0


def openarena_program() -> str:
    program = shutil.which("openarena", path="/usr/games:/usr/local/games:/usr/bin:/usr/local/bin")
    if program is None:
        raise UserError(
            "OpenArena is missing; install it with: make games (or apt-get install -y openarena xvfb)"
        )
    return program


def _settings(size: tuple[int, int]) -> str:
    height, width = size
    settings = {
        "name": PLAYER, "r_mode": -1, "r_customwidth": width, "r_customheight": height, "r_fullscreen": 0,
        "r_allowSoftwareGL": 1, "r_swapInterval": 0, "r_picmip": 1, "cl_renderer": "opengl1",
        "r_intensity": 1.2, "r_mapOverBrightBits": 3,
        "s_initsound": 0, "com_maxfps": 250, "com_maxfpsUnfocused": 0, "com_maxfpsMinimized": 0,
        "com_introplayed": 1, "com_hunkmegs": 256, "com_pipefile": "commands", "ttycon": 0,
        "in_mouse": 0, "in_nograb": 1, "net_enabled": 0, "sv_pure": 0, "sv_fps": 25, "sv_maxclients": MAX_BOTS + 2,
        "g_gametype": 0, "g_doWarmup": 0, "fraglimit": 0, "timelimit": 0, "bot_enable": 1, "bot_minplayers": 0,
        "cg_draw2D": 0, "cg_drawCrosshair": 0, "con_notifytime": 0, "cg_fov": 90, "cg_zoomfov": 45,
        "cg_autoswitch": 0, "cl_yawspeed": 100, "cl_pitchspeed": 75, "cl_run": 1,
    }  # fmt: skip
    binds = "".join(f'bind {key} "{action}"\n' for key, action in BINDS.values())
    return "unbindall\n" + binds + "".join(f'seta {name} "{value}"\n' for name, value in settings.items())
