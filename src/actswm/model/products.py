"""Matrix products at the processor's own rate, and attention that is made of them.

torch gives fp32 products on CPUs to MKL, which serves AMD's processors with half of what they can do; oneDNN does not.
torch takes oneDNN where products may be rounded to bf16 inside. Without matrix units for bf16 oneDNN has no kernel that
does, and computes in fp32: a product tells, before anything relies on it. Only training asks for this: sums in another
order would turn a published figure's last digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

EXACT = 1e-5
"""Relative error of a product in fp32, with room: bf16 is wrong by 4e-3."""


@contextmanager
def fast_products() -> Iterator[None]:
    """Inside, oneDNN computes this process' products where it is faster and as exact."""
    onednn = _switch()
    before = onednn.fp32_precision
    if before == "none" and _is_amd():
        onednn.fp32_precision = "bf16"
        left = torch.linspace(-1, 1, 512 * 384).view(512, 384).sin_()
        exact = left.double() @ left.double().T
        if float((left @ left.T - exact).abs().max() / exact.abs().max()) > EXACT:
            onednn.fp32_precision = before
    try:
        yield
    finally:
        onednn.fp32_precision = before


def attention(query: Tensor, keys: Tensor, values: Tensor, causal: bool = False, dropout: float = 0.0) -> Tensor:
    """softmax(q k^T / sqrt(d)) v over (N, heads, T, d)."""
    if query.device.type != "cpu" or _switch().fp32_precision != "bf16":
        return F.scaled_dot_product_attention(query, keys, values, dropout_p=dropout, is_causal=causal)
    # torch's kernel multiplies block by block, and oneDNN takes longer to prepare a small product than to do it
    scores = (query * query.shape[-1] ** -0.5) @ keys.transpose(-1, -2)
    if causal:
        scores = scores + causal_bias(query.shape[-2], keys.shape[-2], scores)
    return F.dropout(scores.softmax(-1), dropout) @ values


def causal_bias(queries: int, keys: int, like: Tensor) -> Tensor:
    """-inf where a query would see a later key; the queries are the last `queries` of the keys."""
    bias = torch.full((queries, keys), float("-inf"), dtype=like.dtype, device=like.device)
    return bias.triu(keys - queries + 1)


def _switch() -> Any:
    return torch.backends.mkldnn.matmul  # type: ignore[attr-defined]


def _is_amd() -> bool:
    try:
        return "AuthenticAMD" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
