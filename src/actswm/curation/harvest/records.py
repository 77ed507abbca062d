"""The folder of a harvest: a record for each video and stage, written whole or not at all, and lists made of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...atomic import write_whole
from ...errors import UserError
from ...json_files import write_json
from .forms import require_form

STAGES = ("discover", "download", "normalise", "cut", "filter", "export")


def digest(*parts: Any) -> str:
    """Names what something was made of."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    """JSON Lines."""
    write_whole(path, "".join(json.dumps(row, sort_keys=True, ensure_ascii=False) + "\n" for row in rows))


def read_json(path: Path) -> Any:
    """What a file of ours says; None if there is none."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        raise UserError(f"{path}: is not JSON; remove it and run again") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def read_lines(path: Path, form: str) -> list[Any]:
    """JSON Lines of ours, each of the form."""
    try:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    except (ValueError, RecursionError):
        raise UserError(f"{path}: is not JSON, line by line; remove it and run again") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    for row in rows:
        require_form(row, form, path)
    return rows


class Folder:
    """`root` gets the clips, `clips.jsonl` and the page; `root/harvest` all that is between."""

    def __init__(self, root: Path) -> None:
        self.root, self.work = root, root / "harvest"
        self.sources, self.samples = self.work / "sources", self.work / "samples"

    def make(self) -> None:
        for folder in (self.sources, self.samples, *(self.work / stage for stage in STAGES)):
            folder.mkdir(parents=True, exist_ok=True)

    def require(self) -> None:
        if not (self.work / "plan.json").exists():
            raise UserError(f"{self.root}: holds no harvest; begin with: actswm harvest discover")

    def record_path(self, stage: str, id: str) -> Path:
        return self.work / stage / f"{id}.json"

    def record(self, stage: str, id: str) -> dict[str, Any] | None:
        path = self.record_path(stage, id)
        content = read_json(path)
        if content is not None:
            require_form(content, stage, path)
        return content

    def keep(self, stage: str, id: str, content: dict[str, Any]) -> None:
        write_json(self.record_path(stage, id), content, sort_keys=True)

    def list_stage(self, stage: str, ids: Iterable[str]) -> list[dict[str, Any]]:
        """The records of a stage in the order of the videos, also written as `harvest/<stage>.jsonl`."""
        rows = [row for row in (self.record(stage, id) for id in ids) if row is not None]
        write_lines(self.work / f"{stage}.jsonl", rows)
        return rows
