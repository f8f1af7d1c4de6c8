"""Which process owns a running run: by a lock file beside SQLite, by a lock of PostgreSQL's own.

Either lock ends with the process that holds it, however that ends, so that its runs can be told
from those of a process that still writes.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from filelock import FileLock, Timeout

LOCK_CLASS = 0x52414749  # "RAGI": keeps our advisory locks apart from other applications'


class FileOwner:
    """A lock file per process beside the database; the kernel frees it when the process dies."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "owners"
        self.directory.mkdir(parents=True, exist_ok=True)
        self._sweep()
        while True:
            self.token = secrets.token_hex(12)
            self._held = self._lock(self.token)
            self._held.acquire(timeout=-1)
            if self._path(self.token).exists():  # not swept between its creation and its lock
                break
            self._held.release()
        atexit.register(self._end, os.getpid())

    def _path(self, token: str) -> Path:
        return self.directory / f"{token}.lock"

    def _lock(self, token: str) -> FileLock:
        return FileLock(self._path(token), thread_local=False)

    @contextlib.contextmanager
    def if_gone(self, token: str) -> Iterator[bool]:
        """Whether that process is gone; while the body runs, no one else concludes the same."""
        if not token.isalnum() or not self._path(token).exists():
            yield True
            return
        lock = self._lock(token)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        try:
            yield True
            self._path(token).unlink(missing_ok=True)
        finally:
            lock.release()

    def _sweep(self) -> None:
        for path in self.directory.glob("*.lock"):
            with contextlib.suppress(OSError):
                lock = FileLock(path, thread_local=False)
                lock.acquire(timeout=0)
                path.unlink(missing_ok=True)
                lock.release()

    def _end(self, pid: int) -> None:
        if os.getpid() == pid:
            with contextlib.suppress(OSError):
                self._path(self.token).unlink(missing_ok=True)
                self._held.release()


class AdvisoryOwner:
    """A PostgreSQL session advisory lock; the server frees it when the connection ends."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._session = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self.token = str(secrets.randbits(31))
        self._session.execute(sa.select(sa.func.pg_advisory_lock(LOCK_CLASS, int(self.token))))

    @contextlib.contextmanager
    def if_gone(self, token: str) -> Iterator[bool]:
        """Whether that process is gone; while the body runs, no one else concludes the same."""
        with self._engine.connect() as connection:
            key = sa.func.pg_try_advisory_xact_lock(LOCK_CLASS, int(token))
            yield bool(connection.scalar(sa.select(key)))


Owner = FileOwner | AdvisoryOwner
_owners: dict[tuple[int, str], Owner] = {}
_owners_lock = threading.Lock()


def owner_of(engine: sa.Engine) -> Owner:
    """This process's owner for the engine's directory or server, made at its first use."""
    url = engine.url
    sqlite = url.get_backend_name() == "sqlite"
    directory = Path(str(url.database)).resolve().parent
    where = str(directory) if sqlite else url.render_as_string(hide_password=False)
    with _owners_lock:
        key = (os.getpid(), where)
        if key not in _owners:
            _owners[key] = FileOwner(directory) if sqlite else AdvisoryOwner(engine)
        return _owners[key]
