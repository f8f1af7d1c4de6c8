"""The served app, and a real browser that counts what leaves the machine."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmarks.serving import FLAGS, chromium, served
from core.events import Step
from core.journal import Journal

PATIENCE = 60_000
SERVE = ("-m", "tests.browser.serve", "{port}", "{data}")


def _chromium() -> str:
    found = chromium()
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

    def other(self) -> Site:
        """The same server as another newcomer sees it."""
        return Site(self.base, self.data)

    def hold(self, what: str = "") -> None:
        """Let every call of the reasoner wait; else ``bench-``, ``open-`` or ``embed-``: what
        opens the workspace, what opens a corpus, the embedder."""
        (self.data / f"hold-{what}{self.workspace}").touch()

    def release(self, what: str = "*") -> None:
        """Let it go on, and all of them if nothing is named."""
        for held in self.data.glob(f"hold-{what}{self.workspace}"):
            held.unlink(missing_ok=True)

    def keep(self, steps: list[Step]) -> str:
        """Put a recorded run into the workspace's journal."""
        with self.journal() as journal:
            return journal.import_jsonl("".join(f"{s.model_dump_json()}\n" for s in steps)).run_id

    def journal(self) -> closing[Journal]:
        """The workspace's journal, as another process sees it."""
        return closing(Journal(self.data, self.workspace))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The app in a process of its own on a loopback port."""
    _chromium()
    data = tmp_path_factory.mktemp("data")
    with served(data, SERVE, {"RAG_INSPECTOR_SERVED": "1"}) as running:
        yield running.base, data


@pytest.fixture
def site(server: tuple[str, Path]) -> Iterator[Site]:
    """A workspace of its own for every test."""
    found = Site(*server)
    yield found
    found.release()


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """One browser process for all tests of a worker."""
    from playwright.sync_api import sync_playwright

    path = _chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def visitors(browser, server):  # type: ignore[no-untyped-def]
    """Opens browser sessions with nothing in common; at the end nothing may have left the machine,
    nor a dialog been shown, nor a page have raised."""
    base = server[0]
    elsewhere: list[str] = []
    wrong: list[str] = []
    opened = []

    def asked(what) -> None:  # type: ignore[no-untyped-def]
        if not what.url.startswith((base, base.replace("http", "ws"), "data:", "blob:")):
            elsewhere.append(what.url)

    def watch(page) -> None:  # type: ignore[no-untyped-def]
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("websocket", asked)

    def visitor(theme: str = "light"):  # type: ignore[no-untyped-def]
        context = browser.new_context(
            viewport={"width": 1280, "height": 800},
            color_scheme=theme,
            accept_downloads=True,
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE)
        context.on("request", asked)
        context.on("page", watch)
        opened.append(context)
        return context

    yield visitor
    for context in opened:
        for page in context.pages:
            if page.locator("[data-testid=stException]").count():
                wrong.append(f"raised: {page.locator('[data-testid=stException]').inner_text()}")
        context.close()
    assert elsewhere == [], "requests left the machine"
    assert wrong == []


@pytest.fixture(params=["light"])
def context(visitors, request):  # type: ignore[no-untyped-def]
    """One browser session."""
    return visitors(request.param)


@pytest.fixture
def tab(context):  # type: ignore[no-untyped-def]
    """One tab."""
    return context.new_page()
