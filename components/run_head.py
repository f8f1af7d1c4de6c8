"""The top of a run: its question, how it ended, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components import composer, ended, judging, launch, lineage, memory_panel, run_export
from components.markup import chip, mono
from components.palette import GREY, Sign
from components.safe import esc, isolated
from core import endings, registry, trace
from core.events import MemoryOp, RunFinished, Step
from core.journal import Journal, RunRecord
from core.narration import plain
from core.settings import SystemSettings

REUSED = Sign(GREY, "history", "reused memory")
HIDDEN = Sign(GREY, "visibility_off", "The end is hidden")
LONG = 90
"""Characters from which an answer is set as two lines of text rather than as a headline."""


def draw(
    journal: Journal,
    record: RunRecord,
    steps: Sequence[Step],
    settings: SystemSettings,
    *,
    secret: bool = False,
) -> None:
    """Question, outcome and byline on the left, the buttons on the right; with ``secret`` nothing
    that tells how the run ended."""
    left, right = st.columns([1.6, 1], gap="medium")
    with left:
        changed = lineage.changed(journal, record, trace.start(steps))
        st.html(_words(record, steps, changed, secret=secret))
    with (
        right,
        st.container(
            horizontal=True,
            horizontal_alignment="right",
            vertical_alignment="center",
            gap="small",
        ),
    ):
        st.button(
            "New question",
            icon=":material/add:",
            key="run_new",
            on_click=composer.anew,
            args=(record,),
            help="An empty box: same corpus, system, reasoner and settings.",
        )
        if record.status == "running":
            stopping = launch.launcher().pool.is_stopping(record.run_id)
            st.button(
                "Stopping" if stopping else "Stop run",
                icon=":material/hourglass_top:" if stopping else ":material/stop:",
                disabled=stopping,
                key="run_stop",
                type="primary",
                shortcut="Alt+S",
                on_click=launch.stop,
                args=(record.run_id,),
                help="The run ends as stopped; what it did is kept.",
            )
        else:
            if record.status == "interrupted":
                st.button(
                    "Resume",
                    icon=":material/resume:",
                    key="run_resume",
                    type="primary",
                    on_click=launch.resume,
                    args=(journal.workspace, record),
                    help="Its process ended in mid-run; goes on from the last step kept.",
                )
            st.button(
                "Run again",
                icon=":material/replay:",
                key="run_again",
                on_click=launch.again,
                args=(journal.workspace, record, settings),
                help="A new run of this question with the settings now.",
            )
            if not secret:
                _mark(journal, record)
        with st.popover("Export", icon=":material/download:", width="content"):
            run_export.draw(journal, record.run_id, "run_export")
    if secret:
        return
    with right:
        lineage.draw(journal, record, trace.start(steps))


def _mark(journal: Journal, record: RunRecord) -> None:
    """Whether the answer is right, as a person sees it; the same as on the list of runs."""
    mark = st.popover(
        "Mark",
        icon=":material/rule:",
        key="run_mark",
        width="content",
        on_change="rerun",
        help="Say whether the answer is right, and give the right one.",
    )
    if mark.open:
        with mark:
            judging.draw("The answer is", journal, record)


def _words(record: RunRecord, steps: Sequence[Step], changed: str, *, secret: bool) -> str:
    last = steps[-1]
    outcome = chip(HIDDEN, strong=True) if secret else _outcome(record, steps)
    name = f"<b>{isolated(record.name)}</b>" if record.name else ""
    origin = "" if record.origin in ("live", "fork") else esc(record.origin)
    byline = [
        name,
        esc(registry.system(record.system).title),
        isolated(record.corpus.id),
        esc(record.model or record.reasoner),
        origin,
        changed,
        f"{record.started:%Y-%m-%d %H:%M} UTC",
        f"{last.elapsed_ms / 1000:.1f} s",
        mono(record.run_id),
    ]
    return (
        f'<div class="ri-question" dir="auto">{isolated(record.question)}</div>'
        f'<div class="ri-outcome">{outcome}</div>'
        f'<div class="ri-byline ri-tabular">{"".join(f"<span>{b}</span>" for b in byline if b)}'
        "</div>"
    )


def _outcome(record: RunRecord, steps: Sequence[Step]) -> str:
    """How the run ended, its answer, what is to be said of both."""
    end = steps[-1].event if isinstance(steps[-1].event, RunFinished) else None
    why = endings.guess_of(steps)
    parts = [ended.of(record, why, strong=True)]
    if end and end.answer:
        words = isolated(end.answer)
        if len(end.answer) > LONG:
            tip = esc(f"{end.answer}\n\nThe Answer view shows it whole.")
            parts.append(f'<span class="ri-answer ri-long" dir="auto" title="{tip}">{words}</span>')
        else:
            parts.append(f'<span class="ri-answer" dir="auto">{words}</span>')
        parts.append(ended.grounding(end.grounded, why))
        short = why.removesuffix(endings.UNGROUNDED).strip()
        parts.append(f'<span class="ri-dim">{esc(short)}</span>' if short else "")
    elif end:
        parts.append(f"<span>{isolated(end.reason)}</span>")
    if record.label:
        sign = judging.JUDGED[record.label]
        parts.append(chip(sign, f"marked: {sign.word.lower()}"))
    parts.append(_reused(steps))
    return "".join(parts)


def _reused(steps: Sequence[Step]) -> str:
    """That a run followed what an earlier one left in shared memory, and how to have it not."""
    operations = [(s.seq, 0, s.event) for s in steps if isinstance(s.event, MemoryOp)]
    found = memory_panel.reused(operations)
    if not found:
        return ""
    did = "; ".join(dict.fromkeys(f"step {seq}: {plain(o.reason, 160)}" for seq, o in found))
    how = "To start from nothing, set Memory to isolated in Settings and run again."
    tip = esc(f"Taken from the shared memory of earlier questions. {did}. {how}")
    return f'<span class="ri-tip" tabindex="0" title="{tip}">{chip(REUSED)}</span>'
