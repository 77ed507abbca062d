"""Batch mode: files out, files in, in any order, with failures asked again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from actswm.curation.domains import domain_of
from actswm.curation.judging import Candidate
from actswm.curation.judging.batch import BatchFolder, CachedJudge, write_requests
from actswm.curation.judging.cache import VerdictCache
from actswm.curation.judging.service import ServiceSettings
from actswm.errors import UserError

from ..made.judge_server import KEY, JudgeServer, judge_server

pytest.importorskip("openai", reason="the judge extra is not installed")
DOMAIN = domain_of("gta5")


def pictures(count: int) -> list[Candidate]:
    frames = []
    for number in range(count):
        rgb = np.zeros((40, 60, 3), np.uint8)
        rgb[..., 0 if number % 2 == 0 else 2] = 200
        rgb[number % 40, :, 1] = 50 + number
        frames.append(Candidate(number * 10**9, rgb))
    return frames


class Desk:
    """A folder of questions, its cache and its judge."""

    def __init__(self, folder: Path, url: str | None = None, attempts: int = 4) -> None:
        self.settings = ServiceSettings("model", url, "JUDGE_KEY", attempts=attempts)
        self.folder = folder
        self.cache = VerdictCache(folder / "verdicts.sqlite")
        self.batches = BatchFolder(folder / "batch", self.settings, self.cache)

    def ask(self, frames: list[Candidate], name: str = "run") -> int:
        return write_requests(self.folder / "batch", name, frames, DOMAIN, self.settings, self.cache)

    def verdicts(self, frames: list[Candidate]) -> list[bool]:
        judge = CachedJudge(DOMAIN, self.settings, self.cache)
        return [judge.submit(frame).result().gameplay for frame in frames]


@pytest.fixture(autouse=True)
def key(monkeypatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)


def exchange(desk: Desk, rounds: int) -> None:
    for _ in range(rounds):
        desk.batches.fetch()
        desk.batches.receive()
        desk.batches.submit()


def carried(desk: Desk, server: JudgeServer, keep=lambda number: True) -> bytes:
    """Somebody carries the request file to a service and brings back the answers, last first."""
    lines = []
    for line in reversed((desk.folder / "batch" / "run.requests.jsonl").read_text().splitlines()):
        question = json.loads(line)
        assert (question["method"], question["url"]) == ("POST", "/v1/chat/completions")
        status, body = server.complete(question["body"])
        response = {"status_code": status, "request_id": "r", "body": body}
        lines.append(
            json.dumps({"id": "x", "custom_id": question["custom_id"], "response": response, "error": None})
        )
    return "\n".join(line for number, line in enumerate(lines) if keep(number)).encode()


def test_submitted_questions_come_back_in_any_order(tmp_path) -> None:
    frames = pictures(12)
    with judge_server() as server:
        desk = Desk(tmp_path, server.url)
        assert desk.ask(frames) == 12 and desk.batches.pending() == 12
        exchange(desk, 1)
        with pytest.raises(UserError, match="no verdict yet"):
            desk.verdicts(frames)
        exchange(desk, 3)
        assert desk.batches.pending() == 0
        assert desk.verdicts(frames) == [number % 2 == 0 for number in range(12)]
        assert len(server.batches) == 1 and set(server.requests.values()) == {1}
        assert desk.ask(frames, "again") == 0  # everything is known


@pytest.mark.parametrize("trouble", ["429", "500", "malformed"])
def test_failed_answers_are_asked_again(tmp_path, trouble) -> None:
    frames = pictures(6)
    with judge_server(trouble=lambda before: trouble if before < 2 else None) as server:
        desk = Desk(tmp_path, server.url)
        desk.ask(frames)
        exchange(desk, 12)
        assert desk.batches.pending() == 0
        assert desk.verdicts(frames) == [number % 2 == 0 for number in range(6)]
        assert set(server.requests.values()) == {3} and len(server.batches) == 3


def test_troubles_without_end(tmp_path) -> None:
    with judge_server(trouble=lambda before: "malformed") as server:
        desk = Desk(tmp_path / "malformed", server.url, attempts=2)
        desk.ask(pictures(3))
        exchange(desk, 8)
        assert desk.batches.pending() == 0 and desk.verdicts(pictures(3)) == [False] * 3
    with judge_server(trouble=lambda before: "500") as server:
        desk = Desk(tmp_path / "500", server.url, attempts=2)
        desk.ask(pictures(3))
        with pytest.raises(UserError, match="the service failed 2 times"):
            exchange(desk, 8)
    with judge_server(trouble=lambda before: "refusal") as server:
        desk = Desk(tmp_path / "refusal", server.url)
        desk.ask(pictures(3))
        exchange(desk, 4)
        assert desk.verdicts(pictures(3)) == [False] * 3 and set(server.requests.values()) == {1}


def test_files_carried_by_hand_in_two_halves(tmp_path) -> None:
    """Half of the answers, then all of them: each counts once, and a new process goes on from the folder."""
    frames = pictures(10)
    with judge_server() as server:
        desk = Desk(tmp_path)
        desk.ask(frames)
        (tmp_path / "batch" / "first.results.jsonl").write_bytes(
            carried(desk, server, lambda number: number < 5)
        )
        assert desk.batches.receive() == 5 and desk.batches.pending() == 5
        desk = Desk(tmp_path)
        assert desk.batches.receive() == 0
        (tmp_path / "batch" / "all.results.jsonl").write_bytes(carried(desk, server))
        assert desk.batches.receive() == 5 and desk.batches.pending() == 0
    assert desk.verdicts(frames) == [number % 2 == 0 for number in range(10)]


def test_a_torn_result_file_is_named(tmp_path) -> None:
    with judge_server() as server:
        desk = Desk(tmp_path)
        desk.ask(pictures(4))
        (tmp_path / "batch" / "torn.results.jsonl").write_bytes(carried(desk, server)[:-20])
    with pytest.raises(UserError, match=r"torn.results.jsonl: line 4 is not a batch result"):
        desk.batches.receive()


def test_the_key_is_in_no_file(tmp_path) -> None:
    with judge_server(trouble=lambda before: "500" if before < 1 else None) as server:
        desk = Desk(tmp_path, server.url)
        desk.ask(pictures(4))
        exchange(desk, 6)
        for file in tmp_path.rglob("*"):
            if file.is_file():
                assert KEY.encode() not in file.read_bytes(), file
