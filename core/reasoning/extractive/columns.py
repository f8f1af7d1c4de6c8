"""The names of the features, in the order of the matrix's columns; the weights are by name."""

from __future__ import annotations

from core.reasoning.extractive.question import Kind


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


KINDS: tuple[Kind, ...] = (
    "person",
    "place",
    "org",
    "work",
    "date",
    "number",
    "nationality",
    "language",
)
SHAPES = _names("name quote title date number ordinal noun")
FORM = _names(
    """
    inside joined length single lower demonym has_link spelled_number
    """
)
"""How the candidate is made."""
CONTEXT = _names(
    """
    article_before by_before in_before of_before as_before is_a_before prep_before verb_before
    opens comma_before comma_after verb_after prep_after noun_after bracketed of_after
    possessive_after as_after lone_opener life_first life_second heading
    """
)
"""What stands beside it."""
STATIC = (*SHAPES, *FORM, *CONTEXT)
"""What is read off the passage alone."""
SENTENCE = _names(
    """
    emb rank p_rel alone cov first question_share title_share bridge residual bridge_first
    asked_alone
    """
)
"""Its sentence and passage under the question."""
PLACE = _names(
    """
    echo all_echo proximity nearest asked_near related_near governed governs governed_related
    governs_related as_hit bracket_hit own_title other_title other_title_asked frequency
    passages
    """
)
"""Where it stands among the question's words."""
FIT = _names(
    """
    fit weak_fit clash untyped_name date_unasked number_unasked person_unasked name_any noun_any
    ordinal_any head_in head_beside phrase_near measure_fit unit_number name_as plural_joined
    full_date year_asked listed unlisted type_noun type_name echo_title echo_name born_first
    died_second born_second died_first unit_fit unit_clash agent other_agent subject
    asked_governed asked_governs misgoverned named_value
    """
)
"""How it fits what is asked for."""
MULTI = (
    *SENTENCE,
    *_names("proximity nearest asked_near governed echo own_title other_title frequency title"),
)
"""What may mean another thing in a question that holds another."""
HOP = _names(
    """
    hop_emb hop_rank hop_alone hop_cov hop_near hop_nearest hop_governed hop_governs hop_named
    hop_echo hop_answer
    """
)
"""Under the last sub-question, its slots filled."""
CROSSED: dict[Kind, tuple[str, ...]] = {
    "person": _names("by_before opens governs_related bracketed lower"),
    "place": _names("in_before joined lower of_before"),
    "date": _names("in_before bracketed opens"),
    "number": _names("spelled_number bracketed"),
    "any": _names("is_a_before as_before lower opens title"),
}
"""What may mean another thing for another type of answer."""
FEATURES: tuple[str, ...] = (
    *STATIC,
    *SENTENCE,
    *PLACE,
    *FIT,
    *(f"fit_{kind}" for kind in KINDS),
    *HOP,
    *(f"multi_{name}" for name in MULTI),
    *(f"{kind}_{name}" for kind, names in CROSSED.items() for name in names),
)
INDEX = {name: i for i, name in enumerate(FEATURES)}
UNITS: dict[str, tuple[str, ...]] = {
    "percentag": ("percent",),
    "percent": ("percent",),
    "rate": ("percent",),
    "centuri": ("century",),
    "decad": ("decade",),
    "year": ("year", "range"),
    "month": ("month",),
    "day": ("day",),
    "date": ("day",),
    "price": ("currency",),
    "cost": ("currency",),
    "debt": ("currency",),
    "salari": ("currency",),
    "revenu": ("currency",),
    "budget": ("currency",),
    "time": ("times", "time"),
}
"""Stem of a head noun -> the units that its answer has."""
