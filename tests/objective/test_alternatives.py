import pytest
import torch

from actswm.objective.alternatives import alternative


def test_each_alternative_is_what_it_says():
    actions = (torch.rand(6, 5, 56) < 0.3).float()
    assert not alternative("zero", actions, None).any()
    shuffled = alternative("shuffled", actions, torch.Generator().manual_seed(0))
    for i in range(6):
        assert any(torch.equal(shuffled[i], actions[j]) for j in range(6) if j != i)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="unknown alternative 'random'"):
        alternative("random", torch.zeros(2, 2, 56), None)
