"""Serve the app on a loopback port with fakes at its ports: ``serve.py PORT DATA``.

While the file ``hold-WORKSPACE`` is in the data directory, every call of that workspace's
reasoner waits, so that a test may watch a run in its middle.
"""

from __future__ import annotations

import sys
import threading
from functools import partial
from pathlib import Path

from streamlit.web import bootstrap

from components import workspace
from tests.app.bench import FakeBench

ROOT = Path(__file__).resolve().parents[2]
port, data = int(sys.argv[1]), Path(sys.argv[2])
_benches: dict[str, FakeBench] = {}
_lock, _never = threading.Lock(), threading.Event()


def _held(name: str) -> None:
    while (data / f"hold-{name}").exists():
        _never.wait(0.05)


def _bench(name: str) -> FakeBench:
    with _lock:
        if name not in _benches:
            _benches[name] = FakeBench(root=data, workspace=name, wait=partial(_held, name))
            _benches[name].journal.recover()
        return _benches[name]


workspace._bench = _bench  # type: ignore[assignment]
workspace.warm = lambda: None  # type: ignore[assignment]
options = {"server_port": port, "server_headless": True, "server_address": "127.0.0.1"}
bootstrap.load_config_options(options)
bootstrap.run(str(ROOT / "app.py"), False, [], options)
