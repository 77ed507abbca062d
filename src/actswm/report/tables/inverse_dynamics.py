"""Tables of inverse dynamics: labels, controls, from game to game, and what is foreign."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...results import IdmScore
from .markdown import percent, share, table, with_interval
from .rows import Names, Source, of_kind

TURNS = ("Turn_L", "Turn_R")
EVERYWHERE = ("W", "A", "S", "D", *TURNS)
"""Controls that every game has in use."""
OTHER = "-on-"
"""Between the stem and the other game's name: the model on a recording of that game."""


def idm_table(sources: Sequence[Source], names: Names, only: Sequence[str]) -> str:
    rows = []
    for source, score in of_kind(sources, IdmScore):
        worst = max(score.reliability, key=lambda control: control.error)
        calibration = f"{share(score.calibration_error, 3)} ({worst.name} {share(worst.error, 3)})"
        raw = f"{share(score.raw.balanced_accuracy.mean)}, {share(score.raw.f1.mean)}"
        steps = (with_interval(score.steps.balanced_accuracy), with_interval(score.steps.f1))
        rows.append((names.folder(source.folder), *steps, raw, calibration))
    head = ("balanced accuracy", "F1", "raw steps: balanced, F1", "calibration error (largest)")
    return table(("game", *head), rows)


def controls_table(sources: Sequence[Source], names: Names, only: Sequence[str]) -> str:
    """Balanced accuracy, F1 and the pressed share of every control; nothing where a game does not use it."""
    scores = of_kind(sources, IdmScore)
    rows = [
        (control.name, *(_control(score, control.name) for _, score in scores))
        for control in scores[0][1].steps.controls
    ]
    return table(("control", *(names.folder(source.folder) for source, _ in scores)), rows)


def games_table(sources: Sequence[Source], names: Names, only: Sequence[str]) -> str:
    """Each model on each game: the controls that all have, the turns alone, the share that is called foreign."""
    cells: dict[str, dict[str, str]] = {}
    for source, score in of_kind(sources, IdmScore):
        values = {control.name: control.balanced_accuracy.mean for control in score.steps.controls}
        means = (sum(values[name] for name in chosen) / len(chosen) for chosen in (EVERYWHERE, TURNS))
        cell = "; ".join([*map(share, means), percent(score.off_domain_share)])
        other = source.path.stem.partition(OTHER)[2]
        tested = source.folder if not other else names.folder_of(other)
        cells.setdefault(source.folder, {})[tested] = cell
    rows = [
        (names.folder(trained), *(found.get(tested, "") for tested in cells))
        for trained, found in cells.items()
    ]
    return table(("trained on, tested on", *map(names.folder, cells)), rows)


def foreign_table(sources: Sequence[Source], names: Names, only: Sequence[str]) -> str:
    scores = of_kind(sources, IdmScore)
    recordings = {
        str(score.data).removesuffix(".h5"): names.folder(source.folder) for source, score in scores
    }
    videos = [name for name in scores[0][1].separations if name not in recordings]
    rows = []
    for source, score in scores:
        caught = {
            name: f"{share(auroc, 3)} ({percent(score.caught[name])})"
            for name, auroc in score.separations.items()
        }
        games = ", ".join(f"{recordings[name]} {caught[name]}" for name in recordings if name in caught)
        own = percent(score.off_domain_share, 1)
        rows.append((names.folder(source.folder), games, *(caught[name] for name in videos), own))
    return table(("model of", "other games", *videos, "own stretches beyond the limit"), rows)


def _control(score: IdmScore, name: str) -> str:
    (found,) = (control for control in score.steps.controls if control.name == name)
    if math.isnan(found.balanced_accuracy.mean):
        return ""
    return (
        f"{with_interval(found.balanced_accuracy)}, {share(found.f1.mean)} ({percent(found.pressed_share)})"
    )
