"""The real command with the real engine, through HTTP: who gets in, what is kept, and what is left behind."""

import base64
import socket

import cv2
import numpy as np
import pytest

from actswm.controls import KEYS14
from actswm.data import DatasetFile, validate
from actswm.formats.keymap import SHOOTER_KEYS
from actswm.games import make_game

from ..games.leftovers import eventually, processes_of
from .running import playing

W, TURN_L = KEYS14.index("W"), KEYS14.index("Turn_L")


def rendered_again(file: DatasetFile, episode: int) -> np.ndarray:
    """The frames that the engine draws for the episode's seed and actions."""
    rows = slice(file.ep_offset[episode], file.ep_offset[episode] + file.ep_len[episode])
    game = make_game(file.source, size=(file.height, file.width))
    try:
        frame, _ = game.reset(seed=int(file.column("seed")[rows][0]))
        frames = [frame]
        for action in file.action[rows][:-1]:
            frames.append(game.step(action)[0])
    finally:
        game.close()
    return np.stack(frames)


def test_what_is_played_is_what_is_saved(tmp_path, room_file, checkpoint):
    saved = tmp_path / "played.h5"
    imagining = ("--model", checkpoint, "--data", room_file, "--gallery", "100", "--steps", "1,3")
    keeping = ("--record", saved, "--owamcap", tmp_path / "owamcap")
    with playing(tmp_path, "freedoom/room", *imagining, *keeping) as session:
        with session.watching() as stream:
            about = stream.wait("about")
            assert about["steps"] == [1, 3] and about["models"] == ["made"] and about["game"] == "freedoom/room"
            assert [lane["name"] for lane in about["lanes"] if lane["effective"]] == [
                *"WASD", "Turn_L", "Turn_R",
            ]  # fmt: skip
            first = stream.wait("moment")
            assert first["step"] == 0 and not first["running"], "the world waits for the player"
            picture = np.frombuffer(base64.b64decode(first["jpeg"]), np.uint8)
            assert cv2.imdecode(picture, cv2.IMREAD_COLOR).shape == (480, 640, 3), "large enough for people"
            picture = np.frombuffer(base64.b64decode(first["seen"]), np.uint8)
            assert cv2.imdecode(picture, cv2.IMREAD_COLOR).shape == (16, 16, 3), "the model's own"

            assert session.post("input", held=["W"]) == 204
            assert session.post("clock", running=True) == 204
            stream.wait("moment", lambda moment: moment["action"][W] == 1 and moment["step"] >= 12)
            held = stream.wait("imagined", lambda imagined: imagined["futures"][0]["held"] == ["W"])
            assert [len(future["jpegs"]) for future in held["futures"]] == [2, 2] and held["latency"] > 0
            assert session.post("input", held=["W", "-x"], tapped=["D"]) == 204
            stream.wait("moment", lambda moment: moment["action"][TURN_L] == 1)
            assert session.post("episode", wish="save") == 204
            second = stream.wait("moment", lambda moment: moment["episode"] == 2)
            assert second["kept"]["episodes"] == 1 and second["kept"]["frames"] >= 12
            assert [second["presses"][KEYS14.index(name)] for name in ("W", "D", "Turn_L")] == [1, 1, 1]

            session.post("input", held=["S"])
            stream.wait("moment", lambda moment: moment["action"][KEYS14.index("S")] == 1)
            session.post("input", held=[])
            session.post("episode", wish="reset")
            third = stream.wait("moment", lambda moment: moment["episode"] == 3)
            assert third["kept"] == second["kept"], "a reset keeps nothing"
            session.post("input", held=["A"])
            stream.wait("moment", lambda moment: moment["episode"] == 3 and moment["step"] > 20)
            assert processes_of(session.temporary)
            said = session.interrupt()
            stream.wait("ended")
        assert session.process.returncode == 0 and f"{saved}: " in said and "in 2 new episodes" in said
        assert eventually(lambda: not processes_of(session.temporary)), "the engine is gone"
        assert not list(session.temporary.iterdir())
        with socket.socket() as again:  # the port is free
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", session.port))

    validate(saved)
    with DatasetFile(saved) as file:
        assert file.num_episodes == 2 and file.attributes["behaviour"] == "person"
        ends = np.cumsum(file.ep_len)
        one, two = np.split(file.action, ends)[:2]
        assert (one[:12, W] == 1).all() and one[:, KEYS14.index("D")].sum() == 1
        assert one[-1, TURN_L] == 1 and one[-1, W] == 1
        assert not file.action[:, KEYS14.index("S")].any(), "the episode that was taken back"
        assert KEYS14.pressed(two[-1]) == ("A",)
        for episode, pixels in enumerate(np.split(file.pixels[:], ends)[:2]):
            np.testing.assert_array_equal(rendered_again(file, episode), pixels)
    names = sorted(path.name for path in (tmp_path / "owamcap").iterdir())
    assert names == [f"episode-0000{number}.{kind}" for number in (0, 1) for kind in ("mcap", "mkv")]


