"""The served app, and a real browser that counts what leaves the machine."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from core.events import Step
from core.journal import Journal

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = "/usr/bin/chromium"
PATIENCE = 60_000
FLAGS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
)


def _chromium() -> str:
    found = CHROMIUM if Path(CHROMIUM).exists() else shutil.which("chromium")
    if found is None:
        reason = "There is no Chromium here; install the system's chromium package."
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@dataclass
class Site:
    """The app as a newcomer with a workspace of their own sees it."""

    base: str
    data: Path
    capability: str = field(default_factory=lambda: secrets.token_hex(16))

    @property
    def workspace(self) -> str:
        digest = hashlib.sha256(self.capability.encode("ascii")).hexdigest()
        return f"ws-{digest[:32]}"

    def url(self, page: str = "", **params: object) -> str:
        given = "".join(f"&{k}={v}" for k, v in params.items())
        return f"{self.base}/{page}?ws={self.capability}{given}"

    def hold(self) -> None:
        """Let every call of the reasoner wait."""
        (self.data / f"hold-{self.workspace}").touch()

    def release(self) -> None:
        """Let them go on."""
        (self.data / f"hold-{self.workspace}").unlink(missing_ok=True)

    def keep(self, steps: list[Step]) -> str:
        """Put a recorded run into the workspace's journal."""
        journal = Journal(self.data, self.workspace)
        try:
            return journal.import_jsonl("".join(f"{s.model_dump_json()}\n" for s in steps)).run_id
        finally:
            journal.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The app in a process of its own on a loopback port."""
    _chromium()
    data, port = tmp_path_factory.mktemp("data"), _free_port()
    environment = {**os.environ, "RAG_INSPECTOR_SERVED": "1"}
    command = [sys.executable, "-m", "tests.browser.serve", str(port), str(data)]
    log = (data / "server.log").open("w")
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    base, deadline = f"http://127.0.0.1:{port}", time.monotonic() + 120
    never = __import__("threading").Event()
    try:
        while True:
            try:
                with urllib.request.urlopen(f"{base}/_stcore/health", timeout=2) as answer:
                    if answer.status == 200:
                        break
            except OSError:
                pass
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"The app did not start:\n{(data / 'server.log').read_text()}")
            never.wait(0.2)
        yield base, data
    finally:
        process.terminate()
        process.wait(20)
        log.close()


@pytest.fixture
def site(server: tuple[str, Path]) -> Iterator[Site]:
    """A workspace of its own for every test."""
    found = Site(*server)
    yield found
    found.release()


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """One browser process for all tests of a worker."""
    from playwright.sync_api import sync_playwright

    path = _chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(params=["light"])
def context(chromium, server, request):  # type: ignore[no-untyped-def]
    """A browser session; at its end nothing may have left the machine, nor have a dialog shown."""
    base = server[0]
    opened = chromium.new_context(
        viewport={"width": 1280, "height": 800},
        color_scheme=request.param,
        accept_downloads=True,
        reduced_motion="reduce",
    )
    opened.set_default_timeout(PATIENCE)
    elsewhere: list[str] = []
    wrong: list[str] = []

    def asked(what) -> None:  # type: ignore[no-untyped-def]
        if not what.url.startswith((base, base.replace("http", "ws"), "data:", "blob:")):
            elsewhere.append(what.url)

    def watch(page) -> None:  # type: ignore[no-untyped-def]
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("websocket", asked)

    opened.on("request", asked)
    opened.on("page", watch)
    yield opened
    opened.close()
    assert elsewhere == [], "requests left the machine"
    assert wrong == []


@pytest.fixture
def tab(context):  # type: ignore[no-untyped-def]
    """One tab."""
    return context.new_page()
