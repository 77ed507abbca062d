"""Packs, states, verdicts, duplicates and reviews."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from actswm.curation.harvest.duplicates import DuplicateIndex, Signature
from actswm.curation.harvest.hashes import picture_hash
from actswm.curation.harvest.hud_learning import learn
from actswm.curation.harvest.look import Look
from actswm.curation.harvest.named import Named
from actswm.curation.harvest.packs import PackMatcher, load_pack, write_pack
from actswm.curation.harvest.pipeline import Harvest, Ways
from actswm.curation.harvest.plan import Plan
from actswm.curation.harvest.review_server import ReviewServer
from actswm.curation.harvest.reviews import Review, add_reviews, score_filter
from actswm.curation.harvest.settings import FilterRules, names, settings_of
from actswm.curation.harvest.states import PositiveReader, reader_of
from actswm.curation.harvest.summary import hours_by_stage
from actswm.curation.harvest.timeline import Timeline
from actswm.curation.harvest.verdicts import clips_of
from actswm.errors import UserError

from ...made.serving import serving
from .made_streams import PLAIN, write_video


def screen(seed: int, hud: bool, menu: bool = False) -> np.ndarray:
    """A random world; with a status bar, and a menu's frame over it."""
    rng = np.random.default_rng(seed)
    world = cv2.resize(rng.integers(0, 256, (9, 16), np.uint8), (640, 360), interpolation=cv2.INTER_CUBIC)
    if hud:
        cv2.rectangle(world, (20, 310), (140, 350), 200, -1)
        cv2.putText(world, "HP", (30, 340), 0, 1.0, 20, 3)
        cv2.rectangle(world, (480, 310), (620, 350), 90, -1)
        cv2.putText(world, "AMMO", (490, 340), 0, 0.9, 240, 2)
    if menu:
        cv2.rectangle(world, (220, 90), (420, 250), 30, -1)
        cv2.putText(world, "RESUME", (250, 140), 0, 1.0, 230, 2)
        cv2.putText(world, "QUIT", (250, 200), 0, 1.0, 230, 2)
    return world


@pytest.fixture(scope="module")
def pack(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pack")
    play = [screen(seed, hud=True) for seed in range(40)]
    menus = [screen(seed, hud=True, menu=True) for seed in range(100, 130)]
    bare = [screen(seed, hud=False) for seed in range(200, 230)]
    elements = [*learn(play, "play", bare).elements, *learn(menus, "menu", play).elements]
    write_pack(folder, "made", elements)
    return folder


def test_a_pack_is_learned_from_what_stays_the_same(pack):
    made = load_pack(str(pack))
    assert made.states() == ["menu", "play"]
    for element in made.elements:
        left, top, width, height = element.box
        if element.state == "play":
            assert top > 290 and (left + width < 160 or left > 460)
        else:
            assert left >= 200 and left + width <= 440 and top >= 80 and top + height <= 270


@pytest.mark.parametrize("scale", [1.0, 0.8, 1.25])
def test_states_are_told_on_screens_never_seen_at_any_scale(pack, scale):
    """A larger HUD stays in its corner: the picture is scaled about it."""
    reader = PositiveReader(FilterRules("positive", 0.35, None, pack=str(pack)))

    def shown(seed: int, hud: bool, menu: bool = False) -> np.ndarray:
        whole = screen(seed, hud=False)
        drawn, plain = screen(seed, hud, menu), screen(seed, hud=False)
        for x, anchor in ((slice(0, 213), 0), (slice(427, 640), 640)):
            part = cv2.resize(drawn[240:, x], None, fx=scale, fy=scale)
            height, width = min(120, part.shape[0]), min(213, part.shape[1])
            if anchor:
                whole[360 - height :, 640 - width :] = part[-height:, -width:]
            else:
                whole[360 - height :, :width] = part[-height:, :width]
        if menu:
            changed = drawn != plain
            changed[280:] = False
            whole[changed] = drawn[changed]
        return cv2.cvtColor(whole, cv2.COLOR_GRAY2BGR)

    assert [reader.state(shown(seed, True)) for seed in range(300, 306)] == ["play"] * 6
    assert [reader.state(shown(seed, False)) for seed in range(306, 312)] == ["no hud"] * 6
    if scale == 1.0:
        assert [reader.state(shown(seed, True, True)) for seed in range(312, 318)] == ["menu"] * 6
    assert reader.state(np.zeros((360, 640, 3), np.uint8)) == "loading"


def test_a_wide_picture_keeps_its_hud_in_the_corners(pack):
    wide = np.full((360, 800), 120, np.uint8)
    narrow = screen(400, hud=True)
    wide[:, :300], wide[:, 500:] = narrow[:, :300], narrow[:, 340:]
    assert PackMatcher(load_pack(str(pack))).shares(wide)["play"] > 0.5


def test_a_world_that_stands_still_cannot_be_learned_from():
    with pytest.raises(UserError, match="hardly moves"):
        learn([screen(1, hud=True)] * 20, "play")


def test_the_packs_that_ship_are_sound():
    for name in ("openarena", "freedoom", "minetest"):
        assert "play" in load_pack(name).states()
    for name in names():
        settings_of(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\ntitle: y\nspeed: 3", "unknown field 'speed'"),
        ("name: x\ntitle: y\nfps: fast", "fps must be a number"),
        ("name: x\ntitle: y\nfilter: {kind: odd}", "negative or positive"),
        ("name: x\ntitle: y\nfilter: {most_bad: 3}", "most_bad must be from 0 to 1"),
        ("- 1", "must be a mapping"),
        ("name: [", "is not YAML"),
    ],
)
def test_a_data_file_is_checked(tmp_path, text, message):
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(UserError, match=message):
        settings_of(str(tmp_path / "own.yaml"))


