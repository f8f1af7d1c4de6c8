"""The journal as a list: filter, open, rename, note, label, delete with undo."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import streamlit as st

from components import paging, run_export, session
from components.frame import RUN
from components.markup import chip
from components.notices import done, empty, error
from components.palette import GREY, ORANGE, PASSED, REFUSED, TERMINALS, Sign
from components.safe import esc, isolated, plural, shorten
from core import registry
from core.errors import BadInput
from core.journal import MAX_NOTE, Journal, RunFilter, RunRecord
from core.retrieval.library import CorpusSummary

PAGE = 15
RIGHT = Sign(PASSED.colour, "thumb_up", "marked right")
WRONG = Sign(REFUSED.colour, "thumb_down", "marked wrong")
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
    for record in runs:
        _row(journal, record, versions)
    if total > PAGE:
        paging.buttons(total, PAGE, session.RUNS_PAGE)


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
            [ANY, "right", "wrong"],
            key=session.RUNS_LABEL,
            format_func=lambda n: "Marked or not" if n == ANY else f"Marked {n}",
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


def _row(journal: Journal, record: RunRecord, versions: Mapping[str, str]) -> None:
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
                    "Restore",
                    icon=":material/restore_from_trash:",
                    key=f"restore:{record.run_id}",
                    on_click=_restore,
                    args=(journal, [record.run_id]),
                )
            else:
                _actions(journal, record)


def _words(record: RunRecord, versions: Mapping[str, str]) -> str:
    state = record.terminal or record.status
    chips = [chip(TERMINALS[state])]
    if record.label:
        chips.append(chip(RIGHT if record.label == "right" else WRONG))
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


def _actions(journal: Journal, record: RunRecord) -> None:
    run_id = record.run_id
    st.page_link(
        RUN,
        label="Open",
        icon=":material/open_in_new:",
        query_params=session.link(run=run_id),
    )
    edit = st.popover(
        "Edit", icon=":material/edit:", key=f"edit:{run_id}", on_change="rerun", width="content"
    )
    if edit.open:
        with edit:
            _editor(journal, record)


def _editor(journal: Journal, record: RunRecord) -> None:
    keys = {n: f"{n}:{record.run_id}" for n in (*_EDITS, "delete")}
    session.first(keys["name"], record.name)
    session.first(keys["note"], record.note)
    session.first(keys["label"], record.label)
    session.first(keys["right"], record.right_answer or "")
    change = {"on_change": _edit, "args": (journal, record.run_id, keys)}
    st.text_input("Name", key=keys["name"], max_chars=200, **change)
    st.text_area("Note", key=keys["note"], max_chars=MAX_NOTE, height=80, **change)
    st.segmented_control(
        "The answer is",
        ["right", "wrong"],
        key=keys["label"],
        format_func=lambda n: f":material/thumb_{'up' if n == 'right' else 'down'}: {n}",
        **change,
    )
    st.text_input(
        "Right answer",
        key=keys["right"],
        help="Kept with the run; marked runs become a question file.",
        **change,
    )
    with st.container(horizontal=True):
        run_export.draw(journal, record.run_id, f"export:{record.run_id}")
        st.button(
            "Delete",
            icon=":material/delete:",
            key=keys["delete"],
            disabled=record.status == "running",
            on_click=_delete,
            args=(journal, record.run_id),
        )


_EDITS = ("name", "note", "label", "right")


def _edit(journal: Journal, run_id: str, keys: Mapping[str, str]) -> None:
    try:
        journal.rename(run_id, session.get(keys["name"], ""))
        journal.note(run_id, session.get(keys["note"], ""))
        right = str(session.get(keys["right"], "")).strip()
        journal.label(run_id, session.get(keys["label"]), right or None)
    except BadInput as problem:
        session.put(session.RUNS_NOTICE, ("error", problem.message))


def _delete(journal: Journal, run_id: str) -> None:
    try:
        journal.delete(run_id)
    except BadInput as problem:
        session.put(session.RUNS_NOTICE, ("error", problem.message))
        return
    session.put(session.RUNS_UNDO, [run_id])


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
    for run_id in run_ids:
        journal.restore(run_id)
    session.take(session.RUNS_UNDO)
    text = "The run is back." if len(run_ids) == 1 else f"{len(run_ids)} runs are back."
    session.put(session.RUNS_NOTICE, ("done", text))


def questions_jsonl(journal: Journal) -> tuple[str, int, int]:
    """The marked runs as a question file; how many are in it, and how many lack an answer.

    A run marked right gives its own answer, unless another was typed; one marked wrong needs a
    typed answer. Runs of one question become one question with all their answers.
    """
    found: dict[str, dict[str, object]] = {}
    without = 0
    for label in ("right", "wrong"):
        for record in journal.runs(RunFilter(label=label), limit=None):
            answer = record.right_answer or (record.answer if label == "right" else None)
            if not answer:
                without += 1
                continue
            item = found.setdefault(
                record.question,
                {"id": f"run-{record.run_id}", "question": record.question, "answers": []},
            )
            answers = item["answers"]
            assert isinstance(answers, list)
            if answer not in answers:
                answers.append(answer)
    lines = [json.dumps(item, ensure_ascii=False) for item in found.values()]
    return "".join(f"{line}\n" for line in lines), len(found), without
