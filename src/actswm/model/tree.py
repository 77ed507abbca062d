"""Rollouts that share their beginnings: each distinct prefix of actions is imagined once.

Sequences over a small library of chunks begin alike. The predictor is causal, so the token of a step depends on
nothing but the actions up to it: sequences with the same first j actions share their first j tokens, in every
window. Here tokens are the nodes of the prefix tree, level by level, and a node attends to its ancestors and to the
past that all share; while the window grows, each node is computed once, when its level is the newest. The result is
that of `rollout.roll_out`, exactly; it is for inference.

Who attends to whom is worked out on the CPU; only the resulting numbers of rows go to the latents' device.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from .predictor import KeysValues, Modulation
from .rollout import Head, Past

GROUP = 32
"""Tokens that attend in one product: a product of a few tokens costs as much as one of this many."""


@dataclass(frozen=True)
class PrefixTree:
    """Nodes of level j (0-based) are the distinct first j + 1 actions of S sequences of K actions.

    `sequences` (S, K) are numbers of actions; `first[j]` is the sequence that stands for each node (U_j,), `node[j]`
    each sequence's node (S,).
    """

    sequences: Tensor
    first: tuple[Tensor, ...]
    node: tuple[Tensor, ...]

    @staticmethod
    def of(sequences: Tensor) -> PrefixTree:
        """(S, K) indices of actions."""
        first, node = [], []
        before = torch.zeros(len(sequences), dtype=torch.long)
        choices = int(sequences.max()) + 1
        for step in sequences.unbind(1):
            standing, before = _distinct(before * choices + step)
            first.append(standing)
            node.append(before)
        return PrefixTree(sequences, tuple(first), tuple(node))

    def distinct_inputs(self, lead: int) -> tuple[Tensor, Tensor, Tensor]:
        """Which nodes differ in their own action and the `lead` before it.

        (M,) sequence and level of a node for each distinct input, and (N,) the input of each node, level by level.
        """
        level = torch.cat([torch.full_like(first, j) for j, first in enumerate(self.first)])
        sequence = torch.cat(self.first)
        runs = F.pad(self.sequences + 1, (lead, 0)).unfold(1, lead + 1, 1)[sequence, level]
        base = int(self.sequences.max()) + 2
        standing, which = _distinct((runs * base ** torch.arange(lead + 1)).sum(-1))
        return sequence[standing], level[standing], which

    def lineages(self, top: int, level: int) -> Tensor:
        """(U_level, level - top + 1): each node's ancestors from level `top` on and itself, counted from the
        first node of level `top`."""
        offset, found = 0, []
        for j in range(top, level + 1):
            found.append(offset + self.node[j][self.first[level]])
            offset += len(self.first[j])
        return torch.stack(found, 1)

    def homes(self, top: int, level: int) -> Tensor:
        """Where in `lineages` (flattened) each node from level `top` on is found."""
        count = level - top + 1
        rows = [self.node[level][self.first[j]] for j in range(top, level + 1)]
        return torch.cat([row * count + place for place, row in enumerate(rows)])


def _distinct(keys: Tensor) -> tuple[Tensor, Tensor]:
    """The first place of each distinct key, in order of the keys, and for each place the number of its key."""
    _, number = torch.unique(keys, return_inverse=True)
    counts = torch.bincount(number)
    return torch.argsort(number, stable=True)[counts.cumsum(0) - counts], number


def roll_out_tree(past: Past, features: Tensor, which: Tensor, tree: PrefixTree, head: Head) -> Tensor:
    """Distinct action features (M, D) and which of them each node has (N,) -> latents (S, K, D) of one context."""
    predictor, horizon, device = past.predictor, len(tree.first), features.device
    past.prepare(horizon)
    starts = [0]
    for level in tree.first:
        starts.append(starts[-1] + len(level))
    # (6, N, D) per block: of each part, the rows of neighbouring nodes are neighbours
    modulations = [
        torch.stack(distinct).index_select(1, which) for distinct in predictor.modulations(features)
    ]
    latents = past.latents[0, :, -1].expand(len(tree.first[0]), -1)
    last_block = len(predictor.blocks) - 1
    inner = predictor.blocks[0].attention.out.in_features
    # keys and values of all nodes so far, per block, while the window grows and no position moves
    growing_steps = min(horizon, predictor.length - past.frames + 1)
    kept = latents.new_empty(last_block + 1, starts[growing_steps], 2 * inner)
    predicted: list[Tensor] = []
    for step in range(1, horizon + 1):
        growing = past.dropped(step) == 0
        top = max(0, step - predictor.length)  # the first level whose frame is still in the window
        fresh = step - 1 if growing else top  # the first level whose tokens are computed
        begin, end = starts[fresh], starts[step]
        newest = starts[step - 1] - begin
        count = step - fresh
        last = past.frames + step - 2 - past.dropped(step)
        widths = [len(level) for level in tree.first[fresh:step]]
        positions = predictor.positions[last + 1 - count : last + 1]
        x = latents[begin:end] + positions.repeat_interleave(torch.tensor(widths, device=device), 0)
        shared = past.keys_values(step)
        window = _Window.of(tree, top, step - 1, shared[0].keys.shape[2] if shared else 0, x)
        for number, block in enumerate(predictor.blocks):
            attention, past_of = block.attention, shared[number] if shared else None
            modulation = Modulation(*modulations[number][:, begin:end])
            entering = block.attention_input(x, modulation)
            if growing:
                query, own = attention.project(entering, 0, 3).split([inner, 2 * inner], -1)
                kept[number, begin:end] = own
                mixed = window.attend_newest(query, kept[number, :end], attention.heads, past_of)
            elif number < last_block:
                mixed = window.attend(attention.project(entering, 0, 3), attention.heads, past_of)
            else:  # from here on only the newest level is needed
                query = attention.project(entering[newest:], 0, 1)
                mixed = window.attend_newest(
                    query, attention.project(entering, 1, 3), attention.heads, past_of
                )
                x = x[newest:]
                modulation = Modulation(*modulations[number][:, begin + newest : end])
            x = block.update(x, modulation, attention.out(mixed))
        outcome = predictor.following(latents[starts[step - 1] : end], head(predictor.norm(x)[None])[0])
        node = tree.node[step - 1].to(device)
        predicted.append(outcome[node])
        if step < horizon:
            latents = torch.cat([latents, outcome[node[tree.first[step].to(device)]]])
    return torch.stack(predicted, 1)


@dataclass(frozen=True)
class _Window:
    """Who attends to whom in the window of one step: P tokens of the past, then T levels of nodes.

    The lineages of the newest nodes lie side by side, `size` to a group (the last group is filled up with the first
    lineage); `mask` keeps them apart and causal. `rows` (G, P + size * T) says which token each place of a group
    holds, `homes` (N,) at which place of all groups a node's result is found.
    """

    rows: Tensor
    mask: Tensor
    homes: Tensor
    past: int
    levels: int
    size: int

    @staticmethod
    def of(tree: PrefixTree, top: int, level: int, past: int, like: Tensor) -> _Window:
        lineages = tree.lineages(top, level)
        newest, levels = lineages.shape
        size = min(newest, max(1, GROUP // levels))
        groups = -(-newest // size)
        filled = torch.cat([lineages, lineages[:1].expand(groups * size - newest, -1)]).view(groups, -1)
        rows = torch.cat([torch.arange(past).expand(groups, -1), past + filled], 1)
        own = torch.block_diag(*[torch.ones(levels, levels, dtype=torch.bool).tril()] * size)
        seen = F.pad(own, (past, 0), value=True)
        mask = torch.zeros(seen.shape, dtype=like.dtype).masked_fill_(~seen, float("-inf"))
        rows, mask, homes = (part.to(like.device) for part in (rows, mask, tree.homes(top, level)))
        return _Window(rows, mask, homes, past, levels, size)

    def attend(self, projected: Tensor, heads: int, past: KeysValues | None) -> Tensor:
        """Projected queries, keys and values (N, 3 * heads * d) -> what the nodes attend to (N, heads * d)."""
        query, keys, values = self._gather(projected, 3, heads, past)
        mixed = F.scaled_dot_product_attention(query[:, :, self.past :], keys, values, self.mask)
        return mixed.transpose(1, 2).flatten(0, 1).flatten(1).index_select(0, self.homes)

    def attend_newest(self, query: Tensor, projected: Tensor, heads: int, past: KeysValues | None) -> Tensor:
        """Queries (U, heads * d) of the newest nodes, keys and values of all -> (U, heads * d)."""
        keys, values = self._gather(projected, 2, heads, past)
        groups, count = len(self.rows), len(query)
        filled = F.pad(query, (0, 0, 0, groups * self.size - count)).view(groups, self.size, heads, -1)
        mask = self.mask[self.levels - 1 :: self.levels]
        mixed = F.scaled_dot_product_attention(filled.transpose(1, 2), keys, values, mask)
        return mixed.transpose(1, 2).flatten(0, 1).flatten(1)[:count]

    def _gather(self, projected: Tensor, parts: int, heads: int, past: KeysValues | None) -> Tensor:
        """(parts, G, heads, P + size * T, d): the groups' tokens, those of the past in front."""
        if past is not None:
            keys, values = (part[0, 0].flatten(1) for part in past)
            # nobody asks for the queries of the past: keys take their place
            projected = torch.cat([torch.cat([keys, keys, values][-parts:], 1), projected])
        gathered = projected.index_select(0, self.rows.flatten())
        return gathered.view(*self.rows.shape, parts, heads, -1).permute(2, 0, 3, 1, 4)
