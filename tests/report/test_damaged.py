"""Results that others wrote, damaged on purpose: a page or one line, never anything else."""

import copy
import json
import random
from io import BytesIO

import pytest
from PIL import Image, PngImagePlugin

from actswm.errors import UserError
from actswm.report.page import build_page, write_page
from actswm.report.picture_note import KEYWORD, read_note
from actswm.report.sources import gather

from .made_results import drift, fidelity, plan, recover, write, write_film

NASTY = [
    None, True, -1, 0, 3, 10**400, -(10**30), 1e308, float("inf"), float("nan"), 0.5, "", "x", "\ud800", "a\x00b",
    "<script>alert(1)</script>", "../../x", "/etc", "x" * 5000, [], [1], [[]], {}, {"a": 1}, {"mean": "x"},
]  # fmt: skip
RESULTS = {
    "drift": drift({"a": 0.3, "b": 0.0}), "fidelity": fidelity("a"), "plan": plan(a=3, random=1),
    "recover": recover(),
}  # fmt: skip
PROVENANCE = {
    "actswm_version": "0.1.0",
    "provenance": {
        "command": "actswm train", "commit": "0", "seed": 1, "steps": 3, "seconds": 2.0, "machine": "m",
        "data": {"file": "f", "source": "s"}, "validation": {"loss": 0.1},
    },
}  # fmt: skip


def places(tree, path=()):
    """Every node of a JSON tree, as the way to it."""
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in children:
        yield (*path, key)
        yield from places(value, (*path, key))


def changed(tree, path, value, remove=False):
    tree = copy.deepcopy(tree)
    node = tree
    for key in path[:-1]:
        node = node[key]
    if remove:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return tree


def page_or_one_line(folder, out):
    try:
        write_page(build_page(gather([folder])), out)
    except UserError:
        return False
    html = out.read_text(encoding="utf-8")
    assert "<script>alert(1)" not in html
    return True


@pytest.mark.parametrize("kind", RESULTS)
def test_every_field_may_be_anything(tmp_path, kind):
    rng, shown = random.Random(0), 0
    every = list(places(RESULTS[kind]))
    for number, path in enumerate(every):
        for value in rng.sample(NASTY, 5 if len(every) > 60 else 12):
            folder = tmp_path / "results"
            write(folder / "result.json", changed(RESULTS[kind], path, value, remove=number % 7 == 0))
            shown += page_or_one_line(folder, tmp_path / "page.html")
    assert shown, "harmless changes still make a page"


def test_every_field_of_a_models_provenance_may_be_anything(tmp_path):
    for path in places(PROVENANCE):
        for value in NASTY:
            write(tmp_path / "model" / "config.json", changed(PROVENANCE, path, value))
            page_or_one_line(tmp_path / "model", tmp_path / "page.html")


@pytest.mark.parametrize("text", ["null", "[]", "[" * 100_000, '{"kind": ["drift"]}', '{"kind": "drift"}'])
def test_json_that_is_no_result(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(UserError):
        gather([tmp_path])


@pytest.mark.parametrize(
    "log",
    [
        b"step,loss\n\xff\xfe,1\n", b"step,loss\n1,x\n", b"step\n" + b"9" * 400 + b"\n", b"loss\n1\n",
        b"step,loss\n\n1\n,2\n",
    ],
)  # fmt: skip
def test_a_damaged_log_is_named(tmp_path, log):
    (tmp_path / "logs").mkdir()
    (tmp_path / "config.yaml").write_bytes(b"\xff")
    (tmp_path / "logs" / "metrics.csv").write_bytes(log)
    with pytest.raises(UserError, match=r"metrics\.csv: line \d"):
        gather([tmp_path])


def test_losses_that_are_no_numbers_leave_a_gap(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "config.yaml").write_bytes(b"a: \xff")
    (tmp_path / "logs" / "metrics.csv").write_bytes(b"step,loss\n0,1\n1,inf\n2,1e300\n3,nan\n4,2\n")
    assert page_or_one_line(tmp_path, tmp_path / "page.html")
    assert gather([tmp_path]).runs[0].losses["loss"] == ((0, 1.0), (4, 2.0))


@pytest.mark.parametrize("way", ["absolute", "upwards", "link"])
def test_no_film_from_outside_the_results_folder(tmp_path, way):
    secret = write_film(tmp_path / "private", "a", 0, True)
    inside = tmp_path / "results"
    inside.mkdir()
    method = {"absolute": str(secret.parent), "upwards": "../private/a", "link": "linked"}[way]
    if way == "link":
        (inside / "linked").symlink_to(secret.parent)
    write(inside / "results.json", plan(**{method: 1}))
    with pytest.raises(UserError, match="lies outside"):
        gather([inside])


@pytest.mark.parametrize("value", NASTY)
def test_a_pictures_note_may_be_anything(value):
    note = {"kind": "sheet", "caption": "c", "alt": "a", "command": "x", "commit": "", "seed": 1}
    for name in note:
        chunks, picture = PngImagePlugin.PngInfo(), BytesIO()
        chunks.add_itxt(KEYWORD, json.dumps({**note, name: value}))
        Image.new("RGB", (2, 2)).save(picture, "PNG", pnginfo=chunks)
        found = read_note(picture.getvalue())
        plain = [] if found is None else [found.kind, found.caption, found.alt, *vars(found.origin).values()]
        assert all(isinstance(each, (str, int, type(None))) for each in plain)
