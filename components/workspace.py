"""Whose corpora and runs a session sees, and the process-wide things behind them.

Locally there is one shared workspace. With ``RAG_INSPECTOR_SERVED=1`` a workspace is a 128-bit
capability in the link (``?ws=``): whoever has the link has the workspace, a reload or a second
tab comes back to it, and a stranger gets one of their own. What is stored is named by a digest
of the capability, so that a name on disk opens nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from components.session import P_WORKSPACE

if TYPE_CHECKING:
    from core.wiring import Workbench

SHARED = "shared"
_CAPABILITY = re.compile(r"[0-9a-f]{32}")


def served() -> bool:
    """Whether several people may reach this app."""
    return os.environ.get("RAG_INSPECTOR_SERVED") == "1"


def current() -> str:
    """The workspace of this session; gives a newcomer one when served."""
    if not served():
        return SHARED
    capability = st.query_params.get(P_WORKSPACE, "")
    if not _CAPABILITY.fullmatch(capability):
        capability = secrets.token_hex(16)
        st.query_params[P_WORKSPACE] = capability
    return "ws-" + hashlib.sha256(capability.encode("ascii")).hexdigest()[:32]


def bench_of(workspace: str) -> Workbench:
    """Those of a workspace, once a process."""
    return _bench(workspace)


def bench() -> Workbench:
    """The corpora, the journal and the ports of this session's workspace."""
    return _bench(current())


@st.cache_resource(show_spinner=False)
def _bench(workspace: str) -> Workbench:
    made = replace(_models(), workspace=workspace)
    made.journal.recover()
    return made


@st.cache_resource(show_spinner=False)
def _models() -> Workbench:
    """A workbench whose models all workspaces of this process share."""
    from core.wiring import Workbench

    return Workbench()


@st.cache_resource(show_spinner=False)
def warm() -> threading.Thread:
    """Load the embedding model in a thread, once a process; called when a page is painted."""
    thread = threading.Thread(target=_models().embedder.load, name="warm-up", daemon=True)
    thread.start()
    return thread
