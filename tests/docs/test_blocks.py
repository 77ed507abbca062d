"""Every command and every piece of code in README and docs runs as printed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .blocks import PAGES, ROOT, RUN, SHELL, SHOWN, blocks_of, unfenced
from .conftest import TUTORIAL

pytestmark = pytest.mark.timeout(1200)  # pages are long, and machines that test may be busy
BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_the_tutorial_can_be_followed(studio):
    for made in ("room.h5", "room.png", "runs/room/model/model.safetensors", "drift.png", "labelled.h5"):
        assert (studio / made).stat().st_size > 0


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page != TUTORIAL and any(block.runs for block in blocks_of(page))],
    ids=name_of,
)
def test_the_blocks_of_a_page_run_in_order(page, workplace):
    from .running import run_block

    for block in blocks_of(page):
        if block.runs:
            run_block(block, workplace)
    shutil.rmtree(workplace)  # recordings add up


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_code_is_out_of_a_test_s_sight(page):
    for block in blocks_of(page):
        assert block.language in RUN | SHOWN, f"{block.place}: say what language it is"
    assert unfenced(page) == [], "code by indentation: put it into a fence"


def test_what_does_not_run_says_why(record_property):
    left_out = [block for block in BLOCKS if block.reason is not None]
    for block in left_out:
        assert block.language in SHELL | {"python"}, f"{block.place}: nobody would run this anyway"
        assert len(block.reason.split()) >= 3, f"{block.place}: {block.reason!r} is no reason"
    record_property("blocks not run", [f"{block.place}: {block.reason}" for block in left_out])
    record_property("blocks run", sum(block.runs for block in BLOCKS))
    assert len(left_out) < sum(block.runs for block in BLOCKS) / 2, "most of the documentation must run"
