"""The journal as a list: filter, open, rename, note, label, delete with undo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import streamlit as st

from components import ended, paging, run_edit, session
from components.frame import RUN
from components.judging import JUDGED
from components.markup import chip, which
from components.notices import done, empty, error
from components.palette import GREY, ORANGE, TERMINALS, Sign
from components.safe import esc, isolated, plural, shorten
from core import registry
from core.errors import BadInput
from core.journal import Journal, RunFilter, RunRecord
from core.retrieval.library import CorpusSummary

PAGE = 15
CHANGED = Sign(ORANGE, "sync_problem", "corpus changed since")
GONE = Sign(GREY, "folder_off", "corpus is gone")
ANY = "any"


def draw(journal: Journal, corpora: Sequence[CorpusSummary]) -> None:
    """Show the runs of this workspace, a page at a time."""
    chosen = _filters()
    total = journal.count(chosen)
    if not total:
        _nothing(journal, chosen)
        return
    page = paging.number(session.RUNS_PAGE, total, PAGE)
    first = (page - 1) * PAGE
    runs = journal.runs(chosen, offset=first, limit=PAGE)
    what = plural(total, "deleted run" if chosen.deleted else "run")
    st.caption(f"{first + 1:,} to {first + len(runs):,} of {what}, newest first")
    versions = {c.name: c.version for c in corpora}
    for number, record in enumerate(runs, first + 1):
        _row(journal, record, versions, f"run {number}")
    if total > PAGE:
        paging.buttons(total, PAGE, session.RUNS_PAGE)
    run_edit.draw(journal)


def said() -> None:
    """What became of the newest change."""
    notice = session.take(session.RUNS_NOTICE)
    if notice:
        (error if notice[0] == "error" else done)(notice[1])


def _filters() -> RunFilter:
    outcomes = [ANY, *(t for t in TERMINALS if t not in ("running", "interrupted"))]
    systems = registry.systems()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            "Search",
            key=session.RUNS_TEXT,
            placeholder="question, answer, name or note",
            icon=":material/search:",
            persist_state="session",
            width=300,
            on_change=_first_page,
        )
        st.selectbox(
            "System",
            [ANY, *systems],
            key=session.RUNS_SYSTEM,
            format_func=lambda n: "Any system" if n == ANY else systems[n].title,
            persist_state="session",
            width=190,
            on_change=_first_page,
        )
        st.selectbox(
            "Outcome",
            outcomes,
            key=session.RUNS_OUTCOME,
            format_func=lambda n: "Any outcome" if n == ANY else TERMINALS[n].word,
            persist_state="session",
            width=190,
            on_change=_first_page,
        )
        st.selectbox(
            "Marked",
            [ANY, *JUDGED],
            key=session.RUNS_LABEL,
            format_func=lambda n: "Marked or not" if n == ANY else JUDGED[n].word,
            persist_state="session",
            width=160,
            on_change=_first_page,
        )
        st.toggle(
            "Deleted runs",
            key=session.RUNS_DELETED,
            on_change=_first_page,
            help="Deleted runs can be restored until they are deleted for good.",
        )

    def given(key: str) -> str | None:
        value = session.get(key)
        return None if value in (None, "", ANY) else str(value)

    return RunFilter.model_validate(
        {
            "text": given(session.RUNS_TEXT),
            "system": given(session.RUNS_SYSTEM),
            "terminal": given(session.RUNS_OUTCOME),
            "label": given(session.RUNS_LABEL),
            "deleted": bool(session.get(session.RUNS_DELETED)),
        }
    )


def _first_page() -> None:
    session.put(session.RUNS_PAGE, 1)


def _nothing(journal: Journal, chosen: RunFilter) -> None:
    if chosen.deleted:
        empty("delete", "No deleted runs", "A run that you delete can be restored from here.")
    elif journal.count():
        empty("filter_alt_off", "No run matches", "Loosen the filters above to see more.")
    else:
        empty(
            "list_alt",
            "No runs yet",
            "Ask a question on the Home or Run page, or import a run above.",
        )


def _row(journal: Journal, record: RunRecord, versions: Mapping[str, str], what: str) -> None:
    with st.container(border=True, gap="xsmall", key=f"ri_run_{record.run_id}"):
        words, actions = st.columns([4.2, 1], gap="small", vertical_alignment="center")
        with words:
            st.html(_words(record, versions))
        with (
            actions,
            st.container(
                horizontal=True,
                horizontal_alignment="right",
                vertical_alignment="center",
                gap="small",
            ),
        ):
            if record.deleted_at:
                st.button(
                    which("Restore", what),
                    icon=":material/restore_from_trash:",
                    key=f"restore:{record.run_id}",
                    on_click=_restore,
                    args=(journal, [record.run_id]),
                )
            else:
                _actions(record, what)


def _words(record: RunRecord, versions: Mapping[str, str]) -> str:
    chips = [ended.of(record)]
    if record.label:
        sign = JUDGED[record.label]
        chips.append(chip(sign, f"marked: {sign.word.lower()}"))
    now = versions.get(record.corpus.id)
    if now is None:
        chips.append(chip(GONE))
    elif now != record.corpus.version:
        chips.append(chip(CHANGED))
    answer = (
        f'<span class="ri-answer ri-small">{isolated(shorten(record.answer, 160))}</span>'
        if record.answer
        else ""
    )
    tokens = f"{record.usage.tokens:,} tokens" if record.usage else ""
    byline = [
        esc(system_title(record.system)),
        isolated(record.corpus.id),
        esc(record.model or record.reasoner),
        f"{record.started:%Y-%m-%d %H:%M} UTC",
        tokens,
        "" if record.origin == "live" else esc(record.origin),
    ]
    name = f"<b>{isolated(record.name)}</b> · " if record.name else ""
    note = f'<div class="ri-dim">{isolated(shorten(record.note, 240))}</div>' if record.note else ""
    return (
        f'<div class="ri-title" dir="auto">{name}{isolated(shorten(record.question, 240))}</div>'
        f'<div class="ri-outcome">{"".join(chips)}{answer}</div>{note}'
        f'<div class="ri-byline ri-tabular">{"".join(f"<span>{b}</span>" for b in byline if b)}'
        "</div>"
    )


def system_title(name: str) -> str:
    """What a recorded run's system is called; its name where this app knows none of it."""
    known = registry.systems().get(name)
    return known.title if known else name


def _actions(record: RunRecord, what: str) -> None:
    st.page_link(
        RUN,
        label=which("Open", what),
        icon=":material/open_in_new:",
        query_params=session.link(run=record.run_id),
    )
    run_edit.button(record, what)


def undo(journal: Journal) -> None:
    """After a deletion: what was done, and the way back."""
    gone = session.get(session.RUNS_UNDO)
    if not gone:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        done("The run was deleted." if len(gone) == 1 else f"{len(gone)} runs were deleted.")
        st.button(
            "Undo",
            icon=":material/undo:",
            key="runs_undo_button",
            on_click=_restore,
            args=(journal, gone),
        )


def _restore(journal: Journal, run_ids: Sequence[str]) -> None:
    back = 0
    for run_id in run_ids:
        with suppress(BadInput):  # deleted for good since, perhaps in another tab
            journal.restore(run_id)
            back += 1
    session.take(session.RUNS_UNDO)
    text = "The run is back." if back == 1 else f"{back} runs are back."
    gone = len(run_ids) - back
    if gone:
        text = f"{plural(gone, 'run')} had been deleted for good." + (f" {text}" if back else "")
    session.put(session.RUNS_NOTICE, ("error" if gone else "done", text))
