"""Runs a kit's windows through HLAE, one after the other. Copied into kits; needs only Python on Windows.

    py run_kit.py --hlae C:\\HLAE\\HLAE.exe --game "C:\\...\\game\\bin\\win64\\cs2.exe"

Each finished window has `takes/NAME/result.json`; the same command again does the rest. With NumPy and OpenCV
installed it also checks whose eyes the video shows; WGC captures need `pip install windows-capture`.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

DIALOG = "Error - AfxHookSource"
TRIES = 3
POLL_S = 0.5
SPARE_S = 180.0
"""Real time that a launch may take beside the window itself."""
SLOWEST = 20.0
"""Deterministic captures may run this much slower than the game."""


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Render the windows of this kit with HLAE.")
    parser.add_argument("--hlae", required=True, help="HLAE.exe")
    parser.add_argument("--game", required=True, help="cs2.exe")
    parser.add_argument("--any-version", action="store_true", help="Go on where versions are not the kit's.")
    parser.add_argument(
        "--titles", help="A command that prints the titles of all windows (default: ask Windows)."
    )
    parser.add_argument(
        "--spare", type=float, default=SPARE_S, help="Seconds of real time beside each window."
    )
    options = parser.parse_args(arguments)
    folder = Path(__file__).resolve().parent
    kit = json.loads((folder / "kit.json").read_text(encoding="utf-8"))
    csgo = csgo_folder(Path(options.game))
    versions = {"game": game_version(csgo), "hlae": hlae_version(Path(options.hlae))}
    problem = version_problem(kit, versions)
    if problem and not options.any_version:
        say(f"{problem}; install that version, or use --any-version")
        return 2
    copy_once(folder / kit["demo"], csgo / "actswm.dem")
    failed = []
    for number, window in enumerate(kit["windows"], 1):
        result = folder / "takes" / window["name"] / "result.json"
        if result.exists():
            continue
        say(f"{number} of {len(kit['windows'])}: {window['name']}")
        reason = render(folder, kit, window, csgo, options, versions)
        if reason:
            failed.append((window["name"], reason))
    for name, reason in failed:
        say(f"failed: {name}: {reason}")
    say(f"{len(kit['windows']) - len(failed)} of {len(kit['windows'])} windows are done")
    return 1 if failed else 0


def render(folder, kit, window, csgo, options, versions):
    """Try a window some times; the reason of the last failure, or None."""
    reason = None
    for attempt in range(1, TRIES + 1):
        take = folder / "takes" / window["name"]
        shutil.rmtree(take, ignore_errors=True)
        take.mkdir(parents=True)
        cfg = csgo / "cfg" / "actswm" / f"{window['name']}.cfg"
        cfg.parent.mkdir(parents=True, exist_ok=True)
        text = (folder / "cfg" / f"{window['name']}.cfg").read_bytes().decode("utf-8")
        cfg.write_bytes(text.replace("@TAKE@", str(take)).encode("utf-8"))
        reason = launch(kit, window, take, options) or check(kit, window, take)
        if reason is None:
            found = find_video(take)
            facts = {"video": str(found.relative_to(take)), "attempt": attempt, "versions": versions}
            temporary = take / "result.json.tmp"
            temporary.write_text(json.dumps({**facts, "capture": kit["capture"]}, indent=1), encoding="utf-8")
            temporary.replace(take / "result.json")
            return None
        say(f"  try {attempt}: {reason}")
    shutil.rmtree(folder / "takes" / window["name"], ignore_errors=True)
    return reason


def launch(kit, window, take, options):
    hlae = Path(options.hlae)
    hook = hlae.parent / "x64" / "AfxHookSource2.dll"
    command = [str(hlae), *kit["hlae_arguments"], "-hookDllPath", str(hook)]
    command += ["-programPath", options.game, "-cmdLine", window["cmd_line"]]
    if hlae.suffix == ".py":  # a stand-in
        command.insert(0, sys.executable)
    recorder = start_wgc(take, kit["fps"]) if kit["capture"] == "wgc" else None
    process = subprocess.Popen(command, cwd=take)
    end = time.monotonic() + options.spare + SLOWEST * window["seconds"]
    reason = None
    while process.poll() is None or game_runs(options.game):
        if any(DIALOG in title for title in window_titles(options.titles)):
            reason = "HLAE showed an error dialog (the game was updated?)"
        elif time.monotonic() > end:
            reason = "the game did not end in time"
        if reason:
            end_game(process, options.game)
            break
        time.sleep(POLL_S)
    if recorder:
        recorder.stop()
    return reason


def check(kit, window, take):
    """Is the video whole, and does it show the right player?"""
    video = find_video(take)
    if video is None:
        return "the game ended without a video"
    frames = count_frames(video)
    if frames is not None and kit["capture"] == "streams" and frames < 0.98 * window["frames"]:
        return f"the video has {frames} of {window['frames']} frames: the game ended early"
    try:
        from spectated import shown_player
    except ImportError:
        return None  # `actswm replay collect` looks again
    shown = shown_player(video, window["yaws"], kit["fov_degrees"]) if kit["capture"] == "streams" else None
    if shown is not None and shown != str(window["slot"]):
        return f"the video shows the player in slot {shown}, not {window['slot']}: spec_player was dropped"
    return None


def find_video(take):
    return next(iter(sorted(take.rglob("video.mp4"))), None)


def count_frames(video):
    try:
        import cv2
    except ImportError:
        return None
    reader = cv2.VideoCapture(str(video))
    count = int(reader.get(cv2.CAP_PROP_FRAME_COUNT))
    reader.release()
    return count


def csgo_folder(game):
    """`game/csgo` of an installation, from `game/bin/win64/cs2.exe`."""
    return game.resolve().parents[2] / "csgo"


def game_version(csgo):
    try:
        found = re.search(r"PatchVersion=([\d.]+)", (csgo / "steam.inf").read_text(encoding="utf-8"))
    except OSError:
        return None
    return found[1] if found else None


def hlae_version(hlae):
    try:
        found = re.search(r"<version>([\d.]+)", (hlae.parent / "changelog.xml").read_text(encoding="utf-8"))
    except OSError:
        return None
    return found[1] if found else None


def version_problem(kit, versions):
    for what, wanted in kit["versions"].items():
        if wanted and versions[what] != wanted:
            return (
                f"the kit is for {what} {wanted}, but {versions[what] or 'an unknown version'} is installed"
            )
    return None


def window_titles(command):
    if command:
        shown = subprocess.run(command, shell=True, capture_output=True, text=True)
        return shown.stdout.splitlines()
    if sys.platform != "win32":
        return []
    import ctypes
    from ctypes import wintypes

    titles = []

    @ctypes.WINFUNCTYPE(wintypes.BOOL, wintypes.HWND, wintypes.LPARAM)
    def take(handle, _):
        text = ctypes.create_unicode_buffer(512)
        ctypes.windll.user32.GetWindowTextW(handle, text, 512)
        titles.append(text.value)
        return True

    ctypes.windll.user32.EnumWindows(take, 0)
    return titles


def game_runs(game):
    """HLAE ends when the game has begun, so the game itself is asked for."""
    if sys.platform != "win32":
        return False
    name = Path(game).name
    listed = subprocess.run(
        ["tasklist", "/FI", f"IMAGENAME eq {name}", "/NH"], capture_output=True, text=True
    )
    return name.lower() in listed.stdout.lower()


def end_game(process, game):
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/IM", Path(game).name], capture_output=True)
    process.kill()
    process.wait()


def start_wgc(take, fps):
    """Windows Graphics Capture of the game's window: frames as the compositor has them, each with its time."""
    import cv2
    from windows_capture import WindowsCapture

    capture = WindowsCapture(
        cursor_capture=False, draw_border=False, minimum_update_interval=None, window_name="Counter-Strike 2"
    )
    times: list = []
    writers: list = []

    @capture.event
    def on_frame_arrived(frame, control):
        picture = frame.frame_buffer[:, :, :3]
        if not writers:
            size = picture.shape[1::-1]
            writers.append(
                cv2.VideoWriter(str(take / "video.mp4"), cv2.VideoWriter.fourcc(*"mp4v"), fps, size)
            )
        writers[0].write(picture.copy())
        times.append(frame.timespan / 1e7)

    @capture.event
    def on_closed():
        pass

    control = capture.start_free_threaded()

    class Recorder:
        def stop(self):
            control.stop()
            for writer in writers:
                writer.release()
            (take / "times.json").write_text(json.dumps(times), encoding="utf-8")

    return Recorder()


def copy_once(source, target):
    if not target.exists() or target.stat().st_size != source.stat().st_size:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
