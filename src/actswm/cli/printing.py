"""What commands say. Names and attributes come from other people's files: whatever they hold is shown as text, so
that none can clear the screen, hide a line, or pass for rich's markup."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and newline, marks that turn the order of letters, and halves of surrogate pairs."""


def shown(text: object) -> str:
    """The text with everything that a terminal would obey written out, `\\x1b` for an escape."""
    return _NOT_TEXT.sub(lambda found: ascii(found[0])[1:-1], str(text))


def one_line(text: object) -> str:
    return shown(" ".join(str(text).split()))


def say(text: object = "", err: bool = False) -> None:
    typer.echo(shown(text), err=err)


class TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return shown(super().format(record))


def text_console(stderr: bool = False, soft_wrap: bool = False) -> Console:
    """Rich's console for tables: their strings are text, never markup."""
    from rich.console import Console

    class TextConsole(Console):
        def render_str(self, text: str, **options: Any) -> Any:
            return super().render_str(shown(text), **options)

    return TextConsole(stderr=stderr, soft_wrap=soft_wrap, markup=False, emoji=False, highlight=False)
