from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actswm.origin import Origin
from actswm.report.picture_note import PictureNote, read_note, write_note

ORIGIN = Origin("actswm sheet run --data ä.h5", "0123456789ab+")


def test_a_note_travels_inside_the_picture_and_does_not_change_it(tmp_path):
    path = tmp_path / "p.png"
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    cv2.imwrite(str(path), pixels)
    assert read_note(path.read_bytes()) is None
    write_note(path, "sheet", "A “caption”", "alt", replace(ORIGIN, seed=3))
    assert read_note(path.read_bytes()) == PictureNote(
        "sheet", "A “caption”", "alt", replace(ORIGIN, seed=3)
    )
    assert np.array_equal(cv2.imread(str(path)), pixels)
    assert [each.name for each in tmp_path.iterdir()] == ["p.png"]


def test_another_program_reads_the_note(tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "p.png"
    cv2.imwrite(str(path), np.zeros((4, 4, 3), np.uint8))
    write_note(path, "sheet", "caption", "alt", ORIGIN)
    with image.open(path) as opened:
        opened.load()
        assert '"kind": "sheet"' in opened.text["actswm"]


@given(st.binary(max_size=300), st.integers(0, 300))
def test_broken_pictures_have_no_note(junk, cut):
    assert read_note(junk) is None
    assert read_note(b"\x89PNG\r\n\x1a\n" + junk) is None
    assert read_note((b"\x89PNG\r\n\x1a\n\0\0\0\x0ciTXtactswm\0\0\0\0\0{" + junk)[:cut]) is None
