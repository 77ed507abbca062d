"""`actswm models`: the weights that come with the package."""

from __future__ import annotations

import typer

from ..errors import UserError
from .printing import say

_SCORES = ("drift_gap", "shuffled_gap", "above_copy")


def models(
    match: str = typer.Argument("", help="Only models whose name holds this, such as `maze` or `contrast`."),
) -> None:
    """List the models that come with the package: name, game, size, scores and licence.

    Any command takes such a name in place of a folder. Scores are cosine similarities to what happened, at the last
    step of the rollout, of the validation at the end of training.

    Example: actswm models maze
    """
    from ..saved_models import SHIPPED, shipped_names, summary

    names = [name for name in shipped_names() if match in name]
    if not names:
        raise UserError(f"no shipped model's name holds {match!r}; there are: {', '.join(shipped_names())}")
    rows: list[tuple[str, ...]] = [("name", "game", "size", "none", "others", "copy", "licence")]
    for model in (summary(SHIPPED / name) for name in names):
        scores = [f"{model.scores[key]:.2f}" if key in model.scores else "-" for key in _SCORES]
        size = f"{model.parameters / 1e6:.2f} M, {model.megabytes:.1f} MB"
        rows.append((model.name, model.game or "-", size, *scores, model.licence or "-"))
    widths = [max(map(len, column)) for column in zip(*rows)]
    # no table of rich's: in a narrow terminal it would cut the names, which are there to be copied
    for row in rows:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    say()
    say(
        "none, others: what predictions lose without actions, and under other actions (0: it is not action-sensitive)"
    )
    say("copy: what they have over a copy of the last frame")
