"""Reads the words on a screen with RapidOCR, in this process and on one thread."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UserError

ReadText = Callable[[NDArray[np.uint8]], list[str]]
_MXCSR = 7
"""Where x86-64's `fenv_t`, eight 32-bit words, keeps the control word of vector arithmetic."""
_FLUSH = 0x8040
"""Its bits for: denormal results are zero, denormal operands are zero."""


def load_ocr() -> Any:
    """The OCR engine's class, or one line about what to install."""
    try:
        from rapidocr import RapidOCR
    except ImportError:
        raise UserError(
            "the embedded judge reads screens with OCR, which is not installed: "
            "pip install 'actswm[judge]', or judge by rules only with --judge rules"
        ) from None
    return RapidOCR


@lru_cache(1)
def ocr_reader() -> ReadText:
    """RapidOCR with the models its wheel carries; nothing is downloaded. Loaded once per process."""
    engine = load_ocr()(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": 640,
            # a second thread would neither flush denormals nor help: decoding keeps the other cores busy
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        }
    )
    engine(np.zeros((32, 32, 3), np.uint8))  # the first session of a process resets the thread's control word

    def read_text(rgb: NDArray[np.uint8]) -> list[str]:
        with flushed_denormals():
            return list(engine(np.ascontiguousarray(rgb[..., ::-1])).txts or ())

    return read_text


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """Numbers below 1e-38 count as zero on this thread, where that can be asked for (glibc on x86-64).

    The detector's activations are full of them: they carry nothing, and x86 takes a hundred times as long over each.
    """
    if platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc":
        yield
        return
    libm = ctypes.CDLL("libm.so.6")
    before, flushing = (ctypes.c_uint32 * 8)(), (ctypes.c_uint32 * 8)()
    libm.fegetenv(before)
    ctypes.memmove(flushing, before, ctypes.sizeof(before))
    flushing[_MXCSR] |= _FLUSH
    libm.fesetenv(flushing)
    try:
        yield
    finally:
        libm.fesetenv(before)
