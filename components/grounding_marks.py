"""Where the composed passages bear the answer out, marked in their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from components.answer import open_source
from components.markup import chip, mono, passage
from components.packing import OTHER, ROUTES
from components.palette import PASSED, REFUSED, STANDS
from components.safe import isolated, plural
from core import endings
from core.events import Composed, Grounded, RunFinished, Step
from core.grounding import YES_NO
from core.passage_names import passage_names
from core.types import Citation, Passage


def cited(steps: Sequence[Step]) -> tuple[Grounded | None, Composed | None]:
    """The grounding in these steps and the composed evidence that it looked through."""
    grounded: Grounded | None = None
    for step in reversed(steps):
        if isinstance(step.event, Grounded) and grounded is None:
            grounded = step.event
        elif isinstance(step.event, Composed):
            return grounded, step.event
    return grounded, None


def draw(steps: Sequence[Step], known: Mapping[str, Passage]) -> None:
    """Show each cited passage whole with its span marked, or plainly that there is none; nothing
    before the answer was looked for."""
    grounded, composed = cited(steps)
    if grounded is None:
        return
    last = steps[-1].event
    answer = last.answer if isinstance(last, RunFinished) else None
    shown = len(composed.passages) if composed else None
    st.html(_verdict(grounded, answer, shown, guess=bool(endings.guess_of(steps))))
    routes = {p.id: p.route for p in composed.passages} if composed else {}
    spans: dict[str, list[Citation]] = {}
    for citation in grounded.citations:
        spans.setdefault(citation.passage_id, []).append(citation)
    names = passage_names(known.values())
    for number, (key, found) in enumerate(spans.items(), 1):
        _marked(number, names.get(key, key), found, known.get(key), routes.get(key))


def _verdict(
    grounded: Grounded, answer: str | None, shown: int | None, *, guess: bool = False
) -> str:
    of = "" if shown is None else f" of the {plural(shown, 'passage')} that were shown"
    if not grounded.grounded:
        return (
            f"<p class=ri-verdict>{chip(REFUSED, 'not grounded', strong=True)}</p>"
            f"<p>None{of} contains the answer, or four fifths of its content words. "
            "No citation is made up for it.</p>"
        )
    if answer is not None and answer.strip(" .!").casefold() in YES_NO:
        how = "A yes or no stands nowhere in a text: marked is the evidence that the reader used."
    else:
        how = "Marked is the sentence that holds the answer."
    cited_in = len({c.passage_id for c in grounded.citations})
    sign = chip(STANDS, strong=True) if guess else chip(PASSED, "grounded", strong=True)
    return f'<p class=ri-verdict>{sign} in {cited_in}{of}. <span class="ri-dim">{how}</span></p>'


def _marked(
    number: int,
    name: str,
    found: Sequence[Citation],
    held: Passage | None,
    route: str | None,
) -> None:
    came = chip(ROUTES.get(route, OTHER), None if route in ROUTES else route) if route else ""
    with st.container(border=True, gap="xsmall"):
        if held is None:
            quotes = "".join(passage(c.quote) for c in found)
            st.html(f'<div class="ri-why">{mono(name)}{came}</div>{quotes}')
            return
        spans = [(c.start, c.end) for c in found]
        st.html(
            f'<div class="ri-why"><span class="ri-title">{isolated(name)}</span>{came}'
            f'<span class="ri-dim">{isolated(held.document)}, lines {held.line_start} to '
            f"{held.line_end}</span></div>{passage(held.text, spans)}"
        )
        if st.button("Open the source", icon=":material/menu_book:", key=f"grounding:{number}"):
            open_source(held, spans)
