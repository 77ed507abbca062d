"""Appendix E: the bound holds on measured transitions, and its ingredients are what they claim to be."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from actswm.data import sample_windows
from actswm.diagnosis.bound import GELU_SLOPE, _largest_slope, _Layer, model_bounds, separation_bound
from actswm.errors import UserError
from actswm.model.readout import ActionReadout, ReadoutConfig


def test_steepest_slope_of_gelu():
    steepest = minimize_scalar(lambda x: -(norm.cdf(x) + x * norm.pdf(x)), bounds=(0, 5), method="bounded")
    assert pytest.approx(-steepest.fun, abs=1e-9) == GELU_SLOPE


def test_slopes_are_those_of_autograd():
    torch.manual_seed(0)
    readout = ActionReadout(ReadoutConfig(hidden=16), 5, 7).double()
    points = torch.randn(9, 10, dtype=torch.float64)
    jacobians = [
        torch.autograd.functional.jacobian(lambda u: readout(u[:5], u[5:]), point) for point in points
    ]
    expected = max(np.linalg.svd(jacobian.numpy())[1][0] for jacobian in jacobians)
    assert float(_largest_slope(_Layer.of(readout.hidden), _Layer.of(readout.out), points)) == pytest.approx(
        expected
    )


@given(seed=st.integers(0, 10_000), scale=st.floats(0.1, 30), spread=st.floats(1e-3, 100))
def test_it_holds_for_any_readout_transitions_and_actions(seed, scale, spread):
    torch.manual_seed(seed)
    readout = ActionReadout(ReadoutConfig(hidden=8, scale=scale), 3, 4)
    result = separation_bound(readout, spread * torch.randn(20, 6), (torch.rand(20, 4) < 0.5).float(), 50)
    assert result.product.violations == 0 and result.region.violations == 0
    assert result.region.lipschitz <= result.product.lipschitz * (1 + 1e-9)


def test_a_perfect_readout_makes_the_bound_bite():
    """Actions that q reads without error: every pair of different actions is bounded away from zero."""
    torch.manual_seed(1)
    readout = ActionReadout(ReadoutConfig(hidden=32), 3, 4)
    transitions = torch.randn(60, 6)
    actions = readout(transitions[:, :3], transitions[:, 3:])
    result = separation_bound(readout, transitions, actions, 500)
    assert result.positive_share == 1 and result.mean_error < 1e-6
    assert 0 < result.product.tightness < result.region.tightness <= 1
    assert result.region.smallest_slack > 0


def test_a_pair_with_one_action_says_nothing():
    readout = ActionReadout(ReadoutConfig(hidden=8), 2, 3)
    with pytest.raises(UserError, match="same action"):
        separation_bound(readout, torch.randn(5, 4), torch.ones(5, 3), 10)


@pytest.mark.parametrize("which", ["frozen_model", "joint_model"])
def test_it_holds_on_trained_models(which, square_file, request):
    model = request.getfixturevalue(which)
    bounds = model_bounds(model, sample_windows(square_file, 48, split="train", context=8, horizon=8))
    assert bounds.readout_trained == (which == "joint_model")
    for bound in (bounds.encoded, bounds.predicted):
        assert bound.transitions == 48 * 8 and bound.pairs == 2000
        assert bound.product.violations == 0 and bound.region.violations == 0
        assert bound.region.smallest_slack >= 0
        if bounds.readout_trained:  # a frozen one takes longer to read well enough to bound anything
            assert bound.positive_share > 0.05 and bound.region.tightness > bound.product.tightness > 0
