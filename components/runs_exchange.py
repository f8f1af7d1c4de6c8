"""Runs in and out: import of JSON lines, marked runs as a question file, deletion for good."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from components import session
from components.frame import RUN
from components.notices import done, error
from components.run_store import store
from components.safe import plural, visible
from core.errors import BadInput, RagError
from core.evaluation.marked import QuestionFile, question_file
from core.journal import Journal, RunFilter

MOST_FILES = 50


def draw(journal: Journal) -> None:
    """One row above the list: import, question file and deletion, each a button."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.popover(
            "Import runs", icon=":material/upload_file:", key="runs_import", width="content"
        ):
            _import(journal)
        _questions(journal)
        _purge(journal)


def _import(journal: Journal) -> None:
    files = st.file_uploader(
        "Run files (JSON lines)",
        type=["jsonl"],
        accept_multiple_files=True,
        key=session.RUNS_UPLOAD,
        help="Files made by Export. Each is checked line by line; a broken one is refused whole.",
    )
    for file in files[:MOST_FILES]:
        take_in(journal, file.name, file.getvalue())
    if len(files) > MOST_FILES:
        error(f"Of {plural(len(files), 'file')} the first {MOST_FILES} were read.")


def take_in(journal: Journal, name: str, content: bytes) -> None:
    """Import one file and say what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        path.write_bytes(content)
        try:
            record = journal.import_jsonl(path)
        except RagError as problem:
            error(f"{visible(name)}: {problem.message}")
            return
    store().forget(journal.workspace, record.run_id)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        done(f"{visible(name)}: {record.question}")
        st.page_link(
            RUN,
            label="Open",
            icon=":material/open_in_new:",
            query_params=session.link(run=record.run_id),
        )


def _questions(journal: Journal) -> None:
    made = question_file(journal)
    st.download_button(
        "Export question file",
        made.text,
        file_name="questions.jsonl",
        mime="application/jsonl",
        icon=":material/download:",
        key="export_questions",
        on_click="ignore",
        disabled=not made.questions,
        help="A line for each question and corpus: python -m core evaluate reads it.",
    )
    st.caption(questions_said(made), width="stretch")


def questions_said(made: QuestionFile) -> str:
    """What is in the question file, and what would have to be done for what is not."""
    if not (made.questions or made.without or made.against):
        return "Mark answers right or wrong with Edit: they become a question file."
    said = f"{plural(made.questions, 'question')} from marked runs."
    if made.without:
        said += f" Left out for want of a right answer: {plural(made.without, 'run')}."
    if made.against:
        said += f" Left out as judged both ways: {plural(made.against, 'question')}."
    return said


def _purge(journal: Journal) -> None:
    gone = journal.count(RunFilter(deleted=True))
    if not gone:
        return
    if st.button(
        f"Delete {plural(gone, 'deleted run')} for good",
        icon=":material/delete_forever:",
        key="purge_open",
        help="Until then they can be restored.",
    ):
        confirm(journal, gone)


@st.dialog("Delete for good?", icon=":material/delete_forever:")
def confirm(journal: Journal, count: int) -> None:
    """Asked once more, since this cannot be undone."""
    st.text(
        f"{plural(count, 'deleted run')}, with every step, will be removed. This cannot be undone."
    )
    with st.container(horizontal=True):
        if st.button("Delete for good", type="primary", key="purge_yes"):
            removed = journal.purge(deleted_before=datetime.now(UTC))
            session.take(session.RUNS_UNDO)
            session.put(
                session.RUNS_NOTICE, ("done", f"Removed for good: {plural(removed, 'run')}.")
            )
            st.rerun()
        if st.button("Keep them", key="purge_no"):
            st.rerun()


def purge_corpus(journal: Journal, corpus: str) -> list[str]:
    """Delete every run over a corpus that is not running, restorable; the ids of those deleted."""
    gone = []
    for record in journal.runs(RunFilter(corpus_id=corpus), limit=None):
        with suppress(BadInput):  # it is running, or another tab deleted it for good
            journal.delete(record.run_id)
            gone.append(record.run_id)
    return gone
