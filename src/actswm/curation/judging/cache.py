"""Verdicts and spent requests on disk, shared by all workers, so that no answer is paid for twice."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

from ...errors import UserError
from .judge import Verdict


class VerdictCache:
    """A SQLite file; each method is one transaction and safe from any thread or process."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(path, timeout=60, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS verdict (digest TEXT PRIMARY KEY, gameplay INT, label TEXT)"
            )
            self._db.execute("CREATE TABLE IF NOT EXISTS spent (run TEXT PRIMARY KEY, requests INT)")
        except sqlite3.DatabaseError as error:
            raise UserError(f"{path}: not a verdict cache ({error}); remove it or choose another") from None

    def get(self, digest: str) -> Verdict | None:
        with self._lock:
            row = self._db.execute(
                "SELECT gameplay, label FROM verdict WHERE digest = ?", (digest,)
            ).fetchone()
        return Verdict(bool(row[0]), row[1]) if row else None

    def put(self, digest: str, verdict: Verdict) -> None:
        row = (digest, int(verdict.gameplay), verdict.label)
        with self._lock:
            self._db.execute("INSERT OR REPLACE INTO verdict VALUES (?, ?, ?)", row)

    def spend(self, run: str, budget: int | None) -> bool:
        """Count one request of a run; False if its budget is used up."""
        with self._lock:
            self._db.execute("INSERT OR IGNORE INTO spent VALUES (?, 0)", (run,))
            cursor = self._db.execute(
                "UPDATE spent SET requests = requests + 1 WHERE run = ? AND (? IS NULL OR requests < ?)",
                (run, budget, budget),
            )
            return cursor.rowcount == 1

    def __len__(self) -> int:
        with self._lock:
            return int(self._db.execute("SELECT COUNT(*) FROM verdict").fetchone()[0])

    def close(self) -> None:
        with self._lock:
            self._db.close()
