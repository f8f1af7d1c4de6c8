"""The box where a question is asked: corpus, system, question, and one button."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import streamlit as st

from components import session, settings_panel
from components.jobs import phase_text
from components.notices import warning
from components.safe import plural, visible
from core import registry
from core.errors import BadInput
from core.journal import Journal, RunFilter, RunRecord
from core.retrieval.library import CorpusSummary, Library
from core.wiring import EXTRACTIVE

EVERY = 2.0
"""Seconds between two looks at what became of the corpora."""
ASKED = 5
"""Questions asked before of the corpus that the list offers."""
NO_QUESTION = "Ask a question about the documents of the corpus."


@dataclass(frozen=True, slots=True)
class Reader:
    """Who does the language work: the extractive reasoner, or a language model.

    The key lives in the session that typed it, and in the run that uses it; nowhere else.
    """

    model: str = EXTRACTIVE
    api_key: str | None = field(default=None, repr=False)
    api_base: str | None = None


def reader(model: str | None = None) -> Reader:
    """The chosen reader; ``model`` for that model with this session's key.

    Raises:
        BadInput: a language model was chosen and not named.
    """
    if model is None:
        if session.get(session.REASONER, EXTRACTIVE) == EXTRACTIVE:
            return Reader()
        model = str(session.get(session.MODEL, "")).strip()
        if not model:
            raise BadInput("Name the language model, or choose the extractive reasoner.")
    return Reader(
        model,
        str(session.get(session.MODEL_KEY, "")).strip() or None,
        str(session.get(session.MODEL_BASE, "")).strip() or None,
    )


@st.cache_data(show_spinner=False)
def samples(corpus: str) -> list[str]:
    """The questions that a bundled corpus comes with, each type's turn in order, so that the
    first ones are of different types; none for others."""
    from core.evaluation.questions import load_questions
    from core.retrieval.library import BUNDLED

    try:
        found = load_questions(BUNDLED / corpus / "questions.jsonl").questions
    except BadInput:
        return []
    seen: Counter[str] = Counter()
    turns = []
    for question in found:
        turns.append((seen[question.type], question.question))
        seen[question.type] += 1
    return [question for _, question in sorted(turns, key=itemgetter(0))]


def asked_before(journal: Journal, corpus: str) -> list[str]:
    """The newest questions of the corpus's runs, each once."""
    runs = journal.runs(RunFilter(corpus_id=corpus), limit=20 * ASKED)
    return list(dict.fromkeys(run.question for run in runs))[:ASKED]


def corpus_state(library: Library, summary: CorpusSummary) -> str:
    """What there is to know of a corpus before it is asked over, in a few words."""
    progress = None if summary.state == "ready" else library.under_way(summary.name)
    if progress is not None:
        return f"Being indexed. {phase_text(progress)[1]}"
    if summary.state == "ready":
        return plural(summary.documents, "document")
    what = "Not indexed yet" if summary.state == "not indexed" else summary.state.capitalize()
    return f"{what}: done first when you ask"


def prepare(corpora: Sequence[CorpusSummary]) -> None:
    """First values of the widgets: from the URL, else the first corpus with its sample."""
    names = [c.name for c in corpora]
    before = session.get(session.CORPUS)
    if before not in names:
        given = session.param(session.P_CORPUS)
        chosen = given if given in names else next(iter(names), None)
        session.put(session.CORPUS, chosen)
        if before is not None:
            session.put(session.CORPUS_GONE, (before, chosen))
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


def ask_about(corpus: str) -> None:
    """Have the box, empty, ask over this corpus when it is next drawn."""
    session.put(session.CORPUS, corpus)
    session.put(session.QUESTION, "")


def anew(record: RunRecord) -> None:
    """Leave a run for an empty box: its corpus, system and reasoner, and the settings as they
    stand."""
    session.put(session.CORPUS, record.corpus.id)
    session.put(session.SYSTEM, record.system)
    session.put(session.QUESTION, "")
    session.put(session.REASONER, EXTRACTIVE if record.model is None else "llm")
    if record.model is not None:
        session.put(session.MODEL, record.model)
    session.show(**{session.P_RUN: None, session.P_STEP: None})
    settings_panel.carry(registry.system(record.system))


def system_label(system: registry.System) -> str:
    """A system in a list: its title, and of a baseline or a variant what it is."""
    more = system.differs or ("a baseline" if system.kind == "baseline" else "")
    return f"{system.title}: {more}" if more else system.title


