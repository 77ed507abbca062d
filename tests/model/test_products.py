"""Products by oneDNN are those of MKL, and attention made of them is torch's."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from actswm.model import products
from actswm.model.products import attention, fast_products


@pytest.fixture
def onednn(monkeypatch):
    """torch's switch, as before when the test is over."""
    switch = torch.backends.mkldnn.matmul
    before = switch.fp32_precision
    switch.fp32_precision = "none"
    monkeypatch.setattr(products, "_is_amd", lambda: True)
    yield switch
    switch.fp32_precision = before


def test_products_stay_exact(onednn):
    """On a processor that would round to bf16 the switch goes back, and this holds as well."""
    torch.manual_seed(0)
    left, right = torch.randn(70, 300), torch.randn(300, 90)
    exact = left.double() @ right.double()
    with fast_products():
        torch.testing.assert_close((left @ right).double(), exact, atol=1e-4, rtol=1e-5)


def test_products_that_are_rounded_are_noticed(onednn, monkeypatch):
    monkeypatch.setattr(products, "EXACT", 0.0)  # as good as no processor is
    with fast_products():
        assert onednn.fp32_precision == "none"


def test_what_comes_after_is_computed_as_before(onednn, monkeypatch):
    """Plans and figures that follow a training in one process are those of a process that trained nothing."""
    monkeypatch.setattr(products, "EXACT", 1.0)
    with fast_products():
        assert onednn.fp32_precision == "bf16"
    assert onednn.fp32_precision == "none"


def test_a_choice_that_was_made_already_stays(onednn):
    onednn.fp32_precision = "ieee"
    with fast_products():
        assert onednn.fp32_precision == "ieee"


@pytest.mark.parametrize("causal", [True, False])
def test_attention_is_that_of_torch(onednn, causal):
    torch.manual_seed(0)
    query, keys, values = (torch.randn(3, 2, 7, 5, requires_grad=True) for _ in range(3))
    expected = F.scaled_dot_product_attention(query, keys, values, is_causal=causal)
    onednn.fp32_precision = "bf16"
    found = attention(query, keys, values, causal)
    torch.testing.assert_close(found, expected)
    gradients = (torch.autograd.grad(out.square().sum(), (query, keys, values)) for out in (found, expected))
    for mine, theirs in zip(*gradients):
        torch.testing.assert_close(mine, theirs)
