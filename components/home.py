"""The home page: ask at once, or go on with a recent run."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from components import composer, ended, run_page, session, warm
from components.frame import CORPUS, RUN, RUNS
from components.markup import icon, which
from components.notices import empty
from components.runs_list import system_title
from components.safe import esc, isolated, plural, shorten
from components.workspace import bench
from core import registry
from core.events import RunStarted
from core.journal import Journal, RunRecord

RECENT = 6
_WAYS = (
    ("visibility", "Watch", "Every search, belief and decision appears as it happens."),
    ("help", "Ask why", "Each gate shows its value, its threshold, and what would change it."),
    ("tune", "Re-decide", "Move a threshold on a finished run: no model is asked again."),
)
_HOW = (
    '<ul class="ri-ways">'
    + "".join(f"<li>{icon(i, size=1.35)}<b>{w}</b><span>{t}</span></li>" for i, w, t in _WAYS)
    + "</ul>"
)


def draw() -> None:
    """The question box on the left, recent runs on the right."""
    work = bench()
    with st.container(key="ri_home"):
        left, right = st.columns([1.35, 1], gap="large")
    with left:
        st.subheader("Ask", anchor=False)
        if not work.library.list():
            empty("library_books", "No corpus yet", "Add documents on the Corpus page first.")
            st.page_link(
                CORPUS,
                label="Add documents",
                icon=":material/upload_file:",
                query_params=session.link(),
            )
        elif composer.draw(work.library, work.journal, key="home", button="Ask and watch"):
            run_page.start(work, registry.system(session.get(session.SYSTEM)).name)
        st.html(_HOW)
    with right:
        st.subheader("Recent runs", anchor=False)
        _recent(work.journal)
    warm.draw()


def _recent(journal: Journal) -> None:
    runs = journal.runs(limit=RECENT)
    if not runs:
        empty(
            "history",
            "No runs yet",
            "A question is ready: press Ask and watch to see a whole run, step by step.",
        )
        return
    for number, record in enumerate(runs, 1):
        _run(record, _changed(journal, record), f"run {number}")
    total = journal.count()
    if total > len(runs):
        st.page_link(
            RUNS,
            label=f"All {plural(total, 'run')}",
            icon=":material/list_alt:",
            query_params=session.link(),
        )


def _changed(journal: Journal, record: RunRecord) -> int:
    """How many of a run's settings were not the defaults, neither these pages' nor the system's
    own, which the command line and evaluations have."""
    known = registry.systems().get(record.system)
    first = next(iter(journal.steps(record.run_id, limit=1)), None)
    if known is None or first is None or not isinstance(first.event, RunStarted):
        return 0
    both = (known.settings(), session.defaults(known.settings))
    usual = [settings.model_dump(mode="json") for settings in both]
    recorded = first.event.settings
    return sum(all(d.get(name) != value for d in usual) for name, value in recorded.items())


def ago(then: datetime, now: datetime) -> str:
    """How long ago, in the largest whole unit: ``3 min ago``; a date from a week on."""
    minutes = int((now - then).total_seconds() // 60)
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    if minutes < 24 * 60:
        return f"{minutes // 60} h ago"
    if minutes < 7 * 24 * 60:
        return f"{plural(minutes // (24 * 60), 'day')} ago"
    return f"{then:%Y-%m-%d}"


def _run(record: RunRecord, changed: int, what: str) -> None:
    """One recent run; ``changed``: how many of its settings were not the defaults."""
    answer = f"<b>{isolated(shorten(record.answer, 80))}</b>" if record.answer else ""
    words, action = st.columns([4, 1], vertical_alignment="center", gap="small")
    own = f"<span>{plural(changed, 'setting')} changed</span>" if changed else ""
    title = isolated(shorten(record.question, 130))
    if record.name:
        title = f"{isolated(record.name)} · {title}"
    with words:
        st.html(
            f'<div class="ri-title" dir="auto">{title}</div>'
            f'<div class="ri-outcome">{ended.of(record)}{answer}</div>'
            f'<div class="ri-byline ri-tabular"><b>{esc(system_title(record.system))}</b>'
            f"{own}<span>{isolated(record.corpus.id)}</span>"
            f'<span title="{record.started:%Y-%m-%d %H:%M:%S} UTC">'
            f"{ago(record.started, datetime.now(UTC))}</span></div>"
        )
    with action:
        st.page_link(
            RUN,
            label=which("Open", what),
            icon=":material/open_in_new:",
            query_params=session.link(run=record.run_id),
        )
