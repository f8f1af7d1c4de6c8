"""Malformed replies, as language models write them: what a reply's validation must refuse."""

from __future__ import annotations

import json

from pydantic import JsonValue

from core.tasks import Reply
from core.types import JsonObject

FORMS = (
    "prose",
    "truncated",
    "wrong_types",
    "nan",
    "out_of_range",
    "extra_keys",
    "empty",
    "megabyte",
)
"""Every way in which a reply is spoilt here."""


def reply(form: str, good: Reply) -> str:
    """The raw text of a good reply, spoilt in one of ``FORMS``.

    Raises:
        KeyError: there is no such form.
    """
    value: JsonObject = good.model_dump(mode="json")
    text = json.dumps(value)
    first = next(iter(value))
    match form:
        case "prose":
            return "Certainly! Having read the passages, I would say that the answer is clear."
        case "truncated":
            return text[: max(1, len(text) // 2)]
        case "wrong_types":
            return json.dumps({name: _other_type(part) for name, part in value.items()})
        case "nan":
            return json.dumps({**value, _number(value) or first: float("nan")})
        case "out_of_range":
            wrong: JsonValue = "x" * 50_000 if _number(value) is None else 7.5
            return json.dumps({**value, _number(value) or first: wrong})
        case "extra_keys":
            return json.dumps({**value, "verdict": "accept", "tool": "none"})
        case "empty":
            return ""
        case "megabyte":
            return json.dumps({**value, "reasoning": "so " * 350_000})
    raise KeyError(form)


def _number(value: JsonObject) -> str | None:
    return next((n for n, part in value.items() if isinstance(part, float)), None)


def _other_type(part: JsonValue) -> JsonValue:
    return {"value": 17} if not isinstance(part, dict) else "a word"
