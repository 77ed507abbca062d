import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actswm.diagnosis.reproduction import differences, read_expected
from actswm.errors import UserError

TREES = st.recursive(
    st.floats(-1, 1) | st.integers(0, 50) | st.none() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3)
    ),
)


@given(TREES)
def test_a_result_equals_itself_after_a_round_trip(tree):
    assert differences(tree, json.loads(json.dumps(tree)), 0) == []


def test_what_differs_is_named():
    expected = {"models": [{"name": "a", "gap": {"mean": 0.5}, "skill": None}], "windows": 64}
    assert differences(expected, {**expected, "more": 1}, 0.01) == []
    assert differences({**expected, "commit": "one"}, {**expected, "commit": "two"}, 0.01) == []
    measured = {"models": [{"name": "b", "gap": {"mean": 0.52}, "skill": 0.1}]}
    places = [str(difference) for difference in differences(expected, measured, 0.01)]
    assert places == [
        "models.0.name: 'a' expected, 'b' measured",
        "models.0.gap.mean: 0.5000 expected, 0.5200 measured",
        "models.0.skill: nan expected, 0.1000 measured",
        "windows: 64.0000 expected, nothing measured",
    ]
    assert len(differences(expected, measured, 0.05)) == 3


def test_large_figures_are_compared_relatively():
    assert differences([200.0], [201.0], 0.01) == [] and differences([200.0], [203.0], 0.01)


def test_a_missing_or_broken_file(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        read_expected(tmp_path / "none.json")
    with pytest.raises(UserError, match="cannot be read"):
        read_expected(tmp_path)
    for text in ("{", "[" * 100_000, f"[1{'0' * 400}]"):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(UserError, match="not valid JSON"):
            read_expected(tmp_path / "bad.json")