def test_inside_the_models_reality_waits_and_nothing_is_kept(tmp_path, room_file, checkpoint, drawing):
    """Two models side by side: one is drawn by its decoder, the other shown by recorded frames."""
    saved = tmp_path / "played.h5"
    models = ("--model", checkpoint, "--model", drawing, "--data", room_file, "--gallery", "50", "--steps", "1")
    with playing(tmp_path, "freedoom/room", *models, "--record", saved) as session, session.watching() as stream:
        about = stream.wait("about")
        assert about["models"] == ["made", "drawing"] and about["drawn"] == [False, True]
        session.post("clock", running=True)
        for model in (0, 1):
            stream.wait("imagined", lambda imagined, model=model: imagined["model"] == model)
        session.post("input", held=["W"])
        stream.wait("moment", lambda moment: moment["step"] >= 6)
        assert session.post("world", imagined=True) == 204
        inside = stream.wait("moment", lambda moment: len(moment["dreams"]) == 2)
        assert inside["step"] % 4 == 0 and inside["dreamt"] == 0
        session.post("input", held=["S"])
        later = stream.wait("moment", lambda moment: moment["dreamt"] >= 3)
        assert later["step"] == inside["step"] and later["action"][KEYS14.index("S")] == 1
        assert all(one != other for one, other in zip(inside["dreams"], later["dreams"]))
        session.post("input", held=["A"])
        stream.wait("moment", lambda moment: moment["action"][KEYS14.index("A")] == 1)
        assert session.post("world", imagined=False) == 204
        back = stream.wait("moment", lambda moment: not moment["dreams"])
        assert back["step"] == inside["step"]
        stream.wait("moment", lambda moment: moment["step"] > inside["step"] + 4)
        session.post("world", imagined=True)
        stream.wait("moment", lambda moment: moment["dreams"])
        session.post("episode", wish="save")
        stream.wait("moment", lambda moment: moment["episode"] == 2 and not moment["dreams"])
        session.interrupt()
    with DatasetFile(saved) as file:
        first = slice(0, int(file.ep_len[0]))
        assert not file.action[:, KEYS14.index("S")].any()
        np.testing.assert_array_equal(rendered_again(file, 0), file.pixels[first])


def test_the_view_turns_as_far_as_the_mouse_says(tmp_path):
    saved = tmp_path / "played.h5"
    with (
        playing(tmp_path, "freedoom/room", "--size", "16", "--view", "0", "--record", saved) as session,
        session.watching() as stream,
    ):
        session.post("clock", running=True)
        stream.wait("moment", lambda moment: moment["step"] >= 2)
        for dx in (200, -80):
            last = stream.seen["moment"][-1]["step"]
            session.post("input", held=[], dx=dx)
            stream.wait("moment", lambda moment, last=last: moment["step"] >= last + 30)
        session.interrupt()
    with DatasetFile(saved) as file:
        yaw = np.unwrap(file.column("pose")[:, 3], period=360)
    assert yaw[0] - yaw[-1] == pytest.approx(120 * SHOOTER_KEYS.degrees_per_count, abs=1.8)
    assert yaw[0] - yaw.min() == pytest.approx(200 * SHOOTER_KEYS.degrees_per_count, abs=1.8)


