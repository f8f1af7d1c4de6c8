"""The corpora of a workspace: choose one, see its state, index, add, search, delete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from components import (
    corpus_browse,
    corpus_search,
    corpus_upload,
    runs_exchange,
    session,
    tam_explorer,
    waiting,
)
from components.composer import EVERY, ask_about
from components.frame import HOME
from components.jobs import Job, jobs, phase_text, under_way
from components.markup import chip
from components.notices import done, empty, error, warning
from components.palette import ORANGE, PASSED, PENDING, Sign
from components.safe import esc, plural, visible
from components.workspace import served
from core.errors import RagError
from core.journal import Journal, RunFilter
from core.retrieval.library import CorpusSummary, Library

STATES = {
    "ready": Sign(PASSED.colour, "check_circle", "ready"),
    "not indexed": Sign(PENDING.colour, "pending", "not indexed yet"),
    "needs re-indexing": Sign(ORANGE, "sync_problem", "needs re-indexing"),
}
KINDS = {
    "bundled": "comes with the app",
    "folder": "a folder",
    "uploads": "uploads",
    "pool": "passages of a question file",
}
VIEWS = {
    "documents": ("Documents", "description"),
    "search": ("Search", "search"),
    "graph": ("Abstraction memory", "account_tree"),
    "health": ("Index health", "monitor_heart"),
    "add": ("Add files", "upload_file"),
}


def draw(library: Library, journal: Journal) -> None:
    """Show one corpus of this workspace, chosen from the list."""
    said = session.take(session.CORPUS_NOTICE)
    if said:
        (error if said[0] == "error" else done)(said[1])
    corpora = library.list()
    chosen = _choose(corpora, told=bool(said))
    session.first(session.CORPUS_VIEW, "documents")
    if chosen is None:
        empty("library_books", "No corpus yet", "Add files below to make the first one.")
        corpus_upload.draw(library, corpora, None)
        return
    job = jobs().get(library.workspace, chosen.name)
    active = job is not None and job.active
    elsewhere = not active and library.under_way(chosen.name) is not None
    _state(library, journal, chosen, active or elsewhere)
    if job is not None and (active or job.news):
        st.fragment(_watch, run_every=0.5 if active else None)(library.workspace, job, active)
    if not active:
        st.fragment(_follow, run_every=EVERY)(library, corpora, chosen.name, elsewhere)
    view = st.segmented_control(
        "Show",
        list(VIEWS),
        key=session.CORPUS_VIEW,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
        format_func=lambda name: f":material/{VIEWS[name][1]}: {VIEWS[name][0]}",
    )
    if view == "add":
        corpus_upload.draw(library, corpora, chosen)
        return
    with waiting.until(waiting.HITS if view == "search" else waiting.DOCUMENTS, "open"):
        index = corpus_browse.opened(library, chosen.name)
    if index is None:
        empty("pending", "Not indexed yet", "Press Index to read and embed its documents.")
    elif view == "search":
        corpus_search.draw(index)
    elif view == "graph":
        tam_explorer.draw(library, journal.memory(), chosen.name, index)
    elif view == "health":
        corpus_browse.health(chosen, index)
    else:
        corpus_browse.documents(library, chosen, index)


def _choose(corpora: Sequence[CorpusSummary], *, told: bool) -> CorpusSummary | None:
    """The corpus that is shown; another one than before only with a word, unless it is ``told``."""
    by_name = {c.name: c for c in corpora}
    if not by_name:
        return None
    before = session.get(session.CORPUS_CHOSEN)
    if before not in by_name:
        given = session.param(session.P_CORPUS)
        now = given if given in by_name else next(iter(by_name))
        session.put(session.CORPUS_CHOSEN, now)
        if before and not told:
            warning(f"The corpus {visible(before)} was deleted. {visible(now)} is shown now.")
        elif given and given != now and not told:
            warning(f"The corpus of this link is not here. {visible(now)} is shown instead.")
    name = st.selectbox(
        "Corpus",
        list(by_name),
        key=session.CORPUS_CHOSEN,
        persist_state="session",
        format_func=lambda n: f"{visible(n)} · {KINDS[by_name[n].kind]}",
        on_change=_changed,
    )
    session.show(**{session.P_CORPUS: name})
    return by_name[name]


def _changed() -> None:
    session.put(session.CORPUS_DOCUMENT, None)
    session.put(session.CORPUS_PAGE, 1)
    session.take(session.CORPUS_NAME)


def _state(library: Library, journal: Journal, chosen: CorpusSummary, active: bool) -> None:
    counts = [plural(chosen.documents, "document"), plural(chosen.passages, "passage")]
    if chosen.skipped:
        counts.append(f"{plural(chosen.skipped, 'file')} skipped")
    words, actions = st.columns([2.2, 2.4], vertical_alignment="center")
    with words:
        st.html(
            f'<div class="ri-outcome">{chip(STATES[chosen.state], strong=True)}'
            + "".join(f'<span class="ri-dim ri-tabular">{esc(c)}</span>' for c in counts)
            + "</div>"
        )
    with actions, st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        if chosen.state == "ready" and st.button(
            "Ask about it",
            icon=":material/help:",
            key="corpus_ask_about",
            type="primary",
            disabled=active,
            help="Opens the question box with this corpus chosen.",
        ):
            ask_about(chosen.name)
            st.switch_page(HOME, query_params=session.link())
        st.button(
            "Index again" if chosen.state == "ready" else "Index",
            icon=":material/sync:",
            key="corpus_index",
            type="secondary" if chosen.state == "ready" else "primary",
            disabled=active,
            on_click=jobs().start,
            args=(library, chosen.name),
            help="Only what changed is read and embedded again.",
        )
        if served() and chosen.kind == "bundled":
            return  # its index is everybody's
        if st.button("Delete", icon=":material/delete:", key="corpus_delete", disabled=active):
            confirm(library, journal, chosen)


@st.dialog("Delete this corpus?", icon=":material/delete:")
def confirm(library: Library, journal: Journal, chosen: CorpusSummary) -> None:
    """Asked once more; runs over the corpus can go with it, restorable."""
    bundled = chosen.kind == "bundled"
    st.text(visible(chosen.name))
    st.caption(
        "Its index is deleted; the bundled documents stay and can be indexed again."
        if bundled
        else "Its index and its uploaded files are deleted. Adding them again works as new."
    )
    runs = journal.count(RunFilter(corpus_id=chosen.name))
    with_runs = runs > 0 and st.checkbox(
        f"Delete its {plural(runs, 'run')} as well (the Runs page can restore what is deleted)"
    )
    with st.container(horizontal=True):
        if st.button("Delete", type="primary", key="corpus_delete_yes"):
            _delete(library, journal, chosen, with_runs)
            st.rerun()
        if st.button("Keep it", key="corpus_delete_no"):
            st.rerun()


def _delete(library: Library, journal: Journal, chosen: CorpusSummary, with_runs: bool) -> None:
    try:
        library.delete(chosen.name)
    except RagError as problem:
        session.put(session.CORPUS_NOTICE, ("error", problem.message))
        return
    jobs().forget(library.workspace, chosen.name)
    session.put(session.CORPUS_DOCUMENT, None)
    text = f"{chosen.name} was deleted."
    if with_runs:
        gone = runs_exchange.purge_corpus(journal, chosen.name)
        session.put(session.RUNS_UNDO, gone)
        text += f" Deleted with it: {plural(len(gone), 'run')}; the Runs page can restore that."
    session.put(session.CORPUS_NOTICE, ("done", text))


def _follow(library: Library, drawn: Sequence[CorpusSummary], chosen: str, elsewhere: bool) -> None:
    """What other tabs and processes do to the corpora: shown as it goes on, and drawn anew."""
    progress = library.under_way(chosen)
    if (progress is not None) != elsewhere or library.list() != drawn:
        st.rerun()
    if progress is not None:
        share, text = phase_text(replace(progress, elsewhere=True))
        st.progress(share, text=text)


def _watch(workspace: str, job: Job, active: bool) -> None:
    """Progress of an indexing while it goes on; one full rerun when it ends."""
    if active and not job.active:
        st.rerun()
    if job.active:
        under_way(job, "corpus_stop")
    elif job.problem:
        error(job.problem)
    elif job.report is not None:
        done(f"{job.report.message} {job.report.seconds:.1f} s.")
