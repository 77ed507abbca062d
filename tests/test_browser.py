"""The tests' browser sees what a person would: errors, missing files, keys."""

import subprocess

import pytest

from .browser import Browser, BrowserError

PAGE = """<!doctype html><meta name="viewport" content="width=device-width"><title>keys</title>
<button onclick="this.textContent = 'clicked'">no</button><script>
const keys = [];
for (const kind of ["keydown", "keyup"]) addEventListener(kind, e => keys.push(`${kind} ${e.key} ${e.code}`));
</script>"""


def test_pages_keys_and_clicks(tmp_path):
    page = tmp_path / "keys.html"
    page.write_text(PAGE)
    with Browser() as browser:
        browser.open(page.as_uri())
        assert browser.evaluate("document.title") == "keys"
        browser.press("w")
        browser.press("Shift")
        browser.press(" ")
        held = [
            f"{kind} {key}"
            for key in ("w KeyW", "Shift ShiftLeft", "  Space")
            for kind in ("keydown", "keyup")
        ]
        assert browser.evaluate("keys") == held
        browser.click("button")
        assert browser.evaluate("document.querySelector('button').textContent") == "clicked"
        browser.resize(390, 800, phone=True)
        browser.prefer("dark")
        assert browser.evaluate("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]") == [
            390,
            True,
        ]
        browser.screenshot(tmp_path / "seen.png")
        assert (tmp_path / "seen.png").read_bytes().startswith(b"\x89PNG")
        assert browser.errors == [] and browser.requests == [page.as_uri()]


BAD = """<img src=absent.png><script>
console.error('said'); setTimeout(() => { document.title = "thrown"; throw Error("thrown") });
</script>"""


def test_it_hears_of_every_error(tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(BAD)
    with Browser() as browser:
        browser.open(page.as_uri())
        browser.wait_for("document.title == 'thrown'")
        heard = "\n".join(browser.errors)
        assert "said" in heard and "thrown" in heard and "absent.png" in heard
        with pytest.raises(BrowserError, match="nothing is not defined"):
            browser.evaluate("nothing")
        with pytest.raises(BrowserError, match="ERR_FILE_NOT_FOUND"):
            browser.open((tmp_path / "absent.html").as_uri())


def test_it_leaves_no_process_behind():
    def running():
        return subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True).stdout

    browser = Browser()
    assert browser.profile in running()
    browser.close()
    assert browser.profile not in running()
