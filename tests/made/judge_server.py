"""An OpenAI-compatible service on loopback that is as unreliable as a test wants it."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import cv2
import numpy as np

from .serving import serving

KEY = "sk-very-secret-key-1234"
Trouble = Callable[[int], str | None]
"""Given how often this picture was asked before: what goes wrong (`429`, `500`, `malformed`...), or None."""


class JudgeServer(ThreadingHTTPServer):
    """Says gameplay where the picture is more red than blue."""

    daemon_threads = True

    def __init__(self, trouble: Trouble, delay: Callable[[int], float]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.trouble, self.delay = trouble, delay
        self.requests: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.keys: set[str] = set()
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.lock = threading.Lock()
        self.busy = self.most_busy = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def complete(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        url = next(part for part in body["messages"][0]["content"] if part["type"] == "image_url")
        picture = url["image_url"]["url"]
        with self.lock:
            before = self.requests[picture]
            self.requests[picture] += 1
        trouble = self.trouble(before)
        if trouble in ("429", "500", "401"):
            return int(trouble), {"error": {"message": f"no, not with key {KEY}", "type": "x"}}
        with self.lock:
            self.answered[picture] += 1
        return 200, _completion(_content(picture, trouble), trouble)


def _content(picture: str, trouble: str | None) -> str | None:
    if trouble == "refusal":
        return None
    if trouble == "malformed":
        return "I think this is {gameplay"
    data = np.frombuffer(base64.b64decode(picture.split(",")[1]), np.uint8)
    blue, _, red = cv2.imdecode(data, cv2.IMREAD_COLOR).reshape(-1, 3).mean(0)
    answer = {"gameplay": bool(red > blue), "label": "gameplay" if red > blue else "menu"}
    return f"```json\n{json.dumps(answer)}\n```"


def _completion(content: str | None, trouble: str | None) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    if trouble == "refusal":
        message["refusal"] = "I cannot help with that."
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


class _Handler(BaseHTTPRequestHandler):
    server: JudgeServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server = self.server
        body = self.rfile.read(int(self.headers["content-length"]))
        server.keys.add(self.headers.get("authorization", ""))
        if self.path == "/v1/chat/completions":
            with server.lock:
                server.busy += 1
                server.most_busy = max(server.most_busy, server.busy)
                number = sum(server.requests.values())
            time.sleep(server.delay(number))
            status, answer = server.complete(json.loads(body))
            with server.lock:
                server.busy -= 1
            self._send(status, answer)
        elif self.path == "/v1/files":
            name = f"file-{len(server.files)}"
            server.files[name] = body[body.index(b'{"custom_id"') : body.rindex(b"}") + 1]
            self._send(
                200,
                {
                    "id": name,
                    "object": "file",
                    "bytes": 1,
                    "created_at": 0,
                    "filename": "f",
                    "purpose": "batch",
                },
            )
        elif self.path == "/v1/batches":
            name = f"batch-{len(server.batches)}"
            server.batches[name] = {"input": json.loads(body)["input_file_id"], "polls": 0}
            self._send(200, self._batch(name))

    def do_GET(self) -> None:
        parts = self.path.split("/")
        if parts[2] == "batches":
            batch = self.server.batches[parts[3]]
            batch["polls"] += 1
            if batch["polls"] >= 2 and "output" not in batch:
                batch["output"] = f"out-{parts[3]}"
                self.server.files[batch["output"]] = self._run(batch["input"])
            self._send(200, self._batch(parts[3]))
        else:
            self._send(200, self.server.files[parts[3]])

    def _run(self, name: str) -> bytes:
        """Answer every question of a batch, last first."""
        lines = []
        for number, line in enumerate(reversed(self.server.files[name].splitlines())):
            question = json.loads(line)
            status, answer = self.server.complete(question["body"])
            response = {"status_code": status, "request_id": str(number), "body": answer}
            lines.append(
                {"id": str(number), "custom_id": question["custom_id"], "response": response, "error": None}
            )
        return "\n".join(json.dumps(line) for line in lines).encode()

    def _batch(self, name: str) -> dict[str, Any]:
        batch = self.server.batches[name]
        status = "completed" if "output" in batch else "in_progress"
        return {
            **{"id": name, "object": "batch", "endpoint": "/v1/chat/completions", "created_at": 0},
            **{"completion_window": "24h", "input_file_id": batch["input"], "status": status},
            **{"output_file_id": batch.get("output"), "error_file_id": None},
        }

    def _send(self, status: int, answer: dict[str, Any] | bytes) -> None:
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None: ...


def judge_server(
    trouble: Trouble = lambda before: None, delay: Callable[[int], float] = lambda number: 0.0
) -> AbstractContextManager[JudgeServer]:
    return serving(JudgeServer(trouble, delay))
