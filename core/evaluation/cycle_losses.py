"""Where a system that works in cycles lost a gold fact, and where its verifier misjudged.

From the run's own steps, with I the initial retrieval, R the regions of its committed paths, C the
evidence that its cycles committed, and E the final evidence. A gold fact that E lacks is

- ``unadmitted``: C holds it; admission dropped it, or another branch ended the run;
- ``unselected``: R holds it, and no cycle took it from there;
- ``unentered``: I holds it, and no committed path led to it;
- ``unreached``: neither.

A verdict on a cycle is ``failed_whole`` where the cycles so far held every fact and it is FAIL,
``passed_short`` where the cycle's own evidence lacks a fact and it is PASS. A bypass is
``bypassed_short`` where what it selected lacks one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from core.evaluation.metrics import Gold, coverage, final_evidence, finished
from core.evaluation.store import Evaluation
from core.events import PathCommitted, Proposed, Retrieved, Step, Validated
from core.types import Count, Frozen

FactLost = Literal["unadmitted", "unselected", "unentered", "unreached"]
Misjudged = Literal["failed_whole", "passed_short", "bypassed_short"]
FACT_LOST: tuple[FactLost, ...] = get_args(FactLost)
MISJUDGED: tuple[Misjudged, ...] = get_args(Misjudged)


class CycleLosses(Frozen):
    """Counts over runs. ``facts``: gold facts in all; ``verdicts``: judged cycles and bypasses."""

    runs: Count
    facts: Count
    verdicts: Count
    lost: dict[FactLost, Count]
    misjudged: dict[Misjudged, Count]


@dataclass(slots=True)
class _Course:
    """What a run held on its way; cycles in their order."""

    initial: frozenset[str] = frozenset()
    regions: set[str] = field(default_factory=set)
    evidence: list[frozenset[str]] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)


def cycle_losses(evaluation: Evaluation, system: str) -> CycleLosses:
    """The counts over a system's runs whose question has gold."""
    lost: Counter[FactLost] = Counter()
    misjudged: Counter[Misjudged] = Counter()
    runs = facts = verdicts = 0
    for row, steps in evaluation.runs(system):
        gold = evaluation.gold(row.question_id)
        if not gold:
            continue
        runs, facts = runs + 1, facts + len(gold)
        verdicts += _judged(steps)
        lost.update(facts_lost(steps, gold))
        misjudged.update(verdicts_misjudged(steps, gold))
    return CycleLosses(
        runs=runs,
        facts=facts,
        verdicts=verdicts,
        lost={name: lost[name] for name in FACT_LOST},
        misjudged={name: misjudged[name] for name in MISJUDGED},
    )


def facts_lost(steps: Sequence[Step], gold: Gold) -> tuple[FactLost, ...]:
    """Where each fact that the final evidence lacks was lost, in the order of ``gold``."""
    course, held = _course(steps), set(final_evidence(steps))
    committed = frozenset[str]().union(*course.evidence)
    found: list[FactLost] = []
    for fact in gold:
        if not fact.isdisjoint(held):
            continue
        if not fact.isdisjoint(committed):
            found.append("unadmitted")
        elif not fact.isdisjoint(course.regions):
            found.append("unselected")
        elif not fact.isdisjoint(course.initial):
            found.append("unentered")
        else:
            found.append("unreached")
    return tuple(found)


def verdicts_misjudged(steps: Sequence[Step], gold: Gold) -> tuple[Misjudged, ...]:
    """The run's wrong verdicts, in their order."""
    course = _course(steps)
    found: list[Misjudged] = []
    held: set[str] = set()
    for evidence, verdict in zip(course.evidence, course.verdicts, strict=False):
        held |= evidence
        if verdict == "FAIL" and coverage(held, gold) == 1.0:
            found.append("failed_whole")
        elif verdict == "PASS" and coverage(evidence, gold) != 1.0:
            found.append("passed_short")
    if _bypassed(steps) and coverage(set(final_evidence(steps)), gold) != 1.0:
        found.append("bypassed_short")
    return tuple(found)


def _judged(steps: Sequence[Step]) -> int:
    return len(_course(steps).verdicts) + _bypassed(steps)


def _bypassed(steps: Sequence[Step]) -> bool:
    end = finished(steps)
    return end is not None and end.branch == "BYPASS"


def _course(steps: Sequence[Step]) -> _Course:
    course = _Course()
    proposed: Proposed | None = None
    for event in (step.event for step in steps):
        if isinstance(event, Retrieved) and not course.initial:
            course.initial = frozenset(hit.id for hit in event.passages)
        elif isinstance(event, PathCommitted):
            course.regions.update(event.region)
        elif isinstance(event, Proposed):
            proposed = event
        elif isinstance(event, Validated) and event.verdict == "accept" and proposed is not None:
            value = proposed.value if isinstance(proposed.value, dict) else {}
            if proposed.field == "evidence":
                items = value.get("items")
                listed = items if isinstance(items, list) else []
                course.evidence.append(
                    frozenset(str(item["id"]) for item in listed if isinstance(item, dict))
                )
            elif proposed.field == "verdict":
                course.verdicts.append(str(value.get("verdict")))
            proposed = None
    return course
