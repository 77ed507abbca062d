"""A stand-in for the Hugging Face hub on loopback: repositories are made, commits follow each other, files are got."""

from __future__ import annotations

import base64
import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Hub(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repositories: dict[str, list[dict[str, bytes]]] = {}
        """The files after each commit."""
        self.tokens: set[str | None] = set()
        """What writers showed."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_POST(self) -> None:
        self.server.tokens.add(self.headers.get("Authorization"))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        what = self.path.removeprefix("/api/")
        if what == "validate-yaml":
            return self._answer({"errors": [], "warnings": []})
        if what == "repos/create":
            asked = json.loads(body)
            name = f"{asked.get('organization') or 'me'}/{asked['name']}"
            self.server.repositories.setdefault(name, [{}])
            return self._answer({"url": f"{self.server.address}/{name}", "name": name, "id": name})
        _, user, repository, action, _ = what.split("/")
        commits = self.server.repositories[f"{user}/{repository}"]
        if action == "preupload":
            files = [
                {"path": each["path"], "uploadMode": "regular", "shouldIgnore": False}
                for each in json.loads(body)["files"]
            ]
            return self._answer({"files": files})
        values = [entry["value"] for entry in map(json.loads, body.splitlines()) if entry["key"] == "file"]
        commits.append(commits[-1] | {each["path"]: base64.b64decode(each["content"]) for each in values})
        oid = _oid(len(commits) - 1)
        self._answer(
            {"commitUrl": f"{self.server.address}/{user}/{repository}/commit/{oid}", "commitOid": oid}
        )

    def do_GET(self) -> None:
        user, repository, _, revision, name = self.path.strip("/").split("/", 4)
        commits = self.server.repositories.get(f"{user}/{repository}")
        if commits is None:
            return self._refuse("RepoNotFound", 401)
        numbers = {"main": len(commits) - 1} | {_oid(number): number for number in range(len(commits))}
        if revision not in numbers:
            return self._refuse("RevisionNotFound", 404)
        content = commits[numbers[revision]].get(name)
        if content is None:
            return self._refuse("EntryNotFound", 404, numbers[revision])
        self.send_response(200)
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", _oid(numbers[revision]))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET

    def _answer(self, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _refuse(self, code: str, status: int, commit: int = 0) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("X-Repo-Commit", _oid(commit))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def _oid(commit: int) -> str:
    return f"{commit:040x}"
