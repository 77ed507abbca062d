"""Annotation by inverse dynamics alone: the fast way, which says how sure it is and where it knows nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import Column
from ..errors import UserError
from .annotated_rows import AnnotatedRows
from .idm_file import WEIGHTS_FILE, read_provenance
from .motion_idm import MotionIdm
from .motion_labelling import label_motion
from .saved_idm import load_motion_idm

OFF_DOMAIN_THROUGHOUT = 0.9
"""Share of off-domain rows from which on a video is refused."""


@dataclass(frozen=True)
class IdmJob:
    """How every video of a run is labelled. Rows less sure than `min_confidence`, or off-domain, become invalid.

    `force` labels videos that are off-domain throughout, too; then only the confidence decides.
    """

    idm: Path
    min_confidence: float = 0.7
    force: bool = False
    owamcap: Path | None = None
    threads: int | None = None


def idm_columns(job: IdmJob) -> dict[str, Column]:
    controls = loaded_idm(job.idm).encoding.vocabulary.size
    return {
        "probability": Column("float32", (controls,)),
        "confidence": Column("float32"),
        "off_domain": Column("float32"),
    }


def idm_attributes(job: IdmJob) -> dict[str, Any]:
    model = loaded_idm(job.idm)
    told: Mapping[str, Any] = read_provenance(job.idm)
    return {
        "model": {"name": job.idm.name, "weights_sha256": weights_digest(job.idm), "provenance": told},
        "vocabulary": model.config.vocabulary,
        "frameskip": model.config.frameskip,
        "idm": {"min_confidence": job.min_confidence, "force": job.force, "threshold": model.threshold[0].tolist()},
    }


def weights_digest(idm: Path) -> str:
    with (idm / WEIGHTS_FILE).open("rb") as weights:
        return hashlib.file_digest(weights, "sha256").hexdigest()


def idm_rows(job: IdmJob, frames: Iterable[NDArray[np.uint8]]) -> Iterator[AnnotatedRows]:
    """Frames of one video at the model's size -> rows for the file; off-domain throughout is a `UserError`."""
    model, off, total = loaded_idm(job.idm), 0, 0
    for rows in label_motion(model, frames):
        labels = rows.labels
        foreign = labels.off_domain > 1
        off, total = off + int(foreign.sum()), total + len(foreign)
        columns = {
            "probability": labels.probability,
            "confidence": labels.confidence,
            "off_domain": labels.off_domain,
        }
        valid = (labels.confidence >= job.min_confidence) & (job.force | ~foreign)
        yield AnnotatedRows(rows.pixels, labels.action, columns, valid)
    if off >= OFF_DOMAIN_THROUGHOUT * total and not job.force:
        raise UserError(
            f"{off / total:.0%} of it is unlike anything the idm learned from, so labels would be noise; "
            "--force labels it all the same"
        )


@lru_cache(maxsize=1)
def loaded_idm(folder: Path) -> MotionIdm:
    return load_motion_idm(folder)
