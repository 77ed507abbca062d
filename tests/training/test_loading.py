"""What a run asks of its loader depends on where it trains."""

from types import SimpleNamespace

import pytest
import torch

from actswm.data.loader import PREFETCHED
from actswm.training import load_config
from actswm.training.data import WindowData


@pytest.mark.parametrize(("device", "pinned"), [("cpu", False), ("cuda:0", True), ("mps:0", False)])
@pytest.mark.parametrize("workers", [0, 2])
def test_batches_for_a_gpu_are_pinned_and_read_ahead(square_file, device, pinned, workers):
    data = WindowData(load_config("tiny/lewm", [f"training.workers={workers}"]), square_file, 5)
    strategy = SimpleNamespace(root_device=torch.device(device))
    data.trainer = SimpleNamespace(strategy=strategy, global_rank=0, world_size=1)
    loader = data.train_dataloader()
    assert loader.pin_memory == pinned
    assert loader.prefetch_factor == (PREFETCHED if workers else None)
