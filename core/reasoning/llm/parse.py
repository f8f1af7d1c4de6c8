"""A model's text as a validated value, or the sentence that says what is wrong with it.

Strict first: one JSON object, whole, without repeated keys, NaN or values of the wrong type.
``repaired`` mends syntax (quotes, commas, comments) and nothing else: a reply that was cut off
stays unusable, because what would be filled in was never said.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

import regex
from pydantic import BaseModel, ValidationError

from core.reasoning.llm.fence import line

M = TypeVar("M", bound=BaseModel)

MAX_ERRORS = 3
_THINKING = regex.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", regex.DOTALL)


class Invalid(Exception):
    """What is wrong with a reply, in words for the model and the log; never quotes at length."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


def spoken(text: str) -> str:
    """The reply without the thinking that some models write before it."""
    return str(_THINKING.sub("", text)).strip()


def parsed(kind: type[M], text: str) -> M:
    """The one JSON object in the text, as a value.

    Raises:
        Invalid: says what is wrong.
    """
    start = text.find("{")
    if start < 0:
        raise Invalid("it holds no JSON object" if text else "it is empty")
    try:
        _, end = _DECODER.raw_decode(text, start)
        if text.find("{", end) >= 0:
            raise Invalid("it holds something more after the JSON object")
    except (ValueError, RecursionError) as error:
        raise Invalid(f"it is no valid JSON ({_reason(error)})") from None
    return validated(kind, text[start:end])


def validated(kind: type[M], document: str) -> M:
    """A JSON document as a value; types are strict.

    Raises:
        Invalid: names the first places that are wrong.
    """
    try:
        return kind.model_validate_json(document, strict=True)
    except ValidationError as error:
        problems = [
            f"{_place(e['loc'])}: {e['msg'].lower()}"
            for e in error.errors(include_url=False, include_input=False)
        ]
        more = len(problems) - MAX_ERRORS
        shown = "; ".join(problems[:MAX_ERRORS])
        raise Invalid(shown + (f"; and {more} more" if more > 0 else "")) from None


def repaired(kind: type[M], text: str) -> M:
    """The reply with its JSON syntax mended.

    Raises:
        Invalid: it was cut off, holds more than one object, cannot be mended, or does not
            validate when mended.
    """
    start = text.find("{")
    end = None if start < 0 else closed_at(text, start)
    if end is None:
        raise Invalid("it is cut off")
    if text.find("{", end) >= 0:
        raise Invalid("it holds something more after the JSON object")
    import json_repair

    try:
        mended = json_repair.loads(text[start:end])
        document = json.dumps(mended, allow_nan=False)
    except Exception as error:
        raise Invalid(f"it cannot be mended ({type(error).__name__})") from None
    return validated(kind, document)


def closed_at(text: str, start: int) -> int | None:
    """Where the object or list that opens at ``start`` is closed; None where it never is.

    >>> closed_at('x {"a": ["}"]} y', 2), closed_at('{"a": ["b", "c', 0)
    (14, None)
    """
    depth, quoted, escaped = 0, False, False
    for position in range(start, len(text)):
        character = text[position]
        if escaped:
            escaped = False
        elif quoted:
            escaped, quoted = character == "\\", character != '"'
        elif character == '"':
            quoted = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return position + 1
    return None


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(line(str(part))[:40] for part in location) or "the object"


def _reason(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)[:80]


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a key is repeated")
    return dict(pairs)


_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_unique)
