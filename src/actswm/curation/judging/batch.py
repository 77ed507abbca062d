"""Batch mode: questions go into files, answers come back in files, in any order and perhaps days later.

A folder holds everything: `<name>.requests.jsonl` (one line per question, `custom_id` is the question's digest),
`<name>.results.jsonl` (downloaded, or put there by whoever carried the batch to its service), and `batches.json`
(what was submitted and what was read). Answers end up in the verdict cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ...atomic import write_whole
from ...errors import UserError
from ..domains import Domain
from .cache import VerdictCache
from .judge import Candidate, Verdict, decided
from .service import ServiceSettings, client, context, question, redacted, service_key, understand

REQUESTS, RESULTS = ".requests.jsonl", ".results.jsonl"
_MOST_LINES, _MOST_BYTES = 20_000, 90 * 2**20
_FINISHED = ("completed", "failed", "expired", "cancelled")


class CachedJudge:
    """Answers from the cache alone: the second half of batch mode."""

    def __init__(self, domain: Domain, settings: ServiceSettings, cache: VerdictCache) -> None:
        self._cache, self._context = cache, context(domain, settings)

    def submit(self, candidate: Candidate) -> Future[Verdict]:
        verdict = self._cache.get(candidate.digest(self._context))
        if verdict is None:
            raise UserError("a candidate has no verdict yet; run the command again to ask for it")
        return decided(verdict)

    def close(self) -> None: ...


def write_requests(
    folder: Path,
    name: str,
    candidates: Iterable[Candidate],
    domain: Domain,
    settings: ServiceSettings,
    cache: VerdictCache,
) -> int:
    """Write the questions of one recording that have no answer yet; returns how many."""
    about = context(domain, settings)
    asked: set[str] = set()

    def lines() -> Iterator[bytes]:
        for candidate in candidates:
            digest = candidate.digest(about)
            if digest not in asked and cache.get(digest) is None:
                asked.add(digest)
                body = question(candidate, domain, settings)
                line = {"custom_id": digest, "method": "POST", "url": "/v1/chat/completions", "body": body}
                yield orjson.dumps(line)

    _write_parts(folder, name, lines())
    return len(asked)


@dataclass
class _State:
    """`batches.json`."""

    submitted: dict[str, str] = field(default_factory=dict)
    """Request file -> the service's batch id."""
    received: list[str] = field(default_factory=list)
    """Result files that were read."""


