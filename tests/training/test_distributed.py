"""Two processes with half a batch each must compute what one computes with the whole batch."""

import os
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch.nn.parallel import DistributedDataParallel

from actswm.model import WorldModel
from actswm.objective import Batch, Objective, ObjectiveConfig
from actswm.objective.config import ContrastConfig

from ..model.small_models import small_config


class _Step(torch.nn.Module):
    """Model and objective as one module, as DDP wants it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        config = small_config(4)
        config.predictor.dropout = 0.0
        self.model = WorldModel(config)
        with torch.no_grad():
            for parameter in self.model.predictor.parameters():
                parameter.add_(0.1 * torch.randn_like(parameter))
        self.objective = Objective(ObjectiveConfig(horizon=3, one_step=0.5, contrast=ContrastConfig(1.0)))

    def forward(self, pixels, actions, rows):
        return self.objective(self.model, Batch(pixels, actions, rows), torch.Generator().manual_seed(1)).total


def _data():
    generator = torch.Generator().manual_seed(2)
    pixels = torch.randint(0, 255, (8, 7, 16, 16, 3), dtype=torch.uint8, generator=generator)
    rows = (torch.arange(8) % 4 + 40 * (torch.arange(8) // 4))[:, None] + 4 * torch.arange(7)
    return pixels, torch.rand(8, 6, 56, generator=generator), rows


def _result(step, loss):
    loss.backward()
    module = step.module if isinstance(step, DistributedDataParallel) else step
    gradients = {name: p.grad for name, p in module.named_parameters() if p.grad is not None}
    buffers = {name: b.clone() for name, b in module.named_buffers()}
    return loss.detach(), gradients, buffers


def _worker(rank: int, folder: str) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1")
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    torch.set_num_threads(1)
    step = DistributedDataParallel(_Step().train())
    loss, gradients, buffers = _result(step, step(*(part[rank::2] for part in _data())))
    dist.all_reduce(loss)
    if rank == 0:
        torch.save((loss / 2, gradients, buffers), f"{folder}/result.pt")
    dist.destroy_process_group()


def test_two_processes_equal_one():
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(_worker, (folder,), nprocs=2)
        loss, gradients, buffers = torch.load(Path(folder) / "result.pt")
    step = _Step().train()
    expected_loss, expected, expected_buffers = _result(step, step(*_data()))
    torch.testing.assert_close(loss, expected_loss, rtol=1e-5, atol=1e-6)
    assert gradients.keys() == expected.keys()
    scale = max(float(gradient.abs().max()) for gradient in expected.values())
    for name, gradient in expected.items():
        assert float((gradients[name] - gradient).abs().max()) < 1e-5 * scale, name
    for name, buffer in expected_buffers.items():
        torch.testing.assert_close(buffers[name], buffer, rtol=1e-4, atol=1e-6)
