import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actswm.errors import UserError
from actswm.model import Context, WorldModel
from actswm.model.rollout import Past

from .naive import naive_rollout
from .small_models import disturbed, random_context, sized_model, small_config

SIZES = st.fixed_dictionaries(
    {
        "context": st.integers(1, 6),
        "frames": st.integers(1, 9),
        "horizon": st.integers(1, 9),
        "batch": st.integers(1, 3),
        "sequences": st.integers(1, 4),
        "encoding": st.sampled_from(["block", "sliding"]),
        "window": st.sampled_from(["slide", "grow"]),
        "residual": st.booleans(),
    }
)


def relative(x: torch.Tensor, y: torch.Tensor) -> float:
    return float((x - y).abs().max() / y.abs().max())


@settings(max_examples=60)
@given(SIZES)
def test_engine_equals_recomputation(sizes):
    """Growing windows, sliding ones, and contexts longer than the window."""
    model = sized_model(sizes)
    context = random_context(model, sizes["batch"], sizes["frames"])
    actions = torch.rand(sizes["batch"], sizes["sequences"], sizes["horizon"], model.encoding.step_dim)
    with torch.no_grad():
        assert relative(model.rollout(context, actions), naive_rollout(model, context, actions)) < 1e-5


@settings(max_examples=25)
@given(SIZES)
def test_gradients_equal_those_of_recomputation(sizes):
    model = sized_model(sizes)
    context = random_context(model, sizes["batch"], sizes["frames"])
    latents = context.latents.requires_grad_()
    actions = torch.rand(sizes["batch"], sizes["sequences"], sizes["horizon"], model.encoding.step_dim)
    actions.requires_grad_()
    weights = torch.randn(sizes["batch"], sizes["sequences"], sizes["horizon"], model.config.latent_dim)
    inputs = [latents, actions, *model.predictor.parameters(), *model.action_encoder.parameters()]
    found, expected = (
        torch.autograd.grad((roll(context, actions) * weights).sum(), inputs, allow_unused=True)
        for roll in (model.rollout, lambda context, actions: naive_rollout(model, context, actions))
    )
    scale = max(float(gradient.abs().max()) for gradient in expected if gradient is not None)
    for mine, reference in zip(found, expected):
        mine = torch.zeros(()) if mine is None else mine
        reference = torch.zeros(()) if reference is None else reference
        assert float((mine - reference).abs().max()) < 1e-5 * scale


def test_the_paper_counts_78_tokens_a_candidate(monkeypatch):
    """H = 32, K = 12: the shared past once, and 1 + 2 + ... + 12 tokens for each sequence."""
    model = disturbed(small_config(32))
    context = random_context(model, 1, 32)
    past = model.prepare(context)
    counted = {"own": 0, "shared": 0}
    block = model.predictor.blocks[0]
    original = block.attention_input

    def counting(x, modulation):
        counted["own" if x.shape[1] == 5 else "shared"] += x.shape[1] * x.shape[2]
        return original(x, modulation)

    monkeypatch.setattr(block, "attention_input", counting)
    actions = torch.rand(1, 5, 12, 56)
    with torch.no_grad():
        model.rollout(context, actions, past)
        assert counted["own"] == 5 * 78
        assert counted["shared"] == 12 * 31, "the windows of all steps, side by side"
        model.rollout(context, actions, past)
    assert counted["shared"] == 12 * 31, "a prepared past is computed once"


def test_a_growing_window_computes_each_token_once(monkeypatch):
    """H = 32, K = 12, 44 positions: 12 tokens a sequence, where a sliding window has 78."""
    model = disturbed(small_config(32, {"window": "grow", "positions": 44}))
    context = random_context(model, 1, 32)
    block, counted = model.predictor.blocks[0], []
    original = block.attention_input
    monkeypatch.setattr(block, "attention_input", lambda x, m: counted.append(x.shape[1:3]) or original(x, m))
    with torch.no_grad():
        model.rollout(context, torch.rand(1, 5, 12, 56))
    assert counted == [(1, 31), *[(5, 1)] * 12]


def test_a_residual_model_begins_by_staying_where_it_is():
    model = WorldModel(small_config(4, {"residual": True})).eval()
    context = random_context(model, 2, 4)
    with torch.no_grad():
        assert torch.equal(model.predict(context.latents, torch.rand(2, 4, 56)), context.latents)


@pytest.mark.parametrize("wrong", [{"window": "jump"}, {"positions": 9}, {"window": "grow", "positions": 4}])
def test_wrong_windows_are_refused(wrong):
    with pytest.raises(UserError, match="predictor"):
        small_config(4, wrong)


def test_a_context_must_fit_its_actions():
    model = disturbed(small_config())
    with pytest.raises(ValueError, match="a context of 3 frames has 2 actions"):
        Past(model.predictor, torch.zeros(1, 3, 12), torch.zeros(1, 3, 12))


def test_bf16_stays_close():
    model = disturbed(small_config(6))
    context = random_context(model, 2, 6)
    actions = torch.rand(2, 3, 5, 56)
    with torch.no_grad():
        exact = model.rollout(context, actions)
        model.to(torch.bfloat16)
        half = Context(context.latents.bfloat16(), context.actions)
        rough = model.rollout(half, actions).float()
    assert torch.nn.functional.cosine_similarity(exact, rough, dim=-1).min() > 0.99


def test_which_action_goes_with_which_frame():
    """Changing decision k must leave predictions 1 .. k untouched and move all later ones."""
    model = disturbed(small_config(5))
    context = random_context(model, 1, 5)
    actions = torch.rand(1, 1, 7, 56)
    with torch.no_grad():
        before = model.rollout(context, actions)
        for k in range(7):
            changed = actions.clone()
            changed[:, :, k] = 1 - changed[:, :, k]
            moved = (model.rollout(context, changed) - before).abs().amax((0, 1, 3))
            assert (moved[:k] == 0).all() and (moved[k:] > 1e-6).all()
