"""Opens a dataset with the `lerobot` package's own reader, in a process of its own, and keeps what it says.

lerobot imports torchvision and accelerate, which have no CPU build that fits, for two classes: one that runs a video
through PyAV, one that is never made. Both are here in a few lines; all else is lerobot's.

    python -m tests.exchange.lerobot_reader FOLDER OUT.npz
"""

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import av
import numpy as np
import torch


class VideoReader:
    """torchvision.io's, with its backend `pyav`: pictures (3, h, w) and their seconds."""

    def __init__(self, path: str, stream: str) -> None:
        self.container = av.open(path)

    def seek(self, seconds: float, keyframes_only: bool) -> None:
        self.container.seek(int(seconds * av.time_base), any_frame=not keyframes_only)

    def __iter__(self) -> Any:
        for frame in self.container.decode(video=0):
            yield {
                "data": torch.from_numpy(frame.to_ndarray(format="rgb24")).permute(2, 0, 1),
                "pts": frame.time,
            }


def stand_in(name: str, **content: Any) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(content, __spec__=ModuleSpec(name, None))
    sys.modules[name] = module
    return module


def read(folder: Path) -> dict[str, np.ndarray]:
    import datasets  # noqa: F401  (it looks which packages there are)

    stand_in("accelerate", Accelerator=object)
    parts = {
        "io": stand_in("torchvision.io", VideoReader=VideoReader),
        "transforms": stand_in("torchvision.transforms"),
    }
    stand_in("torchvision", set_video_backend=lambda backend: None, **parts)
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    data = LeRobotDataset("actswm/made", root=folder, video_backend="pyav")
    items = [data[index] for index in range(len(data))]
    told = {
        "frames": torch.stack([item["observation.images.game"] for item in items]),
        **{
            name: torch.stack([item[name] for item in items])
            for name in items[0]
            if torch.is_tensor(items[0][name])
        },
        "task": np.array([item["task"] for item in items]),
        "fps": data.fps,
        "begins": data.meta.episodes["dataset_from_index"],
        "ends": data.meta.episodes["dataset_to_index"],
        "names": np.array(data.meta.names["action"]),
        "action_mean": data.meta.stats["action"]["mean"],
    }
    return {name: np.asarray(value) for name, value in told.items()}


if __name__ == "__main__":
    np.savez(sys.argv[2], **read(Path(sys.argv[1])))
