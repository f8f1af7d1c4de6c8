"""The app in a process of its own on a loopback port, and the system's Chromium to look at it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FLAGS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
)
PATIENCE = 180.0
"""Seconds within which a server has to answer."""


@dataclass(frozen=True, slots=True)
class Served:
    """A running app: where it is, and its process."""

    base: str
    pid: int
    log: Path


def chromium() -> str | None:
    """The system's Chromium, if there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def served(
    data: Path, command: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """Serve the app over a data directory until the block is left.

    ``command`` replaces ``streamlit run app.py``; ``{port}`` and ``{data}`` in it are filled in.

    Raises:
        RuntimeError: it did not answer in time, with what it printed.
    """
    port, log = free_port(), data / "server.log"
    given = command or ("-m", "streamlit", "run", "app.py", "--server.port", "{port}")
    filled = [part.format(port=port, data=data) for part in given]
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, *filled],
            cwd=ROOT,
            env={**os.environ, "RAG_INSPECTOR_DATA": str(data), **(environment or {})},
            stdout=out,
            stderr=out,
        )
        try:
            base = f"http://127.0.0.1:{port}"
            _answers(process, base, log)
            yield Served(base, process.pid, log)
        finally:
            process.terminate()
            process.wait(20)


def _answers(process: subprocess.Popen[bytes], base: str, log: Path) -> None:
    deadline, never = time.monotonic() + PATIENCE, threading.Event()
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{base}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            pass
        never.wait(0.2)
    raise RuntimeError(f"The app did not start:\n{log.read_text()}")