class BatchFolder:
    """The questions and answers of one run."""

    def __init__(self, folder: Path, settings: ServiceSettings, cache: VerdictCache) -> None:
        self.folder, self._settings, self._cache = folder, settings, cache
        self._state_path = folder / "batches.json"
        try:
            stored = orjson.loads(self._state_path.read_bytes()) if self._state_path.exists() else {}
            self._state = _State(**stored)
        except (ValueError, TypeError) as error:
            raise UserError(f"{self._state_path}: damaged ({error}); remove it to submit again") from None

    def pending(self) -> int:
        """Questions without an answer."""
        digests = {digest for path in self._requests() for digest, _ in _questions(path)}
        return sum(self._cache.get(digest) is None for digest in digests)

    def submit(self) -> int:
        """Hand every request file that the service does not have to it; returns how many."""
        service, count = client(self._settings), 0
        for path in self._requests():
            if path.name in self._state.submitted or not self._open_questions(path):
                continue
            with path.open("rb") as file:
                upload = service.files.create(file=file, purpose="batch")
            batch = service.batches.create(
                input_file_id=upload.id, endpoint="/v1/chat/completions", completion_window="24h"
            )
            self._state.submitted[path.name] = batch.id
            self._save()
            count += 1
        return count

    def fetch(self) -> None:
        """Download the results of submitted batches that are finished, and ask again for what is missing."""
        service = client(self._settings)
        for name, batch_id in self._state.submitted.items():
            results = self.folder / name.replace(REQUESTS, RESULTS)
            if results.exists():
                continue
            batch = service.batches.retrieve(batch_id)
            if batch.status not in _FINISHED:
                continue
            if batch.status == "failed":
                raise UserError(f"batch {batch_id} failed at the service; see {self.folder}")
            parts = [
                service.files.content(file_id).read()
                for file_id in (batch.output_file_id, batch.error_file_id)
                if file_id
            ]
            # Services quote the key in their error messages; it must not end up on disk.
            write_whole(results, b"\n".join(parts).replace(service_key(self._settings).encode(), b"***"))

    def receive(self) -> int:
        """Read new result files into the cache; failed answers are asked again. Returns new verdicts."""
        count = 0
        for path in sorted(self.folder.glob(f"*{RESULTS}")):
            if path.name in self._state.received:
                continue
            failed: dict[str, Verdict | None] = {}
            for digest, verdict, trouble in _answers(path, self._settings):
                if self._cache.get(digest) is not None:
                    continue
                if verdict is not None:
                    self._cache.put(digest, verdict)
                    count += 1
                else:
                    failed[digest] = None if trouble else Verdict(False, "malformed")
            self._ask_again(path, failed)
            self._state.received.append(path.name)
            self._save()
        return count

    def _ask_again(self, results: Path, failed: dict[str, Verdict | None]) -> None:
        """Questions whose answer failed, or which a submitted batch left out, go into the next round's file."""
        requests = results.with_name(results.name.replace(RESULTS, REQUESTS))
        own = dict(_questions(requests)) if requests.exists() else {}
        if requests.name in self._state.submitted:
            failed = {**{digest: None for digest in own if self._cache.get(digest) is None}, **failed}
        if not failed:
            return
        everything = own if failed.keys() <= own.keys() else self._all_questions()
        stem = results.name.removesuffix(RESULTS)
        name, _, round_ = stem.partition(".again")
        if int(round_ or 0) + 1 >= self._settings.attempts:
            for digest, verdict in failed.items():
                if verdict is None:
                    raise UserError(
                        f"{results}: the service failed {self._settings.attempts} times; try later"
                    )
                self._cache.put(digest, verdict)
            return
        lines = (everything[digest] for digest in failed if digest in everything)
        _write_parts(self.folder, f"{name}.again{int(round_ or 0) + 1}", lines)

    def _open_questions(self, path: Path) -> bool:
        return any(self._cache.get(digest) is None for digest, _ in _questions(path))

    def _all_questions(self) -> dict[str, bytes]:
        return {digest: line for path in self._requests() for digest, line in _questions(path)}

    def _requests(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{REQUESTS}"))

    def _save(self) -> None:
        write_whole(self._state_path, orjson.dumps(asdict(self._state), option=orjson.OPT_INDENT_2))


def _questions(path: Path) -> Iterator[tuple[str, bytes]]:
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                yield orjson.loads(line)["custom_id"], line.rstrip()


def _answers(path: Path, settings: ServiceSettings) -> Iterator[tuple[str, Verdict | None, bool]]:
    """(digest, verdict or None, did the service fail?) of each line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                answer: dict[str, Any] = orjson.loads(line)
                digest = answer["custom_id"]
            except (ValueError, KeyError, TypeError) as error:
                raise UserError(
                    f"{path}: line {number} is not a batch result ({redacted(error, settings)}); fetch it again"
                ) from None
            response = answer.get("response") or {}
            trouble = bool(answer.get("error")) or response.get("status_code") != 200
            yield digest, None if trouble else understand(response.get("body") or {}), trouble


def _write_parts(folder: Path, name: str, lines: Iterable[bytes]) -> None:
    """Write lines to `<name>.requests.jsonl`, `<name>-2.requests.jsonl`..., each within the service's limits."""
    folder.mkdir(parents=True, exist_ok=True)
    pending: list[bytes] = []
    part, size = 1, 0

    def flush() -> None:
        suffix = f"-{part}" if part > 1 else ""
        write_whole(folder / f"{name}{suffix}{REQUESTS}", b"".join(line + b"\n" for line in pending))

    for line in lines:
        if pending and (len(pending) >= _MOST_LINES or size + len(line) > _MOST_BYTES):
            flush()
            part, pending, size = part + 1, [], 0
        pending.append(line)
        size += len(line)
    if pending:
        flush()
