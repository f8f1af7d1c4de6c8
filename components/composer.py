"""The box where a question is asked: corpus, system, question, and one button."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components import session
from components.safe import visible
from core import registry
from core.retrieval.library import CorpusSummary

NO_QUESTION = "Ask a question about the documents of the corpus."


@st.cache_data(show_spinner=False)
def samples(corpus: str) -> list[str]:
    """The questions that a bundled corpus comes with; none for others."""
    from core.errors import BadInput
    from core.evaluation.questions import load_questions
    from core.retrieval.library import BUNDLED

    try:
        return [q.question for q in load_questions(BUNDLED / corpus / "questions.jsonl").questions]
    except BadInput:
        return []


def corpus_label(summary: CorpusSummary) -> str:
    """A corpus in one line of a list."""
    if summary.state == "ready":
        size = f"{summary.documents:,} documents"
    else:
        size = "will be indexed first" if summary.state == "not indexed" else summary.state
    return f"{visible(summary.name)} · {size}"


def prepare(corpora: Sequence[CorpusSummary]) -> None:
    """First values of the widgets: from the URL, else the first corpus with its sample."""
    names = [c.name for c in corpora]
    if session.get(session.CORPUS) not in names:
        given = session.param(session.P_CORPUS)
        session.put(session.CORPUS, given if given in names else next(iter(names), None))
    systems = registry.systems()
    if session.get(session.SYSTEM) not in systems:
        given = session.param(session.P_SYSTEM)
        session.put(session.SYSTEM, given if given in systems else next(iter(systems)))
    if session.get(session.QUESTION) is None:
        given = session.param(session.P_QUESTION)
        session.put(session.QUESTION, given or sample(session.get(session.CORPUS)))


def sample(corpus: str | None) -> str:
    """The question that the box holds before anyone types."""
    return next(iter(samples(corpus)), "") if corpus else ""


def _corpus_changed(before: str) -> None:
    """Another corpus: its sample, unless a question was typed."""
    now = session.get(session.QUESTION, "")
    if not now.strip() or now in samples(before):
        session.put(session.QUESTION, sample(session.get(session.CORPUS)))


def draw(corpora: Sequence[CorpusSummary], *, key: str, button: str = "Ask") -> bool:
    """Show the box; whether it was asked. What was chosen is in the session."""
    prepare(corpora)
    names = {c.name: corpus_label(c) for c in corpora}
    systems = registry.systems()
    left, right = st.columns([1, 1])
    with left:
        st.selectbox(
            "Corpus",
            list(names),
            key=session.CORPUS,
            format_func=lambda name: names.get(name, visible(str(name))),
            persist_state="session",
            on_change=_corpus_changed,
            args=(session.get(session.CORPUS),),
        )
    with right:
        st.selectbox(
            "System",
            list(systems),
            key=session.SYSTEM,
            format_func=lambda name: f"{systems[name].title} ({systems[name].kind})",
            help="Which adaptive-RAG method answers.",
            persist_state="session",
        )
    st.caption(systems[session.get(session.SYSTEM)].summary)
    st.text_area(
        "Question",
        key=session.QUESTION,
        height=92,
        max_chars=4_000,
        placeholder=NO_QUESTION,
        persist_state="session",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        asked = st.button(
            button,
            type="primary",
            icon=":material/play_arrow:",
            key=f"{key}:ask",
            disabled=not names,
        )
        choices = samples(session.get(session.CORPUS))[:40]
        if choices:
            st.menu_button(
                "Sample questions",
                choices,
                key=f"{key}:samples",
                icon=":material/lightbulb:",
                on_click=_take_sample,
                args=(f"{key}:samples",),
            )
    return asked


def _take_sample(key: str) -> None:
    chosen = session.get(key)
    if chosen:
        session.put(session.QUESTION, chosen)