def test_a_positive_filter_without_a_pack_says_how_to_make_one():
    with pytest.raises(UserError, match="actswm hud learn"):
        reader_of(settings_of("apex").filter)


def test_words_betray_a_state():
    pytest.importorskip("rapidocr")
    reader = reader_of(settings_of("gta5").filter)
    rng = np.random.default_rng(0)

    def street(text: str) -> np.ndarray:
        small = rng.integers(40, 200, (9, 16, 3), np.uint8)
        picture = cv2.resize(small, (640, 360), interpolation=cv2.INTER_CUBIC)
        cv2.putText(picture, text, (200, 200), cv2.FONT_HERSHEY_DUPLEX, 2.0, (255, 255, 255), 4)
        return picture

    assert [reader.state(street(text)) for text in ("WASTED", "LOADING 45%", "", "BUSTED")] == [
        "death", "loading", "play", "death",
    ]  # fmt: skip


def made_look(
    frames: int, fps: int, cuts: tuple[int, ...] = (), moving: float = 1.0
) -> tuple[Look, Timeline]:
    timeline = Timeline(
        "v", frames, (1, fps), 0, frames, fps, False, 90, 160, (0, 90, 0, 160), (), "h264", False
    )
    change = np.full(frames, 2.0, np.float32)
    seen = Look(
        np.arange(frames), change, np.full(frames, moving, np.float32), np.zeros(frames, bool),
        np.array(cuts, np.int64), np.zeros(frames, np.uint64),
    )  # fmt: skip
    return seen, timeline


def verdicts(states: list[str], rules: FilterRules, moving: float = 1.0) -> list[tuple[float, float, str]]:
    """One sample a second, ten frames a second."""
    seen, timeline = made_look(10 * len(states), 10, moving=moving)
    settings = replace(settings_of("gta5"), filter=rules)
    clips = clips_of(seen, timeline, [(10 * i, state) for i, state in enumerate(states)], settings)
    return [(clip.start_s, clip.end_s, clip.verdict) for clip in clips]


