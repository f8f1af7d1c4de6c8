"""The evidence of a run: every passage seen, its scores, why it came and why it went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from components import paging
from components.markup import chip, mono, number, passage, table
from components.notices import empty
from components.palette import GREY, PASSED, REFUSED, Sign
from components.safe import esc, isolated
from core import trace
from core.events import EvidenceChanged, Hit, PassagesShown, Retrieved, RunFinished, Step
from core.types import Citation, Passage

PAGE = 50
HELD = Sign(PASSED.colour, "check_circle", "held")
PRUNED = Sign(REFUSED.colour, "cancel", "pruned")
DROPPED = Sign(GREY, "remove_circle", "removed")
SEEN = Sign(GREY, "visibility", "only seen")


@dataclass(slots=True)
class Life:
    """One passage through a run: its hits as (step, hit), then when it came and went."""

    id: str
    passage: Passage | None = None
    name: str = ""
    hits: list[tuple[int, Hit]] = field(default_factory=list)
    came: tuple[int, str] | None = None
    went: tuple[int, str] | None = None
    banned: bool = False

    @property
    def sign(self) -> Sign:
        """Where it stands now."""
        if self.came and not self.went:
            return HELD
        if self.went:
            return PRUNED if self.banned else DROPPED
        return SEEN

    @property
    def title(self) -> str:
        """Its name among the passages of the run, or its id where it was never shown."""
        if self.name:
            return self.name
        return self.hits[-1][1].title if self.hits else self.id


def lives(steps: Sequence[Step]) -> list[Life]:
    """Every passage up to the last of these steps: held ones first, then in order of coming."""
    found: dict[str, Life] = {}

    def life(key: str) -> Life:
        return found.setdefault(key, Life(key))

    for step in steps:
        event = step.event
        if isinstance(event, PassagesShown):
            for shown in event.passages:
                life(shown.id).passage = shown
        elif isinstance(event, Retrieved):
            for hit in event.passages:
                life(hit.id).hits.append((step.seq, hit))
        elif isinstance(event, EvidenceChanged):
            for key in event.added:
                life(key).came, life(key).went = (step.seq, event.reason), None
            for key in event.removed:
                life(key).went = (step.seq, event.reason)
            for key in event.banned:
                life(key).banned = True
    for key, name in trace.titles(steps).items():
        found[key].name = name
    return sorted(found.values(), key=lambda one: (one.sign is not HELD, one.sign is SEEN))


def citations(steps: Sequence[Step]) -> tuple[Citation, ...]:
    """The citations of the answer, where these steps reach it."""
    last = steps[-1].event if steps else None
    return last.citations if isinstance(last, RunFinished) else ()


def evidence_table(found: Sequence[Life], cited: Sequence[Citation]) -> str:
    """The lives of passages as a table; below each its text, citations marked."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for one in cited:
        spans.setdefault(one.passage_id, []).append((one.start, one.end))
    ordered = any(hit.reranked is not None for one in found for _, hit in one.hits)
    rows = [_row(one, spans.get(one.id, []), ordered=ordered) for one in found]
    scores = ["BM25", "Dense", *(["Cross-encoder"] if ordered else [])]
    heads = ["", "Passage", "Rank", "Calibrated", *scores, "Came", "Went"]
    numeric = range(2, 4 + len(scores))
    return table("Evidence and where it stands", heads, rows, numeric=tuple(numeric))


def draw(steps: Sequence[Step], *, key: str) -> None:
    """Every passage that the run met, a page at a time: held ones first."""
    found = lives(steps)
    if not found:
        empty("article", "No evidence yet", "Passages appear with the first search.")
        return
    shown = paging.page(found, PAGE, key=key, noun="passage", order="held ones first")
    st.html(evidence_table(shown, citations(steps)))


def _row(one: Life, spans: list[tuple[int, int]], *, ordered: bool) -> list[str]:
    hit = one.hits[-1][1] if one.hits else None
    again = "" if len(one.hits) < 2 else f' <span class="ri-dim">×{len(one.hits)}</span>'
    cited = ' <span class="ri-mark">cited</span>' if spans else ""
    return [
        chip(one.sign),
        isolated(one.title) + cited,
        (f'<span class="ri-num">{hit.rank}</span>' if hit else "–") + again,
        number(hit.calibrated if hit else None),
        number(hit.lexical if hit else None, 2),
        number(hit.dense if hit else None),
        *([number(hit.reranked if hit else None, 2)] if ordered else []),
        _why(one.came, "not admitted" if one.hits else ""),
        _why(one.went, ""),
        _opened(one, spans),
    ]


def _opened(one: Life, spans: list[tuple[int, int]]) -> str:
    if one.passage is None:
        return mono(one.id)
    held = one.passage
    return (
        f'<details class="ri-details"><summary>Read it: {isolated(held.document)}, characters '
        f"{held.start} to {held.end}</summary>{passage(held.text, spans)}{mono(held.id)}</details>"
    )


def _why(moment: tuple[int, str] | None, otherwise: str) -> str:
    if moment is None:
        return f'<span class="ri-dim">{esc(otherwise)}</span>'
    seq, reason = moment
    return f'<span class="ri-num">step {seq}</span><br><span class="ri-dim">{esc(reason)}</span>'
