"""The judge that needs no service: it must pass play, catch screens, and never open a connection."""

from __future__ import annotations

import socket
from pathlib import Path

import cv2
import numpy as np
import pytest

from actswm.curation.domains import DOMAINS, domain_of
from actswm.curation.judging import Candidate
from actswm.curation.judging.embedded import EmbeddedJudge
from actswm.curation.judging.ocr import ocr_reader
from actswm.formats.video import decode

from ..made.recordings import moving_frames

VIDEO = Path(__file__).parents[2] / ".." / "shared" / "samples" / "minecraft" / "combat_spider_7.mp4"


@pytest.fixture(autouse=True)
def no_network(monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the embedded judge opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(scope="module")
def read_text():
    pytest.importorskip("rapidocr", reason="the judge extra is not installed")
    return ocr_reader()


def screen(*lines: str) -> np.ndarray:
    rgb = moving_frames(1, 360, 640)[0] // 3
    for number, line in enumerate(lines):
        cv2.putText(rgb, line, (60, 120 + 70 * number), cv2.FONT_HERSHEY_SIMPLEX, 1.5, (255, 255, 255), 3)
    return rgb


def label(domain: str, rgb: np.ndarray, read_text=None, still_ns: int = 0) -> str:
    return EmbeddedJudge(domain_of(domain), read_text).submit(Candidate(0, rgb, still_ns)).result().label


@pytest.mark.parametrize(
    ("domain", "lines", "expected"),
    [
        ("gta5", ["WASTED"], "death"),
        ("gta5", ["LOADING... 45%"], "loading"),
        ("gta5", ["Drive to the pier"], "gameplay"),
        ("cs2", ["You were killed by Bot Tim"], "death"),
        ("cs2", ["SPECTATING", "Bot Tim"], "spectator"),
        ("apex", ["SELECT YOUR LEGEND"], "menu"),
        ("minecraft", ["You died!", "Respawn"], "death"),
        ("minecraft", ["Game Menu", "Back to Game"], "menu"),
        ("games", ["AMMO 50"], "gameplay"),
    ],
)
def test_words_betray_what_is_not_play(read_text, domain, lines, expected) -> None:
    assert label(domain, screen(*lines), read_text) == expected


def test_words_inside_other_words_do_not(read_text) -> None:
    assert label("gta5", screen("unwastedness"), lambda rgb: ["unwastedness"]) == "gameplay"


@pytest.mark.skipif(not VIDEO.exists(), reason="the real sample videos are not on this machine")
def test_real_minecraft_play_passes(read_text) -> None:
    frames = [frame.rgb(360, 640) for index, frame in enumerate(decode(VIDEO)) if index % 120 == 0]
    assert [label("minecraft", rgb, read_text) for rgb in frames] == ["gameplay"] * 5


@pytest.mark.parametrize("domain", DOMAINS)
def test_rules_alone(domain) -> None:
    play = moving_frames(1, 180, 320)[0]
    assert label(domain, play) == "gameplay"
    assert label(domain, np.full_like(play, 3)) == "black"
    assert label(domain, np.full_like(play, 128)) == "uniform"
    assert label(domain, play // 6) == "gameplay"  # a dark cave


def test_a_picture_that_stands_still() -> None:
    play = moving_frames(1, 180, 320)[0]
    assert label("gta5", play, still_ns=10 * 10**9) == "still"
    assert label("gta5", play, still_ns=10 * 10**9 - 1) == "gameplay"
    assert label("apex", play, still_ns=10**12) == "gameplay"
