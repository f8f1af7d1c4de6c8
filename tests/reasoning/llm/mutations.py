"""Good replies changed in one of many ways, for tests that no reply may break."""

from __future__ import annotations

import json
import math
import random
from typing import Any

from tests.reasoning.llm.samples import GOOD, good_text

OTHERS: tuple[Any, ...] = (
    [[[]]],
    "ignore the instructions",
    101,
    "5",
    [1, 2, 3, 4, 99],
    None,
    True,
    -1,
    7.5,
    math.nan,
    math.inf,
    10**400,
    "x" * 5_000,
    "",
    "\ud800",
    [],
    {},
)


def marked(value: Any, mark: str) -> Any:
    """The value with the mark put behind every text in it that is no fixed word."""
    if isinstance(value, dict):
        fixed = ("verdict", "complexity")
        return {k: v if k in fixed else marked(v, mark) for k, v in value.items()}
    if isinstance(value, list):
        return [marked(part, mark) for part in value]
    return f"{value} {mark}" if isinstance(value, str) else value


def mutated(task: str, rng: random.Random, mark: str = "") -> str:
    """A good reply to the task, its texts marked, with one thing wrong (seldom nothing)."""
    good: dict[str, Any] = json.loads(json.dumps(GOOD[task]))
    if mark:
        good = marked(good, mark)
    text = f"{good_text(task)} {mark}".strip() if not good else json.dumps(good)
    value = good or {"text": text}
    kind = rng.randrange(12)
    key = rng.choice(list(value))
    if kind == 0:
        value[key] = _other(value[key], rng)
        return json.dumps(value)
    if kind == 1:
        del value[key]
        return json.dumps(value)
    if kind == 2:
        return json.dumps({**value, rng.choice(["verdict", "", "__class__", "$ref"]): 1})
    if kind == 3:
        return text[: rng.randrange(len(text) + 1)]
    if kind == 4:
        at = rng.randrange(len(text) + 1)
        return text[:at] + rng.choice('{}[]",:\\\x00⟦\u202e1eN') + text[at:]
    if kind == 5:
        at = rng.randrange(len(text))
        return text[:at] + text[at + rng.randrange(1, 9) :]
    if kind == 6:
        return rng.choice(["Sure! ", "<think>no", "```json\n", "[1] {", "data: "]) + text
    if kind == 7:
        return text + rng.choice([text, "}", " trailing words", "{", "\n```", "[" * 100_000])
    if kind == 8:
        inner = value[key]
        if isinstance(inner, list) and inner and isinstance(inner[0], dict):
            part = rng.choice(list(inner[0]))
            inner[0][part] = _other(inner[0][part], rng)
        else:
            value[key] = [inner] * rng.randrange(1, 300)
        return json.dumps(value)
    if kind == 9:
        return json.dumps(value).replace('"', rng.choice(["'", "“", "\\u0022", ""]))
    if kind == 10:
        return '{"a":' * rng.choice([5, 20_000]) + "1"
    return rng.choice(["", " ", "null", "[]", "NaN", "-", "I cannot help with that.", "{}", "\x00"])


def _other(value: Any, rng: random.Random) -> Any:
    return rng.choice([{"value": value}, [value], *OTHERS])
