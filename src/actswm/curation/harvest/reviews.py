"""A person's word on clips: it overrules the filter, and it is what the filter is measured with."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from ...errors import UserError
from .records import Folder, write_lines


@dataclass(frozen=True)
class Review:
    clip: str
    """The name that the clip's file has or would have."""
    keep: bool
    verdict: str
    """What the filter had said."""
    seconds: float


@dataclass(frozen=True)
class FilterScore:
    """Over the clips that a person looked at, by seconds; a clip that is too short was not the filter's to judge."""

    reviewed: int
    seconds: float
    precision: float | None
    recall: float | None


def read_reviews(folder: Folder) -> dict[str, Review]:
    """The last word on each clip."""
    path = folder.root / "reviews.jsonl"
    if not path.exists():
        return {}
    try:
        rows: list[dict[str, Any]] = [
            json.loads(line) for line in path.read_text().splitlines() if line.strip()
        ]
        return {row["clip"]: Review(**row) for row in rows}
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path}: is no list of reviews ({error!r}); correct or remove it") from None


def add_reviews(folder: Folder, new: list[Review]) -> None:
    known = read_reviews(folder) | {review.clip: review for review in new}
    write_lines(folder.root / "reviews.jsonl", [asdict(review) for _, review in sorted(known.items())])


def score_filter(folder: Folder) -> FilterScore:
    reviews = [
        review for review in read_reviews(folder).values() if review.verdict not in ("short", "duplicate")
    ]
    if not reviews:
        raise UserError(
            f"{folder.root}: no clip was reviewed yet; look at some with: actswm harvest page --review"
        )
    kept = sum(review.seconds for review in reviews if review.verdict == "kept")
    wanted = sum(review.seconds for review in reviews if review.keep)
    both = sum(review.seconds for review in reviews if review.keep and review.verdict == "kept")
    return FilterScore(
        len(reviews),
        sum(review.seconds for review in reviews),
        both / kept if kept else None,
        both / wanted if wanted else None,
    )
