from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from actswm.chunks import RAW_STEPS, library_names, load_library
from actswm.controls import KEYS14, MINECRAFT
from actswm.errors import UserError

PAPER = {
    "mine-stone": {
        "look down": (0.15, {"pitch": 8}),
        "mine down": (0.55, {"attack": 1, "pitch": 82}),
        "forward": (0.20, {"forward": 1}),
        "back": (0.10, {"back": 1}),
    },
    "place-torch": {
        "turn right": (0.20, {"yaw": 3}),
        "forward": (0.20, {"forward": 1}),
        "look down": (0.20, {"pitch": 6}),
        "wait": (0.15, {}),
        "place": (0.25, {"use": 1, "pitch": 28}),
    },
    "build-pillar": {
        "stack action": (0.50, None),
        "forward": (0.15, {"forward": 1}),
        "back": (0.15, {"back": 1}),
        "turn left": (0.10, {"yaw": -5}),
        "turn right": (0.10, {"yaw": 5}),
    },
}


@pytest.mark.parametrize("task", PAPER)
def test_the_papers_table(task: str):
    library = load_library(f"minecraft/{task}")
    assert library.vocabulary is MINECRAFT
    assert library.names == tuple(PAPER[task])
    for chunk in library.chunks:
        weight, held = PAPER[task][chunk.name]
        assert chunk.weight == weight
        if held is not None:
            assert np.array_equal(chunk.steps, np.tile(MINECRAFT.action(values=held), (RAW_STEPS, 1)))


def test_the_stack_action_looks_down_jumps_and_places():
    steps = load_library("minecraft/build-pillar")["stack action"].steps
    pitch, jump, use = (steps[:, MINECRAFT.index(name)] for name in ("pitch", "jump", "use"))
    assert pitch[:2].min() > 0 and pitch[3] == 45
    assert jump.tolist() == [0, 0, 1, 0] and use.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("name", library_names())
def test_every_library_is_a_distribution_over_its_vocabulary(name: str):
    library = load_library(name)
    assert library.vocabulary.name == name.split("/")[0]
    assert library.weights.sum() == pytest.approx(1)
    assert library.steps.shape == (len(library), RAW_STEPS, library.vocabulary.size)
    assert len({steps.tobytes() for steps in library.steps}) == len(library)


def test_counterparts_have_the_papers_names_and_weights():
    for task in PAPER:
        paper, ours = load_library(f"minecraft/{task}"), load_library(f"keys14/{task}")
        assert ours.vocabulary is KEYS14
        assert ours.names == paper.names and np.array_equal(ours.weights, paper.weights)


GOOD = {"vocabulary": "keys14", "chunks": [{"name": "go", "weight": 1.0, "hold": {"W": 1}}]}


def write(path: Path, **chunk: object) -> Path:
    file = path / "mine.yaml"
    file.write_text(yaml.safe_dump({**GOOD, "chunks": [{**GOOD["chunks"][0], **chunk}]}))
    return file


def test_a_file_of_ones_own(tmp_path: Path):
    library = load_library(write(tmp_path))
    assert library.name == "mine" and library["go"].steps[:, 0].tolist() == [1, 1, 1, 1]
    with pytest.raises(UserError, match="no chunk 'stop'"):
        library["stop"]


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        ({"hold": {"Wx": 1}}, "unknown control 'Wx'.*'W'"),
        ({"hold": {"W": 2}}, "W is a button"),
        ({"hold": {"W": "down"}}, "W must be a number"),
        ({"hold": ["W"]}, "maps controls to values"),
        ({"weight": 0.9}, "sum to 1, not 0.9"),
        ({"weight": -1}, "weight must be"),
        ({"weight": "much"}, "weight must be"),
        ({"steps": [{}] * 4}, "hold or steps"),
        ({"speed": 3}, "hold or steps"),
    ],
)
def test_mistakes_name_the_file_and_the_chunk(tmp_path: Path, chunk: dict, message: str):
    with pytest.raises(UserError, match=rf"mine\.yaml: .*go.*{message}|mine\.yaml: .*{message}.*go"):
        load_library(write(tmp_path, **chunk))


@pytest.mark.parametrize("count", [0, 3, 5])
def test_a_wrong_number_of_raw_steps(tmp_path: Path, count: int):
    file = tmp_path / "mine.yaml"
    file.write_text(
        yaml.safe_dump({**GOOD, "chunks": [{"name": "go", "weight": 1.0, "steps": [{"W": 1}] * count}]})
    )
    with pytest.raises(UserError, match=rf"mine\.yaml: chunk 'go': needs 4 raw steps, not {count}"):
        load_library(file)


@pytest.mark.parametrize(
    "text",
    ["[", "hello", "vocabulary: keys14", "vocabulary: dance\nchunks: []", "vocabulary: keys14\nchunks: [{}]"],
)
def test_files_that_are_no_library(tmp_path: Path, text: str):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(UserError, match=r"mine\.yaml"):
        load_library(file)


def test_an_unknown_library_suggests_the_nearest(tmp_path: Path):
    with pytest.raises(UserError, match="nearest known one is 'keys14/follow'"):
        load_library("keys14/folow")
    with pytest.raises(UserError, match="no such"):
        load_library(tmp_path / "gone.yaml")


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=8))
def test_only_weights_that_sum_to_one_are_taken(
    tmp_path_factory: pytest.TempPathFactory, weights: list[float]
):
    file = tmp_path_factory.mktemp("library") / "mine.yaml"
    total = sum(weights)
    for divisor, fits in ((total, True), (total * 1.01, False)):
        chunks = [{"name": str(i), "weight": w / divisor, "hold": {}} for i, w in enumerate(weights)]
        file.write_text(yaml.safe_dump({"vocabulary": "keys14", "chunks": chunks}))
        if fits:
            assert load_library(file).weights.sum() == pytest.approx(1)
        else:
            with pytest.raises(UserError, match="sum to 1"):
                load_library(file)


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe",
        b"[" * 100_000,
        b"a: 2001-99-99",
        b"vocabulary: keys14\nchunks: [{name: a, weight: 1, null: {}}]",
        b"vocabulary: keys14\nchunks: [{name: a, weight: 1, hold: {W: 1" + b"0" * 400 + b"}}]",
        b"vocabulary: minecraft\nchunks: [{name: a, weight: 1, hold: {yaw: 1.0e+300}}]",
    ],
    ids=["bytes", "nesting", "date", "field", "whole number", "number"],
)
def test_damaged_libraries_are_refused(tmp_path: Path, text: bytes):
    path = tmp_path / "library.yaml"
    path.write_bytes(text)
    with pytest.raises(UserError, match=r"library.yaml"):
        load_library(path)
