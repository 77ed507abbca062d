"""moto's S3 server on loopback, which keeps account of what is read and can cut answers short."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server


class S3:
    def __init__(self) -> None:
        self._app = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=_Quiet)
        self.reads: list[tuple[str, str]] = []
        """Objects that were got, and which bytes were asked for."""
        self.cuts = 0
        """So many of the next reads end in their middle."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator[S3]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def _answer(self, environ: dict[str, Any], start_response: Any) -> Any:
        answer = self._app(environ, start_response)
        if environ["REQUEST_METHOD"] != "GET" or not environ["PATH_INFO"].endswith(".h5"):
            return answer
        self.reads.append((environ["PATH_INFO"].rpartition("/")[2], environ.get("HTTP_RANGE", "")))
        if not self.cuts:
            return answer
        self.cuts -= 1
        whole = b"".join(answer)
        return [whole[: len(whole) // 2]]  # fewer bytes than were announced


class _Quiet(WSGIRequestHandler):
    def log(self, *_: Any) -> None:
        pass
