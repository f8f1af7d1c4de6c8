"""The selected step in full: what it says, its gates, and the event as recorded."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from components import ended
from components.gates import explained, fired, settled, words
from components.markup import chip, facts, figure, mono, number, table, tipped
from components.palette import (
    DIMENSIONS,
    MOVES,
    PASSED,
    PENDING,
    REFUSED,
    SIGNALS,
    WARNING,
    believed,
)
from components.safe import esc, isolated, plural, visible
from core import deciding, registry, wording
from core.events import (
    BeliefUpdated,
    Called,
    Committed,
    Composed,
    Decided,
    DiagnosticsMeasured,
    Event,
    EvidenceChanged,
    FaultInjected,
    ForageTurn,
    Grounded,
    HopResolved,
    MemoryOp,
    ModelCalled,
    PassagesShown,
    PathCommitted,
    PathExplored,
    Proposed,
    QueryIssued,
    Retrieved,
    RunFinished,
    RunStarted,
    Step,
    Validated,
    Warned,
)
from core.fencing import unfence
from core.measures import INPUTS, measure
from core.narration import TROUBLE

LONGEST = 60_000
Fact = tuple[str, str] | tuple[str, str, str]
KINDS = {
    "RunStarted": "Start",
    "QueryIssued": "Query",
    "Called": "Call",
    "ModelCalled": "Language model",
    "PassagesShown": "Passages, in full",
    "Retrieved": "Search",
    "EvidenceChanged": "Evidence",
    "DiagnosticsMeasured": "Measurement",
    "BeliefUpdated": "Belief",
    "Decided": "Decision",
    "Proposed": "Proposal",
    "Validated": "Check",
    "Committed": "Commit",
    "PathExplored": "Navigation",
    "PathCommitted": "Path",
    "ForageTurn": "Turn",
    "HopResolved": "Hop",
    "Composed": "Packing",
    "Grounded": "Grounding",
    "MemoryOp": "Memory",
    "Probed": "Probe",
    "FaultInjected": "Fault",
    "Warned": "Warning",
    "RunFinished": "End",
}
"""What each kind of step is called."""
SOURCES = {
    "relevance": "0 to 1. Mean of the hits' calibrated scores, the best weighing most (softmax at "
    "the relevance temperature). From the retriever.",
    "support": "0 to 1. From the verifier.",
    "conflict": "0 to 1. From the verifier.",
    "uncertainty": "0 to 1. From the verifier; 1 where nothing is held.",
    "gap": "0 to 1. From the verifier; 1 where nothing is held.",
    "novelty": "0 to 1. 1 less the mean over the new passages of their highest word overlap "
    "(Jaccard) with a passage held before.",
    "cost": "0 to 1. Tokens spent / token budget.",
}
"""Range, formula and source of each signal."""


def draw(
    step: Step,
    titles: Mapping[str, str],
    stages: Mapping[str, str] | None = None,
    *,
    guess: str = "",
) -> None:
    """Show one step; ``titles`` names passages by id, ``stages`` the stages; ``guess``: why the
    run's answer is only a best guess, empty where it is more."""
    stage = (stages or {}).get(step.stage, step.stage.capitalize())
    st.html(
        f'<div class="ri-step"><b>Step {step.seq}</b> <span class="ri-dim">'
        f"{esc(KINDS[step.event.kind])} · stage {esc(stage)} · "
        f"{step.elapsed_ms / 1000:.2f}\u00a0s after the start</span></div>"
        + _body(step.event, titles, guess)
    )
    with st.expander("As recorded (JSON)", icon=":material/data_object:"):
        raw(step)


def raw(step: Step) -> None:
    """The step as it stands in the journal; a very long one is cut, and says so."""
    text = visible(json.dumps(step.model_dump(mode="json"), ensure_ascii=False, indent=1))
    if len(text) > LONGEST:
        st.caption(f"{len(text):,} characters; the first {LONGEST:,} are shown, export has all.")
    st.code(text[:LONGEST], language="json", wrap_lines=True, height=340)


def _body(event: Event, titles: Mapping[str, str], guess: str = "") -> str:
    if isinstance(event, Decided):
        return _decided(event)
    if isinstance(event, DiagnosticsMeasured):
        return _measured(event)
    if isinstance(event, BeliefUpdated):
        return _believed(event)
    if isinstance(event, Retrieved):
        return _retrieved(event, titles)
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
    if isinstance(event, RunFinished):
        return facts(_ended(event, guess))
    return facts(_simple(event, titles, guess))


def _ended(event: RunFinished, guess: str) -> list[Fact]:
    told: list[Fact] = [
        ("ended", chip(ended.sign(event.terminal, guess))),
        ("branch", esc(words(event.branch)), "The way by which the system came to this end."),
        ("answer", isolated(event.answer or "–")),
        ("why", isolated(event.reason)),
    ]
    return [*told, ("only a guess", esc(guess))] if guess else told


