"""Grades of passages and of the set: relevance, authority, currency, sufficiency.

Relevance is fitted (``relevance``) and sufficiency is the verifier's support. Authority and
currency have nothing to be fitted on: they are ranks, spaced evenly, that say what the metadata
and the passage's own words tell, and .5 where nothing tells.
"""

from __future__ import annotations

from datetime import date

import regex

from core.reasoning.extractive.case import Case
from core.reasoning.extractive.facets import share_stated
from core.reasoning.extractive.logistic import models
from core.reasoning.extractive.relevance import relevances
from core.reasoning.extractive.signals import signals
from core.retrieval.tokenizer import content_terms, fold, tokenize
from core.tasks import Grades, PassageGrade
from core.types import Passage

STATED = 0.6
"""A facet is covered where one sentence states at least this share of it."""
UNKNOWN = 0.5
_TIERS = (
    (0.9, "official primary policy standard statute law regulation approved authoritative"),
    (0.7, "reference documentation docs manual encyclopedia journal handbook"),
    (0.6, "press news incident report internal"),
    (0.3, "community forum blog wiki user comment draft social"),
)
_ITSELF = (
    r"\bthis (?:page|document|article|guide|note|version|policy|procedure|answer|draft)\b"
    r"[^.\n]{0,60}"
)
_OUTDATED = regex.compile(
    _ITSELF + r"\b(?:superseded|deprecated|obsolete|outdated|out of date|no longer|archived|"
    r"withdrawn|replaced|retired)\b"
)
_DRAFT = regex.compile(
    _ITSELF + r"\b(?:draft|unverified|unconfirmed|rumou?r|unofficial|not been reviewed)\b"
)
_DATE = regex.compile(r"^(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
SUPERSEDED = 0.1
OUTDATED = 0.2
NEWEST = 0.9
A_YEAR = 0.1
OLDEST = 0.3


def grade(case: Case, facets: tuple[str, ...]) -> Grades:
    """Grades in the order of the passages; ``covered`` in the order of the facets.

    Nothing that a passage says in its own favour raises a grade.
    """
    scene = case.scene
    passages = [p.passage for p in scene.passages]
    dates = [_dated(p) for p in passages]
    newest = max((d for d in dates if d is not None), default=None)
    graded = []
    for passage, dated, relevance in zip(passages, dates, relevances(case), strict=True):
        authority, by = _authority(passage)
        currency, because = _currency(passage, dated, newest)
        reason = "; ".join(x for x in (by, because) if x) or "nothing tells of source or date"
        graded.append(
            PassageGrade(
                passage_id=passage.id,
                relevance=relevance,
                authority=authority,
                currency=currency,
                reason=reason,
            )
        )
    sufficiency = models("verify")["support"](signals(case)) if scene.sentences else 0.0
    held = [s.parse.terms | scene.passages[s.passage].parse.title_terms for s in scene.sentences]
    covered = [
        facet
        for facet in facets
        if any(share_stated(scene, content_terms(facet), stems) >= STATED for stems in held)
    ]
    return Grades(passages=tuple(graded), sufficiency=sufficiency, covered=tuple(covered))


def _authority(passage: Passage) -> tuple[float, str]:
    tier = passage.metadata.source_tier
    value, reason = UNKNOWN, ""
    if tier is not None:
        named = {t.surface for t in tokenize(tier)}
        value = next((v for v, words in _TIERS if named & set(words.split())), UNKNOWN)
        reason = f"source tier {tier[:80]!r}"
    if (marked := _DRAFT.search(fold(passage.text))) and value > _TIERS[-1][0]:
        return _TIERS[-1][0], f"it says {marked.group()[:80]!r}"
    return value, reason


def _currency(passage: Passage, dated: date | None, newest: date | None) -> tuple[float, str]:
    if passage.metadata.superseded_by:
        return SUPERSEDED, f"superseded by {passage.metadata.superseded_by[:80]!r}"
    if marked := _OUTDATED.search(fold(passage.text)):
        return OUTDATED, f"it says {marked.group()[:80]!r}"
    if dated is None or newest is None:
        return UNKNOWN, ""
    years = (newest - dated).days / 365.25
    if years <= 0:
        return NEWEST, f"the newest here, of {dated.isoformat()}"
    return max(OLDEST, NEWEST - A_YEAR * years), f"{years:.1f} years before the newest here"


def _dated(passage: Passage) -> date | None:
    """The metadata's date; None where there is none or it is no date."""
    found = _DATE.match(passage.metadata.date or "")
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
    except ValueError:
        return None
