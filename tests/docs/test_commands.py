"""The documentation knows the command line: every command is shown, and no option that is named is made up."""

from __future__ import annotations

import re
import shlex

import pytest
import typer

from actswm.cli.main import app

from .blocks import PAGES, ROOT, SHELL, blocks_of

COMMAND_LINE = typer.main.get_command(app)
_INLINE = re.compile(r"(?:`|<!-- )(actswm [^`>]+?)(?:`| -->)")


def children(command) -> dict:
    """A group's commands; none if it is a command itself."""
    return getattr(command, "commands", {})


def all_commands(group=COMMAND_LINE, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    deeper = [(child, (*path, name)) for name, child in children(group).items()]
    return [found for child in deeper for found in all_commands(*child)] if deeper else [path]


def named_commands(page) -> list[str]:
    """Command lines in a page's shell blocks (run or not), in its sentences, and above tables that they print."""
    found = _INLINE.findall(page.read_text())
    for block in blocks_of(page):
        if block.language in SHELL:
            found += [f"actswm {line.split('actswm ', 1)[1]}" for line in block.commands if "actswm " in line]
    return found


def resolve(words: list[str]):
    """The command that words name, and what is left of them."""
    command, left = COMMAND_LINE, list(words)
    while children(command) and left and not left[0].startswith("-"):
        assert left[0] in children(command), f"{command.name} has no command {left[0]!r}"
        command = children(command)[left.pop(0)]
    return command, left


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_commands_and_options_exist(page):
    for line in named_commands(page):
        command, left = resolve(shlex.split(line, comments=True)[1:])
        known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
        for word in left:
            if word.startswith("--"):
                assert word.split("=")[0] in known | {"--help"}, f"{line}: no such option {word}"


@pytest.mark.parametrize("command", all_commands(), ids=" ".join)
def test_every_command_is_shown(command):
    """In a block, or, where it cannot run, in a sentence."""
    shown = [
        tuple(" ".join(line.split()).removeprefix("actswm ").split()[: len(command)])
        for page in (ROOT / "docs").rglob("*.md")
        for line in named_commands(page)
    ]
    assert command in shown
