"""A harvest's folder that somebody edited, or a disk damaged: the file is named, in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actswm.curation.harvest.look import Look, read_samples, sample_near
from actswm.curation.harvest.named import Named
from actswm.curation.harvest.plan import Budget, Plan
from actswm.curation.harvest.records import Folder, read_lines
from actswm.curation.harvest.settings import HarvestSettings, settings_of
from actswm.errors import UserError


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.make()
    Plan(HarvestSettings("made", "Made"), Named(local=("a.mkv",)), Budget()).save(made)
    made.keep("export", "a", {"key": "k", "seconds": 1.5, "clips": [{"file": "a.mp4", "frames": 3, "sha256": "0"}]})
    return made


def test_what_was_written_is_read(folder: Folder) -> None:
    assert Plan.load(folder).named.local == ("a.mkv",)
    assert (folder.record("export", "a") or {})["clips"][0]["frames"] == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [("key", 7), ("seconds", "1"), ("seconds", float("nan")), ("clips", {}), ("clips", [{"file": "a"}])],
)
def test_a_record_of_another_form(folder: Folder, name: str, value: object) -> None:
    told = folder.record("export", "a") or {}
    folder.record_path("export", "a").write_text(json.dumps({**told, name: value}))
    with pytest.raises(UserError, match=r"export/a\.json: is not what a harvest writes"):
        folder.record("export", "a")


@pytest.mark.parametrize("text", ["", "null", "[]", "[" * 100_000, "{", '{"settings": {}}'])
def test_a_plan_that_is_none(folder: Folder, text: str) -> None:
    (folder.work / "plan.json").write_text(text)
    with pytest.raises(UserError, match=r"plan\.json: is not"):
        Plan.load(folder)


@pytest.mark.parametrize("text", ["x", "{}", '{"id": 3}', "null"])
def test_a_list_of_videos_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "discover.jsonl").write_text(text)
    with pytest.raises(UserError, match=r"discover\.jsonl: is not"):
        read_lines(tmp_path / "discover.jsonl", "video")


def test_pictures_and_times_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"PK and no more")
    for read in (Look.load, lambda path: list(read_samples(path)), lambda path: sample_near(path, 3)):
        with pytest.raises(UserError, match=r"a\.zip: cannot be read"):
            read(path)


@pytest.mark.parametrize(
    "text",
    ["\x89", "1" * 5000, "[" * 100_000, "{name: a, title: b, height: 1000000000000}", "{name: a, title: b, fps: 2.5}"],
)
def test_settings_that_are_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "domain.yaml"
    path.write_bytes(text.encode("latin1"))
    with pytest.raises(UserError, match=r"domain\.yaml: "):
        settings_of(str(path))
