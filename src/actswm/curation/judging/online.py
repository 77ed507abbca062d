"""Online mode: one request per new frame from a thread pool, with retries, a rate limit and a budget."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ...errors import UserError
from ..domains import Domain
from .cache import VerdictCache
from .judge import Candidate, Verdict, decided
from .service import ServiceSettings, client, context, question, redacted, understand

log = logging.getLogger(__name__)
_LONGEST_WAIT_S = 60.0


class OnlineJudge:
    """Asks about each distinct picture once: from the cache, from a request already under way, or by a new one."""

    def __init__(self, domain: Domain, settings: ServiceSettings, cache: VerdictCache, run: str) -> None:
        # The client logs whole requests at debug level: pictures, and headers that are none of a log's business.
        for noisy in ("openai", "httpx", "httpcore", "httpx2", "httpcore2"):
            logging.getLogger(noisy).setLevel(logging.WARNING)
        self._domain, self._settings, self._cache, self._run = domain, settings, cache, run
        self._client = client(settings)
        self._context = context(domain, settings)
        self._threads = ThreadPoolExecutor(settings.concurrency, thread_name_prefix="judge")
        self._pace = Pace(settings.requests_per_minute)
        self._under_way: dict[str, Future[Verdict]] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def submit(self, candidate: Candidate) -> Future[Verdict]:
        digest = candidate.digest(self._context)
        with self._lock:
            if digest in self._under_way:
                return self._under_way[digest]
            known = self._cache.get(digest)
            if known is not None:
                return decided(known)
            future = self._threads.submit(
                self._ask, digest, question(candidate, self._domain, self._settings)
            )
            self._under_way[digest] = future
            return future

    def close(self) -> None:
        """Waits for requests that are out (their answers are paid for) but starts no new ones."""
        self._closing.set()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._client.close()

    def _ask(self, digest: str, body: dict[str, Any]) -> Verdict:
        verdict = self._ask_until_answered(body)
        self._cache.put(digest, verdict)
        with self._lock:
            self._under_way.pop(digest, None)
        return verdict

    def _ask_until_answered(self, body: dict[str, Any]) -> Verdict:
        import openai

        settings = self._settings
        wait_s, trouble = settings.first_wait_s, "malformed answers"
        for attempt in range(settings.attempts):
            if attempt:
                if self._closing.wait(min(wait_s * random.uniform(0.75, 1.25), _LONGEST_WAIT_S)):
                    raise UserError("the judge was closed before it answered")
                wait_s *= 2
            self._pace.wait()
            if not self._cache.spend(self._run, settings.budget):
                raise UserError(
                    f"the judge's budget of {settings.budget} requests is used up; "
                    "run the same command again to go on where it stopped"
                )
            try:
                answer = self._client.chat.completions.create(**body).model_dump()
            except (openai.RateLimitError, openai.InternalServerError) as error:
                trouble = f"status {error.status_code}"
                wait_s = max(wait_s, _retry_after(error))
            except openai.APIConnectionError as error:
                trouble = type(error).__name__
            except openai.APIStatusError as error:
                raise UserError(
                    f"the judge refused the request with status {error.status_code}: "
                    f"{redacted(error.message, settings)}"
                ) from None
            except (openai.OpenAIError, ValueError) as error:
                trouble = type(error).__name__
            else:
                verdict = understand(answer)
                if verdict is not None:
                    return verdict
                trouble = "malformed answers"
            log.info("judge: attempt %d of %d: %s", attempt + 1, settings.attempts, trouble)
        if trouble == "malformed answers":
            return Verdict(False, "malformed")
        raise UserError(
            f"the judge does not answer ({trouble}, {settings.attempts} attempts); run again later"
        )


class Pace:
    """Spreads requests evenly over each minute."""

    def __init__(
        self,
        per_minute: int | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._interval_s = 60.0 / per_minute if per_minute else 0.0
        self._clock, self._sleep = clock, sleep
        self._next = clock()
        self._lock = threading.Lock()

    def wait(self) -> None:
        with self._lock:
            now = self._clock()
            turn = max(self._next, now)
            self._next = turn + self._interval_s
        if turn > now:
            self._sleep(turn - now)


def _retry_after(error: Any) -> float:
    try:
        return min(float(error.response.headers.get("retry-after", 0)), _LONGEST_WAIT_S)
    except ValueError:
        return 0.0
