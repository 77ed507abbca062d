"""Reads a harvest's list of clips, for whoever goes on with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...errors import UserError


def read_clips(folder: Path) -> dict[Path, dict[str, Any]]:
    """Each clip's file, and where it comes from."""
    path = folder / "clips.jsonl"
    if not path.is_file():
        raise UserError(f"{folder}: is a folder without clips.jsonl; give video files, or a harvest's folder")
    found: dict[Path, dict[str, Any]] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            row = json.loads(line)
            name, source = row["clip"], row["source"]
            found[folder / Path(name).name] = {
                "url": source["url"] or source["path"],
                "licence": source["licence"],
                "start_s": row["start_s"],
                "end_s": row["end_s"],
                "domain": row["domain"],
                "sha256": row["sha256"][:16],
                "uploader": source["uploader"],
                "title": source["title"],
            }
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: line {number} is no clip ({error!r}); export it again") from None
    return found
