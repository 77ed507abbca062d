"""Reading is fast because tiny numbers are flushed to zero: that must not change a word that is read.

The frames are real: Freedoom and OpenArena in play and in their own menus, and words of other games' screens drawn
onto that play, from large and white down to small and faint.
"""

from __future__ import annotations

import platform
from contextlib import nullcontext

import cv2
import numpy as np
import pytest

from actswm.curation.domains import DOMAINS
from actswm.curation.judging import Candidate, ocr
from actswm.curation.judging.embedded import EmbeddedJudge
from actswm.games.registry import make_game

from ..games.conftest import openarena_installed, require_programs  # noqa: F401

SIZE = (360, 640)
SCREENS = [
    ("gta5", "WASTED", "death"),
    ("cs2", "You were killed by Bot Tim", "death"),
    ("apex", "SELECT YOUR LEGEND", "menu"),
    ("minecraft", "Loading terrain", "loading"),
]
HUD = [("gta5", "Drive to the pier"), ("cs2", "AMMO 30 / 90"), ("minecraft", "Diamond Sword")]


@pytest.fixture(scope="module")
def read_text():
    pytest.importorskip("rapidocr", reason="the judge extra is not installed")
    return ocr.ocr_reader()


@pytest.fixture(scope="module")
def play() -> np.ndarray:
    game = make_game("freedoom/maze", size=SIZE, seed=3)
    try:
        return game.reset(seed=3)[0]
    finally:
        game.close()


def lettered(play: np.ndarray, words: str, height: int, strength: float) -> np.ndarray:
    """`words` in white of the given cap height, mixed into the picture by `strength`."""
    scale, thickness = height / 21, max(1, height // 10)  # the font is 21 pixels high at scale 1
    mask = np.zeros(play.shape[:2], np.uint8)
    cv2.putText(mask, words, (40, 150), cv2.FONT_HERSHEY_SIMPLEX, scale, 255, thickness, cv2.LINE_AA)
    share = strength * (mask / 255.0)[..., None]
    return np.round(play * (1 - share) + 255 * share).astype(np.uint8)


def label(domain: str, rgb: np.ndarray, read_text) -> str:
    judge = EmbeddedJudge(DOMAINS[domain], read_text)
    try:
        return judge.submit(Candidate(0, rgb)).result().label
    finally:
        judge.close()


@pytest.mark.parametrize("height", [9, 14, 28])
@pytest.mark.parametrize("strength", [0.6, 1.0])
def test_screens_are_told_from_play_at_every_size(read_text, play, height, strength) -> None:
    for domain, words, expected in SCREENS:
        assert label(domain, lettered(play, words, height, strength), read_text) == expected, words
    for domain, words in HUD:
        assert label(domain, lettered(play, words, height, strength), read_text) == "gameplay", words


def test_flushing_changes_no_word(read_text, play, monkeypatch) -> None:
    """Also where the words are hardly legible, so that a small difference would show."""
    frames = [lettered(play, words, height, 0.5) for _, words, _ in SCREENS for height in (7, 10)]
    flushed = [read_text(frame) for frame in frames]
    assert sum(map(len, flushed)) >= 4, "hardly anything was read"
    monkeypatch.setattr(ocr, "flushed_denormals", nullcontext)
    assert [read_text(frame) for frame in frames] == flushed


@pytest.mark.skipif(platform.machine() != "x86_64", reason="denormals are flushed on x86-64 alone")
def test_denormals_are_flushed_inside_and_only_there() -> None:
    tiny = np.full(64, 1e-40, np.float32)
    with ocr.flushed_denormals():
        assert not (tiny * np.float32(1.0)).any()
    assert (tiny * np.float32(1.0)).all()


def test_freedooms_own_menu(read_text) -> None:
    game = make_game("freedoom/maze", size=SIZE, seed=3)
    try:
        frame, _ = game.reset(seed=3)
        doom = game.unwrapped._engine.doom
        doom.send_game_command("menu_main")
        doom.advance_action(4)
        menu = doom.get_state().screen_buffer
    finally:
        game.close()
    assert label("games", frame, read_text) == "gameplay"
    assert label("games", menu, read_text) == "menu"


@pytest.mark.usefixtures("openarena_installed")
def test_openarenas_own_menu(read_text) -> None:
    game = make_game("openarena/oa_dm1", size=SIZE, seed=3)
    try:
        frame, _ = game.reset(seed=3)
        client = game.unwrapped._client
        client.command("togglemenu")
        for _ in range(10):
            client.step([])
        menu = client.frame()
    finally:
        game.close()
    assert label("games", frame, read_text) == "gameplay"
    assert label("games", menu, read_text) == "menu"