def test_the_papers_limits():
    """Bad states in more than 25 % of a clip reject it, or rest in more than 60 %; the positive limit is 35 %."""
    negative = FilterRules(split=False)
    assert verdicts(["play"] * 6 + ["menu"] * 2, negative)[0][2] == "kept"
    assert verdicts(["play"] * 5 + ["menu"] * 3, negative)[0][2] == "menu"
    positive = FilterRules("positive", 0.35, None, split=False, pack="openarena")
    assert verdicts(["play"] * 13 + ["no hud"] * 7, positive)[0][2] == "kept"
    assert verdicts(["play"] * 4 + ["no hud"] * 3, positive)[0][2] == "no hud"
    assert verdicts(["play"] * 8, negative, moving=0.0)[0][2] == "static"
    assert verdicts(["play"] * 8, positive, moving=0.0)[0][2] == "kept"


def test_a_menu_costs_the_menu_and_not_the_play_around_it():
    seen, timeline = made_look(200, 10)
    seen.change[[83, 121]] = 50.0  # where it opens and closes
    states = [(10 * i, "menu" if 9 <= i < 13 else "play") for i in range(20)]
    clips = clips_of(seen, timeline, states, replace(settings_of("gta5"), filter=FilterRules(most_static=None)))
    assert [(clip.first, clip.end, clip.verdict) for clip in clips] == [
        (0, 83, "kept"), (83, 121, "menu"), (121, 200, "kept"),
    ]  # fmt: skip


def test_a_rest_is_cut_out_where_it_begins_and_ends():
    """Frames 43 to 68, at ten a second; half a second without motion later on is part of playing."""
    seen, timeline = made_look(120, 10)
    seen.moving[43:69] = seen.moving[90:95] = 0.02
    clips = clips_of(seen, timeline, [(10 * i, "play") for i in range(12)], settings_of("gta5"))
    assert [(clip.first, clip.end, clip.verdict) for clip in clips] == [
        (0, 43, "kept"), (43, 69, "static"), (69, 120, "kept"),
    ]  # fmt: skip


def test_damage_costs_what_it_reaches_and_is_told():
    seen, timeline = made_look(200, 10, cuts=(50,))
    seen.damaged[83:121] = True
    clips = clips_of(seen, timeline, [(10 * i, "play") for i in range(20)], settings_of("gta5"))
    assert [(clip.first, clip.end, clip.verdict) for clip in clips] == [
        (0, 50, "kept"), (50, 83, "kept"), (83, 121, "damaged"), (121, 200, "kept"),
    ]  # fmt: skip


def test_a_large_element_outweighs_digits_that_change(pack):
    """Of the status bar one part is left, the other shows something else: that is more than a third of its pixels."""
    made = load_pack(str(pack))
    left = [element for element in made.elements if element.state == "play" and element.box[0] < 300]
    size = sum(int((element.mask > 127).sum()) for element in left)
    whole = sum(int((element.mask > 127).sum()) for element in made.elements if element.state == "play")
    shown = screen(500, hud=True)
    shown[300:, 460:] = screen(501, hud=False)[300:, 460:]
    assert PackMatcher(made).shares(shown)["play"] == pytest.approx(size / whole)


def signature(key: int, frames: list[np.ndarray], start: float, fps: float = 4.0) -> Signature:
    times = start + np.arange(len(frames)) / fps
    return Signature(("v", key), times, np.array([picture_hash(frame) for frame in frames], np.uint64))


def test_a_re_upload_is_found_and_another_clip_is_not():
    rng = np.random.default_rng(0)

    def walk(seed: int) -> list[np.ndarray]:
        panorama = np.random.default_rng(seed).integers(0, 256, (9, 60), np.uint8)
        panorama = cv2.resize(panorama, (1200, 90), interpolation=cv2.INTER_CUBIC)
        return [panorama[:, 4 * i : 4 * i + 160].copy() for i in range(40)]

    index, original = DuplicateIndex(), walk(1)
    index.add(signature(0, original, 12.0))
    again = []
    for frame in original[3:]:  # begins later, is darker, coded anew, with a watermark
        worse = cv2.resize(cv2.resize(frame, (96, 54)), (160, 90))
        worse = (worse * 0.85 + rng.normal(0, 4, worse.shape)).clip(0, 255).astype(np.uint8)
        cv2.putText(worse, "tv", (140, 12), 0, 0.4, 255)
        again.append(worse)
    assert index.find(signature(1, again, 0.1)) == ("v", 0)
    assert index.find(signature(2, walk(2), 0.0)) is None


