"""`actswm hud`: template packs, by which a filter knows a game's screen."""

from __future__ import annotations

from pathlib import Path

import typer

from .printing import say

app = typer.Typer(
    help="Template packs of a game's HUD and menus.\n\nExample: actswm hud learn frames --out apex-pack",
    no_args_is_help=True,
)


@app.callback()
def hud() -> None:
    """Template packs, by which `actswm harvest` knows play from menus.

    Example: actswm hud learn frames --out apex-pack
    """


@app.command()
def learn(
    frames: list[Path] = typer.Argument(help="Pictures, videos or folders of them, all in one state."),
    out: Path = typer.Option(..., "--out", "-o", help="Folder of the pack; other states in it stay."),
    state: str = typer.Option(
        "play",
        help="What they show: play, or a bad state (menu, death; menu:options for another look of it).",
    ),
    against: list[Path] = typer.Option([], help="Frames of other states, which must not show the elements."),
    box: list[str] = typer.Option(
        [], help="LEFT,TOP,WIDTH,HEIGHT in a picture of 640x360, in place of proposals."
    ),
    drop: str = typer.Option("", help="Numbers of proposed elements to leave out, as in 03,07."),
    name: str = typer.Option(None, help="Of the pack (default: the folder's)."),
) -> None:
    """Make a template pack from your own frames: what stays the same while the world moves. See page.html in it.

    Example: actswm hud learn play-frames --out apex-pack --against menu-frames
    """
    from ..curation.harvest.hud_learning import Proposal, read_frames, write_proposal
    from ..curation.harvest.hud_learning import learn as run
    from ..curation.harvest.packs import Element, load_pack, write_pack
    from ..errors import UserError

    for path in (*frames, *against):
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
    proposal = run(
        read_frames(frames), state, read_frames(against) if against else (), [_box(text) for text in box]
    )
    dropped = {one.strip() for one in drop.split(",") if one.strip()}
    unknown = dropped - {element.name for element in proposal.elements}
    if unknown:
        raise UserError(f"--drop {', '.join(sorted(unknown))}: no such element; see {out / 'page.html'}")
    proposal = Proposal(tuple(e for e in proposal.elements if e.name not in dropped), proposal.picture)
    others: tuple[Element, ...] = ()
    if (out / "pack.json").exists():
        others = tuple(element for element in load_pack(str(out)).elements if element.state != state)
    write_pack(out, name or out.resolve().name, [*others, *proposal.elements])
    write_proposal(out / "page.html", [proposal])
    say(
        f"{out}: {len(proposal.elements)} elements of {state}, {len(others)} of other states; look at page.html"
    )


def _box(text: str) -> tuple[int, int, int, int]:
    from ..errors import UserError

    parts = text.split(",")
    if len(parts) != 4 or not all(part.strip().isdigit() for part in parts):
        raise UserError(f"--box {text!r} must be LEFT,TOP,WIDTH,HEIGHT in pixels of a 640x360 picture")
    left, top, width, height = (int(part) for part in parts)
    if left + width > 640 or top + height > 360 or not width * height:
        raise UserError(f"--box {text!r} lies outside of 640x360")
    return left, top, width, height
