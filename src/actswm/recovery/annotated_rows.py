"""Rows on their way into an annotated file, whoever found their actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class AnnotatedRows:
    """Frames (n, h, w, 3), actions (n, A), what else is known of each row, and which rows may be trained on."""

    pixels: NDArray[np.uint8]
    action: NDArray[np.float32]
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    valid: NDArray[np.bool_] | None = None
