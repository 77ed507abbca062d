"""LeRobotDataset v3: which files there are, and what every row has. A folder of parquet (rows) and MP4 (frames).

Episodes lie one behind the other in files of some 100 MB; `meta/episodes` tells which files and where in them.
"""

from __future__ import annotations

from pathlib import Path

VERSION = "v3.0"
INFO = Path("meta/info.json")
STATS = Path("meta/stats.json")
TASKS = Path("meta/tasks.parquet")
PASSPORT = Path("meta/actswm.json")
"""Ours, which other readers do not look at: what the format has no place for."""
DATA_PATTERN = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATTERN = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES_PATTERN = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
CHUNK_FILES = 1000
"""Files in one folder."""
DATA_MB, VIDEO_MB = 100, 200
"""A file that is as large is followed by another."""
CAMERA = "observation.images.game"
"""Our one picture."""
ROW_FEATURES = {
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}
"""What every row has, whatever was recorded: seconds and frames into the episode, episode, row, task."""
