"""Search on worlds whose best plan is known."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actswm.errors import UserError
from actswm.planning.cem import SearchSettings, screened, search
from actswm.planning.costs import COSTS
from actswm.planning.distributions import Bernoulli, Categorical, FromLibrary, Gaussian, Mixed

HORIZON = 6


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def to(target: torch.Tensor):
    return lambda plans: (plans - target).square().flatten(1).sum(1)


def gaussian(floor: float = 1e-3) -> Gaussian:
    return Gaussian(torch.zeros(HORIZON, 3), torch.ones(HORIZON, 3), torch.tensor(floor))


def test_gaussian_finds_the_bottom_of_a_bowl():
    target = torch.randn(HORIZON, 3, generator=seeded(1))
    found = search(to(target), gaussian(), SearchSettings(512, 25), seeded())
    assert (found.best - target).abs().max() < 0.02
    assert (found.distribution.mean - target).abs().max() < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_bernoulli_finds_the_buttons(seed):
    target = (torch.rand(HORIZON, 3, generator=seeded(seed)) < 0.5).float()
    start = Bernoulli(torch.full((HORIZON, 3), 0.3))
    found = search(to(target), start, SearchSettings(512, 8), seeded())
    assert torch.equal(found.best, target) and found.cost == 0


@pytest.mark.parametrize("seed", range(3))
def test_categorical_finds_the_choices_of_a_moving_point(seed):
    """A quadratic world with dynamics: choices move a point, the goal is where the best ones lead."""
    moves = torch.tensor([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    best = torch.randint(0, 4, (HORIZON,), generator=seeded(seed))
    goals = moves[best].cumsum(0)

    def cost(plans):
        return (moves[plans].cumsum(1) - goals).square().sum((1, 2))

    found = search(cost, Categorical(torch.full((HORIZON, 4), 0.25)), SearchSettings(512, 8), seeded())
    assert torch.equal(found.best, best) and found.cost == 0


def test_library_first_then_gaussian_and_bernoulli():
    """The paper's search: the best values lie between the library's, so refitting must leave it."""
    values = torch.tensor([[0.0, 8.0], [1.0, -8.0], [1.0, 0.0]])
    binary = torch.tensor([True, False])
    then = Mixed(
        binary,
        Bernoulli(torch.full((HORIZON, 1), 0.5)),
        Gaussian(torch.zeros(HORIZON, 1), torch.ones(HORIZON, 1), torch.tensor(0.1)),
    )
    target = torch.tensor([[1.0, 5.0]]).repeat(HORIZON, 1)
    start = FromLibrary(values, torch.tensor([0.4, 0.4, 0.2]), HORIZON, then)
    first = start.sample(64, seeded())
    assert all(any(torch.equal(row, value) for value in values) for row in first.flatten(0, 1))
    found = search(to(target), start, SearchSettings(512, 20), seeded())
    assert torch.equal(found.best[:, 0], target[:, 0])
    assert (found.best[:, 1] - 5).abs().max() < 0.5


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_same_seed_same_plan(seed):
    target = torch.linspace(-1, 1, HORIZON * 3).view(HORIZON, 3)
    one, two = (search(to(target), gaussian(), SearchSettings(32, 3), seeded(seed)) for _ in range(2))
    assert torch.equal(one.best, two.best) and one.costs == two.costs
    other = search(to(target), gaussian(), SearchSettings(32, 3), seeded(seed + 1))
    assert not torch.equal(one.best, other.best)


def test_a_good_guess_is_never_lost_and_the_best_cost_never_rises():
    target = torch.full((HORIZON, 3), 3.0)
    found = search(to(target), gaussian(), SearchSettings(8, 5), seeded(), guess=target)
    assert found.cost == 0 and torch.equal(found.best, target)
    costs = search(to(target), gaussian(), SearchSettings(8, 12), seeded()).costs
    assert list(costs) == sorted(costs, reverse=True)


@pytest.mark.parametrize("plan", [0, 2])
def test_categories_lean_towards_a_plan_and_keep_their_floor(plan):
    start = Categorical(torch.tensor([[0.5, 0.3, 0.2]]))
    leaning = start.around(torch.tensor([plan])).probability[0]
    assert leaning[plan] > start.probability[0, plan] and torch.isclose(leaning.sum(), torch.tensor(1.0))
    collapsed = start.refit(torch.full((10, 1), plan)).probability[0]
    assert torch.isclose(collapsed.min(), torch.tensor(start.floor))


def test_costs_are_what_their_names_say():
    rng = np.random.default_rng(0)
    futures, goals = rng.normal(size=(5, 7, 4)), rng.normal(size=(7, 4))
    tensors = torch.from_numpy(futures), torch.from_numpy(goals)
    tracking = np.sqrt(((futures - goals) ** 2).sum(-1)).mean(-1)
    assert np.allclose(COSTS["tracking"](*tensors), tracking)
    assert np.allclose(COSTS["final"](*tensors), ((futures[:, -1] - goals[-1]) ** 2).sum(-1))


@pytest.mark.parametrize("wrong", [(0, 6, 0.1), (8, 0, 0.1), (8, 6, 0.0), (8, 6, 1.5)])
def test_settings_that_search_nothing(wrong):
    with pytest.raises(UserError):
        SearchSettings(*wrong)


def test_a_screened_search_is_the_exact_one():
    """Rough costs put some elites out of place and lead a search elsewhere; judged once more, they do not."""
    exact = to(torch.randn(HORIZON, 3, generator=seeded(1)))

    def rough(plans):
        return exact(plans) * (1 + 0.01 * torch.randn(len(plans), generator=seeded(2)))

    settings = SearchSettings(256, 6)
    best, misled, screening = (
        search(cost, gaussian(), settings, seeded()).best
        for cost in (exact, rough, screened(rough, exact, 2 * settings.elites))
    )
    assert torch.equal(screening, best) and not torch.equal(misled, best)
