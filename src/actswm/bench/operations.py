"""How near is an iteration of CEM to what the machine can do? Operations that it needs, and the rate of one product."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from ..model import Context, WorldModel
from ..model.tree import PrefixTree

if TYPE_CHECKING:
    from .planning import Problem


def gemm_rate(size: int = 1536, turns: int = 5) -> float:
    """Operations a second of a large product in fp32, the best of some turns."""
    matrix = torch.randn(size, size)
    best = math.inf
    for _ in range(turns):
        began = time.process_time()
        matrix @ matrix
        best = min(best, time.process_time() - began)
    return 2 * size**3 / best


@torch.no_grad()
def needed_operations(model: WorldModel, problem: Problem) -> float:
    """Multiplications and additions of matrix products: frames, the past, and each distinct beginning once a window.

    All plans are one tree here; batches of them, as the planner makes, need a little more.
    """
    tree = PrefixTree.of(problem.plans)
    nodes = [len(level) for level in tree.first]
    predictor = model.predictor
    with FlopCounterMode(display=False) as shared:
        context = Context(model.encode(problem.pixels), problem.history)
        model.encode(problem.goal)
        past = model.prepare(context)
        past.prepare(len(nodes))
    total = float(shared.get_total_flops())
    block, last = predictor.blocks[0], len(predictor.blocks) - 1
    inner = block.attention.out.in_features
    keys_values, rest = _linear(block.attention.qkv) * 2 / 3, _linear(block.attention.qkv) / 3
    rest += _linear(block.attention.out) + _linear(block.expand) + _linear(block.contract)
    head = _linear(model.prediction_projector.expand) + _linear(model.prediction_projector.contract)
    total += len(tree.distinct_inputs(model.encoding.lead)[0]) * len(predictor.blocks) * _linear(block.modulate)
    for step in range(1, len(nodes) + 1):
        dropped = past.dropped(step)
        top = max(0, step - predictor.length)
        fresh = range(step - 1 if dropped == 0 else top, step)
        before = max(0, past.frames - 1 - dropped)
        for level in fresh:
            attention = 4 * inner * (before + level - top + 1)
            total += nodes[level] * last * (keys_values + rest + attention)
            total += nodes[level] * keys_values
            if level == step - 1:
                total += nodes[level] * (rest + attention + head)
    return total


def _linear(layer: nn.Linear) -> float:
    return 2.0 * layer.weight.numel()
