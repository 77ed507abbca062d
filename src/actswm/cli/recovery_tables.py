"""Recovery results as tables for the terminal and as a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..results import Costs, PianoRoll, Recover, RecoverOptions
from ..results.form import decode
from .printing import say, text_console

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..origin import Origin
    from ..recovery.protocol import Recovery, RecoveryOptions
    from ..results import Scores, Weighing

    Array = NDArray[np.floating]


def show(
    recoveries: dict[str, Recovery],
    scores: dict[str, Scores],
    options: RecoveryOptions,
    windows: int,
    origin: str,
) -> None:
    guide = (
        "ORACLE: each window's own actions" if options.guide == "gt-dist" else f"{options.guide} ({origin})"
    )
    search = f"{options.method}, clipped" if options.search.clip else options.method
    say(f"{windows} windows, target {options.target}, search {search}, {guide}")
    table(scores, recoveries)
    for name, recovery in recoveries.items():
        control_table(name, scores[name])
        if recovery.verdict:
            say(f"{name}: {recovery.verdict}")


def table(scores: dict[str, Scores], recoveries: dict[str, Recovery]) -> None:
    from rich.table import Table

    rows = Table(
        "method", "gap", "relative", "gap of random search", "key acc.", "active acc.", "balanced", "F1"
    )
    for name, one in scores.items():
        found = recoveries.get(name)
        gaps = (found.gap, found.relative_gap, found.random_search_gap) if found else ("", "", "")
        figures = (*gaps, one.key_accuracy, one.active_accuracy, one.balanced_accuracy, one.f1)
        rows.add_row(name, *(str(figure) for figure in figures))
    _wide(text_console()).print(rows)


def control_table(name: str, scores: Scores) -> None:
    from rich.table import Table

    rows = Table("control", "pressed", "precision", "recall", "F1", "balanced", title=name)
    for control in scores.controls:
        if control.pressed_share:
            figures = (control.precision, control.recall, control.f1, control.balanced_accuracy)
            rows.add_row(control.name, f"{control.pressed_share:.1%}", *(str(figure) for figure in figures))
    for camera, error in scores.camera_error.items():
        rows.add_row(camera, "", f"mean absolute error {error}")
    _wide(text_console()).print(rows)


def weighing_table(name: str, weighing: Weighing) -> None:
    from rich.table import Table

    title = f"{name}: what the world model adds (weights chosen on {weighing.windows} windows of {weighing.chosen_on})"
    rows = Table("control", "weight", "balanced accuracy gained", title=title)
    for control, gained in weighing.gained.items():
        weight = weighing.weights.get(control)
        rows.add_row(control, "" if weight is None else f"{weight:g}", str(gained))
    _wide(text_console()).print(rows)


def _wide(console: Any) -> Any:
    """Tables keep their figures whole where the output is a file or a pipe."""
    if not console.is_terminal:
        console.width = 220
    return console


def recovered(
    recoveries: dict[str, Recovery],
    scores: dict[str, Scores],
    options: RecoveryOptions,
    data: str,
    rows: tuple[int, ...],
    roll: PianoRoll,
    weighing: dict[str, Weighing],
    origin: Origin,
) -> Recover:
    costs = {
        name: Costs(
            gap=found.gap,
            relative_gap=found.relative_gap,
            random_search_gap=found.random_search_gap,
            mean_cost=float(found.cem.mean()),
            mean_random_cost=float(found.random.mean()),
            mean_gain=float(found.gain.mean()),
            verdict=found.verdict,
        )
        for name, found in recoveries.items()
    }
    return Recover(data, rows, decode(RecoverOptions, asdict(options)), costs, scores, roll, weighing, origin)


def piano_roll(names: Sequence[str], recorded: Array, recovered: dict[str, Array], window: int) -> PianoRoll:
    """What was pressed in a window (N, K, A), as a string of 0 and 1 a control."""

    def lanes(actions: Array) -> dict[str, str]:
        return {
            name: "".join("01"[int(x > 0.5)] for x in lane) for name, lane in zip(names, actions[window].T)
        }

    methods = {method: lanes(actions) for method, actions in recovered.items()}
    return PianoRoll(window, lanes(recorded), methods)