def test_a_re_upload_is_found_in_fast_turns():
    """Thirty pictures a second, each with a fifth of the view new; the copy begins between two looks."""

    def turn(seed: int) -> list[np.ndarray]:
        panorama = np.random.default_rng(seed).integers(0, 256, (9, 380), np.uint8)
        panorama = cv2.resize(panorama, (6080, 90), interpolation=cv2.INTER_CUBIC)
        return [panorama[:, 32 * i : 32 * i + 160].copy() for i in range(180)]

    index = DuplicateIndex()
    index.add(signature(0, turn(1), 12.0, 30.0))
    assert index.find(signature(1, turn(1)[40:], 0.1, 30.0)) == ("v", 0)
    assert index.find(signature(2, turn(2), 0.0, 30.0)) is None


@pytest.fixture(scope="module")
def harvested(tmp_path_factory) -> Path:
    """Two videos of which the second is a re-upload of the first, smaller and with bars."""
    folder = tmp_path_factory.mktemp("harvested")
    (folder / "plain.yaml").write_text(PLAIN)
    write_video(folder / "a.mp4", 180)
    write_video(folder / "b.mp4", 180, size=(120, 214), bars=(16, 0))
    plan = Plan(settings_of(str(folder / "plain.yaml")), Named(local=(str(folder),)))
    harvest = Harvest(folder / "clips", plan, Ways())
    with harvest.alone():
        plan.save(harvest.folder)
        assert not harvest.run().failures
    return folder


def test_a_re_uploaded_video_gives_no_clips(harvested):
    rows = [json.loads(line) for line in (harvested / "clips" / "clips.jsonl").read_text().splitlines()]
    assert [row["source"]["title"] for row in rows] == ["a.mp4", "a.mp4"]


def test_a_person_overrules_the_filter_and_measures_it(harvested):
    root = harvested / "clips"
    with serving(ReviewServer(root)) as server:
        page = urllib.request.urlopen(server.url).read().decode()
        assert "rejected: duplicate" in page and server.token in page
        rows = [json.loads(line) for line in (root / "clips.jsonl").read_text().splitlines()]
        said = {"clip": rows[0]["clip"], "keep": False, "verdict": "kept", "seconds": 3.0}

        def send(token: str) -> int:
            request = urllib.request.Request(
                server.url + "review", json.dumps(said).encode(), {"X-Token": token}, method="POST"
            )
            try:
                return urllib.request.urlopen(request).status
            except urllib.error.HTTPError as error:
                return error.code

        assert send("guess") == 403 and send(server.token) == 200
    plan = Plan.load(Harvest(root, Plan.load(_folder(root)), Ways()).folder)
    harvest = Harvest(root, plan, Ways())
    with harvest.alone():
        harvest.export(harvest.videos())
    left = [json.loads(line)["clip"] for line in (root / "clips.jsonl").read_text().splitlines()]
    # its re-upload is no duplicate of anything any more
    assert rows[0]["clip"] not in left and not (root / rows[0]["clip"]).exists() and len(left) == 2
    add_reviews(harvest.folder, [Review("x", True, "kept", 6.0), Review("y", True, "menu", 3.0)])
    score = score_filter(harvest.folder)
    assert (score.reviewed, score.precision, score.recall) == (3, 6 / 9, 6 / 9)


def _folder(root: Path):
    from actswm.curation.harvest.records import Folder

    return Folder(root)


def test_hours_are_told_for_files_whose_length_no_site_told(harvested):
    discover, download, normalise, *_ = hours_by_stage(_folder(harvested / "clips"))
    assert normalise.hours_out > 0
    assert discover.hours_in == download.hours_out == pytest.approx(normalise.hours_out)
