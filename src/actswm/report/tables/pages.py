"""A page whose tables are made: above each stands, as a comment, the command that prints it."""

from __future__ import annotations

import glob
import re
import shlex
from collections.abc import Callable

from ...errors import UserError

COMMAND = "actswm results table"
_PLACE = re.compile(rf"(?P<mark><!-- {COMMAND} (?P<words>[^\n]+?) -->\n\n)(?P<table>(?:\|[^\n]*\n)*)")


def filled(page: str, printed: Callable[[list[str]], str]) -> str:
    """The page with every table as `printed` gives it for the words behind the command; patterns are expanded."""
    if not _PLACE.search(page):
        raise UserError(
            f"no table of this page says how it is made (<!-- {COMMAND} ... -->, then an empty line)"
        )

    def fill(place: re.Match[str]) -> str:
        try:
            named = shlex.split(place["words"])
        except ValueError as error:
            raise UserError(f"{place['mark'].strip()}: is no command ({error})") from None
        words = [path for word in named for path in sorted(glob.glob(word)) or [word]]
        space = "\n" if page[place.end() :][:1].strip() else ""  # text right below would be a row of the table
        return f"{place['mark']}{printed(words)}\n{space}"

    return _PLACE.sub(fill, page)
