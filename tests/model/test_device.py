"""Names of devices: the first that is there, the one that was asked for, or one line."""

import pytest
import torch

from actswm.errors import UserError
from actswm.model.device import chosen_device


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"),
    [(False, False, "cpu"), (False, True, "mps:0"), (True, False, "cuda:0"), (True, True, "cuda:0")],
)
def test_auto_takes_an_accelerator_that_is_there(monkeypatch, cuda, mps, chosen):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    monkeypatch.setattr(torch.mps, "device_count", lambda: 1)
    assert chosen_device("auto") == chosen_device() == torch.device(chosen)
    assert chosen_device("cpu") == torch.device("cpu")


def test_what_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for name, told in (("cuda", "finds none"), ("meta", "finds none"), ("gpu", "no such"), ("cuda:x", "no such")):
        with pytest.raises(UserError, match=f"--device '?{name}'?: .*{told}"):
            chosen_device(name)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert chosen_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(UserError, match="cuda:2: this machine has 2"):
        chosen_device("cuda:2")
