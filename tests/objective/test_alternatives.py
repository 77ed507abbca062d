import pytest
import torch

from actswm.controls import KEYS14, MINECRAFT, ActionEncoding
from actswm.objective.alternatives import alternative


def generator():
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("kind", ["block", "sliding"])
def test_each_alternative_is_what_it_says(kind):
    encoding = ActionEncoding(KEYS14, kind)
    past, actions = (torch.rand(2, 6, 5, encoding.step_dim) < 0.3).float()
    actions.unflatten(-1, (-1, 14))[..., 7:] = 0  # half of the controls are never used
    assert not alternative("zero", past, actions, encoding, None).any()

    shuffled = alternative("shuffled", past, actions, encoding, generator())
    for i in range(6):
        assert any(torch.equal(shuffled[i], actions[j]) for j in range(6) if j != i)

    edited = alternative("edited", past, actions, encoding, generator())
    for before, after in zip(actions.unflatten(-1, (-1, 14)), edited.unflatten(-1, (-1, 14))):
        changed = (before != after).any(0).any(0).nonzero().flatten()
        assert len(changed) == 1 and changed < 7, "one control that is in use"
        control = int(changed)
        assert (after[..., control] == float(before[..., control].mean() <= 0.5)).all(), "held throughout"


def test_matched_actions_could_have_followed():
    """Windows 0, 2, 4 and 1, 3, 5 ended their past alike: each gets the actions of another one of its kind."""
    past = torch.zeros(6, 3, 56)
    past[::2, -1, 0] = 1
    past[:, 0] = torch.rand(6, 56)  # what was pressed longer ago does not matter
    actions = torch.arange(6.0).view(6, 1, 1).expand(6, 4, 56)
    matched = alternative("matched", past, actions, ActionEncoding(KEYS14), generator())[:, 0, 0]
    for window, other in enumerate(matched.int().tolist()):
        assert other != window and other % 2 == window % 2


def test_continuous_controls_change_sign():
    encoding = ActionEncoding(MINECRAFT)
    actions = torch.zeros(1, 3, encoding.step_dim)
    yaw = MINECRAFT.index("yaw")
    actions.unflatten(-1, (-1, MINECRAFT.size))[..., yaw] = 2.5
    edited = alternative("edited", actions, actions, encoding, generator())
    assert torch.equal(edited, -actions)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="unknown alternative 'random'"):
        alternative("random", torch.zeros(2, 2, 56), torch.zeros(2, 2, 56), ActionEncoding(KEYS14), None)
