"""The compact-evidence rule: whether the initial evidence may answer without a single cycle.

It looks at the question's words and names, at the initial passages, and at the region of the first
of them (StateRAG, section 2, "MARS cycle"). Neither a reasoner nor the Navigator is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from core.decisions import Card, Decider, Decision, Undetermined, gate, register
from core.retrieval.tokenizer import content_terms
from core.systems.staterag.settings import StateRAGSettings
from core.types import Count, Finite, Frozen, Passage, Scored

_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}'’.-]*")
_JOINING = frozenset("of the de la von van".split())
_SENTENCE_END = regex.compile(r"[.?!:]\s*$")


class Need(Frozen):
    """A name of the question as it is written, and its terms."""

    name: str
    terms: tuple[str, ...]


class Candidate(Frozen):
    """An initial passage: its likeness to the question, and which words and names of the question
    it holds, by their place in the inputs."""

    id: str
    likeness: Finite
    words: tuple[Count, ...]
    names: tuple[Count, ...]


class BypassInputs(Frozen):
    """The question's content words and names, the initial passages best first, and the region of
    the first one; None where it was not fetched."""

    words: tuple[str, ...]
    names: tuple[str, ...]
    passages: tuple[Candidate, ...]
    region: tuple[str, ...] | None


def names_of(question: str) -> tuple[Need, ...]:
    """Capitalised runs of a question, its first word only where more of the run follows.

    >>> [n.name for n in names_of("Who plays the Dude in The Big Lebowski?")]
    ['Dude', 'The Big Lebowski']
    """
    runs: list[list[regex.Match[str]]] = []
    run: list[regex.Match[str]] = []
    for match in _WORD.finditer(question):
        word = match[0]
        starts = word[0].isupper() or word[0].isdigit()
        gap = question[run[-1].end() : match.start()] if run else ""
        joined = run and gap.strip(" \"'“”‘’") == ""
        if (starts and (not run or joined)) or (run and joined and word.lower() in _JOINING):
            run.append(match)
        else:
            runs.append(run)
            run = [match] if starts else []
    runs.append(run)
    found: dict[tuple[str, ...], Need] = {}
    for words in runs:
        while words and not (words[-1][0][0].isupper() or words[-1][0][0].isdigit()):
            words = words[:-1]
        if words and _opens(question, words[0]) and not content_terms(words[0][0]):
            words = words[1:]
        if not words or (len(words) == 1 and _opens(question, words[0])):
            continue
        name = question[words[0].start() : words[-1].end()].rstrip(".-'’")
        terms = tuple(dict.fromkeys(content_terms(name)))
        if terms:
            found.setdefault(terms, Need(name=name, terms=terms))
    return tuple(found.values())


def _opens(question: str, word: regex.Match[str]) -> bool:
    """Whether a word opens a sentence, and so is capitalised anyway."""
    before = question[: word.start()]
    return not before.strip(" \"'“”‘’") or bool(_SENTENCE_END.search(before))


def bypass_inputs(
    question: str, hits: Sequence[Scored], region: tuple[str, ...] | None
) -> BypassInputs:
    """What the rule is applied to."""
    words = tuple(dict.fromkeys(content_terms(question)))
    names = names_of(question)
    passages = []
    for hit in hits:
        held = terms_of(hit.passage)
        passages.append(
            Candidate(
                id=hit.passage.id,
                likeness=hit.calibrated if hit.dense is None else hit.dense,
                words=tuple(n for n, word in enumerate(words) if word in held),
                names=tuple(n for n, need in enumerate(names) if held.issuperset(need.terms)),
            )
        )
    return BypassInputs(
        words=words,
        names=tuple(need.name for need in names),
        passages=tuple(passages),
        region=region,
    )


def terms_of(passage: Passage) -> frozenset[str]:
    """Content terms of a passage and its title."""
    return frozenset(content_terms(f"{passage.title}\n{passage.text}"))


def compact(inputs: BypassInputs, settings: StateRAGSettings) -> tuple[Candidate, ...]:
    """The passages that the rule would select: the first one, and those of its region that add
    most words, as long as words are missing."""
    if not inputs.passages:
        return ()
    first, *others = inputs.passages
    chosen = [first]
    region = frozenset(inputs.region or ())
    held = set(first.words)
    while (
        settings.bypass_rule == "compact"
        and len(chosen) < settings.bypass_most
        and len(held) < len(inputs.words)
    ):
        near = [p for p in others if p.id in region and p not in chosen]
        best = max(near, key=lambda p: len(held.union(p.words)), default=None)
        if best is None or held.issuperset(best.words):
            break
        chosen.append(best)
        held.update(best.words)
    return tuple(chosen)


def decide_bypass(inputs: BypassInputs, settings: StateRAGSettings) -> Decision | Undetermined:
    """BYPASS with the selected part of the initial evidence, or MARS."""
    asked = gate("rule_on", float(settings.bypass_rule != "off"), "==", 1.0)
    if not asked.fired:
        return Decision(outcome="MARS", gates=(asked,), reason="The rule is off.")
    if settings.bypass_rule == "compact" and inputs.region is None and inputs.passages:
        return Undetermined("the region of the first passage")
    chosen = compact(inputs, settings)
    names = {n for p in chosen for n in p.names}
    words = {n for p in chosen for n in p.words}
    left = [p.likeness for p in inputs.passages if p not in chosen]
    lead = max((p.likeness for p in chosen), default=0.0) - max(left, default=0.0)
    gates = (
        asked,
        gate("passages", len(chosen), ">=", 1),
        gate("names_missing", len(inputs.names) - len(names), "==", 0),
        gate(
            "coverage",
            len(words) / len(inputs.words) if inputs.words else 0.0,
            ">=",
            settings.bypass_single if len(chosen) == 1 else settings.bypass_coverage,
        ),
        gate("lead", lead, ">=", settings.bypass_margin),
    )
    lacking = [g.name.replace("_", " ") for g in gates if not g.fired]
    if lacking:
        reason = f"The initial evidence is not compact: {', '.join(lacking)}."
        return Decision(outcome="MARS", gates=gates, reason=reason)
    ids = ",".join(p.id for p in chosen)
    reason = f"{len(chosen)} of {len(inputs.passages)} initial passages cover the question."
    return Decision(outcome=f"BYPASS {ids}", gates=gates, reason=reason)


BYPASS = register(
    Decider(
        name="staterag.bypass",
        inputs=BypassInputs,
        decide=decide_bypass,
        outcomes=("BYPASS ", "MARS"),
        terminal_outcomes=frozenset(),
        final_outcomes=frozenset({"BYPASS "}),
        card=Card(
            fitted=False,
            basis="Share of the question's words and names in one passage, or few of one region.",
            inspects="Words and names of the question, likeness, and the first passage's region.",
            fails="A passage that holds every word of the question and not its answer bypasses.",
            prohibited=("a navigator call", "committing a path"),
        ),
    )
)
