"""`actswm report` on what the other commands really write, looked at by a real browser."""

import sys

import pytest
from typer.testing import CliRunner

from actswm.cli.main import app
from actswm.errors import UserError
from actswm.games.episodes import RecordingPlan
from actswm.games.recording import record
from actswm.training import load_config, train

from ..browser import Browser

PICTURES = """[...document.images].map(image => [image.naturalWidth > 0, image.alt != ""])"""
FILMS = """Promise.all([...document.querySelectorAll("video")].map(async film => {
  await film.play();
  while (film.currentTime == 0) await new Promise(wait => setTimeout(wait, 20));
  return film.duration > 0 && film.videoWidth > 0 && !film.error;
}))"""


def actswm(*arguments):
    arguments = [str(argument) for argument in arguments]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["actswm", *arguments])
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A folder as a user leaves it: a recording, a barely trained model, and one result of each command."""
    folder = tmp_path_factory.mktemp("demo")
    data = folder / "room.h5"
    record(RecordingPlan("freedoom/room", size=(32, 32), episode_steps=180), 720, data)
    config = load_config(
        "tiny/lewm-rollout", ["training.steps=8", "training.threads=1", "training.log_every=2"]
    )
    train(config, data, folder / "run", command="actswm train tiny/lewm-rollout")
    run, model = folder / "run", folder / "run" / "model"
    windows = ("--data", data, "--windows", 4, "--context", 4, "--horizon", 3)
    fast = ("--candidates", 8, "--iterations", 1)
    actswm("inspect", data, "--sheet", folder / "room.png")
    actswm("drift", run, *windows, "--json", folder / "drift.json", "--plot", folder / "drift.png")
    actswm("fidelity", run, *windows, "--workers", 1, "--json", folder / "fidelity.json")
    actswm("sheet", run, *windows, "--workers", 1, "--gallery", 32, "--out", folder / "sheet.png")
    recovery = ("--windows", 2, "--steps", 4, "--elites", 2, *fast, "--picture", folder / "roll.png")
    actswm("recover", run, "--data", data, *recovery, "--json", folder / "recover.json")
    task = ("--task", "freedoom/follow-room", "--episodes", 1, "--baselines", "random", "--horizon", 3)
    actswm("plan", model, *task, *fast, "--out", folder / "plan")
    return folder


def test_every_picture_and_film_of_the_page_loads(demo, tmp_path):
    page = tmp_path / "report.html"
    said = actswm("report", demo, "--out", page)
    for part in ("step drift", "fidelity", "frames", "planning", "recovery", "recordings", "training"):
        assert part in said
    with Browser() as browser:
        browser.open(page.as_uri())
        assert browser.evaluate(PICTURES) == [[True, True]] * 2, (
            "the sheet and the recording; plots are drawn as SVG"
        )
        assert browser.evaluate(FILMS) == [True], "the model's film; the baseline has none here"
        assert browser.evaluate("document.querySelectorAll('svg.roll').length") == 1
        commands = browser.evaluate("[...document.querySelectorAll('.commands pre')].map(e => e.textContent)")
        assert [
            command.split()[1] for command in commands
        ] == "drift fidelity sheet plan recover inspect train".split()
        for width, phone in ((1280, False), (390, True)):
            for scheme in ("light", "dark"):
                browser.resize(width, 844, phone=phone)
                browser.prefer(scheme)
                shown = browser.evaluate("[document.documentElement.scrollWidth, innerWidth]")
                assert shown[0] <= shown[1], "nothing but tables and pictures scrolls sideways"
        grounds = []
        for scheme in ("light", "dark"):
            browser.prefer(scheme)
            grounds.append(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert grounds[0] != grounds[1]
        browser.press("Tab")
        assert browser.evaluate("document.activeElement.textContent") == "Skip to the content"
        assert browser.errors == []
        assert [url for url in browser.requests if not url.startswith(("data:", page.as_uri()))] == []


def test_films_play_side_by_side(demo, tmp_path):
    page = tmp_path / "report.html"
    folder = tmp_path / "plan"
    other = ("--baselines", "random,noop", "--episodes", 1, "--out", folder)
    actswm("plan", "--task", "freedoom/follow-room", *other)
    actswm("report", folder, "--out", page)
    with Browser() as browser:
        browser.open(page.as_uri())
        browser.click(".episode button")
        browser.wait_for("[...document.querySelectorAll('video')].every(film => film.currentTime > 0.1)")
        assert browser.evaluate("document.querySelector('.episode button').textContent") == "Pause"
        browser.click(".episode button")
        browser.wait_for("[...document.querySelectorAll('video')].every(film => film.paused)")
        assert browser.evaluate("document.querySelectorAll('video').length") == 2 and browser.errors == []


def test_one_line_for_what_it_cannot_use(demo, tmp_path):
    for path, message in (
        (demo / "room.h5", "not a result of actswm"),
        (tmp_path / "absent", "no such file"),
    ):
        with pytest.raises(UserError, match=message):
            actswm("report", path, "--out", tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()
