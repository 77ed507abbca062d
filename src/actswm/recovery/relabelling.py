"""Another file of the same frames: what was recorded is forgotten, and inverse dynamics says what was pressed.

Trained on such a file, a world model shows what labels are worth: the frames are those of the file with true controls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..data import Dataset, DatasetSpec, DatasetWriter, open_checked
from ..dataset_paths import label
from ..errors import UserError
from ..processes import only_run
from .idm_annotation import IdmJob, idm_attributes, idm_columns, idm_rows, loaded_idm, weights_digest

_BLOCK = 256
OF = "relabelled"
"""Attribute: the file whose frames these are."""


@dataclass(frozen=True)
class Relabelled:
    """`invalid` of the frames are not to be trained on; `off_domain` are unlike what the idm was trained on."""

    episodes: int
    frames: int
    invalid: int
    off_domain: int


def relabel(
    data: Path, out: Path, job: IdmJob, progress: Callable[[int, int], None] = lambda done, total: None
) -> Relabelled:
    """Write `out`, row for row the frames of `data` with labels of the idm; an unfinished one is continued.

    Rows that `data` calls invalid stay so. An episode that is off-domain throughout ends it, unless forced.
    """
    with open_checked(data) as source, only_run(out.with_name(f"{out.name}.work")):
        spec = _spec(source, job)
        _require_size(source, spec)
        with DatasetWriter(out, spec) as writer:
            progress(writer.num_frames, source.num_frames)
            for number in range(writer.num_episodes, source.num_episodes):
                begin = int(source.ep_offset[number])
                known = source.frame_valid[begin : begin + int(source.ep_len[number])].astype(bool)
                try:
                    with writer.episode() as episode:
                        for rows in idm_rows(job, _frames(source, begin, len(known))):
                            here = known[episode.length : episode.length + len(rows.pixels)]
                            valid = here if rows.valid is None else here & rows.valid
                            episode.add(rows.pixels, rows.action, valid, **rows.columns)
                except UserError as error:
                    raise UserError(f"{label(data)}, episode {number}: {error}") from None
                progress(writer.num_frames, source.num_frames)
    with open_checked(out) as written:
        invalid, foreign = ~written.frame_valid.astype(bool), written.column("off_domain") > 1
        return Relabelled(written.num_episodes, written.num_frames, int(invalid.sum()), int(foreign.sum()))


def _spec(source: Dataset, job: IdmJob) -> DatasetSpec:
    model = loaded_idm(job.idm)
    return DatasetSpec(
        model.encoding.vocabulary,
        model.config.image_size,
        model.config.image_size,
        source.fps,
        source=source.source,
        action_origin=f"recovered by inverse dynamics, {job.idm.name} ({weights_digest(job.idm)[:12]})",
        attributes={**idm_attributes(job), OF: label(source.path)},
        columns=idm_columns(job),
    )


def _require_size(source: Dataset, spec: DatasetSpec) -> None:
    if (source.height, source.width) != (spec.height, spec.width):
        raise UserError(
            f"{source.path}: has frames of {source.height} x {source.width} px, the idm takes {spec.height} x "
            f"{spec.width}; record or clean at that size"
        )


def _frames(source: Dataset, begin: int, count: int) -> Iterator[NDArray[np.uint8]]:
    for first in range(begin, begin + count, _BLOCK):
        yield from source.frames(slice(first, min(first + _BLOCK, begin + count)))
