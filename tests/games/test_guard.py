from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from actswm.games.guard import Guard, clean


def sleeper(folder: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd=folder)


def test_cleaning_kills_the_folders_processes_and_removes_its_leftovers(tmp_path: Path):
    folder, shared = tmp_path / "engine", tmp_path / "shared"
    folder.mkdir()
    shared.touch()
    process = sleeper(folder)
    (folder / "engine.pid").write_text(str(process.pid))
    (folder / "leftovers").write_text(f"{shared}\n{tmp_path / 'never-there'}\n")
    clean(folder)
    assert process.wait(10) == -9
    assert not folder.exists() and not shared.exists()


def test_a_process_id_that_now_belongs_to_someone_else_is_left_alone(tmp_path: Path):
    folder, elsewhere = tmp_path / "engine", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    process = sleeper(elsewhere)
    try:
        (folder / "engine.pid").write_text(str(process.pid))
        clean(folder)
        assert process.poll() is None and not folder.exists()
    finally:
        process.kill()
        process.wait()


def test_a_released_guard_has_cleaned_and_ended(tmp_path: Path):
    folder = tmp_path / "engine"
    folder.mkdir()
    guard = Guard(folder)
    assert folder.exists()
    guard.release()
    guard.release()
    assert not folder.exists()
