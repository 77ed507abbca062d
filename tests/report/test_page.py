import re
from html.parser import HTMLParser

import pytest

from actswm.errors import UserError
from actswm.report.page import build_page, write_page
from actswm.report.sources import gather

from . import made_results as made
from .test_sources import picture, training_run


class Outline(HTMLParser):
    """Headings, ids, and the attributes of every element of a page."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.headings, self._in = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._in = tag

    def handle_data(self, data):
        if self._in in ("h1", "h2", "h3"):
            self.headings.append(data)
        self._in = ""

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def render(tmp_path, *paths, **options):
    out = tmp_path / "report.html"
    write_page(build_page(gather(list(paths)), **options), out)
    return out.read_text()


def test_only_what_there_is(tmp_path):
    html = render(tmp_path, made.write(tmp_path / "d.json", made.drift({"blind": 0.0, "sensitive": 0.6})))
    outline = Outline(html)
    assert outline.headings == [
        "Is the world model action-sensitive?",
        "At a glance",
        "Other actions, other futures?",
        "How everything was made",
    ]
    assert "blind ignores its actions" in html and "sensitive is action-sensitive" in html
    assert not outline.of("video") and not outline.of("img")
    assert "made by command 1" in html and "seed 7" in html and "0123456789ab" in html
    command = re.search(r"<pre[^>]*>(.*?)</pre>", html, re.DOTALL).group(1)
    assert re.sub("<.*?>", "", command) == "actswm drift a b"


def test_a_model_that_has_diverged(tmp_path):
    tree = made.drift({"a": 0.5})
    nothing = {name: made.estimate(None) for name in tree["models"][0]["steps"][0] if name != "step"}
    tree["models"].append({"name": "gone", "steps": [{"step": 1, **nothing}] * 3})
    html = render(tmp_path, made.write(tmp_path / "d.json", tree))
    assert "gone cannot be judged" in html and "a is action-sensitive" in html and "nan" not in html.split("<main")[1]


@pytest.mark.parametrize(
    ("first", "last", "verdict"),
    [
        (0.51, 0.7, "is action-sensitive"),
        (0.2, 0.7, "reacts to its actions, but wrongly"),
        (0.5, 0.51, "reacts to its actions, but not as the game does"),
    ],
)
def test_a_gap_that_comes_from_being_wrong_is_no_action_sensitivity(tmp_path, first, last, verdict):
    drift = made.write(tmp_path / "drift.json", made.drift({"a": 0.6}))
    truth = made.write(tmp_path / "fidelity.json", made.fidelity("a", first=first, last=last))
    html = render(tmp_path, drift, truth)
    assert f"a {verdict}<" in re.sub(r"\s*<", "<", html)
    maze = made.write(tmp_path / "maze.json", made.drift({"a": 0.6}, data="maze.h5"))
    assert "a is action-sensitive" in render(tmp_path, maze, truth), "futures of another world say nothing"


def everything(tmp_path):
    folder = tmp_path / "demo"
    made.write(folder / "drift.json", made.drift({"a": 0.6, "<b>": 0.03}))
    made.write(folder / "maze.json", made.drift({"a": 0.6}, "actswm drift maze", "maze.h5"))
    made.write(folder / "fidelity.json", made.fidelity("a", "<b>"))
    made.write(folder / "recover.json", made.recover())
    made.write(folder / "plan" / "results.json", made.plan(a=2, random=0))
    made.write_film(folder / "plan", "a", 0, True)
    for kind in ("sheet", "contact-sheet", "piano-roll", "drift"):
        picture(folder / f"{kind}.png", kind, f"actswm {kind}")
    training_run(folder / "a")
    return folder


def test_the_whole_page(tmp_path):
    html = render(tmp_path, everything(tmp_path))
    outline = Outline(html)
    sections = [each["id"] for each in outline.of("section")]
    assert sections == "summary drift fidelity sheets planning recovery data training commands".split()
    targets = {each["id"] for _, each in outline.elements if "id" in each}
    links = [each["href"] for each in outline.of("a")]
    assert all(link.startswith("#") and link[1:] in targets for link in links)
    assert len(targets) == len([1 for _, each in outline.elements if "id" in each]), "ids are unique"
    sources = [each["src"] for tag in ("img", "video") for each in outline.of(tag)]
    assert len(sources) == 5 and all(source.startswith("data:") for source in sources)
    assert all(image["alt"] for image in outline.of("img"))
    assert all("controls" in video and video["aria-label"] for video in outline.of("video"))
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in outline.of("svg"))
    assert all("scope" in cell for cell in outline.of("th"))
    assert "&lt;b&gt;" in html and "<b>" not in html
    assert "with changes that were not committed" in html
    assert not re.search(r"https?://", html)
    assert render(tmp_path, everything(tmp_path / "again")) == html, "the same inputs, the same page"
    assert Outline(render(tmp_path, tmp_path / "demo", episodes=0)).of("video") == []


def test_pictures_of_figures_that_are_drawn_are_left_out(tmp_path):
    folder = tmp_path / "demo"
    made.write(folder / "drift.json", made.drift({"a": 0.6}, "actswm drift a --plot p.png"))
    made.write(folder / "recover.json", made.recover("actswm recover a --picture r.png"))
    picture(folder / "p.png", "drift", "actswm drift a --plot p.png")
    picture(folder / "r.png", "piano-roll", "actswm recover a --picture r.png")
    assert Outline(render(tmp_path, folder)).of("img") == []
    (folder / "drift.json").unlink()
    (image,) = Outline(render(tmp_path, folder)).of("img")
    assert image["alt"] == "alt"


def test_a_run_that_has_just_begun(tmp_path):
    run = training_run(tmp_path / "run", finished=False)
    (run / "logs" / "metrics.csv").write_text("epoch,loss,step\n")
    outline = Outline(render(tmp_path, run))
    assert outline.headings[1:] == ["How the models were trained"] and not outline.of("svg")


def test_a_page_that_cannot_be_written(tmp_path):
    path = made.write(tmp_path / "d.json", made.drift({"a": 0.1}))
    with pytest.raises(UserError, match="cannot be written"):
        write_page(build_page(gather([path])), path / "report.html")
