"""The answer of a run, and its citations that open the source at the span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from components import ended
from components.markup import chip, mono, passage
from components.notices import empty
from components.safe import esc, isolated
from core import endings
from core.events import PassagesShown, RunFinished, Step
from core.passage_names import passage_names
from core.types import Citation, Passage

NEXT = {
    "abstained": "Ask more precisely, add documents to the corpus, or lower the abstain threshold.",
    "conflict": "Open the evidence to see which passages disagree.",
    "budget_exhausted": "Raise the budget named above, or ask a simpler question.",
    "failed": "The timeline shows the step that failed; run again when its cause is gone.",
    "incomplete": "The timeline shows the step that failed; run again or choose another reasoner.",
    "cancelled": "Everything up to the stop is kept; run again to go on.",
    "needs_clarification": "Answer the question that the run asks, and ask again.",
}


def passages_of(steps: Sequence[Step]) -> dict[str, Passage]:
    """Every passage whose text the run recorded, by id."""
    return {p.id: p for s in steps if isinstance(s.event, PassagesShown) for p in s.event.passages}


def draw(steps: Sequence[Step], *, key: str, quotes: bool = True) -> None:
    """Show the outcome, or what will be here when there is none yet; with ``quotes`` the citations
    below it."""
    last = steps[-1].event
    if not isinstance(last, RunFinished):
        empty("hourglass_top", "No answer yet", "The answer and its citations appear here.")
        return
    why = endings.guess_of(steps)
    grounded = ended.grounding(last.grounded, why)
    text = f'<div class="ri-answer" dir="auto">{isolated(last.answer)}</div>' if last.answer else ""
    sign = ended.sign(last.terminal, why)
    said = [last.reason, why.removesuffix(endings.UNGROUNDED).strip()]
    then = NEXT.get(last.terminal, "")
    st.html(
        f'{text}<div class="ri-outcome">{chip(sign)}{grounded if last.answer else ""}'
        f'<span class="ri-dim">{isolated(" ".join(said))}</span></div>'
        + (f'<p class="ri-dim">{esc(then)}</p>' if then else "")
    )
    if quotes:
        known = passages_of(steps)
        for number, cited in enumerate(last.citations, 1):
            _citation(number, cited, known, key)


def _citation(number: int, cited: Citation, known: Mapping[str, Passage], key: str) -> None:
    source = known.get(cited.passage_id)
    with st.container(border=True, gap="xsmall"):
        name = passage_names(known.values()).get(cited.passage_id)
        title = isolated(name) if name else mono(cited.passage_id)
        st.html(
            f'<div><span class="ri-dim">Citation {number}</span> <b>{title}</b></div>'
            f"{passage(cited.quote)}"
        )
        if source is not None:
            button = f"{key}:cite:{number}"
            if st.button("Open the source", icon=":material/menu_book:", key=button):
                open_source(source, [(cited.start, cited.end)])


@st.dialog("Source passage", width="large", position="right", icon=":material/menu_book:")
def open_source(source: Passage, spans: Sequence[tuple[int, int]]) -> None:
    """A drawer with the passage whole, its cited spans marked."""
    lines = f"lines {source.line_start} to {source.line_end}"
    st.html(
        f"<h3>{isolated(source.title)}</h3>"
        f'<p class="ri-dim">{isolated(source.document)} · {lines} · characters {source.start} to '
        f"{source.end} · {mono(source.id)}</p>{passage(source.text, spans)}"
    )
    known = {k: v for k, v in source.metadata.model_dump().items() if v is not None}
    if known:
        st.html(
            '<p class="ri-dim">'
            + " · ".join(f"{esc(k.replace('_', ' '))}: {isolated(v)}" for k, v in known.items())
            + "</p>"
        )
