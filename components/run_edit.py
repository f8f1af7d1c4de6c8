"""A run's own drawer: its name, note and judgement, its files, and deletion."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from components import judging, run_export, session
from components.markup import which
from components.notices import error, warning
from components.safe import shorten, visible
from core.errors import BadInput, RagError
from core.journal import MAX_NOTE, Journal, RunRecord


def button(record: RunRecord, what: str) -> None:
    """Opens the drawer of a run; ``what`` tells it from the other rows."""
    st.button(
        which("Edit", what),
        icon=":material/edit:",
        key=f"edit:{record.run_id}",
        on_click=session.put,
        args=(session.RUN_EDITED, record.run_id),
    )


def draw(journal: Journal) -> None:
    """Show the drawer if one is open; it goes over the whole height, whichever row it is of."""
    run_id = session.get(session.RUN_EDITED)
    if run_id:
        _drawer(journal, run_id)


def _closed() -> None:
    session.take(session.RUN_EDITED)


@st.dialog("Edit run", icon=":material/edit:", position="right", on_dismiss=_closed)
def _drawer(journal: Journal, run_id: str) -> None:
    try:
        record = journal.run(run_id)
    except BadInput:
        error("This run is gone: it was deleted for good meanwhile.")
        _done(run_id)
        return
    if record.deleted_at:
        warning("This run was deleted meanwhile; it can be restored under Deleted runs.")
    st.text(visible(shorten(record.question, 240)))
    problem = session.take(session.RUN_EDIT_NOTICE)
    if problem:
        error(problem)
    keys = {name: f"{name}:{run_id}" for name in ("name", "note")}
    session.agree(keys["name"], record.name)
    session.agree(keys["note"], record.note)
    st.text_input(
        "Name",
        key=keys["name"],
        max_chars=200,
        on_change=_keep,
        args=(journal.rename, run_id, keys["name"]),
    )
    st.text_area(
        "Note",
        key=keys["note"],
        max_chars=MAX_NOTE,
        height=80,
        on_change=_keep,
        args=(journal.note, run_id, keys["note"]),
    )
    judging.draw("The answer is", journal, record)
    with st.container(horizontal=True, gap="small"):
        run_export.draw(journal, run_id, f"export:{run_id}")
    with st.container(horizontal=True, gap="small", horizontal_alignment="distribute"):
        _done(run_id)
        if st.button(
            "Delete",
            icon=":material/delete:",
            key=f"delete:{run_id}",
            disabled=record.status == "running" or record.deleted_at is not None,
            help="It is still running: stop it first." if record.status == "running" else None,
        ):
            _delete(journal, run_id)


def _done(run_id: str) -> None:
    if st.button("Done", type="primary", key=f"done:{run_id}"):
        _closed()
        st.rerun()


def _keep(change: Callable[[str, str], None], run_id: str, key: str) -> None:
    try:
        change(run_id, str(session.get(key, "")))
    except RagError as problem:
        session.put(session.RUN_EDIT_NOTICE, problem.message)


def _delete(journal: Journal, run_id: str) -> None:
    try:
        journal.delete(run_id)
    except RagError as problem:
        session.put(session.RUNS_NOTICE, ("error", problem.message))
    else:
        session.put(session.RUNS_UNDO, [run_id])
    _closed()
    st.rerun()
