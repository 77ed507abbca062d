"""`record --owamcap` against the format's own reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from actswm.data import DatasetFile
from actswm.games.episodes import RecordingPlan
from actswm.games.recording import record

highlevel = pytest.importorskip("mcap_owa.highlevel", reason="the format's own reader is not installed")


def test_each_episode_is_an_owamcap_recording_with_the_same_frames(tmp_path: Path):
    plan = RecordingPlan("freedoom/maps", size=(64, 64), episode_steps=60)
    record(plan, 100, tmp_path / "file.h5", owamcap=tmp_path / "owa")
    names = ["episode-00000.mcap", "episode-00000.mkv", "episode-00001.mcap", "episode-00001.mkv"]
    assert sorted(path.name for path in (tmp_path / "owa").iterdir()) == names
    with DatasetFile(tmp_path / "file.h5") as file:
        for number, rows in enumerate((slice(0, 60), slice(60, 100))):
            path = str(tmp_path / "owa" / f"episode-{number:05}.mcap")
            with highlevel.OWAMcapReader(path) as reader:
                messages = [(message.topic, message.decoded) for message in reader.iter_messages()]
            frames = [
                screen.resolve_relative_path(path).to_rgb_array()
                for topic, screen in messages
                if topic == "screen"
            ]
            assert np.abs(np.stack(frames).astype(int) - file.pixels[rows]).mean() < 4
            walks = [key for topic, key in messages if topic == "keyboard" and key.vk == ord("W")]
            pressed = np.diff(file.action[rows][:, 0], prepend=0)
            assert sum(key.event_type == "press" for key in walks) == (pressed > 0).sum()