def _decided(event: Decided) -> str:
    chose = deciding.deciding(event)
    gates = "".join(
        f"<li><span>{explained(event.decider, g)}<br>"
        f'<span class="ri-num ri-dim">{wording.compared(g, measure(event.decider, g.name))}</span>'
        f'</span><span class="ri-came">{fired(g, chose)}</span></li>'
        for g in event.gates
    )
    inputs: list[Fact] = []
    for name, value in event.inputs.items():
        if value is not None and not isinstance(value, (list, dict)):
            title, tip = INPUTS.get(name, (words(name).capitalize(), ""))
            inputs.append((title, _plain(value), tip))
    asked = f"<h4>Decided from</h4>{facts(inputs)}" if inputs else ""
    return (
        f"<p>Decided to <b>{esc(wording.decided(event.decider, event.outcome))}</b>: "
        f"{esc(wording.reason(event.decider, event.reason))}</p>"
        f'<ol class="ri-gates">{gates}</ol>{settled(event)}{asked}'
    )


def _measured(event: DiagnosticsMeasured) -> str:
    pairs: list[Fact] = [
        (f"measured {n} {SIGNALS[n][0]}", number(v), f"{SIGNALS[n][1]} {SOURCES[n]} {MOVES}")
        for n in SOURCES
        if (v := getattr(event, n)) is not None
    ]
    return facts([*pairs, *((n, number(v)) for n, v in event.signals.items())])


def _believed(event: BeliefUpdated) -> str:
    rows = [
        [
            f"{look.glyph} {tipped(believed(name), f'{look.meaning} 0 to 1. {MOVES}')}",
            *(number(getattr(b, name)) for b in (event.before, event.instantaneous, event.after)),
        ]
        for name, look in DIMENSIONS.items()
    ]
    heads = ["Belief", "Before", "Measured now", "After"]
    chances: list[Fact] = [
        ("p(answerable)", number(event.p_ans), measure("beliefrag.act", "answer").meaning),
        (
            "retrieval value",
            number(event.p_flip),
            measure("beliefrag.act", "retrieval_value").meaning,
        ),
    ]
    return table("Belief before and after", heads, rows, (1, 2, 3)) + facts(chances)


def _retrieved(event: Retrieved, titles: Mapping[str, str]) -> str:
    ordered = any(h.reranked is not None for h in event.passages)
    last = "Cross-encoder" if ordered else "Score"
    rows = [
        [
            str(h.rank),
            isolated(titles.get(h.id, h.title)),
            number(h.lexical, 2),
            number(h.dense),
            number(h.score),
        ]
        for h in event.passages
    ]
    listed = table("Hits", ["#", "Passage", "BM25", "Dense", last], rows, (0, 2, 3, 4))
    return facts([("query", mono(event.query)), ("channel", event.channel)]) + listed


def _changed(event: EvidenceChanged, titles: Mapping[str, str]) -> str:
    never = "Pruned: a later search cannot bring it back."
    return facts(
        [
            ("added", _listed(event.added, titles)),
            ("removed", _listed(event.removed, titles)),
            ("never again", _listed(event.banned, titles), never),
            ("reason", esc(event.reason)),
        ]
    )


def _call(event: Called | ModelCalled) -> str:
    pairs: list[Fact] = []
    if isinstance(event, Called):
        done = wording.WORK.get(f"{event.port}.{event.task}", event.task)
        pairs.append(("what", esc(done)))
        pairs.append(("asked of", f"the {esc(event.port)}"))
    else:
        done = wording.WORK.get(f"reasoner.{event.task}", event.task)
        pairs += [("what", esc(done)), ("model", mono(event.model))]
    pairs += [
        ("took", f'<span class="ri-num">{event.ms:.1f} ms</span>'),
        (
            "tokens",
            f"{event.tokens_in:,} in, {event.tokens_out:,} out",
            "Text given to it and taken from it; both count against the token budget.",
        ),
        ("attempts", str(event.attempt), "1 is the first; more where it failed and was repeated."),
    ]
    if event.cached:
        pairs.append(("cache", "answered from the cache"))
    if event.error:
        pairs.append(("error", chip(REFUSED, "failed") + " " + isolated(event.error)))
    return facts(pairs)


