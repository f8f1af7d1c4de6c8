"""A PostgreSQL server of the tests' own, on a socket in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _program(name: str) -> str:
    found = shutil.which(name) or next(
        (str(p) for p in sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))), None
    )
    if found is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    return found


def _as_user(command: list[str]) -> list[str]:
    """PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return command
    if shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL needs another user than root, and setpriv is not installed")
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]


@contextmanager
def server() -> Iterator[str]:
    """The URL of a running server; stopped and removed at the end."""
    pytest.importorskip("psycopg", reason="psycopg is not installed (pip install psycopg[binary])")
    initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody", "nogroup")
        data = f"{folder}/data"
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
        start = [pg_ctl, "-D", data, "-l", f"{folder}/log", "-w", "-o", options, "start"]
        _run([initdb, "-D", data, "-U", "tests", "--auth=trust", "--no-sync", "-E", "UTF8"])
        _run(start)
        try:
            yield f"postgresql://tests@/postgres?host={folder}"
        finally:
            _run([pg_ctl, "-D", data, "-m", "immediate", "stop"])


def _run(command: list[str]) -> None:
    done = subprocess.run(
        _as_user(command),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
