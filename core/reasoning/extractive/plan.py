"""A retrieval plan: the sub-questions as facts to find, those not known yet first."""

from __future__ import annotations

from collections.abc import Callable

import regex

from core.ports import TextView
from core.reasoning.extractive.facets import facets_of, share_stated
from core.reasoning.extractive.features import Scene, build_scene, capitalised_spans
from core.retrieval.tokenizer import content_terms, tokenize
from core.tasks import Plan, PlanRequest

KNOWN = 0.6
"""A fact is known where what is known states at least this share of it."""
_SLOT = regex.compile(r"#(\d)")


def plan(request: PlanRequest, view: TextView) -> Plan:
    """Objective, required facts and entities.

    A sub-question that something known states is known; a name in that which the question does
    not hold fills its slot. The objective is the first fact that is not known, with what the last
    verdict found missing.
    """
    scene = build_scene(request.question, (), view)
    facets = facets_of(scene)
    asked = f" {' '.join(t.surface for t in scene.tokens)} "
    fillers: dict[int, str] = {}
    open_facts: list[str] = []
    known_facts: list[str] = []
    for number, hop in enumerate(facets.hops, 1):
        fact = _filled(hop.question, fillers)
        said = next((k for k in request.known if _states(scene, hop.terms, k)), None)
        if said is None:
            open_facts.append(fact)
            continue
        known_facts.append(fact)
        if name := _new_name(said, asked):
            fillers[number] = name
    note = " ".join(request.note.split())
    objective = f"Find: {(open_facts or known_facts)[0]}"
    if note:
        objective = f"{objective} Not enough before: {note}"
    names = [name for name, _ in facets.names]
    return Plan(
        objective=objective[:4_000],
        required_facts=tuple(fact[:4_000] for fact in (*open_facts, *known_facts)),
        entities=tuple(dict.fromkeys([*fillers.values(), *names]))[:12],
    )


CUTS = (1_000, 400, 200, 100, 50, 16)


def fitting(made: Plan, count: Callable[[str], int], most: int) -> Plan:
    """The plan with its texts cut, the longest first, until they have at most ``most`` tokens in
    all; the same where they do. A long question would else be repeated beyond what a reply may
    have."""
    for characters in CUTS:
        if sum(count(text) for text in made.texts()) <= most:
            break
        made = Plan(
            objective=_cut(made.objective, characters),
            required_facts=tuple(_cut(fact, characters) for fact in made.required_facts),
            entities=tuple(_cut(name, characters) for name in made.entities),
        )
    return made


def _cut(text: str, characters: int) -> str:
    if len(text) <= characters:
        return text
    short = text[:characters]
    return short[: short.rfind(" ")].rstrip() if " " in short.strip() else short


def _states(scene: Scene, terms: frozenset[str], known: str) -> bool:
    present = frozenset(content_terms(known))
    return bool(present) and share_stated(scene, terms, present) >= KNOWN


def _new_name(text: str, asked: str) -> str | None:
    """The first name in a known fact that the question does not hold."""
    for span in capitalised_spans(text, tokenize(text)):
        if f" {span.key} " not in asked:
            return text[span.start : span.end]
    return None


def _filled(question: str, fillers: dict[int, str]) -> str:
    """The sub-question with known answers in its slots, and words for the others."""

    def fill(match: regex.Match[str]) -> str:
        number = int(match[1])
        return fillers.get(number) or f"the answer to step {number}"

    filled: str = _SLOT.sub(fill, question)
    return filled
