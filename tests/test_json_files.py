"""JSON files fail in two ways only."""

from pathlib import Path

import pytest

from actswm.json_files import read_json, write_json


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"a": [1, "ä"]})
    assert read_json(tmp_path / "a.json") == {"a": [1, "ä"]}


def test_no_file_is_told_from_a_bad_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "a.json")


@pytest.mark.parametrize("kind", ["folder", "loop", "deep", "bytes", "text"])
def test_whatever_else_is_wrong_is_a_value_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path.write_bytes({"deep": b'{"a":' * 100_000, "bytes": b"\xff\xfe", "text": b"{"}[kind])
    with pytest.raises(ValueError):
        read_json(path)
