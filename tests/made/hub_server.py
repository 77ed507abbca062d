"""A stand-in for the Hugging Face hub on loopback: repositories are made, commits follow each other, files are got.

Those of datasets are called `datasets/user/name`; what is in them can be listed, and got in part.
"""

from __future__ import annotations

import base64
import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


class Hub(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repositories: dict[str, list[dict[str, bytes]]] = {}
        """The files after each commit."""
        self.tokens: set[str | None] = set()
        """What writers showed."""
        self.reads: list[tuple[str, str]] = []
        """Files of datasets that were got, and which bytes were asked for."""
        self.cuts = 0
        """So many of the next of these end in their middle."""

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
        path = unquote(self.path.partition("?")[0]).strip("/")
        if path.startswith("api/datasets/"):
            return self._describe(*path.split("/")[2:])
        kind = "datasets/" if path.startswith("datasets/") else ""
        user, repository, _, revision, name = path.removeprefix(kind).split("/", 4)
        commits = self.server.repositories.get(f"{kind}{user}/{repository}")
        if commits is None:
            return self._refuse("RepoNotFound", 401)
        numbers = {"main": len(commits) - 1} | {_oid(number): number for number in range(len(commits))}
        if revision not in numbers:
            return self._refuse("RevisionNotFound", 404)
        content = commits[numbers[revision]].get(name)
        if content is None:
            return self._refuse("EntryNotFound", 404, numbers[revision])
        if kind:
            return self._part(name, content)
        self.send_response(200)
        self.send_header("ETag", f'"{_digest(content)}"')
        self.send_header("X-Repo-Commit", _oid(numbers[revision]))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET

    def _part(self, name: str, content: bytes) -> None:
        asked = self.headers.get("Range", "")
        self.server.reads.append((name, asked))
        begin, end = map(int, asked.removeprefix("bytes=").split("-"))
        content = content[begin : end + 1]
        self.send_response(206)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.server.cuts:
            self.server.cuts -= 1
            content, self.close_connection = content[: len(content) // 2], True
        self.wfile.write(content)

    def _describe(self, user: str, repository: str, what: str = "", revision: str = "", *folder: str) -> None:
        """What is known of a dataset, or what is in one of its folders."""
        commits = self.server.repositories.get(f"datasets/{user}/{repository}")
        if commits is None:
            return self._refuse("RepoNotFound", 401)
        if what != "tree":
            return self._answer({"id": f"{user}/{repository}", "sha": _oid(len(commits) - 1), "siblings": []})
        above = "".join(f"{each}/" for each in folder)
        below = {name.removeprefix(above): name for name in commits[-1] if name.startswith(above)}
        files = [
            {"type": "file", "path": name, "size": len(commits[-1][name]), "oid": _digest(commits[-1][name])}
            for rest, name in below.items()
            if "/" not in rest
        ]
        inside = {rest.split("/")[0] for rest in below if "/" in rest}
        folders = [{"type": "directory", "path": above + name, "size": 0, "oid": _oid(1)} for name in inside]
        if not files and not folders:
            return self._refuse("EntryNotFound", 404)
        self._answer(files + folders)

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


def _digest(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def _oid(commit: int) -> str:
    return f"{commit:040x}"