def _corpus_changed(before: str | None) -> None:
    """Another corpus: its sample, unless a question was typed."""
    now = session.get(session.QUESTION, "")
    if not now.strip() or now in samples(before or ""):
        session.put(session.QUESTION, sample(session.get(session.CORPUS)))


def draw(library: Library, journal: Journal, *, key: str, button: str = "Ask") -> bool:
    """Show the box; whether it was asked. What was chosen is in the session."""
    corpora = library.list()
    prepare(corpora)
    names = [c.name for c in corpora]
    gone = session.take(session.CORPUS_GONE)
    if gone:
        warning(f"The corpus {visible(gone[0])} was deleted. {visible(gone[1])} is chosen now.")
    systems = registry.systems()
    left, right = st.columns([1, 1])
    with left:
        st.selectbox(
            "Corpus",
            names,
            key=session.CORPUS,
            format_func=visible,
            persist_state="session",
            on_change=_corpus_changed,
            args=(session.get(session.CORPUS),),
        )
        st.fragment(_follow, run_every=EVERY)(library, names)
    with right:
        st.selectbox(
            "System",
            list(systems),
            key=session.SYSTEM,
            format_func=lambda name: system_label(systems[name]),
            help="Which adaptive-RAG method answers.",
            persist_state="session",
        )
        st.caption(systems[session.get(session.SYSTEM)].summary)
    _reasoner()
    st.text_area(
        "Question",
        key=session.QUESTION,
        height=92,
        max_chars=4_000,
        placeholder=NO_QUESTION,
        persist_state="session",
    )
    with st.container(horizontal=True, vertical_alignment="center", key=f"ri_{key}_ask"):
        asked = st.button(
            button,
            type="primary",
            icon=":material/play_arrow:",
            key=f"{key}:ask",
            shortcut="Ctrl+Enter",
            disabled=not names,
        )
        _choices(journal, f"{key}:samples")
    return asked


def _follow(library: Library, drawn: Sequence[str]) -> None:
    """The state of the chosen corpus as it is now, whichever tab or process changes it. It is no
    part of the picker's label: the browser keeps the label that it chose."""
    corpora = {c.name: c for c in library.list()}
    if list(corpora) != list(drawn):
        st.rerun()
    chosen = corpora.get(session.get(session.CORPUS))
    if chosen is not None:
        st.caption(corpus_state(library, chosen))


def _reasoner() -> None:
    """Which reasoner; a language model is named here, its key kept to this session."""
    titles = {
        EXTRACTIVE: ":material/article: Extractive, no model",
        "llm": ":material/forum: Language model",
    }
    session.first(session.REASONER, EXTRACTIVE)
    chosen = st.segmented_control(
        "Reasoner",
        list(titles),
        key=session.REASONER,
        required=True,
        format_func=lambda name: titles[name],
        persist_state="session",
        help="Who does the language work. The extractive reasoner is deterministic and free: rules "
        "over the text, made for English. Other languages are searched well and read poorly, and "
        "contradictions are found only between sentences of like wording.",
    )
    if chosen == EXTRACTIVE:
        return
    with st.container(horizontal=True, gap="small"):
        st.text_input(
            "Model",
            key=session.MODEL,
            placeholder="provider/model",
            persist_state="session",
            help="As litellm names it. By task: extractive, verify=provider/model.",
        )
        st.text_input(
            "Key",
            key=session.MODEL_KEY,
            type="password",
            persist_state="session",
            help="Stays in this session. Empty: the provider's environment variable.",
        )
        st.text_input(
            "Address (own server)",
            key=session.MODEL_BASE,
            placeholder="http://127.0.0.1:8080/v1",
            persist_state="session",
        )


def _choices(journal: Journal, key: str) -> None:
    """What was asked before of the chosen corpus, then the samples that it comes with."""
    corpus = session.get(session.CORPUS)
    if corpus is None:
        return
    before, offered = asked_before(journal, corpus), samples(corpus)
    choices = [*before, *(q for q in offered if q not in before)]
    if not choices:
        return
    counts = [f"{len(before)} asked before"] if before else []
    if len(choices) > len(before):
        counts.append(plural(len(choices) - len(before), "sample question"))
    st.selectbox(
        "Sample questions" if offered else "Questions asked before",
        choices,
        index=None,
        key=key,
        placeholder=f"Or choose: {', '.join(counts)}",
        format_func=lambda q: f"Asked before: {visible(q)}" if q in before else visible(q),
        label_visibility="collapsed",
        on_change=_take_sample,
        args=(key,),
    )


def _take_sample(key: str) -> None:
    chosen = session.get(key)
    if chosen:
        session.put(session.QUESTION, chosen)
        session.put(key, None)