def _simple(event: Event, titles: Mapping[str, str], guess: str = "") -> list[Fact]:
    if isinstance(event, RunStarted):
        return _start(event)
    if isinstance(event, QueryIssued):
        return _query(event)
    if isinstance(event, Proposed) and isinstance(event.value, dict):
        parts = [(words(n), _part(v, titles)) for n, v in event.value.items()]
        return [("role", esc(event.role)), ("proposes", f"the {esc(event.field)}"), *parts]
    if isinstance(event, (Validated, Committed, PathExplored, PathCommitted, MemoryOp)):
        return _staged(event, titles)
    if isinstance(event, HopResolved):
        return [
            ("hop", str(event.hop), "Its place among the sub-questions, from 1."),
            ("sub-question", isolated(event.sub_question), "#N stands for the answer of the Nth."),
            ("asked as", isolated(event.filled), "With earlier answers in the place of slots."),
            ("passages", _listed(event.passages, titles)),
            ("answer", isolated(event.answer or "none")),
        ]
    if isinstance(event, Composed):
        routes = Counter(words(p.route) for p in event.passages)
        cap = sum(p.reason == "extra_cap" for p in event.trimmed)
        shown = ", ".join(f"{n} {route}" for route, n in routes.items())
        return [
            ("shown", f"{plural(len(event.passages), 'passage')}: {esc(shown)}"),
            ("left out", esc(wording.left_out(cap, len(event.trimmed) - cap))),
            ("answer type", isolated(event.hint or "–"), "The hint that goes with the call."),
        ]
    if isinstance(event, PassagesShown):
        return [
            (f"passage {n}", isolated(titles.get(p.id, p.title)))
            for n, p in enumerate(event.passages, 1)
        ]
    if isinstance(event, Grounded):
        sign = ended.grounding(event.grounded, guess)
        quotes: list[Fact] = [
            (titles.get(c.passage_id, c.passage_id), isolated(c.quote)) for c in event.citations
        ]
        tip = "Whether a passage holds the answer's words. Whether it is right, nobody checked."
        return [("verdict", sign, tip), *quotes]
    plain = event.model_dump(mode="json", exclude={"kind"})
    return [(words(n), _plain(v)) for n, v in plain.items() if not isinstance(v, (list, dict))]


def _start(event: RunStarted) -> list[Fact]:
    system = registry.systems().get(event.system)
    version = "Digest of the corpus's content and of how it is indexed."
    return [
        ("question", isolated(event.question)),
        ("system", esc(system.title if system else event.system)),
        ("corpus", f"{isolated(event.corpus.id)} {mono(event.corpus.version[:12])}", version),
        ("reasoner", esc(event.model or event.reasoner), INPUTS["reasoner"][1]),
        ("seed", str(event.seed), "The same seed, corpus and settings give the same run."),
    ]


def _query(event: QueryIssued) -> list[Fact]:
    return [
        ("query", mono(event.query)),
        ("made", esc(wording.MADE_BY.get(event.transformation) or words(event.transformation))),
        ("why", isolated(event.rationale)),
        ("after", mono(event.parent) if event.parent else "–", "The query that it came from."),
        (
            "overlap",
            "–" if event.overlap is None else number(event.overlap),
            "Jaccard similarity of its words and those of the query before; 0 to 1.",
        ),
    ]


def _staged(
    event: Validated | Committed | PathExplored | PathCommitted | MemoryOp,
    titles: Mapping[str, str],
) -> list[Fact]:
    if isinstance(event, Validated):
        signs = {"accept": chip(PASSED, "accepted"), "reject": chip(REFUSED)}
        verdict = signs.get(event.verdict, chip(PENDING, "not run"))
        return [
            ("checked", f"the {esc(event.validator)}"),
            ("verdict", verdict),
            ("why", isolated(event.reason or "–")),
        ]
    if isinstance(event, Committed):
        tip = "Digest of the whole state: equal digests are equal states."
        return [
            ("committed", f"the {esc(event.field)}"),
            ("state before", mono(event.before[:16]), tip),
            ("state after", mono(event.after[:16]), tip),
        ]
    if isinstance(event, PathExplored):
        allowed = sum(t.admissible for t in event.transitions)
        return [
            ("round", str(event.round), "How many edges below the root."),
            ("from", plural(len(event.frontier), "node"), "What the beam held."),
            ("allowed", plural(allowed, "transition"), "Edges of an admissible pair of types."),
            ("refused", str(len(event.transitions) - allowed), "Refused by type, never scored."),
            ("not listed", str(event.dropped_count), "Scored lowest, and left out of the record."),
        ]
    if isinstance(event, PathCommitted):
        return [
            ("path", plural(len(event.path), "node"), "From the root down to a passage."),
            ("region", _listed(event.region, titles), "Passages around the path's end."),
        ]
    sign = chip(PASSED, "allowed") if event.allowed else chip(REFUSED)
    return [
        ("role", esc(event.role)),
        ("operation", esc(event.operation)),
        ("store", esc(event.scope), "Whose store: of one role, of this question, or of all."),
        ("artifact", mono(event.artifact)),
        ("verdict", sign),
        ("why", isolated(wording.REASONS.get(event.reason, event.reason))),
    ]


def _listed(ids: Sequence[str], titles: Mapping[str, str]) -> str:
    return "<br>".join(isolated(titles.get(i, i)) for i in ids) or "–"


def _part(value: object, titles: Mapping[str, str]) -> str:
    """A part of what was proposed; of evidence the titles."""
    if not isinstance(value, list):
        return _plain(value or None)
    return _listed([str(v.get("id", "")) if isinstance(v, dict) else str(v) for v in value], titles)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        text = f"{value:,}" if isinstance(value, int) else figure(value)
        return f'<span class="ri-num">{text}</span>'
    return "–" if value is None else isolated(value)
