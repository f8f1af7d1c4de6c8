"""The selected step in full: what it says, its gates, and the event as recorded."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from components.gates import comparison, words
from components.markup import chip, facts, figure, mono, number, table
from components.palette import FIRED, NOT_FIRED, PASSED, REFUSED, SIGNALS, WARNING
from components.safe import esc, isolated, visible
from core.events import (
    Called,
    Decided,
    DiagnosticsMeasured,
    Event,
    EvidenceChanged,
    FaultInjected,
    ForageTurn,
    Grounded,
    HopResolved,
    ModelCalled,
    PassagesShown,
    Proposed,
    QueryIssued,
    Retrieved,
    RunFinished,
    RunStarted,
    Step,
    Warned,
)
from core.fencing import unfence
from core.narration import TROUBLE
from core.narration import outcome as chosen

LONGEST = 60_000


def draw(step: Step, titles: dict[str, str]) -> None:
    """Show one step; ``titles`` names passages by id."""
    st.html(
        f'<div class="ri-step"><b>Step {step.seq}</b> <span class="ri-dim">'
        f"{esc(_spaced(step.event.kind))} · stage {esc(step.stage)} · "
        f"{step.elapsed_ms / 1000:.2f}\u00a0s after the start</span></div>"
        + _body(step.event, titles)
    )
    with st.expander("As recorded (JSON)", icon=":material/data_object:"):
        raw(step)


def raw(step: Step) -> None:
    """The step as it stands in the journal; a very long one is cut, and says so."""
    text = visible(json.dumps(step.model_dump(mode="json"), ensure_ascii=False, indent=1))
    if len(text) > LONGEST:
        st.caption(f"{len(text):,} characters; the first {LONGEST:,} are shown, export has all.")
    st.code(text[:LONGEST], language="json", wrap_lines=True, height=340)


def _spaced(kind: str) -> str:
    return "".join(f" {c.lower()}" if c.isupper() else c for c in kind).strip().capitalize()


def _body(event: Event, titles: dict[str, str]) -> str:
    if isinstance(event, Decided):
        return _decided(event)
    if isinstance(event, DiagnosticsMeasured):
        return _measured(event)
    if isinstance(event, Retrieved):
        return _retrieved(event)
    if isinstance(event, EvidenceChanged):
        return _changed(event, titles)
    if isinstance(event, (Called, ModelCalled)):
        return _call(event)
    if isinstance(event, ForageTurn):
        raw = f'<div class="ri-raw" tabindex="0">{isolated(unfence(event.observation))}</div>'
        pairs = [("turn", str(event.turn)), ("action", mono(event.action or "none"))]
        pairs.append(("argument", mono(event.argument) if event.argument else "–"))
        wrong = [("error", isolated(TROUBLE.get(event.error, event.error)))] if event.error else []
        return f"{facts([*pairs, *wrong])}<h4>Observed</h4>{raw}"
    if isinstance(event, (Warned, FaultInjected)):
        return chip(WARNING, words(event.fault)) + facts(
            [("where", esc(event.where)), ("effect", isolated(event.effect))]
        )
    return facts(_simple(event, titles))


def _decided(event: Decided) -> str:
    gates = "".join(
        f'<li><span>{esc(words(g.name))}<br><span class="ri-num ri-dim">{comparison(g)}</span>'
        f"</span>{chip(FIRED if g.fired else NOT_FIRED)}</li>"
        for g in event.gates
    )
    inputs = [
        (words(name), _plain(value))
        for name, value in event.inputs.items()
        if not isinstance(value, (list, dict))
    ]
    return (
        f"<p><b>{esc(chosen(event.outcome))}</b>: {esc(event.reason)}</p>"
        f'<ol class="ri-gates">{gates}</ol><h4>Inputs</h4>{facts(inputs)}'
    )


def _measured(event: DiagnosticsMeasured) -> str:
    pairs = [
        (f"{SIGNALS[n][0]}  {n}", number(v))
        for n in SIGNALS
        if n != "alpha" and (v := getattr(event, n)) is not None
    ]
    return facts([*pairs, *((n, number(v)) for n, v in event.signals.items())])


def _retrieved(event: Retrieved) -> str:
    ordered = any(h.reranked is not None for h in event.passages)
    last = "Cross-encoder" if ordered else "Score"
    rows = [
        [str(h.rank), isolated(h.title), number(h.lexical, 2), number(h.dense), number(h.score)]
        for h in event.passages
    ]
    listed = table("Hits", ["#", "Passage", "BM25", "Dense", last], rows, (0, 2, 3, 4))
    return facts([("query", mono(event.query)), ("channel", event.channel)]) + listed


def _changed(event: EvidenceChanged, titles: dict[str, str]) -> str:
    def named(ids: Sequence[str]) -> str:
        return "<br>".join(isolated(titles.get(i, i)) for i in ids) or "–"

    return facts(
        [
            ("added", named(event.added)),
            ("removed", named(event.removed)),
            ("never again", named(event.banned)),
            ("reason", esc(event.reason)),
        ]
    )


def _call(event: Called | ModelCalled) -> str:
    pairs = [("task", mono(event.task))]
    if isinstance(event, Called):
        pairs.append(("port", esc(event.port)))
    else:
        pairs.append(("model", mono(event.model)))
    pairs += [
        ("took", f'<span class="ri-num">{event.ms:.1f} ms</span>'),
        ("tokens", f"{event.tokens_in:,} in, {event.tokens_out:,} out"),
        ("attempts", str(event.attempt)),
    ]
    if event.cached:
        pairs.append(("cache", "answered from the cache"))
    if event.error:
        pairs.append(("error", chip(REFUSED, "failed") + " " + isolated(event.error)))
    return facts(pairs)


def _simple(event: Event, titles: dict[str, str]) -> list[tuple[str, str]]:
    if isinstance(event, RunStarted):
        corpus = f"{isolated(event.corpus.id)} {mono(event.corpus.version[:12])}"
        return [
            ("question", isolated(event.question)),
            ("system", esc(event.system)),
            ("corpus", corpus),
            ("reasoner", esc(event.model or event.reasoner)),
            ("seed", str(event.seed)),
        ]
    if isinstance(event, QueryIssued):
        kept = "–" if event.overlap is None else figure(event.overlap)
        return [
            ("query", mono(event.query)),
            ("parent", mono(event.parent) if event.parent else "–"),
            ("made by", esc(words(event.transformation))),
            ("why", isolated(event.rationale)),
            ("overlap", kept),
        ]
    if isinstance(event, Proposed) and isinstance(event.value, dict):
        parts = [(words(n), _part(v, titles)) for n, v in event.value.items()]
        return [("role", esc(event.role)), ("field", esc(event.field)), *parts]
    if isinstance(event, HopResolved):
        found = "<br>".join(isolated(titles.get(i, i)) for i in event.passages)
        return [
            ("hop", str(event.hop)),
            ("sub-question", isolated(event.sub_question)),
            ("filled", isolated(event.filled)),
            ("passages", found or "–"),
            ("answer", isolated(event.answer or "none")),
        ]
    if isinstance(event, PassagesShown):
        return [(f"passage {n}", isolated(p.title)) for n, p in enumerate(event.passages, 1)]
    if isinstance(event, Grounded):
        sign = chip(PASSED, "grounded") if event.grounded else chip(REFUSED, "not grounded")
        quotes = [
            (titles.get(c.passage_id, c.passage_id), isolated(c.quote)) for c in event.citations
        ]
        return [("verdict", sign), *quotes]
    if isinstance(event, RunFinished):
        return [
            ("ended", esc(words(event.terminal))),
            ("branch", esc(words(event.branch))),
            ("answer", isolated(event.answer or "–")),
            ("why", isolated(event.reason)),
        ]
    plain = event.model_dump(mode="json", exclude={"kind"})
    return [(words(n), _plain(v)) for n, v in plain.items() if not isinstance(v, (list, dict))]


def _part(value: object, titles: dict[str, str]) -> str:
    """A part of what was proposed; of evidence the titles."""
    if not isinstance(value, list):
        return _plain(value or None)
    items = [str(v.get("id", "")) if isinstance(v, dict) else str(v) for v in value]
    return "<br>".join(isolated(titles.get(i, i)) for i in items) or "–"


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f'<span class="ri-num">{figure(value)}</span>'
    return "–" if value is None else isolated(value)
