"""JSON files, written whole and read with two kinds of failure only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .atomic import write_whole


def write_json(path: Path, content: Any, *, sort_keys: bool = False) -> None:
    write_whole(path, json.dumps(content, indent=2, sort_keys=sort_keys, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """FileNotFoundError if there is none; ValueError for whatever else is wrong with it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from error
    except RecursionError as error:
        raise ValueError("too deeply nested") from error
