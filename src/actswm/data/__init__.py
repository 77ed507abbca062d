"""The dataset: write, read, validate, and sample windows. Only `loader` needs torch."""

from .dataset import Dataset
from .evaluation import WindowSample, sample_windows
from .layout import Column, DatasetSpec
from .opening import open_checked, validate
from .reader import DatasetFile
from .siblings import split_file
from .windows import Split, WindowShape, split_episodes, starts_in, valid_starts
from .writer import DatasetWriter

__all__ = [
    "Column",
    "Dataset",
    "DatasetFile",
    "DatasetSpec",
    "DatasetWriter",
    "Split",
    "WindowSample",
    "WindowShape",
    "open_checked",
    "sample_windows",
    "split_episodes",
    "split_file",
    "starts_in",
    "valid_starts",
    "validate",
]
