"""Nested descriptions taken apart: a question becomes ordered sub-questions with ``#N`` slots.

"Who is the spouse of the actor who plays Jarvis in Iron Man?" holds a description, "the actor who
plays Jarvis in Iron Man"; it becomes the first sub-question and leaves "Who is the spouse of #1?".
The innermost relative clause goes first, then a reduced relative, then a possessive, then "of"
(order and limit of four: findings, "Decomposition"; slots: ragX, "The slot chain"). Where the
description itself holds the question word ("a biographer for a killer who belonged to what
family?"), the order turns round: "a biographer for which killer?", "#1 belonged to what family?".
Words are told apart by closed word lists; names are masked first, so that "The Girl Who Kicked
the Hornets' Nest" is one word here.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from core.ports import TextView
from core.reasoning.extractive.clauses import KINDS, SLOT, Split
from core.reasoning.extractive.features import capitalised_spans
from core.reasoning.extractive.phrases import (
    AUXILIARY,
    FIRST_MASK,
    INTERROGATIVE,
    LAST_MASK,
    PREPOSITION,
    asked_at,
    compares,
    says,
)
from core.retrieval.tokenizer import tokenize
from core.tasks import DecomposeRequest, Decomposition

MAX_HOPS = 4
MAX_CHARACTERS = 1_500
"""A longer text is taken as one question."""
_RESERVED = regex.compile(r"[\x00\ue000-\uf8ff]|#\d")
_WORDS = regex.compile(
    r"[\ue000-\uf8ff]|\#\d|[\p{L}\d][\p{L}\p{M}\d.\-&]*[\p{L}\p{M}\d]|[\p{L}\d]|['’]s\b|\S"
)
_QUOTED = regex.compile(r"[\"“«]([^\"”»]{2,120})[\"”»]")
_OPENING = regex.compile(r"(?:^|\. )\p{Ll}")
_YEAR_BEFORE = regex.compile(r"\b\d{4} $")
_CLASS_AFTER = regex.compile(
    r" (?:movie|film|album|song|single|series|show|novel|book|chart|award|tour|magazine)s?\b"
)
_HYPHENED = regex.compile(r"-[\p{L}\p{M}\d]+")


def sub_questions(question: str, view: TextView, max_hops: int = MAX_HOPS) -> tuple[str, ...]:
    """Ordered sub-questions, the last of which asks what ``question`` asks; one if it is simple.

    A ``#N`` slot stands for the answer of the N-th (from 1) and only refers backwards. A question
    that has such a slot itself is left whole.
    """
    question = question.strip()
    if _RESERVED.search(question) or len(question) > MAX_CHARACTERS:
        return (question,)
    words, names = _mask(question, view)
    hops: list[tuple[str, ...]] = []
    _resolve(tuple(words), hops, max_hops, turning=True)
    if len(hops) == 1:
        return (question,)
    return tuple(_sentence(hop, names) for hop in hops)


def decompose(request: DecomposeRequest, view: TextView) -> Decomposition:
    """``sub_questions`` as the reply to a decompose request."""
    return Decomposition(sub_questions=sub_questions(request.question, view, request.max_hops))


def _resolve(
    words: tuple[str, ...], hops: list[tuple[str, ...]], room: int, *, turning: bool
) -> None:
    """Append the hops of ``words`` to ``hops``, innermost first, at most ``room`` in all."""
    while len(hops) < room - 1:
        split = _split(words, turning)
        if split is None:
            break
        _resolve(split.ask, hops, room - 1, turning=turning and not split.turned)
        words = tuple(f"#{len(hops)}" if w == SLOT else w for w in split.rest)
    hops.append(words)


def _split(words: tuple[str, ...], turning: bool) -> Split | None:
    if compares(words):
        return None
    asked = asked_at(words)
    if asked < 0:
        return None
    for find in KINDS:
        found = find(words, asked)
        if found is None or (found.turned and not turning):
            continue
        slot = found.rest.index(SLOT)
        asking = found.rest if slot < asked or found.turned else found.rest[max(asked, 0) :]
        if says(asking) and says(found.ask):
            return found
    return None


def _mask(question: str, view: TextView) -> tuple[list[str], list[str]]:
    """Words of the question with each name as one private-use character, and the names."""
    tokens = tokenize(question)
    spans = [(m.start(), m.end()) for m in _QUOTED.finditer(question)]
    spans += [(start, end) for start, end, _ in view.titles_in(question)]
    spans += [(s.start, s.end) for s in capitalised_spans(question, tokens)]
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
        if question[start:end].lower() in INTERROGATIVE | AUXILIARY | PREPOSITION:
            continue
        if tail := _HYPHENED.match(question, end):
            end = tail.end()
        if year := _YEAR_BEFORE.search(question, 0, start):
            start = year.start()
        if kind := _CLASS_AFTER.match(question, end):
            end = kind.end()
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif (
            joined
            and question[joined[-1][1] : start] == ", "
            and question[start].isupper()
            and " or " not in question
        ):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    names: list[str] = []
    masked, at = [], 0
    for start, end in joined[: LAST_MASK - FIRST_MASK]:
        masked += [question[at:start], " ", chr(FIRST_MASK + len(names))]
        names.append(question[start:end])
        at = end
    text = "".join(masked) + question[at:]
    words = [w for w in _WORDS.findall(text) if w not in '?"“”']
    while words and words[-1] in ".,;":
        words.pop()
    lowered = [
        w.lower() if (i == 0 and len(w) > 1) or w.lower() in INTERROGATIVE else w
        for i, w in enumerate(words)
    ]
    return lowered, names


def _sentence(words: Sequence[str], names: list[str]) -> str:
    shown = [
        names[ord(w) - FIRST_MASK] if len(w) == 1 and ord(w) >= FIRST_MASK else w for w in words
    ]
    text: str = regex.sub(r" (?=[,.;:)]|['’]s\b|['’] )|(?<=\() ", "", " ".join(shown)).strip(" ,")
    opened: str = _OPENING.sub(lambda match: match.group().upper(), text)
    return opened + "?"
