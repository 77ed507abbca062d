"""Rollouts that share their beginnings: each distinct prefix of actions is imagined once.

Sequences over a small library of chunks begin alike. The predictor is causal, so the token of a step depends on
nothing but the actions up to it: sequences with the same first j actions share their first j tokens, in every
window. Here tokens are the nodes of the prefix tree, level by level, and a node attends to its ancestors and to the
past that all share. The result is that of `rollout.roll_out`, exactly; it is for inference.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .predictor import Attention, KeysValues, Modulation
from .rollout import Head, Past


@dataclass(frozen=True)
class PrefixTree:
    """Nodes of level j (0-based) are the distinct first j + 1 actions of S sequences of K actions.

    `first[j]` is the sequence that stands for each node (U_j,), `node[j]` each sequence's node (S,).
    """

    first: tuple[Tensor, ...]
    node: tuple[Tensor, ...]

    @staticmethod
    def of(sequences: Tensor) -> PrefixTree:
        """(S, K) indices of actions."""
        first, node = [], []
        before = torch.zeros(len(sequences), dtype=torch.long)
        for step in sequences.unbind(1):
            _, before = torch.unique(before * (int(sequences.max()) + 1) + step, return_inverse=True)
            order = torch.argsort(before, stable=True)
            counts = torch.bincount(before)
            first.append(order[counts.cumsum(0) - counts])
            node.append(before)
        return PrefixTree(tuple(first), tuple(node))

    @property
    def sharing(self) -> float:
        """Actions over nodes: 1 where no two sequences begin alike."""
        return len(self.node[0]) * len(self.node) / sum(len(level) for level in self.first)

    def lineage(self, top: int, level: int) -> Tensor:
        """(U_level, level - top + 1): each node's ancestors from level `top` on and itself, counted from the
        first node of level `top`."""
        offset, found = 0, []
        for j in range(top, level + 1):
            found.append(offset + self.node[j][self.first[level]])
            offset += len(self.first[j])
        return torch.stack(found, 1)


def roll_out_tree(past: Past, features: Tensor, tree: PrefixTree, head: Head) -> Tensor:
    """Action features (N, D) of all nodes, level by level -> predicted latents (S, K, D) of one context."""
    predictor, horizon = past.predictor, len(tree.first)
    past.prepare(horizon)
    starts = [0]
    for level in tree.first:
        starts.append(starts[-1] + len(level))
    modulations = predictor.modulations(features)
    latents = past.latents[0, :, -1].expand(len(tree.first[0]), -1)
    predicted: list[Tensor] = []
    for step in range(1, horizon + 1):
        top = max(0, step - predictor.context)  # the first level whose frame is still in the window
        begin, end = starts[top], starts[step]
        count = step - top
        last = past.frames + step - 2 - past.dropped(step)
        widths = torch.tensor([len(level) for level in tree.first[top:step]])
        x = latents[begin:end] + predictor.positions[last + 1 - count : last + 1].repeat_interleave(widths, 0)
        lineages = [tree.lineage(top, level) for level in range(top, step)]
        shared = past.keys_values(step)
        for number, block in enumerate(predictor.blocks):
            modulation = Modulation(*(part[begin:end] for part in modulations[number]))
            entering = block.attention_input(x, modulation)
            query, own = block.attention.queries_keys_values(entering)
            if number == len(predictor.blocks) - 1:  # only the newest level is still needed
                newest = slice(starts[step - 1] - begin, None)
                query, x, lineages = query[newest], x[newest], lineages[-1:]
                modulation = Modulation(*(part[newest] for part in modulation))
            attended = _attend(block.attention, query, own, lineages, shared[number] if shared else None)
            x = block.update(x, modulation, attended)
        outcome = head(predictor.norm(x)[None])[0]
        predicted.append(outcome[tree.node[step - 1]])
        if step < horizon:
            latents = torch.cat([latents, outcome[tree.node[step - 1][tree.first[step]]]])
    return torch.stack(predicted, 1)


def _attend(
    attention: Attention, query: Tensor, own: KeysValues, lineages: list[Tensor], shared: KeysValues | None
) -> Tensor:
    """Queries (N, heads, d) of whole levels, each over its lineage among `own` and over the shared past."""
    parts = []
    for queries, lineage in zip(query.split([len(lineage) for lineage in lineages]), lineages):
        parts.append(_weighed(queries[:, None], own.keys[lineage], own.values[lineage]))
    mixed, weight = (torch.cat(part)[:, 0] for part in zip(*parts))
    if shared is not None:
        from_past, past_weight = _weighed(query[None], shared.keys[:, 0], shared.values[:, 0])
        # two softmaxes become one: each part counts by the sum of its exponentials
        share = torch.sigmoid(past_weight[0] - weight)
        mixed = torch.lerp(mixed, from_past[0], share.unsqueeze(-1).to(mixed.dtype))
    return attention.out(mixed.flatten(-2))


def _weighed(query: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Attention of (B, Q, heads, d) to (B, T, heads, d), and the logarithm (B, Q, heads) of its denominator."""
    q, k, v = (part.transpose(1, 2) for part in (query, keys, values))
    if query.device.type == "cpu":
        mixed, weight = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)
    else:
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        mixed, weight = scores.softmax(-1) @ v, scores.logsumexp(-1)
    return mixed.transpose(1, 2), weight.transpose(1, 2)
