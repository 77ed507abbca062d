"""Columns of numbers and short texts as Arrow arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..data.layout import Column
from ..errors import UserError


def arrow_array(values: NDArray[Any], entries: int = 0) -> pa.Array:
    """(n, ...) -> n numbers or texts, or n lists of `entries` each; several dimensions are laid out flat."""
    flat = np.ascontiguousarray(values).ravel()
    array = pa.array(np.char.decode(flat, "utf-8", "replace") if flat.dtype.kind == "S" else flat)
    return pa.FixedSizeListArray.from_arrays(array, entries) if entries else array


def entries_of(array: pa.Array, where: str) -> NDArray[Any]:
    """n numbers, texts or lists (of lists) of one length -> (n, k)."""
    rows, inner = len(array), array
    while True:
        if isinstance(inner, pa.ExtensionArray):
            inner = inner.storage
        elif pa.types.is_list(inner.type) or pa.types.is_large_list(inner.type) or _is_fixed(inner.type):
            lengths = set(inner.value_lengths().unique().to_pylist())
            if len(lengths) > 1:
                raise UserError(
                    f"{where}: its entries differ in length; no dataset of one form can hold them"
                )
            inner = inner.flatten()
        else:
            break
    if inner.null_count:
        raise UserError(f"{where}: {inner.null_count} values are missing")
    values = inner.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "biuf":
        values = np.array([str(value).encode() for value in values.tolist()], "S")
    return values.reshape(rows, -1)


def _is_fixed(kind: pa.DataType) -> bool:
    return pa.types.is_fixed_size_list(kind)


def column_values(array: pa.Array, column: Column, where: str) -> NDArray[Any]:
    """Entries in the form that a dataset's column has."""
    try:
        return entries_of(array, where).reshape(len(array), *column.shape).astype(column.dtype)
    except ValueError as error:
        raise UserError(f"{where}: is no {column.dtype} {column.shape} a row ({error})") from None


def column_of(array: pa.Array, where: str) -> Column:
    """The column that holds what somebody else wrote: scalars, or flat entries."""
    values = entries_of(array, where)
    return Column(str(values.dtype), () if values.shape[1] == 1 else (values.shape[1],))
