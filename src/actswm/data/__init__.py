"""The dataset file: write, read, validate, and sample windows. Only `loader` needs torch."""

from .layout import Column, DatasetSpec
from .reader import DatasetFile
from .validation import validate
from .windows import Split, WindowShape, split_episodes, starts_in, valid_starts
from .writer import DatasetWriter

__all__ = [
    "Column",
    "DatasetFile",
    "DatasetSpec",
    "DatasetWriter",
    "Split",
    "WindowShape",
    "split_episodes",
    "starts_in",
    "valid_starts",
    "validate",
]
