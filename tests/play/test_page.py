"""The page in a real browser: real key presses move the real game, and are in the saved file."""

from __future__ import annotations

import numpy as np
import pytest

from actswm.controls import KEYS14
from actswm.data import DatasetFile, validate

from ..browser import Browser, require_browser
from .running import playing

TEXT = "document.getElementById('{}').textContent"
LIT = "[...document.querySelectorAll('#lanes .lit .name')].map(lane => lane.textContent).join()"
# a picture is drawn once its canvas has more than one colour
DRAWN = """[...document.querySelectorAll('#real, #futures canvas')].map(canvas => {
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  return new Set(data).size > 2;
})"""


@pytest.fixture(scope="module")
def played(tmp_path_factory, drawing):
    """A session with everything, and a browser that has opened its page."""
    require_browser()
    folder = tmp_path_factory.mktemp("page")
    saved = folder / "played.h5"
    with (
        playing(folder, "freedoom/room", "--model", drawing, "--record", saved) as session,
        Browser(timeout=120) as browser,
    ):
        browser.open(session.url)
        browser.wait_for("!document.getElementById('clock').disabled")
        yield session, browser, saved


def test_keys_of_the_browser_move_the_game_and_are_saved(played):
    session, browser, saved = played
    assert "Click, or press a key" in browser.evaluate(TEXT.format("invitation"))
    assert browser.evaluate("document.title") == "freedoom/room: actswm play"

    browser.key_down("w")
    browser.wait_for(f"{LIT} === 'W'")
    browser.wait_for(f"{TEXT.format('futures')}.includes('if you keep holdingW')")
    browser.wait_for(f"{DRAWN}.every(Boolean)")
    browser.key_down("ArrowLeft")
    browser.wait_for(f"{LIT} === 'W,Turn_L'")
    browser.key_up("w")
    browser.key_up("ArrowLeft")
    browser.wait_for(f"{LIT} === ''")
    with session.watching() as stream:
        browser.press("d")
        stream.wait("moment", lambda moment: moment["action"][KEYS14.index("D")] == 1)
    assert browser.evaluate("document.getElementById('recording').classList.contains('on')")
    assert "recording to played.h5" in browser.evaluate(TEXT.format("recording-text"))
    browser.wait_for(f"/ in \\d+ ms/.test({TEXT.format('imagined-note')})")

    browser.press("Tab")
    browser.wait_for("!document.getElementById('dreams').hidden")
    assert "not recording what is imagined" in browser.evaluate(TEXT.format("recording-text"))
    browser.wait_for(f"/Imagined: (0.[3-9]|[1-9]).* s since reality/.test({TEXT.format('news')})")
    assert browser.evaluate("[...document.querySelectorAll('#dreams canvas')].every(canvas => canvas.width === 16)")
    browser.press("Tab")
    browser.wait_for("document.getElementById('dreams').hidden")
    assert browser.evaluate("document.getElementById('real').width") == 640

    browser.click("#save")
    browser.wait_for(f"/Saved \\d+ frames/.test({TEXT.format('news')})")
    browser.key_down("s")
    browser.wait_for(f"{LIT} === 'S'")
    browser.key_up("s")
    browser.click("#reset")
    browser.wait_for(f"{TEXT.format('news')} === 'Started anew.'")
    browser.press("Escape")
    browser.wait_for("document.getElementById('stage').classList.contains('paused')")
    assert browser.errors == []

    session.interrupt()
    browser.wait_for(f"{TEXT.format('invitation')} === 'The session has ended.'")
    validate(saved)
    with DatasetFile(saved) as file:
        first = file.action[: file.ep_len[0]]
        pressed = dict(zip(KEYS14.names, np.asarray(first.sum(0), int)))
        assert pressed["W"] > 3 and pressed["Turn_L"] >= 1 and pressed["D"] >= 1
        assert not file.action[:, KEYS14.index("S")].any(), "the episode that was taken back"
        assert not first[:, [KEYS14.index(name) for name in ("A", "Turn_R", "Fire", "Jump")]].any()


def test_the_page_asks_nobody_else(played):
    session, browser, _ = played
    assert all(url.startswith(session.url) for url in browser.requests)
    assert browser.evaluate("document.querySelectorAll('canvas:not([aria-label])').length") == 0


def test_the_mouse_looks_around_and_fires(tmp_path):
    """map01 has a weapon and a free view."""
    with playing(tmp_path, "freedoom/map01", "--size", "16") as session, Browser(timeout=120) as browser:
        browser.open(session.url)
        browser.wait_for("!document.getElementById('clock').disabled")
        browser.click("#invitation")
        browser.wait_for("document.pointerLockElement !== null")
        browser.wait_for("!document.getElementById('stage').classList.contains('paused')")
        with session.watching() as stream:
            browser.mouse("mouseMoved", 300, 300)
            for x in range(300, 700, 20):
                browser.mouse("mouseMoved", x, 300)
            stream.wait("moment", lambda moment: moment["action"][KEYS14.index("Turn_R")] == 1)
            browser.mouse("mousePressed", 700, 300, "left")
            stream.wait("moment", lambda moment: moment["action"][KEYS14.index("Fire")] == 1)
            browser.mouse("mouseReleased", 700, 300, "left")
            browser.evaluate("document.exitPointerLock()")
            stream.wait("moment", lambda moment: not moment["running"])
        assert browser.errors == []
