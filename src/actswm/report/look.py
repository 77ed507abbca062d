"""How our figures look: quiet axes and small type."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..atomic import written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GREY = "#8A8A8A"
STYLE: dict[str, Any] = {
    "figure.dpi": 150,
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8,
}


def styled(grid: bool = True) -> AbstractContextManager[Any]:
    """Draw inside this."""
    import matplotlib

    settings: Any = {**STYLE, "axes.grid": grid}
    return matplotlib.rc_context(settings)


def new_figure(width: float, height: float) -> Figure:
    """A figure of its own, without pyplot's global state or a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, path: Path) -> None:
    with written_whole(path) as temporary:
        figure.savefig(temporary, format="png")
