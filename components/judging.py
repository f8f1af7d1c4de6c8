"""A person's judgement of a run: right, wrong, or not to be answered; and the right answer."""

from __future__ import annotations

import streamlit as st

from components import session
from components.notices import error
from components.palette import GREY, PASSED, REFUSED, Sign
from core.errors import RagError
from core.journal import Journal, Label, RunRecord

JUDGED: dict[Label, Sign] = {
    "right": Sign(PASSED.colour, "thumb_up", "Right"),
    "wrong": Sign(REFUSED.colour, "thumb_down", "Wrong"),
    "unanswerable": Sign(GREY, "block", "Should not be answered"),
}
LONGEST = 2_000
"""Characters of a right answer."""


def draw(title: str, journal: Journal, record: RunRecord) -> None:
    """The choice and, unless the question should not be answered, the right answer. What is
    chosen is kept at once; what another tab chose since is shown."""
    keys = {name: f"{name}:{record.run_id}" for name in ("label", "right")}
    session.agree(keys["label"], record.label)
    problem = session.take(_problem(record.run_id))
    if problem:
        error(problem)
    st.segmented_control(
        title,
        list(JUDGED),
        key=keys["label"],
        format_func=lambda name: f":material/{JUDGED[name].icon}: {JUDGED[name].word}",
        help="Marked runs become a question file for evaluate, on the Runs page.",
        on_change=_label,
        args=(journal, record.run_id, keys["label"]),
    )
    if record.label == "unanswerable":
        return
    session.agree(keys["right"], record.right_answer or "")
    st.text_input(
        "Right answer",
        key=keys["right"],
        max_chars=LONGEST,
        placeholder="as short as it can be said" if record.label != "right" else "its own answer",
        help="Kept with the run. A run marked right needs none: its own answer is taken.",
        on_change=_correct,
        args=(journal, record.run_id, keys["right"]),
    )


def _problem(run_id: str) -> str:
    return f"judging:{run_id}"


def _label(journal: Journal, run_id: str, key: str) -> None:
    try:
        journal.label(run_id, session.get(key))
    except RagError as problem:
        session.put(_problem(run_id), problem.message)


def _correct(journal: Journal, run_id: str, key: str) -> None:
    try:
        journal.correct(run_id, str(session.get(key, "")).strip() or None)
    except RagError as problem:
        session.put(_problem(run_id), problem.message)
