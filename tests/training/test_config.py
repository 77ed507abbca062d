import pytest

from actswm.errors import UserError
from actswm.model import ModelConfig
from actswm.objective import ObjectiveConfig
from actswm.training import TrainingConfig, load_config, preset_names
from actswm.training.config import config_from_yaml, config_to_yaml


def test_paper_preset_is_appendix_a():
    config = load_config("paper/actswm")
    assert config.model == ModelConfig() and config.objective == ObjectiveConfig()
    assert config.training == TrainingConfig()
    assert (config.model.predictor.context, config.objective.horizon) == (32, 12)
    assert (config.objective.sigreg.weight, config.objective.hinge.weight, config.objective.hinge.margin) == (
        0.09,
        0.5,
        0.3,
    )
    assert config.training.steps == 100_000 and config.training.seed == 3072
    assert not config.model.readout.trainable and load_config("paper/joint-readout").model.readout.trainable
    lewm = load_config("paper/lewm", ["model.image_size=256", "objective.rollout=true"])
    assert lewm.model.predictor.context == 3 and lewm.model.image_size == 256


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_loads_and_survives_yaml(preset):
    config = load_config(preset)
    assert config_from_yaml(config_to_yaml(config)) == config


@pytest.mark.parametrize(
    ("preset", "overrides", "message"),
    [
        ("papr/actswm", [], "did you mean 'paper/actswm'"),
        ("tiny/actswm", ["objective.hinge.margn=0.2"], "nearest known one is 'objective.hinge.margin'"),
        ("tiny/actswm", ["learning_rate=1"], "nearest known one is 'training.learning_rate'"),
        ("tiny/actswm", ["training.steps=many"], "bad setting"),
        ("tiny/actswm", ["training.steps"], "not of the form"),
        ("tiny/actswm", ["model.encoder=resnet"], "use vit or conv"),
        ("tiny/actswm", ["model.conv.channels=[4,8]"], "must be multiples of 8"),
        ("tiny/actswm", ["objective.reduction=max"], "use mean or sum"),
        ("tiny/actswm", ["training={steps:"], "cannot be read"),
        ("tiny/actswm", ['training.steps="'], "cannot be read"),
        ("tiny/actswm", ['"'], "not of the form"),
        ("tiny/actswm", ["training..steps=1"], "not of the form"),
        ("tiny/actswm", ["training[0]=1"], "not of the form"),
        ("tiny/actswm", ["training=5"], "bad setting"),
        ("tiny/actswm", ["training.steps=" + "[" * 5000], "cannot be read"),
        ("tiny/actswm", ["training.steps={1: 2}"], "unknown setting|bad setting"),
        ("tiny/actswm", ["training.mask=${oc.env:HOME}"], "write the value itself"),
        ("tiny/actswm", ["objective.hinge.alternatives=[zero,'${training.mask}']"], "write the value itself"),
    ],
)
def test_mistakes_are_named(preset, overrides, message):
    with pytest.raises(UserError, match=message):
        load_config(preset, overrides)


def test_runs_of_earlier_versions_open():
    """Places belonged to the objective, and there was a loss in time that nobody uses."""
    text = "objective: {temporal: {weight: 0.0, temperature: 0.1}, dynamics: {weight: 0.1, windows: 4, reach: 60}}"
    config = config_from_yaml(text)
    place = config.training.place
    assert (place.windows, place.reach, config.objective.dynamics.weight) == (4, 60, 0.1)
    with pytest.raises(UserError, match=r"unknown setting 'objective\.temporal"):
        config_from_yaml("objective: {temporal: {weight: 0.3}}")
