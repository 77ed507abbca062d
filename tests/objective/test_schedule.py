import pytest
import torch

from actswm.objective import Objective, ObjectiveConfig, schedule
from actswm.objective.config import DynamicsConfig, HingeConfig
from actswm.training import load_config

from ..model.small_models import disturbed, small_config
from .test_objective import batch


def test_the_schedule_of_a_preset_with_stages():
    begin, later = schedule(load_config("small/actswm-plus").objective)
    assert begin.weights == {"sigreg": 0.02, "dynamics": 0.09, "prediction": 1.0, "hinge": 1.0}
    assert later.begin == 0.5 and later.weights == {"sigreg": 0.02, "dynamics": 0.03, "prediction": 1.0}
    assert str(later) == "from 50% on: sigreg 0.02, dynamics 0.03, prediction 1"
    *_, last = schedule(load_config("small/contrast").objective)
    assert last.begin == 0.6 and str(last).endswith("the encoder is fixed")
    assert last.weights["prediction"] == pytest.approx(6 * 0.3)


@pytest.mark.parametrize("preset", ["lewm", "lewm-rollout", "actswm", "joint-readout"])
def test_the_papers_objectives_have_one_stage(preset):
    assert [stage.begin for stage in schedule(load_config(f"small/{preset}").objective)] == [0.0]


def test_the_stage_says_what_is_computed_up_to_the_very_end():
    """Validation after the last step is of the last stage: nothing begins when the training is over."""
    config = ObjectiveConfig(
        horizon=3,
        rollout_from=0.25,
        fixed_from=0.75,
        one_step=1.0,
        hinge=HingeConfig(until=0.5),
        dynamics=DynamicsConfig(0.1, later=0.0),
    )
    model, windows, stages = disturbed(small_config(4)), batch(7), schedule(config)
    assert [stage.begin for stage in stages] == [0, 0.25, 0.5, 0.75]
    for stage, until in zip(stages, (0.24, 0.49, 0.74, 1.0)):
        for progress in (stage.begin, until):
            found = Objective(config)(model, windows, torch.Generator().manual_seed(1), progress)
            assert set(found.terms) == set(stage.weights)
            expected = sum(stage.weights[name] * term for name, term in found.terms.items())
            torch.testing.assert_close(found.total, expected)
    assert set(Objective(ObjectiveConfig(horizon=3))(model, windows, progress=1.0).terms) >= {"sigreg", "hinge"}
