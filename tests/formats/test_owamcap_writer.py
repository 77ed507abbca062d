"""Files written here are judged by the format's own reader."""

from __future__ import annotations

import numpy as np
import pytest

from actswm.controls import KEYS14, MINECRAFT
from actswm.formats.owamcap import OwamcapWriter

from ..made.recordings import START, moving_frames


def test_the_owa_reader_opens_and_decodes_every_frame(tmp_path) -> None:
    highlevel = pytest.importorskip("mcap_owa.highlevel", reason="the format's own reader is not installed")
    pixels = moving_frames(75, 128, 128)
    path = tmp_path / "run.mcap"
    with OwamcapWriter(path, height=128, width=128, fps=35.0, vocabulary=KEYS14, start_ns=START) as writer:
        for step, frame in enumerate(pixels):
            names = [name for i, name in enumerate(KEYS14.names) if step % (i + 2) == 0 and name != "Turn_L"]
            writer.add(frame, KEYS14.action(names), events=["death"] if step == 40 else [])
    with highlevel.OWAMcapReader(str(path)) as reader:
        messages = list(reader.iter_messages())
    screens = [m.decoded.resolve_relative_path(str(path)) for m in messages if m.topic == "screen"]
    assert len(screens) == 75
    decoded = np.stack([screen.to_rgb_array() for screen in screens])
    error = np.abs(decoded.astype(int) - pixels)
    assert error.mean() < 1.5 and error.max() < 24
    presses = [m.decoded for m in messages if m.topic == "keyboard" and m.decoded.event_type == "press"]
    assert {event.vk for event in presses} == {0x57, 0x41, 0x53, 0x44, 0xA0, 0xA2, 0x52, 0x20}
    raw = [m.decoded for m in messages if m.topic == "mouse/raw"]
    assert any(event.dx > 3 for event in raw) and any(int(event.button_flags) & 1 for event in raw)
    states = [m for m in messages if m.topic == "keyboard/state"]
    assert [m.timestamp - START for m in states] == [0, 1_000_000_000, 2_000_000_000]


def test_camera_degrees_travel_as_mouse_counts(tmp_path) -> None:
    highlevel = pytest.importorskip("mcap_owa.highlevel", reason="the format's own reader is not installed")
    path = tmp_path / "run.mcap"
    with OwamcapWriter(path, height=64, width=64, fps=20, vocabulary=MINECRAFT, start_ns=START) as writer:
        action = MINECRAFT.action(["forward", "hotbar.3"], {"pitch": -1.25, "yaw": 7.5})
        writer.add(moving_frames(1)[0], action)
    with highlevel.OWAMcapReader(str(path)) as reader:
        [raw] = [m.decoded for m in reader.iter_messages() if m.topic == "mouse/raw"]
    scale = writer.key_map.degrees_per_count
    assert (raw.dx * scale, raw.dy * scale) == pytest.approx((7.5, -1.25))


def test_an_exception_leaves_nothing_behind(tmp_path) -> None:
    with (
        pytest.raises(RuntimeError),
        OwamcapWriter(tmp_path / "a.mcap", height=64, width=64, fps=20, vocabulary=KEYS14) as writer,
    ):
        writer.add(moving_frames(1)[0], KEYS14.noop())
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_the_files_appear_only_when_closed(tmp_path) -> None:
    writer = OwamcapWriter(tmp_path / "a.mcap", height=64, width=64, fps=20, vocabulary=KEYS14)
    writer.add(moving_frames(1)[0], KEYS14.noop())
    assert not any(path.suffix in (".mcap", ".mkv") for path in tmp_path.iterdir())
    writer.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.mcap", "a.mkv"]
