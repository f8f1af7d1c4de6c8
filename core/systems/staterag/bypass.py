"""The compact-evidence rule: whether the initial evidence may answer without a single cycle.

It looks at the question's words, names and clauses, at the initial passages and the mentions of
titles among them, and at the region of the first (StateRAG, section 2, "MARS cycle"). Words alone
do not tell what belongs together: of several passages, each names another by its title, or the
question names both. Neither a reasoner nor the Navigator is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import regex
from pydantic import model_validator

from core.decisions import Card, Decider, Decision, Undetermined, gate, register
from core.graph import Spread
from core.retrieval.lexical import idf
from core.retrieval.titles import TitleIndex, aliases
from core.retrieval.tokenizer import content_terms, tokenize
from core.systems.staterag.settings import StateRAGSettings
from core.types import Count, Finite, Frozen, Passage, Scored

_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}'’.-]*")
_JOINING = frozenset("of the de la von van".split())
_CLAUSE = frozenset("who whom whose which that where when what how".split())
_SENTENCE_END = regex.compile(r"[.?!:]\s*$")


class Need(Frozen):
    """A name of the question as it is written, and its terms."""

    name: str
    terms: tuple[str, ...]


class Candidate(Frozen):
    """An initial passage: its likeness to the question, and which words and names of the question
    it holds, by their place in the inputs. ``asked``: the question names its title. ``linked``:
    places of the passages of another title that it belongs together with: one of the two names the
    other by its title, or the question names both. None in runs from before that was recorded."""

    id: str
    likeness: Finite
    words: tuple[Count, ...]
    names: tuple[Count, ...]
    asked: bool = False
    linked: tuple[Count, ...] | None = None


class BypassInputs(Frozen):
    """The question's content words, names and number of clauses, the initial passages best first,
    and the region of the first one. ``weights``: idf of the words. None: not fetched."""

    words: tuple[str, ...]
    weights: tuple[Finite, ...] | None = None
    names: tuple[str, ...]
    clauses: Count = 1
    passages: tuple[Candidate, ...]
    region: tuple[str, ...] | None

    @model_validator(mode="after")
    def _places(self) -> BypassInputs:
        if self.weights is not None and len(self.weights) != len(self.words):
            raise ValueError("there is one weight for each word")
        for p in self.passages:
            for places, of in ((p.words, self.words), (p.names, self.names)):
                if any(n >= len(of) for n in places):
                    raise ValueError("a passage holds a word or a name that is not there")
        return self


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


def clauses_of(question: str) -> int:
    """How many clauses ask or relate, at least 1: each takes a fact of its own.

    >>> clauses_of("Who directed Moon?"), clauses_of("Who is the father of the man who made Moon?")
    (1, 2)
    """
    return max(1, sum(token.surface in _CLAUSE for token in tokenize(question)))


def words_of(question: str) -> tuple[str, ...]:
    """Content terms of a question, once each."""
    return tuple(dict.fromkeys(content_terms(question)))


def bypass_inputs(
    question: str,
    hits: Sequence[Scored],
    region: tuple[str, ...] | None,
    spread: Spread | None = None,
) -> BypassInputs:
    """What the rule is applied to."""
    words = words_of(question)
    names = names_of(question)
    titles = TitleIndex(hit.passage.title for hit in hits)
    own = [frozenset(aliases(hit.passage.title)) for hit in hits]
    named = [_mentioned(titles, hit.passage.text) for hit in hits]
    asked = _mentioned(titles, question)
    passages = []
    for n, hit in enumerate(hits):
        held = terms_of(hit.passage)
        passages.append(
            Candidate(
                id=hit.passage.id,
                likeness=hit.calibrated if hit.dense is None else hit.dense,
                words=tuple(w for w, word in enumerate(words) if word in held),
                names=tuple(w for w, need in enumerate(names) if held.issuperset(need.terms)),
                asked=bool(own[n] & asked),
                linked=tuple(
                    m
                    for m in range(len(hits))
                    if own[m] != own[n]
                    and (
                        own[m] & named[n]
                        or own[n] & named[m]
                        or (own[m] & asked and own[n] & asked)
                    )
                ),
            )
        )
    return BypassInputs(
        words=words,
        weights=None
        if spread is None
        else tuple(round(idf(spread.passages, held), 4) for held in spread.holders),
        names=tuple(need.name for need in names),
        clauses=clauses_of(question),
        passages=tuple(passages),
        region=region,
    )


def _mentioned(titles: TitleIndex, text: str) -> frozenset[str]:
    return frozenset(alias for _, _, alias in titles.find(text))


def terms_of(passage: Passage) -> frozenset[str]:
    """Content terms of a passage and its title."""
    return frozenset(content_terms(f"{passage.title}\n{passage.text}"))


def compact(inputs: BypassInputs, settings: StateRAGSettings) -> tuple[Candidate, ...]:
    """The passages that the rule would select: the first one, and those of its region that belong
    together with it and add most weight of words, the nearer to the question where they add as
    much. The first stands alone where it holds every word of a question of one clause that names
    no other, and a third or later one comes in only for a word that is missing."""
    if not inputs.passages:
        return ()
    first, *others = inputs.passages
    chosen, places, held = [first], {0}, set(first.words)
    if settings.bypass_rule == "single":
        return (first,)
    region = frozenset(inputs.region or ())
    named = any(p.asked and p.id in region and 0 in (p.linked or ()) for p in others)
    if inputs.clauses == 1 and len(held) == len(inputs.words) and not named:
        return (first,)
    while len(chosen) < settings.bypass_most:
        near = [
            (place, passage)
            for place, passage in enumerate(others, 1)
            if place not in places
            and passage.id in region
            and any(place in (p.linked or ()) for p in chosen)
            and (len(chosen) == 1 or not held.issuperset(passage.words))
        ]
        if not near:
            break
        place, best = max(
            near, key=lambda n: (_share(inputs, held.union(n[1].words)), n[1].likeness, -n[0])
        )
        chosen.append(best)
        places.add(place)
        held.update(best.words)
    return tuple(chosen)


def _share(inputs: BypassInputs, held: Collection[int]) -> float:
    """idf share of the question's words that are held."""
    weights = inputs.weights or ()
    total = sum(weights)
    return sum(weights[n] for n in sorted(held)) / total if total else 0.0


