"""The one exception that the command line shows as a single line."""

from __future__ import annotations


class UserError(Exception):
    """Bad input. The message names the file or field and says what to do; the CLI exits with code 2."""
