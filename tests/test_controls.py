import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from actswm.controls import KEYS14, MINECRAFT, ActionEncoding, Control, Vocabulary, vocabulary_of
from actswm.errors import UserError

VOCABULARIES = st.sampled_from([KEYS14, MINECRAFT])
ENCODINGS = st.builds(
    ActionEncoding, VOCABULARIES, st.sampled_from(["block", "sliding"]), frameskip=st.integers(1, 5)
)


@st.composite
def encoded_steps(draw):
    """An encoding and raw actions for a few steps, binary controls 0/1."""
    encoding = draw(ENCODINGS)
    steps = draw(st.integers(1, 7))
    size = encoding.vocabulary.size
    raw = draw(arrays(np.float32, (steps * encoding.frameskip, size), elements=st.floats(-8, 8, width=16)))
    return encoding, np.where(encoding.vocabulary.binary, raw > 4, raw).astype(np.float32)


def test_keys14_is_the_papers_order():
    assert KEYS14.names == (
        "W", "A", "S", "D", "Shift", "Ctrl", "Fire", "Aim", "Reload", "Jump", "Turn_L", "Turn_R", "Look_U", "Look_D",
    )  # fmt: skip
    assert KEYS14.binary.all()
    assert ActionEncoding(KEYS14, "block").input_dim == ActionEncoding(KEYS14, "sliding").input_dim == 56


def test_minecraft_camera_is_continuous():
    assert [c.name for c in MINECRAFT.controls if not c.binary] == ["pitch", "yaw"]
    action = MINECRAFT.action(["attack"], {"pitch": 82.0})
    assert action[MINECRAFT.index("pitch")] == 82 and MINECRAFT.pressed(action) == ("attack", "pitch")


def test_unknown_names_say_what_is_known():
    with pytest.raises(UserError, match="Turn_L"):
        KEYS14.index("Turn")
    with pytest.raises(UserError, match="keys14, minecraft"):
        vocabulary_of("keys15")
    with pytest.raises(UserError, match="but the file names"):
        vocabulary_of("keys14", ["W"])


@given(encoded_steps())
def test_step_actions_round_trip(case):
    """raw -> steps -> raw' encodes to the same steps; for `block` raw' is raw itself."""
    encoding, raw = case
    steps = encoding.step_actions(raw)
    assert steps.shape == (len(raw) // encoding.frameskip, encoding.step_dim)
    back = encoding.raw_actions(steps)
    if encoding.kind == "block":
        np.testing.assert_array_equal(back, raw)
    np.testing.assert_allclose(encoding.step_actions(back), steps, atol=1e-5)


@given(ENCODINGS)
def test_noop_is_zero_in_every_encoding(encoding):
    raw = np.stack([encoding.vocabulary.noop()] * encoding.frameskip)
    assert not encoding.step_actions(raw).any()


def test_an_own_vocabulary_is_made_again_from_its_spelling():
    own = Vocabulary("rover", (Control("forward"), Control("steer", binary=False)))
    assert own.spelling == "rover(forward,steer~)" and vocabulary_of(own.spelling) == own
    assert vocabulary_of(own.spelling, ["forward", "steer"]) == own
    assert [vocabulary_of(each.spelling) for each in (KEYS14, MINECRAFT)] == [KEYS14, MINECRAFT]
    assert vocabulary_of("box3").spelling == "box3"


@pytest.mark.parametrize(
    "text", ["rover()", "rover(a b)", "rover(a,a)", "keys14(W)", "box3(a)", "(a)", "rover(a", "rover(a~~)", "r(\x1b)"]
)
def test_what_is_no_own_vocabulary_is_the_users_error(text):
    with pytest.raises(UserError):
        vocabulary_of(text)
