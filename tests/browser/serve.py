"""Serve the app on a loopback port with fakes at its ports: ``serve.py PORT DATA``.

While the file ``hold-WORKSPACE`` is in the data directory, every call of that workspace's
reasoner waits, so that a test may watch a run in its middle. ``hold-bench-WORKSPACE`` holds what
opens the workspace, ``hold-open-WORKSPACE`` what opens a corpus, and ``hold-embed-WORKSPACE``
the embedder.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from streamlit.web import bootstrap

from components import workspace
from core.ports import FloatArray
from core.retrieval.index import Index
from tests.app.bench import CheapEmbedder, FakeBench

ROOT = Path(__file__).resolve().parents[2]
port, data = int(sys.argv[1]), Path(sys.argv[2])
_benches: dict[str, FakeBench] = {}
_lock, _never = threading.Lock(), threading.Event()


def _held(name: str) -> None:
    while (data / f"hold-{name}").exists():
        _never.wait(0.05)


class _Embedder(CheapEmbedder):
    """Held by any workspace: the index of a bundled corpus is everybody's."""

    def load(self) -> Any:
        self._held()
        return super().load()

    def encode(self, texts: Sequence[str]) -> FloatArray:
        self._held()
        return super().encode(texts)

    @staticmethod
    def _held() -> None:
        while any(data.glob("hold-embed-*")):
            _never.wait(0.05)


def _made(name: str) -> FakeBench:
    made = FakeBench(root=data, workspace=name, wait=partial(_held, name), embedder=_Embedder())
    opened = made.library.open

    def held(corpus: str | Path) -> Index:
        _held(f"open-{name}")
        return opened(corpus)

    made.library.open = held  # type: ignore[method-assign]
    made.journal.recover()
    return made


def _bench(name: str) -> FakeBench:
    _held(f"bench-{name}")
    with _lock:
        if name not in _benches:
            _benches[name] = _made(name)
        return _benches[name]


workspace._bench = _bench  # type: ignore[assignment]
workspace.warm = lambda: None  # type: ignore[assignment]
options = {"server_port": port, "server_headless": True, "server_address": "127.0.0.1"}
bootstrap.load_config_options(options)
bootstrap.run(str(ROOT / "app.py"), False, [], options)
