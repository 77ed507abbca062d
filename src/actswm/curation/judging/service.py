"""Talking to an OpenAI-compatible endpoint: settings, the question, and how an answer is understood."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass
from typing import Any

import orjson

from ...errors import UserError
from ..domains import Domain
from .judge import Candidate, Verdict

LABELS = ("gameplay", "menu", "loading", "death", "spectator", "cutscene", "other")


@dataclass(frozen=True)
class ServiceSettings:
    """Where and how to ask. The key itself is never stored: only the variable that holds it."""

    model: str
    url: str | None = None
    """Base URL such as http://localhost:8000/v1; None is the client's default service."""
    key_variable: str = "OPENAI_API_KEY"
    concurrency: int = 8
    attempts: int = 6
    first_wait_s: float = 1.0
    """Wait before the second attempt; it doubles with each further one."""
    requests_per_minute: int | None = None
    budget: int | None = None
    """Most requests that one run may send, retries included."""
    timeout_s: float = 60.0


def service_key(settings: ServiceSettings) -> str:
    key = os.environ.get(settings.key_variable, "")
    if not key and settings.url is None:
        raise UserError(
            f"the judge needs a key: set {settings.key_variable}, or name a local service by --judge-url"
        )
    return key or "none"


def client(settings: ServiceSettings) -> Any:
    """An `openai` client that leaves retries to us."""
    try:
        import openai
    except ImportError:
        raise UserError("the online judge needs the openai client: pip install 'actswm[judge]'") from None
    return openai.OpenAI(
        api_key=service_key(settings), base_url=settings.url, max_retries=0, timeout=settings.timeout_s
    )


def question(candidate: Candidate, domain: Domain, settings: ServiceSettings) -> dict[str, Any]:
    """The body of a chat completion: the domain's prompt and the frame as JPEG."""
    import cv2

    _, jpeg = cv2.imencode(".jpg", candidate.rgb[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 85])
    picture = "data:image/jpeg;base64," + base64.b64encode(jpeg.tobytes()).decode()
    return {
        "model": settings.model,
        "temperature": 0,
        "max_tokens": 60,
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": domain.prompt},
                    {"type": "image_url", "image_url": {"url": picture, "detail": "low"}},
                ],
            }
        ],
    }


def context(domain: Domain, settings: ServiceSettings) -> str:
    """What a cached verdict depends on besides the picture."""
    return f"{settings.url}\0{settings.model}\0{domain.prompt}"


def understand(completion: dict[str, Any]) -> Verdict | None:
    """The verdict in a chat completion; None where the answer is malformed and worth asking again."""
    try:
        choice = completion["choices"][0]
        message = choice["message"]
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            return Verdict(False, "refused")
        text = message["content"]
        answer = orjson.loads(text[text.index("{") : text.rindex("}") + 1])
        gameplay, label = answer["gameplay"], answer.get("label", "other")
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return None
    if not isinstance(gameplay, bool):
        return None
    if gameplay:
        return Verdict(True)
    return Verdict(False, label if label in LABELS and label != "gameplay" else "other")


def redacted(text: object, settings: ServiceSettings) -> str:
    """An error's first line without the key, which services like to quote."""
    key = os.environ.get(settings.key_variable, "")
    line = " ".join(str(text).split())[:200]
    return line.replace(key, "***") if key else line
