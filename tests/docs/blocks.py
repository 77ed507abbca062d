"""The code blocks of a Markdown page, and where each stands.

A block that cannot run on every machine has `<!-- not run: reason -->` on the line before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
SHELL = {"sh", "bash"}
RUN = SHELL | {"python"}
SHOWN = {"text", "json", "yaml"}
"""Languages of blocks that are only shown: outputs and files."""
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)[^`]*$")
_REASON = re.compile(r"^ *<!-- not run: (?P<reason>.+) -->$")


@dataclass(frozen=True)
class Block:
    """`line` is that of the opening fence, from 1."""

    page: Path
    line: int
    language: str
    code: str
    reason: str | None = None

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def runs(self) -> bool:
        return self.language in RUN and self.reason is None

    @property
    def commands(self) -> list[str]:
        """A shell block's commands, with continued lines joined and comments left in."""
        joined = self.code.replace("\\\n", " ")
        return [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    lines = page.read_text().splitlines()
    index = 0
    while index < len(lines):
        fence = _FENCE.match(lines[index])
        if not fence:
            index += 1
            continue
        indent = fence["indent"]
        end = next(i for i in range(index + 1, len(lines)) if lines[i].rstrip() == f"{indent}```")
        code = "\n".join(line.removeprefix(indent) for line in lines[index + 1 : end])
        note = _REASON.match(lines[index - 1]) if index else None
        found.append(Block(page, index + 1, fence["language"], code, note["reason"] if note else None))
        index = end + 1
    return found


def unfenced(page: Path) -> list[int]:
    """Lines of code blocks by indentation, which no test would see: after an empty line, four spaces or more.

    Paragraphs of a list are indented, too: where a list item stands above, the text belongs to it.
    """
    found, fenced, in_list = [], False, False
    lines = ["", *page.read_text().splitlines()]
    for number in range(1, len(lines)):
        line = lines[number]
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and line.strip():
            if re.match(r" *([-*]|\d+\.) ", line):
                in_list = True
            elif not line.startswith(" "):
                in_list = line.startswith(("!!!", "???", ":::"))
            elif line.startswith("    ") and not in_list and not lines[number - 1].strip():
                found.append(number)
    return found
