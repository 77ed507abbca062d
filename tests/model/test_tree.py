"""Sharing the beginnings of sequences changes nothing but the work."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actswm.model.tree import PrefixTree

from .naive import naive_rollout
from .small_models import disturbed, random_context, sized_model, small_config
from .test_rollout import relative

SIZES = st.fixed_dictionaries(
    {
        "context": st.integers(1, 6),
        "frames": st.integers(1, 8),
        "horizon": st.integers(1, 9),
        "sequences": st.integers(1, 12),
        "choices": st.integers(1, 4),
        "encoding": st.sampled_from(["block", "sliding"]),
        "window": st.sampled_from(["slide", "grow"]),
        "residual": st.booleans(),
        "seed": st.integers(0, 99),
    }
)


@settings(max_examples=60)
@given(SIZES)
def test_the_tree_equals_recomputation(sizes):
    model = sized_model(sizes)
    torch.manual_seed(sizes["seed"])
    context = random_context(model, 1, sizes["frames"])
    library = torch.rand(sizes["choices"], model.encoding.step_dim)
    chosen = torch.randint(0, sizes["choices"], (sizes["sequences"], sizes["horizon"]))
    with torch.no_grad():
        found = model.rollout_tree(context, library[chosen], PrefixTree.of(chosen))
        assert relative(found, naive_rollout(model, context, library[chosen][None])[0]) < 1e-5


@settings(max_examples=60)
@given(st.integers(1, 20), st.integers(1, 6), st.integers(1, 4), st.integers(0, 99))
def test_nodes_are_the_distinct_beginnings(sequences, horizon, choices, seed):
    chosen = torch.randint(0, choices, (sequences, horizon), generator=torch.Generator().manual_seed(seed))
    tree = PrefixTree.of(chosen)
    rows = chosen.tolist()
    for level in range(horizon):
        beginnings = [tuple(row[: level + 1]) for row in rows]
        standing = [beginnings[number] for number in tree.first[level].tolist()]
        assert sorted(standing) == sorted(set(beginnings))
        assert [standing[node] for node in tree.node[level].tolist()] == beginnings


def tokens(monkeypatch, model, sequences: list[list[int]]) -> list[int]:
    """How many are computed at each step of a rollout under these sequences."""
    chosen = torch.tensor(sequences)
    block, counted = model.predictor.blocks[0], []
    original = block.attention_input
    context = random_context(model, 1, 3)
    past = model.prepare(context)
    past.prepare(3)
    monkeypatch.setattr(block, "attention_input", lambda x, m: counted.append(len(x)) or original(x, m))
    with torch.no_grad():
        model.rollout_tree(context, torch.rand(3, 56)[chosen], PrefixTree.of(chosen), past)
    return counted


def test_a_shared_beginning_is_computed_once(monkeypatch):
    """Sequences that differ in their last action only: of each earlier step there is one token."""
    counted = tokens(monkeypatch, disturbed(small_config(3)), [[0, 1, 0], [0, 1, 1], [0, 1, 2]])
    assert counted == [1, 1 + 1, 1 + 1 + 3]


def test_a_growing_window_computes_each_node_once(monkeypatch):
    model = disturbed(small_config(3, {"window": "grow", "positions": 6}))
    assert tokens(monkeypatch, model, [[0, 1, 0], [0, 1, 1], [0, 2, 2]]) == [1, 2, 3]


def test_trees_of_one_past_do_not_see_each_other():
    """They write to the same memory, wide trees and narrow ones, short and long, with gradients off in either way."""
    model = disturbed(small_config(3, {"window": "grow", "positions": 8}))
    context = random_context(model, 1, 3)
    library = torch.rand(4, model.encoding.step_dim)
    generator = torch.Generator().manual_seed(0)
    for mode in (torch.no_grad, torch.inference_mode):
        past = model.prepare(context)
        for sequences, horizon in ((2, 4), (30, 4), (5, 2), (9, 4), (40, 7)):
            chosen = torch.randint(4, (sequences, horizon), generator=generator)
            for inside in (mode, torch.no_grad):
                with inside():
                    found = model.rollout_tree(context, library[chosen], PrefixTree.of(chosen), past)
                    assert relative(found, naive_rollout(model, context, library[chosen][None])[0]) < 1e-5
