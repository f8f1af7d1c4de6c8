"""The slot chain filling in: each sub-question, what was put into its slot, and its answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from components.markup import chip, icon
from components.notices import empty
from components.palette import GREY, ORANGE, PASSED, WARNING, Sign
from components.safe import esc, isolated, plural
from core.events import Called, Decided, EvidenceChanged, HopResolved, QueryIssued, Step, Warned
from core.passage_names import passage_names
from core.systems.ragx.chain import PRIORITY
from core.systems.ragx.decide import SLOT
from core.types import Passage

EMPTY = Sign(ORANGE, "help", "no answer: its question text stands in the next slot")
WAITING = Sign(GREY, "hourglass_empty", "waits")
ASKING = Sign(GREY, "hourglass_top", "under way")
NOT_TAKEN = Sign(GREY, "remove_circle", "not taken")
ROWS = 20


@dataclass(slots=True)
class Link:
    """One hop: its sub-question with ``#N`` slots, and from ``first`` on what became of it."""

    number: int
    sub_question: str
    first: int | None = None
    seq: int | None = None
    event: HopResolved | None = None
    query: str = ""
    kept: tuple[str, ...] = ()
    ms: float = 0.0


@dataclass(slots=True)
class ChainState:
    """A slot chain so far. ``decided``: the sub-questions are settled; ``over``: no hop follows."""

    links: list[Link] = field(default_factory=list)
    decided: bool = False
    undecomposed: bool = False
    over: bool = False
    notes: list[str] = field(default_factory=list)


def chain(steps: Iterable[Step], question: str) -> ChainState:
    """The chain as these steps leave it."""
    state = ChainState()
    now: Link | None = None
    for step in steps:
        event = step.event
        if isinstance(event, Decided) and event.decider == "ragx.slots":
            _settle(state, event, question)
        elif isinstance(event, Decided) and event.decider == "ragx.hop":
            state.over = event.outcome != "hop"
            if not state.decided:  # it could not be decomposed
                _undecomposed(state, question)
            done = event.inputs.get("hop")
            place = done if isinstance(done, int) and not state.over else -1
            now = state.links[place] if 0 <= place < len(state.links) else None
            if now is not None:
                now.first = now.seq = step.seq
        elif isinstance(event, HopResolved):
            now = _of(state, event.hop, event.sub_question)
            now.first, now.seq, now.event = now.first or step.seq, step.seq, event
        elif step.stage != "chain":
            continue
        elif isinstance(event, Warned):
            state.notes.append(event.effect)
        elif now is not None:
            now.seq = step.seq
            if isinstance(event, QueryIssued):
                now.query = event.query
            elif isinstance(event, Called):
                now.ms += event.ms
            elif isinstance(event, EvidenceChanged):
                now.kept = event.added
    return state


def _settle(state: ChainState, event: Decided, question: str) -> None:
    given = event.inputs.get("sub_questions")
    if event.outcome == "chain" and isinstance(given, list):
        state.decided = True
        state.links = [Link(n, str(s)) for n, s in enumerate(given, 1)]
    elif event.outcome == "undecomposed":
        _undecomposed(state, question)


def _undecomposed(state: ChainState, question: str) -> None:
    state.decided = state.undecomposed = True
    state.links = [Link(1, question)]


def _of(state: ChainState, hop: int, sub_question: str) -> Link:
    for link in state.links:
        if link.number == hop:
            return link
    state.links.append(Link(hop, sub_question))
    return state.links[-1]


def draw(steps: Sequence[Step], known: Mapping[str, Passage], question: str, wanted: bool) -> None:
    """Show the chain after these steps; ``wanted``: whether this run has a slot chain at all."""
    state = chain(steps, question)
    if not state.decided:
        if wanted:
            text = "It begins when the forage loop is over: the question is split into hops."
            empty("link", "No slot chain yet", text)
        else:
            text = "It composes from what was foraged alone; the setting is “Slot chain”."
            empty("link_off", "This run has no slot chain", text)
        return
    here = [k for k in state.links if k.first is not None]
    current = here[-1].number if here and not state.over else None
    items = [_link(k, state, known, k.number == current) for k in state.links]
    said = "The question could not be split and is taken as one hop." if state.undecomposed else ""
    warned = "".join(
        f'<p class="ri-dim">{chip(WARNING)} {isolated(n)}</p>' for n in state.notes[-ROWS:]
    )
    resolved = sum(k.event is not None for k in state.links)
    head = f"<b>{plural(len(state.links), 'hop')}</b>, {resolved} resolved"
    st.html(
        f'<p class="ri-tabular">{head}. <span class="ri-dim">{esc(said)}</span></p>'
        f'<ol class="ri-chain">{"".join(items)}</ol>{warned}'
    )


