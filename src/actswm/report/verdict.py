"""Is a model action-sensitive? One phrase, from step drift and, where there is one, from the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..results import Drift, DriftModel, Fidelity, FidelityModel

THRESHOLD = 0.05
"""A shuffled gap below this is none that matters."""
SENSITIVE = "is action-sensitive"
IGNORES = "ignores its actions"
WORSE_THAN_COPYING = "is action-sensitive, but predicts worse than copying"
WHY = {
    IGNORES: "Whatever the keys, it expects the same future",
    "is hardly action-sensitive": "The interval reaches below what counts as a gap",
    SENSITIVE: "Its futures change with the keys",
    "reacts to its actions, but wrongly": "Its futures change, but away from what the game shows under those keys",
    "reacts to its actions, but not as the game does": "Its futures change, but are no nearer to the true ones",
    WORSE_THAN_COPYING: "Its futures change, but the last frame is a better guess",
}
EXPLANATION = (
    "The verdict rests on the last step of step drift: a model is action-sensitive if shuffling its actions "
    f"costs it more than {THRESHOLD} of similarity to the real future, with the whole interval; it ignores them if "
    "the whole interval lies below. A gap can come from being wrong under other actions, so where true "
    "futures were rendered it is so only if F ends above one half, with the whole interval, and lies "
    "below it at no step."
)


def verdicts(drift: Drift, truths: Sequence[Fidelity]) -> dict[str, str]:
    """Model -> verdict on the drift's data; true futures count if they are of the same data."""
    judged = _judged(drift, truths)
    return {model.name: _verdict(model, judged.get(model.name)) for model in drift.models}


def _judged(drift: Drift, truths: Sequence[Fidelity]) -> dict[str, FidelityModel]:
    return {model.name: model for truth in truths if truth.data == drift.data for model in truth.models}


def reasons(drift: Drift, truths: Sequence[Fidelity]) -> list[str]:
    """Why each model has its verdict, a sentence for each."""
    judged = verdicts(drift, truths)
    said = []
    for model in drift.models:
        zero, shuffled = (model.curves[name][-1].mean for name in ("zero_gap", "shuffled_gap"))
        gaps = f"other actions cost it {shuffled:.2f} of similarity, no actions {zero:.2f}"
        verdict = judged[model.name]
        if math.isnan(shuffled):
            continue
        if verdict == IGNORES and zero >= THRESHOLD:
            why = (
                "It can tell that something is pressed, but not what: a training that only pushes the future without "
                "actions away opens that gap and never asks for the other one"
            )
        else:
            why = WHY.get(verdict, "")
        if verdict == SENSITIVE:
            rendered = model.name in _judged(drift, truths)
            why += ", and as the game's own do" if rendered else "; whether rightly was not asked here"
        said.append(f"On {drift.data}, {model.name} {verdict}: {gaps}. {why}".rstrip(". ") + ".")
    return said


def _verdict(model: DriftModel, truth: FidelityModel | None) -> str:
    last = {name: curve[-1] for name, curve in model.curves.items()}
    if math.isnan(last["shuffled_gap"].mean):
        return "cannot be judged: its predictions are no numbers"
    if last["shuffled_gap"].high < THRESHOLD:
        return IGNORES
    if last["shuffled_gap"].low <= THRESHOLD:
        return "is hardly action-sensitive"
    fidelity = [row.fidelity for row in truth.of("all")] if truth else []
    if any(step.high < 0.5 for step in fidelity):
        return "reacts to its actions, but wrongly"
    if fidelity and fidelity[-1].low <= 0.5:
        return "reacts to its actions, but not as the game does"
    return SENSITIVE if last["recorded"].mean > last["copy"].mean else WORSE_THAN_COPYING
