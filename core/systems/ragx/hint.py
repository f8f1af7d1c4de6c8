"""What kind of answer a question expects, as one line for the compose call (ragX, "Compose")."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import regex

AnswerType = Literal["option", "yes_no", "number", "date", "place", "person"]

_HINTS: dict[AnswerType, str] = {
    "option": "The answer is one of the options that the question names.",
    "yes_no": "The answer is yes or no.",
    "number": "The answer is a number, with its unit where it has one.",
    "date": "The answer is a date, or a year.",
    "place": "The answer is the name of a place.",
    "person": "The answer is the name of a person.",
}
_ASKS = (
    r"(?:^|(?:^|\s)(?:in|at|on|by|to|from|of|for|with|during|under|since)\s+|[,;:]\s*"
    r"|\s(?=\S+$))"
)
_AUXILIARY = regex.compile(
    r"(?:is|are|was(?! (?:ist|sind|war|waren|hat|haben|kann|wird|macht)\b)|were|am|do|does|did|has"
    r"|have|had|can|could|will|would|should|may|might)\b"
)
_OPTIONS = regex.compile(r"\S.*\bor\b\s+\S")
_PLACES = (
    "city|town|village|country|state|county|province|region|continent|district|place|location|"
    "island|island group|river|lake|mountain|borough|neighbou?rhood|suburb|capital|birthplace|"
    "municipality|territory|area|parish|nation"
)
_PEOPLE = (
    "actor|actress|author|writer|director|singer|person|man|woman|player|composer|artist|king|"
    "queen|president|politician|scientist|musician|poet|painter|drummer|guitarist|character|"
    "footballer|emperor|governor|mayor|leader|wife|husband|spouse"
)
_ADJECTIVES = r"(?:\w+\s+){0,2}?"
_PATTERNS: tuple[tuple[AnswerType, regex.Pattern[str]], ...] = (
    (
        "number",
        regex.compile(
            rf"{_ASKS}(?:how (?:many|much|old|far|tall|long|high|deep|large|big|wide|fast|often)\b"
            rf"|what (?:is |was |are |were )?(?:the )?{_ADJECTIVES}(?:number|population|percentage|"
            r"age|height|length|elevation|distance|temperature|score|amount|total)\b)"
        ),
    ),
    (
        "date",
        regex.compile(
            rf"{_ASKS}(?:when\b|how long ago\b|(?:what|which) {_ADJECTIVES}(?:year|date|day|month|"
            rf"century|decade)\b|what (?:is|was) the {_ADJECTIVES}(?:date|year|birthday)\b)"
        ),
    ),
    (
        "place",
        regex.compile(
            rf"{_ASKS}(?:where\b|(?:what|which) (?:is the |was the )?{_ADJECTIVES}(?:{_PLACES})\b)"
        ),
    ),
    (
        "person",
        regex.compile(rf"{_ASKS}(?:who|whom|(?:what|which) {_ADJECTIVES}(?:{_PEOPLE}))\b"),
    ),
)


@lru_cache(maxsize=256)
def answer_type(question: str) -> AnswerType | None:
    """The expected type of answer; None where the question's form does not tell.

    >>> answer_type("Which river is longer, the Ural or the Don?")
    'option'
    """
    text = " ".join(question.split()).rstrip("?!. ").lower()
    if _AUXILIARY.match(text):
        return "option" if _OPTIONS.search(text) else "yes_no"
    if regex.match(r"(?:who|which|what|where|when)\b", text) and regex.search(
        r"(?:,|\bbetween|\bin|\bfrom|\bis it)\s[^,]*(?:,[^,]*)*\bor\b\s+\S[^,]*$", text
    ):
        return "option"
    found = [(m.start(), kind) for kind, pattern in _PATTERNS if (m := pattern.search(text))]
    return min(found)[1] if found else None


def hint(question: str) -> str:
    """One line for the compose call; empty where the type is not clear."""
    kind = answer_type(question)
    return "" if kind is None else _HINTS[kind]