def decide_bypass(inputs: BypassInputs, settings: StateRAGSettings) -> Decision | Undetermined:
    """BYPASS with the selected part of the initial evidence, or MARS."""
    asked = gate("rule_on", float(settings.bypass_rule != "off"), "==", 1.0)
    if not asked.fired:
        return Decision(outcome="MARS", gates=(asked,), reason="The rule is off.")
    if settings.bypass_rule == "compact" and inputs.region is None and inputs.passages:
        return Undetermined("the region of the first passage")
    if inputs.weights is None and inputs.passages:
        return Undetermined("how rare the question's words are")
    if settings.bypass_rule == "compact" and any(p.linked is None for p in inputs.passages):
        return Undetermined("which of the initial passages belong together")
    chosen = compact(inputs, settings)
    names = {n for p in chosen for n in p.names}
    words = {n for p in chosen for n in p.words}
    left = [p.likeness for p in inputs.passages if p not in chosen]
    lead = max((p.likeness for p in chosen), default=0.0) - max(left, default=0.0)
    gates = (
        asked,
        gate("passages", len(chosen), ">=", 1),
        gate("clauses", inputs.clauses, "<=", len(chosen)),
        gate("names_missing", len(inputs.names) - len(names), "==", 0),
        gate(
            "coverage",
            _share(inputs, words),
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
            basis="idf share of the question's words, and its names, in one passage, or in few of "
            "one region that name each other or that the question names.",
            inspects="Words, names and clauses of the question, likeness, mentions of titles, and "
            "the first passage's region.",
            fails="Linked passages that hold every word of the question and not its answer bypass.",
            prohibited=("a navigator call", "committing a path"),
        ),
    )
)
