"""Progress bars for commands."""

from __future__ import annotations

import sys

import lightning as L
from lightning.pytorch.callbacks import RichProgressBar, TQDMProgressBar


def training_progress() -> L.Callback:
    """Every loss term beside the bar; plain lines where the output is not a terminal."""
    return RichProgressBar(refresh_rate=5) if sys.stderr.isatty() else TQDMProgressBar(refresh_rate=200)
