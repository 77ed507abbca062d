"""Unpickles plain containers and NumPy arrays, and nothing that could run code."""

from __future__ import annotations

import io
import pickle
from typing import Any

from ..errors import UserError

_ALLOWED = {
    ("collections", "OrderedDict"),
    ("_codecs", "encode"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    *(
        (f"numpy.{core}.{module}", name)
        for core in ("core", "_core")
        for module, name in (
            ("multiarray", "_reconstruct"),
            ("multiarray", "scalar"),
            ("numeric", "_frombuffer"),
        )
    ),
}


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return super().find_class(module, name)


def load_plain(data: bytes, source: str) -> Any:
    """The object in `data`; `source` is named if it is refused or damaged."""
    try:
        return _PlainUnpickler(io.BytesIO(data)).load()
    except Exception as error:  # a damaged pickle raises anything at all
        raise UserError(
            f"{source}: refused a pickle that is not plain data ({str(error)[:80]}); do not trust this file"
        ) from None
