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
from typing import NamedTuple

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
    growing_steps = min(horizon, predictor.length - past.frames + 1)
    widest = max(map(len, tree.first[: max(growing_steps, 0)]), default=0)
    kept = _Kept(past.room(last_block + 1, widest, max(growing_steps, 0), 2 * inner), 0)
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
        if growing:
            kept = kept.of_level(tree, step - 1)
        else:
            window = _Window.of(tree, top, step - 1, x)
        for number, block in enumerate(predictor.blocks):
            attention, past_of = block.attention, shared[number] if shared else None
            modulation = Modulation(*modulations[number][:, begin:end])
            entering = block.attention_input(x, modulation)
            if growing:
                query, own = attention.project(entering, 0, 3).split([inner, 2 * inner], -1)
                query = _queries(query, attention.heads)
                mixed = _mixed(kept.attend(number, step, query, own), query, past_of)
            elif number < last_block:
                projected = attention.project(entering, 0, 3)
                query = _queries(projected[:, :inner], attention.heads)
                mixed = _mixed(window.attend(query, projected[:, inner:]), query, past_of)
            else:  # from here on only the newest level is needed
                query = _queries(attention.project(entering[newest:], 0, 1), attention.heads)
                mixed = _mixed(window.attend_newest(query, attention.project(entering, 1, 3)), query, past_of)
                x = x[newest:]
                modulation = Modulation(*modulations[number][:, begin + newest : end])
            x = block.update(x, modulation, attention.out(mixed))
        outcome = predictor.following(latents[starts[step - 1] : end], head(predictor.norm(x)[None])[0])
        node = tree.node[step - 1].to(device)
        predicted.append(outcome[node])
        if step < horizon:
            latents = torch.cat([latents, outcome[node[tree.first[step].to(device)]]])
    return torch.stack(predicted, 1)


class _Attended(NamedTuple):
    """What N tokens get from a part of what they attend to: values in the shares exp(score - top), not yet divided
    by the sum of all shares."""

    mixed: Tensor
    """(N, heads, d)"""
    shares: Tensor
    """(N, heads): their sum"""
    top: Tensor
    """(N, heads): the largest score"""


def _mixed(own: _Attended, query: Tensor, past: KeysValues | None) -> Tensor:
    """Attention to ancestors and to the past that all nodes share, as one softmax -> (N, heads * d)."""
    if past is None:
        return (own.mixed / own.shares[..., None]).flatten(1)
    keys, values = (part[0, 0].transpose(0, 1) for part in past)
    scores = query.transpose(0, 1) @ keys.transpose(1, 2)  # (heads, N, P)
    top = torch.maximum(scores.amax(-1).T, own.top)
    weights = (scores - top.T[..., None]).exp_()
    scale = (own.top - top).exp_()
    mixed = torch.addcmul((weights @ values).transpose(0, 1), own.mixed, scale[..., None])
    return (mixed / torch.addcmul(weights.sum(-1).T, own.shares, scale)[..., None]).flatten(1)


def _queries(projected: Tensor, heads: int) -> Tensor:
    """(N, heads * d) -> scaled, (N, heads, d)."""
    query = projected.unflatten(-1, (heads, -1))
    return query * query.shape[-1] ** -0.5


@dataclass(frozen=True)
class _Kept:
    """Keys and values of the newest nodes' lineages while the window grows: (blocks, U, levels, 2 * heads * d).

    Below the levels where the tree branches each node has one child, and the rows stay where they are. There is `room`
    for those of the widest level.
    """

    room: Tensor
    count: int

    @property
    def rows(self) -> Tensor:
        return self.room[:, : self.count]

    def of_level(self, tree: PrefixTree, level: int) -> _Kept:
        """With a row for each node of a level; its own keys and values are still to come."""
        count = len(tree.first[level])
        if level and count != self.count:
            parents = tree.node[level - 1][tree.first[level]].to(self.room.device)
            for block in self.room:
                block[:count, :level] = block[:, :level].index_select(0, parents)
        return _Kept(self.room, count)

    def attend(self, block: int, step: int, query: Tensor, own: Tensor) -> _Attended:
        """Queries (U, heads, d) of the newest nodes, whose own keys and values (U, 2 * heads * d) are kept."""
        self.rows[block, :, step - 1] = own
        keys, values = self.rows[block, :, :step].unflatten(-1, (2, query.shape[1], -1)).unbind(2)
        scores = (keys * query[:, None]).sum(-1)  # products of single rows: faster than as matrices
        top = scores.amax(1)
        weights = (scores - top[:, None]).exp_()
        return _Attended((values * weights[..., None]).sum(1), weights.sum(1), top)


@dataclass(frozen=True)
class _Window:
    """Who attends to whom in the window of one step that has T levels of nodes.

    The lineages of the newest nodes lie side by side, `size` to a group (the last group is filled up with the first
    lineage); `mask` keeps them apart and causal. `rows` (G, size * T) says which node each place of a group
    holds, `homes` (N,) at which place of all groups a node's result is found.
    """

    rows: Tensor
    mask: Tensor
    homes: Tensor
    levels: int
    size: int

    @staticmethod
    def of(tree: PrefixTree, top: int, level: int, like: Tensor) -> _Window:
        lineages = tree.lineages(top, level)
        newest, levels = lineages.shape
        size = min(newest, max(1, GROUP // levels))
        groups = -(-newest // size)
        rows = torch.cat([lineages, lineages[:1].expand(groups * size - newest, -1)]).view(groups, -1)
        own = torch.block_diag(*[torch.ones(levels, levels, dtype=torch.bool).tril()] * size)
        mask = torch.zeros(own.shape, dtype=like.dtype).masked_fill_(~own, float("-inf"))
        rows, mask, homes = (part.to(like.device) for part in (rows, mask, tree.homes(top, level)))
        return _Window(rows, mask, homes, levels, size)

    def attend(self, query: Tensor, projected: Tensor) -> _Attended:
        """Queries (N, heads, d), keys and values (N, 2 * heads * d) of all nodes."""
        grouped = query.index_select(0, self.rows.flatten()).view(*self.rows.shape, *query.shape[1:])
        found = self._attended(grouped, projected, self.mask)
        return _Attended(*(part.index_select(0, self.homes) for part in found))

    def attend_newest(self, query: Tensor, projected: Tensor) -> _Attended:
        """Queries (U, heads, d) of the newest nodes, keys and values of all."""
        groups, count = len(self.rows), len(query)
        filled = F.pad(query, (0, 0, 0, 0, 0, groups * self.size - count)).view(groups, self.size, *query.shape[1:])
        found = self._attended(filled, projected, self.mask[self.levels - 1 :: self.levels])
        return _Attended(*(part[:count] for part in found))

    def _attended(self, query: Tensor, projected: Tensor, mask: Tensor) -> _Attended:
        """Queries (G, Q, heads, d) -> of all places of all groups."""
        gathered = projected.index_select(0, self.rows.flatten())
        keys, values = gathered.view(*self.rows.shape, 2, *query.shape[2:]).permute(2, 0, 3, 1, 4)
        scores = query.transpose(1, 2) @ keys.transpose(2, 3) + mask  # (G, heads, Q, size * T)
        top = scores.amax(-1)
        weights = (scores - top[..., None]).exp_()
        parts = (weights @ values, weights.sum(-1), top)
        return _Attended(*(part.transpose(1, 2).flatten(0, 1) for part in parts))
