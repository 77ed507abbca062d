import torch

from actswm.model import Context, ModelConfig, WorldModel
from actswm.model.action import ActionConfig
from actswm.objective import Batch, Objective, ObjectiveConfig

from .small_models import disturbed, random_context, small_config


def millions(module: torch.nn.Module) -> float:
    return sum(parameter.numel() for parameter in module.parameters()) / 1e6


def test_sizes_are_lewms():
    model = WorldModel(ModelConfig(action=ActionConfig(bottleneck=10)))
    assert round(millions(model.encoder), 2) == 5.50
    assert abs(millions(model.predictor) - 10.79) < 0.01
    assert round(millions(model.action_encoder), 2) == 0.16
    assert round(millions(model.projector), 2) == round(millions(model.prediction_projector), 2) == 0.79
    assert abs(millions(model) - millions(model.readout) - 18.03) < 0.01


def test_at_initialisation_actions_have_no_effect_and_a_few_steps_later_they_have():
    torch.manual_seed(0)
    model = WorldModel(small_config())
    context = random_context(model, 2, 4)
    actions = torch.rand(2, 2, 5, 56)
    with torch.no_grad():
        first, second = model.eval().rollout(context, actions).unbind(1)
    assert torch.equal(first, second)

    objective = Objective(ObjectiveConfig(horizon=3))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    batch = Batch(torch.randint(0, 255, (8, 7, 16, 16, 3), dtype=torch.uint8), torch.rand(8, 6, 56))
    model.train()
    for _ in range(4):
        optimizer.zero_grad()
        objective(model, batch).total.backward()
        optimizer.step()
    with torch.no_grad():
        first, second = model.eval().rollout(context, actions).unbind(1)
    assert (first - second).abs().max() > 1e-4


def test_predict_is_causal():
    model = disturbed(small_config(4))
    latents, actions = torch.randn(1, 4, 12), torch.rand(1, 4, 56)
    with torch.no_grad():
        before = model.predict(latents, actions)
        latents[:, 2] += 1
        actions[:, 2] = 1 - actions[:, 2]
        after = model.predict(latents, actions)
    moved = (after - before).abs().amax((0, 2))
    assert (moved[:2] == 0).all() and (moved[2:] > 1e-6).all()


def test_dropout_is_the_same_in_all_sequences():
    """In training, two equal action sequences must give equal rollouts, or noise would satisfy the hinge."""
    model = disturbed(small_config(4)).train()
    context = random_context(model, 3, 4)
    actions = torch.rand(3, 1, 6, 56)
    twice = model.rollout(context, actions.expand(-1, 2, -1, -1))
    assert torch.equal(twice[:, 0], twice[:, 1])
    assert not torch.equal(twice, model.rollout(context, actions.expand(-1, 2, -1, -1))), "dropout is on"


def test_only_the_recorded_rollout_moves_running_statistics():
    """Statistics come from sequence 0; an extra counterfactual sequence changes neither them nor its rollout."""
    config = small_config(4)
    config.predictor.dropout = 0.0
    recorded, other = torch.rand(3, 1, 6, 56), torch.rand(3, 1, 6, 56)
    results = []
    for sequences in (recorded, torch.cat([recorded, other], 1)):
        model = disturbed(config).train()
        torch.manual_seed(1)
        rollout = model.rollout(random_context(model, 3, 4), sequences)
        results.append((rollout[:, 0], model.prediction_projector.norm.running_mean.clone()))
    torch.testing.assert_close(results[0], results[1])


def test_sliding_history_reaches_back_before_the_context():
    """The lead of a sliding context matters: it is part of the first inputs."""
    model = disturbed(small_config(4, encoding="sliding"))
    context = random_context(model, 1, 4)
    actions = torch.rand(1, 1, 2, 14)
    changed = Context(context.latents, context.actions.clone())
    changed.actions[:, 0] += 1
    with torch.no_grad():
        assert not torch.equal(model.rollout(context, actions), model.rollout(changed, actions))


def test_continuous_controls_are_scaled_and_noop_stays_zero():
    model = disturbed(small_config(vocabulary="minecraft"))
    pitch = model.encoding.vocabulary.index("pitch")
    model.action_scale[pitch] = 4.0
    actions = torch.zeros(1, 1, 88)
    assert not model.normalise(actions).any()
    actions[..., pitch] = 8.0
    actions[..., 0] = 1.0
    normalised = model.normalise(actions)
    assert normalised[0, 0, pitch] == 2 and normalised[0, 0, 0] == 1


def test_activation_checkpointing_changes_nothing():
    config = ModelConfig(image_size=32)
    config.vit.depth, config.vit.patch = 3, 8
    torch.manual_seed(0)
    model = WorldModel(config)
    pixels = torch.randint(0, 255, (1, 2, 32, 32, 3), dtype=torch.uint8)
    gradients = []
    for checkpointing in (False, True):
        model.encoder.checkpointing = checkpointing
        model.zero_grad()
        model.encoder(pixels[0].permute(0, 3, 1, 2).float() / 255).square().sum().backward()
        gradients.append([p.grad.clone() for p in model.encoder.parameters()])
    for plain, recomputed in zip(*gradients):
        torch.testing.assert_close(plain, recomputed)