def _link(link: Link, state: ChainState, known: Mapping[str, Passage], now: bool) -> str:
    here = ' class="ri-is-now" aria-current="step"' if now else ""
    asked = f'<div class="ri-sub" dir="auto">{slots(link.sub_question)}</div>'
    body = ""
    filled = link.event.filled if link.event else link.query
    if filled and filled != link.sub_question:
        body += (
            f'<div class="ri-filled" dir="auto">{icon("south", size=1)} '
            f"{filling(link, state)}</div>"
        )
    if link.event is not None:
        body += _passages(link, known) + _answer(link, state)
    elif link.first is not None:
        body += chip(ASKING)
    else:
        body += chip(NOT_TAKEN if state.over else WAITING)
    meta = (
        f'<span class="ri-dim ri-num">steps {link.first} to {link.seq}, {link.ms:.0f} ms</span>'
        if link.first is not None
        else ""
    )
    return f"<li{here}><div><b>Hop {link.number}</b> {meta}</div>{asked}{body}</li>"


def slots(sub_question: str) -> str:
    """A sub-question, escaped, its slots marked."""
    parts, last = [], 0
    for match in SLOT.finditer(sub_question):
        parts.append(esc(sub_question[last : match.start()]))
        parts.append(f'<span class="ri-slot">{esc(match[0])}</span>')
        last = match.end()
    return "".join([*parts, esc(sub_question[last:])])


def filling(link: Link, state: ChainState) -> str:
    """The filled sub-question, escaped, with what stands in its slots marked."""
    filled = link.event.filled if link.event else link.query
    values = {
        k.number: k.event.answer or k.event.filled.rstrip("?. ") for k in state.links if k.event
    }
    parts: list[str] = []
    plain: list[str] = []
    last = 0
    for match in SLOT.finditer(link.sub_question):
        before, value = link.sub_question[last : match.start()], values.get(int(match[1]), "")
        plain += [before, value]
        answered = any(
            k.number == int(match[1]) and k.event and k.event.answer for k in state.links
        )
        kind = "ri-put" if answered else "ri-put ri-put-text"
        parts += [esc(before), f'<mark class="{kind}">{esc(value)}</mark>']
        last = match.end()
    plain.append(link.sub_question[last:])
    parts.append(esc(link.sub_question[last:]))
    return "".join(parts) if "".join(plain) == filled else esc(filled)


def _passages(link: Link, known: Mapping[str, Passage]) -> str:
    assert link.event is not None
    if not link.event.passages:
        return '<p class="ri-dim">No passage was found.</p>'

    names = passage_names(known.values())

    def named(place: int, key: str) -> str:
        kept = f"{icon('keep', size=1)} " if place < PRIORITY else ""
        return f"<li>{kept}{isolated(names.get(key, key))}</li>"

    found = link.event.passages[:ROWS]
    items = "".join(named(n, key) for n, key in enumerate(found))
    more = len(link.event.passages) - len(found)
    return (
        f'<ul class="ri-from" title="Pinned ones are kept for the compose call.">{items}'
        f"{f'<li>and {more:,} more</li>' if more else ''}</ul>"
    )


def _answer(link: Link, state: ChainState) -> str:
    assert link.event is not None
    if not link.event.answer:
        return chip(EMPTY, "no answer" if link.number == len(state.links) else None)
    return (
        f'<div class="ri-outcome">{chip(PASSED, "answer")}<span class="ri-answer" dir="auto">'
        f"{isolated(link.event.answer)}</span></div>"
    )