def test_the_same_file_is_continued_and_an_unused_one_is_not_left(tmp_path):
    saved = tmp_path / "played.h5"
    for count in (1, 2):
        with (
            playing(tmp_path, "freedoom/room", "--size", "16", "--record", saved) as session,
            session.watching() as stream,
        ):
            session.post("clock", running=True)
            stream.wait("moment", lambda moment: moment["step"] >= 3)
            session.interrupt()
        with DatasetFile(saved) as file:
            assert file.num_episodes == count
    with DatasetFile(saved) as file:
        seeds = file.column("seed")[file.ep_offset]
        assert seeds[0] != seeds[1], "another start"
    unused = tmp_path / "unused.h5"
    with playing(tmp_path, "freedoom/room", "--size", "16", "--record", unused) as session:
        session.interrupt()
        assert session.process.returncode == 0 and not unused.exists()


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with playing(tmp_path_factory.mktemp("play"), "freedoom/room", "--size", "16") as running:
        yield running


def test_without_the_token_nobody_gets_in(session):
    other = "x" * len(session.token)
    for path in ("/", "/stream", f"/{other}/", f"/{other}/stream", f"/{session.token}x/", "/page.js"):
        assert session.request("GET", path)[0] == 403, path
    assert session.request("POST", "/input", {"held": []})[0] == 403
    status, body, headers = session.request("GET", f"/{session.token}/")
    assert status == 200 and b"page.js" in body and "default-src 'self'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", ""])
def test_a_foreign_host_is_refused_even_with_the_token(session, host):
    """A name that has been pointed at this machine shows in the Host header."""
    headers = {"Host": host.format(port=session.port)}
    assert session.request("GET", f"/{session.token}/", **headers)[0] == 403
    assert session.request("POST", f"/{session.token}/input", {"held": []}, **headers)[0] == 403


def test_a_foreign_page_is_refused(session):
    path = f"/{session.token}/input"
    assert session.request("POST", path, {"held": []}, Origin="http://evil.example")[0] == 403
    assert session.request("POST", path, {"held": []}, Origin="null")[0] == 403
    assert session.request("POST", path, {"held": []}, Origin=f"http://127.0.0.1:{session.port}")[0] == 204
    assert session.request("GET", f"/{session.token}/", Host=f"localhost:{session.port}")[0] == 200


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("input", b"{", 400),
        ("input", b"[]", 400),
        ("input", b"{}", 400),
        ("input", b'{"held": ["Fly"]}', 400),
        ("input", b'{"held": [[]]}', 400),
        ("input", b'{"held": [], "dx": NaN}', 400),
        ("input", b'{"held": [], "dx": "far"}', 400),
        ("input", b'{"held": [], "dx": 1' + b"0" * 400 + b"}", 400),
        ("input", b" " * 5000, 413),
        ("clock", b'{"running": 1}', 404),
        ("clock", b"{}", 400),
        ("world", b'{"imagined": true}', 400),
        ("world", b'{"imagined": "yes"}', 404),
        ("episode", b'{"wish": "fly"}', 404),
        ("fly", b"{}", 404),
    ],
)
def test_what_is_not_understood_is_refused(session, name, body, status):
    assert session.request("POST", f"/{session.token}/{name}", body)[0] == status
    assert session.request("GET", f"/{session.token}/nothing")[0] == 404


def test_the_world_waits_while_nobody_looks(session):
    with session.watching() as stream:
        session.post("clock", running=True)
        stream.wait("moment", lambda moment: moment["step"] >= 3)

    def stopped() -> bool:
        with session.watching() as stream:
            return not stream.wait("moment")["running"]

    assert eventually(stopped)
