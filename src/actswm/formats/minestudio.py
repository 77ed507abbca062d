"""MineStudio's LMDB trajectories: one folder per modality, chunks of frames under `str((episode, start))`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from ..controls import MINECRAFT
from ..errors import UserError
from .lmdb_file import LmdbFile
from .safe_pickle import load_plain
from .video import NS, DecodedFrame, pictures

FPS = 20
_IMAGES, _INFOS = ("image", "video"), ("meta_info", "contractor_info")


@dataclass(frozen=True)
class EpisodeLog:
    """Actions of one episode, and where a window was open (all False without `meta_info`)."""

    action: NDArray[np.float32]
    gui_open: NDArray[np.bool_]


class MineStudioFolder:
    """Episodes that have both actions and images; parts of a modality cut the episodes differently."""

    def __init__(self, root: Path) -> None:
        self.root = root
        if not root.is_dir():
            raise UserError(f"{root}: no such MineStudio folder")
        self._action = self._modality("action")
        self._image = next((found for name in _IMAGES if (found := self._modality(name))), {})
        self._info = next((found for name in _INFOS if (found := self._modality(name))), {})
        self.episodes = sorted(self._action.keys() & self._image.keys())
        if not self.episodes:
            raise UserError(
                f"{root}: no episode has both `action` and `image` parts; is it a MineStudio dataset?"
            )

    def read(self, episode: str) -> EpisodeLog:
        """Actions over the Minecraft vocabulary; controls that MineStudio adds are left out."""
        chunks = [_action_chunk(chunk, str(self.root)) for chunk in self._chunks(self._action, episode)]
        action = np.concatenate(chunks)
        gui_open = np.zeros(len(action), bool)
        position = 0
        for chunk in self._chunks(self._info, episode) if episode in self._info else ():
            infos = load_plain(chunk, str(self.root))
            try:
                flags = [bool(info.get("isGuiOpen", False)) for info in infos][: len(action) - position]
            except (AttributeError, TypeError, ValueError) as error:
                raise UserError(f"{self.root}: `meta_info` is not in MineStudio's form ({error!r})") from None
            gui_open[position : position + len(flags)] = flags
            position += len(infos)
        return EpisodeLog(action, gui_open)

    def count_images(self, episode: str) -> int:
        """Frames that the image chunks hold: the metadata's count is rounded up to whole chunks."""
        return sum(_packets(chunk, str(self.root)) for chunk in self._chunks(self._image, episode))

    def decode(self, episode: str) -> Iterator[DecodedFrame]:
        index = 0
        for chunk in self._chunks(self._image, episode):
            with _open_chunk(chunk, str(self.root)) as container:
                try:
                    # A skipped frame would shift the actions of all that follow: a damaged chunk ends the episode.
                    for picture, corrupt in pictures(container, container.streams.video[0], skip=False):
                        yield DecodedFrame(index * NS // FPS, picture, corrupt)
                        index += 1
                except av.FFmpegError as error:
                    raise UserError(
                        f"{self.root}: an image chunk of {episode!r} is damaged ({error})"
                    ) from None

    def _modality(self, name: str) -> dict[str, tuple[Path, int]]:
        """Episode -> (part, its number in that part)."""
        found: dict[str, tuple[Path, int]] = {}
        folder = self.root / name
        parts = sorted(p.parent for p in folder.glob("**/data.mdb")) if folder.is_dir() else []
        for part in parts:
            infos = load_plain(_get(part, "__chunk_infos__"), str(part))
            try:
                found.update({str(info["episode"]): (part, int(info["episode_idx"])) for info in infos})
            except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
                raise UserError(f"{part}: `__chunk_infos__` does not list episodes ({error!r})") from None
        return found

    def _chunks(self, modality: dict[str, tuple[Path, int]], episode: str) -> Iterator[bytes]:
        part, number = modality[episode]
        size = load_plain(_get(part, "__chunk_size__"), str(part))
        if not isinstance(size, (int, np.integer)) or size < 1:
            raise UserError(f"{part}: `__chunk_size__` is {str(size)[:20]!r}, not a number of frames")
        start = 0
        while (chunk := _opened(part).get(str((number, start)).encode())) is not None:
            yield chunk
            start += int(size)
        if start == 0:
            raise UserError(f"{part}: lists episode {episode!r} but holds no chunk of it; download it again")


@lru_cache(maxsize=64)
def _opened(part: Path) -> LmdbFile:
    return LmdbFile(part)


def _get(part: Path, key: str) -> bytes:
    value = _opened(part).get(key.encode())
    if value is None:
        raise UserError(f"{part}: has no {key!r}; it is not a MineStudio part")
    return value


def _action_chunk(chunk: bytes, source: str) -> NDArray[np.float32]:
    try:
        fields = load_plain(chunk, source)
        camera = np.asarray(fields["camera"], np.float32)
        if not np.isfinite(camera).all():
            raise ValueError("camera angles that are no numbers")
        action = np.zeros((len(camera), MINECRAFT.size), np.float32)
        for index, name in enumerate(MINECRAFT.names):
            if name == "pitch":
                action[:, index] = camera[:, 0]
            elif name == "yaw":
                action[:, index] = camera[:, 1]
            elif name in fields:
                action[:, index] = np.asarray(fields[name]) != 0
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise UserError(f"{source}: an action chunk is not in MineStudio's form ({error!r})") from None
    return action


def _open_chunk(chunk: bytes, source: str) -> Any:
    try:
        container = av.open(io.BytesIO(chunk), format="mp4")
    except (av.FFmpegError, ValueError) as error:
        raise UserError(f"{source}: an image chunk cannot be opened as video ({error})") from None
    if not container.streams.video:
        container.close()
        raise UserError(f"{source}: an image chunk has no video track")
    return container


def _packets(chunk: bytes, source: str) -> int:
    with _open_chunk(chunk, source) as container:
        try:
            return sum(packet.size > 0 for packet in container.demux(video=0))
        except av.FFmpegError as error:
            raise UserError(f"{source}: an image chunk breaks off ({error})") from None
