"""The online judge against a service that is slow, answers out of order, fails, babbles and refuses."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from actswm.curation.domains import domain_of
from actswm.curation.judging import Candidate
from actswm.curation.judging.cache import VerdictCache
from actswm.curation.judging.online import OnlineJudge, Pace
from actswm.curation.judging.service import ServiceSettings, understand
from actswm.errors import UserError

from ..made.judge_server import KEY, judge_server

pytest.importorskip("openai", reason="the judge extra is not installed")
DOMAIN = domain_of("cs2")


def picture(number: int) -> Candidate:
    """Red (gameplay) for even numbers, blue for odd ones; every number another picture."""
    rgb = np.zeros((40, 60, 3), np.uint8)
    rgb[..., 0 if number % 2 == 0 else 2] = 200
    rgb[number % 40, :, 1] = 50 + number
    return Candidate(number * 10**9, rgb)


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Judge pictures through a server; returns the verdicts, or lets the error through."""
    monkeypatch.setenv("JUDGE_KEY", KEY)

    def run(server, numbers, run_name="run", **settings):
        service = ServiceSettings("model", server.url, "JUDGE_KEY", **{"first_wait_s": 0.01, **settings})
        cache = VerdictCache(tmp_path / "verdicts.sqlite")
        judge = OnlineJudge(DOMAIN, service, cache, run_name)
        try:
            futures = [judge.submit(picture(number)) for number in numbers]
            return [future.result(60) for future in futures]
        finally:
            judge.close()
            cache.close()

    return run


def assert_right(verdicts, numbers) -> None:
    assert [verdict.gameplay for verdict in verdicts] == [number % 2 == 0 for number in numbers]


def test_slow_and_out_of_order(ask) -> None:
    """The first requests take longest; each frame gets its own answer, and requests run in parallel."""
    with judge_server(delay=lambda number: 0.2 if number < 3 else 0.01) as server:
        assert_right(ask(server, range(20), concurrency=4), range(20))
        assert len(server.requests) == 20 and set(server.requests.values()) == {1}
        assert 1 < server.most_busy <= 4
        assert server.keys == {f"Bearer {KEY}"}


@pytest.mark.parametrize("status", ["429", "500"])
def test_failures_are_asked_again_until_they_are_answered(ask, status) -> None:
    with judge_server(trouble=lambda before: status if before < 2 else None) as server:
        assert_right(ask(server, range(8)), range(8))
        assert set(server.requests.values()) == {3} and set(server.answered.values()) == {1}


def test_malformed_answers_are_asked_again_and_then_counted_as_such(ask) -> None:
    with judge_server(trouble=lambda before: "malformed" if before < 1 else None) as server:
        assert_right(ask(server, range(4)), range(4))
    with judge_server(trouble=lambda before: "malformed") as server:
        verdicts = ask(server, range(10, 14), attempts=3)
        assert {(verdict.gameplay, verdict.label) for verdict in verdicts} == {(False, "malformed")}
        assert set(server.requests.values()) == {3}


def test_a_refusal_is_a_verdict_of_its_own(ask) -> None:
    with judge_server(trouble=lambda before: "refusal") as server:
        verdicts = ask(server, range(4))
        assert {(verdict.gameplay, verdict.label) for verdict in verdicts} == {(False, "refused")}
        assert set(server.requests.values()) == {1}


def test_no_picture_is_asked_twice(ask) -> None:
    """The same picture in one run, and the same pictures in a later run."""
    with judge_server(delay=lambda number: 0.05) as server:
        assert_right(ask(server, [0, 1, 0, 1, 0, 2]), [0, 1, 0, 1, 0, 2])
        assert_right(ask(server, range(5), "later run"), range(5))
        assert sum(server.requests.values()) == 5


def test_a_service_that_never_answers_is_an_error_not_a_verdict(ask) -> None:
    never = r"does not answer \(status 500, 2 attempts\); run again later"
    with judge_server(trouble=lambda before: "500") as server, pytest.raises(UserError, match=never):
        ask(server, [0], attempts=2)
    with judge_server() as server:
        assert_right(ask(server, [0]), [0])  # nothing wrong was kept


def test_the_budget_counts_retries_and_a_later_run_goes_on(ask) -> None:
    with judge_server(trouble=lambda before: "429" if before == 0 else None) as server:
        with pytest.raises(UserError, match="budget of 6 requests is used up"):
            ask(server, range(8), budget=6, concurrency=1)
        assert sum(server.requests.values()) == 6 and len(server.answered) == 3
        assert_right(ask(server, range(8), "second run", concurrency=1), range(8))
        assert set(server.answered.values()) == {1}


def test_requests_are_paced() -> None:
    """Thirty a minute: on a clock that only sleeping moves, each request but the first waits two seconds."""
    now = [100.0]
    slept = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    pace = Pace(30, clock=lambda: now[0], sleep=sleep)
    for _ in range(4):
        pace.wait()
    now[0] += 60.0  # an idle minute saves up nothing
    pace.wait()
    pace.wait()
    assert slept == [2.0, 2.0, 2.0, 2.0]


def test_the_key_appears_nowhere(ask, caplog, tmp_path) -> None:
    caplog.set_level(logging.DEBUG)
    with (
        judge_server(trouble=lambda before: "401") as server,
        pytest.raises(UserError, match="status 401") as caught,
    ):
        ask(server, range(3))
    with judge_server(trouble=lambda before: "429" if before < 1 else None) as server:
        ask(server, range(3))
    assert KEY not in str(caught.value) and KEY not in caplog.text
    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes()


@pytest.mark.parametrize(
    "content",
    ['{"gameplay": "yes"}', "", "null", '{"label": "menu"}', "[]", "{", "{}", None, 7],
)
def test_what_is_not_an_answer(content) -> None:
    assert understand({"choices": [{"message": {"content": content}}]}) is None
    assert understand({}) is None
