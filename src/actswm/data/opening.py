"""The one way in for data from outside: a file, a folder of shards, a glob, or a list."""

from __future__ import annotations

from ..dataset_paths import AnyDataset, dataset_path, is_one_file, shard_files
from .dataset import Dataset
from .reader import DatasetFile
from .sharded import ShardedDataset
from .validation import open_file


def open_checked(dataset: AnyDataset, *, may_be_empty: bool = False) -> Dataset:
    """Open a dataset all of whose files keep every promise of `layout`.

    `may_be_empty`: for an output to be continued, in which there may be no episode yet.
    """
    path = dataset_path(dataset)
    files = shard_files(path)
    if is_one_file(path):
        return open_file(path, may_be_empty=may_be_empty)
    return ShardedDataset(path, files, may_be_empty=may_be_empty)


def open_known(dataset: AnyDataset) -> Dataset:
    """Open what the caller has checked before; one file is not gone through again."""
    path = dataset_path(dataset)
    return DatasetFile(path) if is_one_file(path) else open_checked(path)


def validate(dataset: AnyDataset) -> None:
    """Raise `UserError` unless every file keeps every promise of `layout`."""
    open_checked(dataset).close()
