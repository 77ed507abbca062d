"""A wrong word on the command line is answered like all bad input: in one line, with exit code 2."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from .printing import one_line, say


class Commands(TyperGroup):
    def main(self, *args: Any, **options: Any) -> Any:
        try:
            sys.exit(super().main(*args, **{**options, "standalone_mode": False}))
        except typer.Abort:
            say("actswm: aborted", err=True)
            sys.exit(1)
        except typer.BadParameter.__mro__[2] as error:  # ClickException, which Typer does not name
            if type(error).__name__ != "NoArgsIsHelpError":  # it has shown the help
                say(f"actswm: {explained(error)}", err=True)
            sys.exit(error.exit_code)


def explained(error: Any) -> str:
    """What is wrong, and whose help tells more."""
    where = error.ctx.command_path if getattr(error, "ctx", None) else "actswm"
    return one_line(f"{error.format_message().rstrip('.?').replace('Value error, ', '')}; see {where} --help")
