"""What a dataset file says of itself, as JSON: other formats carry it beside the rows, so that it comes back whole."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..controls import vocabulary_of
from ..data.layout import EPISODE_COLUMNS, ROW_COLUMNS, Column, DatasetSpec
from ..errors import UserError

_VERSION = 1


def passport_of(spec: DatasetSpec) -> dict[str, Any]:
    """All but the size of the frames, which the frames tell."""
    return {
        "actswm_dataset": _VERSION,
        "fps": spec.fps,
        "vocabulary": spec.vocabulary.spelling,
        "source": spec.source,
        "action_origin": spec.action_origin,
        "attributes": dict(spec.attributes),
        "columns": {name: [column.dtype, list(column.shape)] for name, column in spec.columns.items()},
    }


def spec_of_passport(content: Any, where: str, height: int, width: int) -> DatasetSpec:
    try:
        if content["actswm_dataset"] != _VERSION:
            raise UserError(f"{where}: version {content['actswm_dataset']} is unknown; update actswm")
        columns = {
            str(name): Column(str(np.dtype(dtype)), tuple(map(int, shape)))
            for name, (dtype, shape) in content["columns"].items()
        }
        texts = [content[name] for name in ("vocabulary", "source", "action_origin")]
        sound = (
            all(isinstance(text, str) for text in texts)
            and isinstance(content["attributes"], dict)
            and all(np.dtype(column.dtype).kind in "biufS" for column in columns.values())
            and 0 < float(content["fps"]) < math.inf
        )
        if not sound:
            raise ValueError("a field has another type")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{where}: was not written by actswm ({error}); export the dataset again") from None
    vocabulary, source, origin = vocabulary_of(texts[0]), texts[1], texts[2]
    spec = DatasetSpec(
        vocabulary, height, width, float(content["fps"]), source, origin, content["attributes"]
    )
    return replace(spec, columns=kept_columns(columns))


def kept_columns(columns: dict[str, Column]) -> dict[str, Column]:
    """Extra ones alone: a name of ours means what the layout says."""
    return {name: column for name, column in columns.items() if name not in (*ROW_COLUMNS, *EPISODE_COLUMNS)}
