"""Episodes into a folder of shards: a new one begins where the present one is large enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..atomic import folder_written_whole
from .layout import DatasetSpec
from .writer import DatasetWriter, new_dataset

NextWriter = Callable[[bool], DatasetWriter]
"""Who writes the next episode. True: it has to lie in one file with the episode before it."""


@contextmanager
def new_output(path: Path, spec: DatasetSpec, shard_bytes: int | None) -> Iterator[NextWriter]:
    """A new file at `path`, or a folder of shards of about so many bytes; it appears when the block ends well."""
    if shard_bytes is None:
        with new_dataset(path, spec) as writer:
            yield lambda together: writer
        return
    with folder_written_whole(path) as folder, ExitStack() as current:
        writers: list[DatasetWriter] = []

        def next_writer(together: bool) -> DatasetWriter:
            full = bool(writers) and writers[-1].path.stat().st_size >= shard_bytes
            if not writers or (full and not together):
                current.close()
                shard = DatasetWriter(folder / f"{len(writers):05}.h5", spec)
                writers.append(current.enter_context(shard))
            return writers[-1]

        yield next_writer
