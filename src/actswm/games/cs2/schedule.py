"""What the game is told to do at which tick of a window, as a cfg for HLAE.

The order is the one that works: nothing before tick 96; the seek, a second of set-up, and only then, far from the seek,
`spec_mode` and `spec_player` (since October 2025 the game drops a spectate command next to a seek, without a word).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import UserError
from ...formats.replay import Window

FIRST_TICK = 96
"""Commands before this tick of the playback are lost."""
SEEK_LEAD, SETUP_LEAD, SETTLE_LEAD, QUIT_AFTER = 65, 64, 4, 64
LEAST_APART = 2
"""Ticks between the first commands and the settling."""
SETTLE_S = 2.0
"""Real time for the scene to load before the capture; a pause could not be ended from a cfg, because its ticks do not
pass, so the last ticks are slowed down instead."""
HUD = (
    "sv_cheats 1", "cl_draw_only_deathnotices 1", "mirv_deathmsg filter add block=1", "spec_show_xray 0",
    "cl_trueview_show_status 0", "r_show_build_info 0", "tv_listen_voice_indices 0",
)  # fmt: skip
STREAM = "actswm"
TAKE = "@TAKE@"
"""Stands in a cfg for the folder of the capture, which the kit's runner knows."""
FFMPEG = (
    "-c:v libx264 -preset veryfast -crf 10 -pix_fmt yuv420p -y {QUOTE}{AFX_STREAM_PATH}\\video.mp4{QUOTE}"
)


@dataclass(frozen=True)
class Order:
    """Commands for one tick, in this order."""

    tick: int
    commands: tuple[str, ...]


def capture_start(window: Window) -> int:
    """The first tick that can be captured: a window at a demo's very start loses its first ticks."""
    return max(window.start, FIRST_TICK + SETTLE_LEAD + LEAST_APART)


def schedule(window: Window, tick_rate: float, *, streams: bool = True) -> tuple[Order, ...]:
    """The window's orders; with `streams` HLAE records, else somebody else does."""
    start = capture_start(window)
    if start >= window.end:
        raise UserError(f"{window.name}: lies before tick {start}, where nothing can be captured yet")
    seek_to, setup_at = start - SEEK_LEAD, start - SETUP_LEAD
    orders = []
    if seek_to > FIRST_TICK:
        orders.append(Order(FIRST_TICK, (f"demo_gototick {seek_to}",)))
    orders.append(Order(max(setup_at, FIRST_TICK), HUD))
    slow = (SETTLE_LEAD - 1) / tick_rate / SETTLE_S
    orders.append(Order(start - SETTLE_LEAD, (f"demo_timescale {slow:.4f}",)))
    orders.append(Order(start - 1, ("demo_timescale 1",)))
    spectate = ("spec_mode 1", f"spec_player {window.slot}")
    orders.append(Order(start, (*spectate, *(("mirv_streams record start",) if streams else ()))))
    if streams:
        orders.append(Order(window.end, ("mirv_streams record end",)))
    orders.append(Order(window.end + QUIT_AFTER, ("quit",)))
    return tuple(orders)


def cfg_text(window: Window, orders: Sequence[Order], fps: float, *, streams: bool = True) -> str:
    """The cfg that sets up the recording and loads the orders into HLAE's scheduler."""
    name = "".join(letter for letter in window.player if letter.isprintable() and letter not in '";')
    recording = (
        f'mirv_streams settings add ffmpeg {STREAM} "{FFMPEG}"',
        f'mirv_streams record name "{TAKE}"',
        f"mirv_streams record fps {fps:g}",
        "mirv_streams record startMovieWav 0",
        "mirv_streams record screen enabled 1",
        f"mirv_streams record screen settings {STREAM}",
    )
    lines = [
        f"// {window.name}: {name}, ticks {window.start} to {window.end}",
        *(recording if streams else ()),
        "mirv_cmd clear",
        *(f'mirv_cmd addAtTick {order.tick} "{command}"' for order in orders for command in order.commands),
    ]
    return "\r\n".join(lines) + "\r\n"


def cmd_line(demo: str, cfg: str, size: tuple[int, int]) -> str:
    """The game's own command line."""
    height, width = size
    return f'-insecure -novid -width {width} -height {height} -sw +exec "{cfg}" +playdemo "{demo}"'


def launch_arguments(hlae: str, game: str, line: str) -> list[str]:
    """HLAE with the game inside it."""
    folder = hlae.rpartition("\\")[0]
    return [
        hlae, "-noGui", "-autoStart", "-noConfig", "-afxDisableSteamStorage", "-customLoader",
        "-hookDllPath", f"{folder}\\x64\\AfxHookSource2.dll", "-programPath", game, "-cmdLine", line,
    ]  # fmt: skip
