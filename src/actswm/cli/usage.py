"""What a command says of itself, and of a wrong word: one line with exit code 2, as for all bad input."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from .printing import one_line, say

WRONG: Any = typer.BadParameter.__mro__[2]
"""ClickException, which Typer does not name."""


class Commands(TyperGroup):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        flow(self)

    def main(self, *args: Any, **options: Any) -> Any:
        try:
            sys.exit(super().main(*args, **{**options, "standalone_mode": False}))
        except typer.Abort:
            say("actswm: aborted", err=True)
            sys.exit(1)
        except WRONG as error:
            if type(error).__name__ != "NoArgsIsHelpError":  # it has shown the help
                say(f"actswm: {explained(error)}", err=True)
            sys.exit(error.exit_code)


def flow(command: Any) -> None:
    """Paragraphs of help, and of the help of all commands below, as long as the terminal is wide."""
    command.help = "\n\n".join(" ".join(part.split()) for part in (command.help or "").split("\n\n"))
    for each in getattr(command, "commands", {}).values():
        flow(each)


def explained(error: Any) -> str:
    """What is wrong, and whose help tells more."""
    where = error.ctx.command_path if getattr(error, "ctx", None) else "actswm"
    return one_line(f"{error.format_message().rstrip('.?').replace('Value error, ', '')}; see {where} --help")
