"""What a command made of its input, in one word, and the table of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from .running import Outcome

BUG = 70
"""The exit code of the last-resort handler: a traceback in better clothes."""


class Verdict(StrEnum):
    REFUSED = "refused"
    ACCEPTED = "accepted"
    TRACEBACK = "traceback"
    CRASH = "crash"
    HANG = "hang"
    LAUNDERED = "laundered"
    """Accepted, though `actswm inspect` refuses the input, or the file that was made of it."""
    CHANGED = "changed"
    """Refused, but the input is not what it was."""
    UNCLEAR = "unclear"
    """It failed without the one line that says why."""


FINE = (Verdict.REFUSED, Verdict.ACCEPTED)


def verdict_of(outcome: Outcome) -> Verdict:
    """All but `laundered`, which needs a second opinion on the files."""
    if outcome.hung:
        return Verdict.HANG
    if outcome.code < 0:
        return Verdict.CRASH
    if "Traceback (most recent call last)" in outcome.err + outcome.out or outcome.code == BUG:
        return Verdict.TRACEBACK
    if outcome.code == 0:
        return Verdict.ACCEPTED
    return Verdict.REFUSED if _reasons(outcome.err) else Verdict.UNCLEAR


def _reasons(err: str) -> bool:
    """One line of the program's, or one for each recording that failed or gave nothing."""
    lines = err.splitlines()
    said = [line for line in lines if line.startswith("actswm: ")]
    failed = [line for line in lines if line.startswith(("failed: ", "nothing was kept"))]
    differs = [line for line in lines if line.endswith("do not come out again")]
    return len(said) == 1 or bool(failed and not said) or bool(differs)


@dataclass(frozen=True)
class Case:
    """One command on one mutated input; `number` and `kind` make the input again."""

    kind: str
    number: int
    command: str
    mutation: str
    verdict: Verdict
    arguments: tuple[str, ...]
    last_lines: str
    cpu: float

    @property
    def fine(self) -> bool:
        return self.verdict in FINE


def table(cases: Iterable[Case]) -> str:
    """Command x kind of input, as Markdown."""
    counts: dict[tuple[str, str], Counter[Verdict]] = {}
    for case in cases:
        counts.setdefault((case.command, case.kind), Counter())[case.verdict] += 1
    total: Counter[Verdict] = sum(counts.values(), Counter())
    columns = list(Verdict)
    rows = [
        [*key, found.total(), *(found[verdict] for verdict in columns)]
        for key, found in sorted(counts.items())
    ]
    rows.append(["all", "all", total.total(), *(total[verdict] for verdict in columns)])
    return markdown(["command", "input", "cases", *columns], rows)


def markdown(head: list[str], rows: Iterable[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def failures(cases: Iterable[Case]) -> list[str]:
    """What to look at: how to make each input again, and what the command said last."""
    return [
        f"{case.verdict}: --kind {case.kind} --number {case.number} ({case.mutation})\n"
        f"    actswm {' '.join(case.arguments)}\n    {case.last_lines}"
        for case in cases
        if not case.fine
    ]
