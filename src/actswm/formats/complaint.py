"""What is wrong with a message, in a few words, from the error that reading it raised."""

from __future__ import annotations


def complaint(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"no field {str(error)[:40]}"
    return " ".join(str(error).split())[:60] or type(error).__name__
