"""Where a run came from and what was made of it: its parent, what was changed, its forks."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from components import ended, launch, memory_panel
from components.run_store import store
from components.safe import esc, isolated, plural, shorten
from core import contracts, registry
from core.errors import BadInput
from core.events import MemoryOp, RunStarted
from core.journal import Journal, RunFilter, RunRecord

Change = tuple[str, str, str]
"""What was changed, from what, to what; in words."""
SHOWN = 2
"""Changes that are spelled out in the head of a run; the rest is counted, and in the tip."""
MOST = 20
"""Runs that are listed as made from one."""


def draw(journal: Journal, record: RunRecord, started: RunStarted) -> None:
    """The way to the run's parent, and to the runs made from it."""
    children = journal.count(RunFilter(parent_run=record.run_id))
    if record.parent is None and not children:
        return
    with st.container(
        horizontal=True,
        horizontal_alignment="right",
        vertical_alignment="center",
        gap="small",
        key="ri_lineage",
    ):
        if record.parent is not None:
            _parent(journal, record)
        if children:
            made = st.popover(
                f"{plural(children, 'run')} from this",
                icon=":material/account_tree:",
                key="run_children",
                type="tertiary",
                width="content",
                on_change="rerun",
            )
            if made.open:
                with made:
                    _children(journal, record, started, children)


def _parent(journal: Journal, record: RunRecord) -> None:
    assert record.parent is not None
    run_id, seq = record.parent.run_id, record.parent.seq
    try:
        journal.run(run_id)
    except BadInput:
        st.html(
            f'<span class="ri-dim">{_from(record)} another run, which is not here any more</span>'
        )
        return
    st.button(
        f"{_from(record)} another run",
        icon=":material/fork_right:" if record.origin == "fork" else ":material/replay:",
        key="run_parent",
        type="tertiary",
        on_click=launch.show,
        args=(run_id, seq if record.origin == "fork" else None),
        help="Opens the run that this one was made from.",
    )


def changed(journal: Journal, record: RunRecord, started: RunStarted) -> str:
    """What was changed against the run's parent, as escaped HTML; empty where it has none here."""
    if record.parent is None:
        return ""
    try:
        return _told(journal, record, store().start(journal, record.parent.run_id), started)
    except BadInput:
        return ""


def _from(record: RunRecord) -> str:
    assert record.parent is not None
    if record.origin == "fork":
        return f"Forked from step {record.parent.seq} of"
    return "Asked again from"


def _children(journal: Journal, record: RunRecord, started: RunStarted, count: int) -> None:
    for child in journal.runs(RunFilter(parent_run=record.run_id), limit=MOST):
        assert child.parent is not None
        at = f"from step {child.parent.seq}" if child.origin == "fork" else "asked again"
        answer = isolated(shorten(child.answer, 80)) if child.answer else ""
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                at.capitalize(),
                icon=":material/open_in_new:",
                key=f"child:{child.run_id}",
                type="tertiary",
                on_click=launch.show,
                args=(child.run_id,),
            )
            st.html(
                f'<div class="ri-outcome">{ended.of(child)}{answer}</div>'
                f"{_told(journal, child, started, store().start(journal, child.run_id))}"
            )
    if count > MOST:
        st.caption(f"The newest {MOST} of {count:,}.")


def changes(before: RunStarted, now: RunStarted) -> list[Change]:
    """What two runs of one system were made with that differs: settings, reasoner, corpus, faults.
    A setting that came after the older run counts with its default."""
    found: list[Change] = []
    old, new = contracts.run_settings(before), contracts.run_settings(now)
    for name, field in registry.system(now.system).settings.model_fields.items():
        then, here = getattr(old, name, None), getattr(new, name)
        if then != here:
            found.append((str(field.title or name), _plain(then), _plain(here)))
    for title, then, here in (
        ("Reasoner", before.model or before.reasoner, now.model or now.reasoner),
        ("Corpus", before.corpus.version[:8], now.corpus.version[:8]),
        ("Faults", ", ".join(before.faults), ", ".join(now.faults)),
    ):
        if then != here:
            found.append((title, then or "none", here or "none"))
    return found


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else shorten(str(value), 60)


def _told(journal: Journal, record: RunRecord, before: RunStarted, now: RunStarted) -> str:
    """What was changed for a run, and what it took over from earlier questions."""
    found = changes(before, now)
    return told(found, reused=not found and _reused(journal, record.run_id))


def _reused(journal: Journal, run_id: str) -> bool:
    steps = store().steps(journal, run_id)
    return bool(
        memory_panel.reused([(s.seq, 0, s.event) for s in steps if isinstance(s.event, MemoryOp)])
    )


def told(found: Iterable[Change], *, reused: bool = False) -> str:
    """Changes as escaped HTML, such as ``Answer threshold 0.5 → 0.9``; the first few, the rest
    counted. ``reused``: the run followed what earlier ones left in shared memory, by which it may
    come out otherwise though no setting was changed."""
    words = [f"{title} {then} → {here}" for title, then, here in found]
    if not words:
        what = "no setting changed, memory reused" if reused else "nothing changed"
        return f'<span class="ri-dim">{what}</span>'
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    tip = f' tabindex="0" title="{esc("; ".join(words))}"' if more else ""
    return f'<span class="ri-changes"{tip}>{esc(", ".join(words[:SHOWN]) + more)}</span>'
