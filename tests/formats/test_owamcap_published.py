"""Recordings of D2E that were downloaded before its authors mended their synchronisation are told."""

import os
from datetime import UTC, datetime

import pytest

from actswm.curation.domains import domain_of
from actswm.curation.settings import CleanSettings
from actswm.curation.sources import Item, open_source
from actswm.formats.owamcap.published import origin_of, out_of_sync

from ..made.recordings import MadeRecording

BEFORE, AFTER = datetime(2025, 11, 30, 23, tzinfo=UTC), datetime(2025, 12, 1, 1, tzinfo=UTC)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def recording(tmp_path):
    folder = tmp_path / "D2E-480p" / "Apex_Legends"
    folder.mkdir(parents=True)
    return MadeRecording(folder).write()


def dated(path, time):
    os.utime(path, (time.timestamp(), time.timestamp()))


def test_the_word_that_a_download_left(recording):
    root = recording.parents[1]
    metadata = root / ".cache" / "huggingface" / "download" / "Apex_Legends" / "run.mcap.metadata"
    metadata.parent.mkdir(parents=True)
    for time, told in ((BEFORE, True), (AFTER, False)):
        metadata.write_text(f"{COMMIT}\netag\n{time.timestamp()}\n")
        assert origin_of(recording).revision == COMMIT and origin_of(recording).time == time
        assert bool(out_of_sync(recording)) == told
    metadata.write_text(f"{COMMIT}\netag\n{BEFORE.timestamp()}\n")
    assert out_of_sync(recording).startswith("downloaded on 2025-11-30 (revision 0123456), before D2E mended")
    metadata.write_text("damaged")
    assert out_of_sync(recording) is None, "the file itself is new"


def test_the_cache_of_the_hub(tmp_path):
    blob, name = tmp_path / "blobs" / "x", tmp_path / "snapshots" / COMMIT / "Apex_Legends" / "run.mcap"
    blob.parent.mkdir()
    name.parent.mkdir(parents=True)
    blob.touch()
    name.symlink_to(blob)
    dated(blob, BEFORE)
    assert origin_of(name).revision == COMMIT and "(revision 0123456)" in out_of_sync(name)
    dated(blob, AFTER)
    assert out_of_sync(name) is None


def test_cleaning_notes_it(recording):
    settings = CleanSettings(domain_of("apex"), height=48, width=48, judge="rules")
    assert open_source(Item("owamcap", recording), settings).notes == ()
    dated(recording, BEFORE)
    (note,) = open_source(Item("owamcap", recording), settings).notes
    assert note.startswith("its file is of 2025-11-30; if it is from D2E, that is before D2E mended")
