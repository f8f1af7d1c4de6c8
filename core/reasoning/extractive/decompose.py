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
from dataclasses import dataclass

import regex

from core.ports import DecomposeRequest, Decomposition, TextView
from core.reasoning.extractive.features import capitalised_spans
from core.retrieval.tokenizer import STOP_WORDS, tokenize

MAX_HOPS = 4
_FIRST_MASK = 0xE000
_LAST_MASK = 0xF8FF
_WORDS = regex.compile(
    r"[\ue000-\uf8ff]|\#\d|[\p{L}\d][\p{L}\p{M}\d.\-]*[\p{L}\p{M}\d]|[\p{L}\d]|['’]s\b|\S"
)
_QUOTED = regex.compile(r"[\"“«]([^\"”»]{2,120})[\"”»]")
_YEAR_BEFORE = regex.compile(r"\b\d{4} $")
_HYPHENED = regex.compile(r"-[\p{L}\p{M}\d]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_INTERROGATIVE = _set("who whom whose what which when where why how")
_RELATIVE = _set("who whom whose which that where")
_DETERMINER = _set("the a an this these those his her its their another")
_PREPOSITION = _set(
    """in on at of for from to by with under during into after before as about near behind against
    around between inside outside through along besides since until within without over per"""
)
_AUXILIARY = _set(
    """is are was were be been being has have had do does did will would can could should may
    might must"""
)
_PRONOUN = _set("he she it they we you i there him them")
_NOT_NOUN = _set(
    """began begins become becomes became went goes came comes led won wins plays play played stars
    took take takes lies lived lives died wrote writes directed published founded named sung called
    or and but when where than because also not both either if then"""
)
_STOPS = _PREPOSITION | _AUXILIARY | _PRONOUN | _INTERROGATIVE | _DETERMINER | _NOT_NOUN
_DANGLING = _set("in from of to at on by with for after")
_PARTICIPLE = _set(
    """located situated born found held based set formed founded made produced directed written
    played released published recorded built created discovered killed buried raised educated
    drafted licensed named called known shot filmed signed headquartered stationed sung won led
    voiced owned run developed designed composed performed starring featuring containing including
    allowing carrying bordering organised organized sponsored behind"""
)
_PEOPLE = _set(
    """actor actress author writer singer director composer producer artist musician person man
    woman player politician president king queen founder drummer guitarist wife husband spouse
    mother father son daughter brother sister performer painter character driver coach leader
    poet novelist screenwriter creator inventor mayor senator minister pianist bassist winner"""
)
_EMPTY_NOUN = _set(
    """kind type sort number amount name part list percentage share lot member citizen instance one
    some many most all each any none rest end half"""
)
_APPOSED = _set("city town village state county province district island region republic river")
_OF_NOUNS = _set("birth origin death residence citizenship")
_SUBORDINATE = _set("when while before after where that because if as")
_JOINING = _SUBORDINATE | {"and", "to"}
_MAX_HEAD = 5


@dataclass(frozen=True, slots=True)
class _Split:
    """A description at ``start:end`` of the words: ``ask`` asks for it, ``rest`` asks on."""

    ask: tuple[str, ...]
    rest: tuple[str, ...]
    """The words that remain, with ``_SLOT`` where the answer goes."""
    turned: bool = False
    """Whether the description holds the question word, so that ``ask`` is what surrounds it."""


_SLOT = "\x00"


def sub_questions(question: str, view: TextView, max_hops: int = MAX_HOPS) -> tuple[str, ...]:
    """Ordered sub-questions, the last of which asks what ``question`` asks; one if it is simple.

    A ``#N`` slot stands for the answer of the N-th (from 1) and only refers backwards.
    """
    words, names = _mask(question.strip(), view)
    hops: list[tuple[str, ...]] = []
    _resolve(tuple(words), hops, max_hops, turning=True)
    if len(hops) == 1:
        return (question.strip(),)
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
        words = tuple(f"#{len(hops)}" if w == _SLOT else w for w in split.rest)
    hops.append(words)


def _split(words: tuple[str, ...], turning: bool) -> _Split | None:
    if _compares(words):
        return None
    asked = _asked(words)
    for find in (_relative, _contact, _reduced, _possessive, _of, _asked_of):
        found = find(words, asked)
        if found is None or (found.turned and not turning):
            continue
        slot = found.rest.index(_SLOT)
        asking = found.rest if slot < asked or found.turned else found.rest[max(asked, 0) :]
        if _says(asking) and _says(found.ask):
            return found
    return None


# --- words ---------------------------------------------------------------------------------


def _mask(question: str, view: TextView) -> tuple[list[str], list[str]]:
    """Words of the question with each name as one private-use character, and the names."""
    tokens = tokenize(question)
    spans = [(m.start(), m.end()) for m in _QUOTED.finditer(question)]
    spans += [(start, end) for start, end, _ in view.titles_in(question)]
    spans += [(s.start, s.end) for s in capitalised_spans(question, tokens)]
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
        if question[start:end].lower() in _INTERROGATIVE | _AUXILIARY | _PREPOSITION:
            continue
        if tail := _HYPHENED.match(question, end):
            end = tail.end()
        if year := _YEAR_BEFORE.search(question, 0, start):
            start = year.start()
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
    for start, end in joined[: _LAST_MASK - _FIRST_MASK]:
        masked += [question[at:start], " ", chr(_FIRST_MASK + len(names))]
        names.append(question[start:end])
        at = end
    text = "".join(masked) + question[at:]
    words = [w for w in _WORDS.findall(text) if w not in '?"“”']
    while words and words[-1] in ".,;":
        words.pop()
    lowered = [
        w.lower() if (i == 0 and len(w) > 1) or w.lower() in _INTERROGATIVE else w
        for i, w in enumerate(words)
    ]
    return lowered, names


def _is_name(word: str) -> bool:
    return (len(word) == 1 and _FIRST_MASK <= ord(word) <= _LAST_MASK) or word.startswith("#")


def _is_word(word: str) -> bool:
    return word[0].isalnum() and not _is_name(word)


def _sentence(words: Sequence[str], names: list[str]) -> str:
    shown = [
        names[ord(w) - _FIRST_MASK] if len(w) == 1 and ord(w) >= _FIRST_MASK else w for w in words
    ]
    text = regex.sub(r" (?=[,.;:)]|['’]s\b|['’] )|(?<=\() ", "", " ".join(shown)).strip(" ,")
    return text[:1].upper() + text[1:] + "?"


def _compares(words: Sequence[str]) -> bool:
    """Whether the question sets two things beside each other; those are not nested."""
    if words and words[0] in _AUXILIARY:
        return True
    return any(
        word == "or"
        and _is_name(words[i + 1])
        and any(_is_name(w) for w in words[max(0, i - 2) : i])
        for i, word in enumerate(words[:-1])
    ) or any(
        w == "or" and _is_name(words[i + 2]) and words[i + 1] == "the"
        for i, w in enumerate(words[:-2])
    )


def _asked(words: Sequence[str]) -> int:
    """Index of the word that asks; -1 if none."""
    places = [i for i, w in enumerate(words) if w in _INTERROGATIVE]
    for i in places:
        opens = i == 0 or (i == 1 and words[0] in _PREPOSITION) or words[i - 1] in ".;"
        asks = (
            words[i - 1] == ","
            and i + 1 < len(words)
            and (words[i + 1] in ("did", "does", "do") or words[i] in ("what", "how"))
        )
        if opens or asks:
            return i
    for i in places:
        if words[i] in ("what", "how"):
            return i
    return places[-1] if places else -1


def _says(words: Sequence[str]) -> bool:
    """Whether the words ask anything of the slot: "who is #1" does not."""
    return any(
        (_is_word(w) and w not in STOP_WORDS and w not in _EMPTY_NOUN)
        or (_is_name(w) and not w.startswith("#"))
        for w in words
    )


def _head(words: Sequence[str], end: int) -> tuple[int, int] | None:
    """The noun phrase that ends before ``end``: (with its determiner, first word of the noun)."""
    first = end
    while (
        first > 0
        and end - first < _MAX_HEAD
        and (
            _is_name(words[first - 1])
            or (_is_word(words[first - 1]) and words[first - 1] not in _STOPS)
        )
    ):
        first -= 1
    if first == end or not _is_word(words[end - 1]):
        return None
    if first > 0 and words[first - 1] in _DETERMINER:
        return first - 1, first
    if first == 0:
        return first, first
    while first < end - 1 and (_is_name(words[first]) or end - first > 2):
        first += 1
    return first, first


# --- the kinds of description ----------------------------------------------------------------


def _relative(words: tuple[str, ...], asked: int) -> _Split | None:
    """The last relative clause: "the state (in) where/which/that ...", innermost by position."""
    for r in range(len(words) - 2, 0, -1):
        if words[r] not in _RELATIVE or r == asked:
            continue
        edge = r
        if words[edge - 1] in _PREPOSITION:
            edge -= 1
        if edge > 0 and words[edge - 1] == ",":
            edge -= 1
        head = _head(words, edge)
        if head is None:
            continue
        start, noun = head
        end = _clause_end(words, asked, start, r + 1)
        if r < asked < end:
            return _turned(words, start, noun, edge, r)
        clause = words[r + 1 : end]
        if not _anchored(clause):
            continue
        named = words[noun:edge]
        bare = words[edge:r] if words[edge:r] != (",",) else ()
        subject = (
            words[r] in ("who", "which", "that")
            and not bare
            and clause[0] not in _DETERMINER | _PRONOUN
            and not _is_name(clause[0])
        )
        if subject:
            ask = ("which", *named, *clause)
        elif words[r] == "whose":
            ask = ("which", *named, "is", "the", "one", "whose", *clause)
        else:
            link = tuple(w for w in bare if w != ",")
            ask = ("what", "is", "the", *named, *link, words[r], *clause)
        return _Split(ask, (*words[:start], _SLOT, *words[end:]))
    return None


def _contact(words: tuple[str, ...], asked: int) -> _Split | None:
    """A relative clause without its pronoun: "the country Signmark is from"."""
    for i in range(len(words) - 3, 0, -1):
        if not (_is_name(words[i]) and words[i + 1] in _AUXILIARY | _NOT_NOUN):
            continue
        head = _head(words, i)
        if head is None or words[head[0]] not in ("the", "a"):
            continue
        end = _clause_end(words, asked, head[0], i)
        stop = next(
            (
                j
                for j in range(i + 2, end)
                if words[j] in _DANGLING
                and (j + 1 >= end or not (_is_name(words[j + 1]) or words[j + 1] in _DETERMINER))
            ),
            None,
        )
        if stop is None or i < asked < end:
            continue
        ask = ("what", "is", "the", *words[head[1] : stop + 1])
        return _Split(ask, (*words[: head[0]], _SLOT, *words[stop + 1 :]))
    return None


def _reduced(words: tuple[str, ...], asked: int) -> _Split | None:
    """A clause without pronoun and verb: "the film directed by ...", "the state containing ..."."""
    for i in range(len(words) - 2, 0, -1):
        if words[i] not in _PARTICIPLE or words[i - 1] in _AUXILIARY:
            continue
        head = _head(words, i)
        if head is None or words[head[0]] not in _DETERMINER:
            continue
        start, noun = head
        end = _clause_end(words, asked, start, i + 1)
        if i < asked < end:
            return _turned(words, start, noun, i, i - 1)
        passive = start > 0 and words[start - 1] in _AUXILIARY and start - 1 == asked + 1
        if passive and not _says(words[end:]):
            continue
        clause = words[i:end]
        if not any(_is_name(w) for w in clause):
            continue
        link = () if words[i].endswith("ing") else ("is",) if words[i] == "behind" else ("was",)
        return _Split(
            ("which", *words[noun:i], *link, *clause), (*words[:start], _SLOT, *words[end:])
        )
    return None


def _turned(
    words: tuple[str, ...], start: int, noun: int, edge: int, pronoun: int
) -> _Split | None:
    """The description holds the question word: ask for its head first, then on from it."""
    before = words[:start]
    named = any(_is_name(w) and not w.startswith("#") for w in before)
    if not named or not any(_is_word(w) and w not in STOP_WORDS for w in before):
        return None
    tail = words[pronoun + 1 :]
    if words[pronoun] == "whose":
        tail = (_SLOT, "'s", *tail)
    elif words[pronoun] == "where":
        tail = ("in", _SLOT, ",", *tail)
    else:
        tail = (_SLOT, *tail)
    return _Split((*before, "which", *words[noun:edge]), tail, turned=True)


def _possessive(words: tuple[str, ...], asked: int) -> _Split | None:
    """The first possessive of a name: "Corey Taylor's city of birth"."""
    for i in range(1, len(words) - 1):
        plural = words[i] in "'’" and i > 0
        if not (words[i] in ("'s", "’s") or plural) or not _is_name(words[i - 1]):
            continue
        end = i + 1
        while (
            end < len(words)
            and end - i <= 4
            and _is_word(words[end])
            and (words[end] not in _STOPS and not (end > i + 1 and _is_verb(words[end])))
        ):
            end += 1
        if end == i + 1 or (end < len(words) and _is_name(words[end])):
            continue
        if end + 1 < len(words) and words[end] == "of" and words[end + 1] in _OF_NOUNS:
            end += 2
        start = i - 1
        if start > 0 and words[start - 1] == "the":
            start -= 1
        owner, noun = words[start:i], words[i + 1 : end]
        ask = (_wh(noun), "is", "the", *noun, "of", *owner)
        return _Split(ask, (*words[:start], _SLOT, *words[end:]))
    return None


def _of(words: tuple[str, ...], asked: int) -> _Split | None:
    """The last "noun of Name": "the director of Big Eyes"."""
    for i in range(len(words) - 2, 0, -1):
        if words[i] != "of":
            continue
        first = i + 2 if words[i + 1] == "the" and i + 2 < len(words) else i + 1
        if not _is_name(words[first]):
            continue
        end = first + 1
        if (
            end < len(words)
            and _is_word(words[end])
            and words[end] not in _STOPS
            and (first - 1 == i or end + 1 < len(words))
            and not _verb_follows(words, end)
        ):
            continue
        head = _head(words, i)
        if head is None:
            continue
        start, noun = head
        if words[noun] in _OF_NOUNS and noun == i - 1 and words[start - 1] == "of":
            outer = _head(words, start - 1)
            if outer is None:
                continue
            start, noun = outer
        named = words[noun:i]
        if words[start] in ("a", "an") or named[-1] in _EMPTY_NOUN | _APPOSED:
            continue
        if named[-1].endswith("ing") or (noun <= asked and asked - start < 2):
            continue
        before = words[start - 1] if start > 0 else ""
        stated = before in ("is", "are", "was", "were", ",") and (asked > start or start == noun)
        if before == "as" or stated:
            continue
        ask = (_wh(named), "is", "the", *named, "of", *words[i + 1 : end])
        return _Split(ask, (*words[:start], _SLOT, *words[end:]))
    return None


def _asked_of(words: tuple[str, ...], asked: int) -> _Split | None:
    """A statement that ends "... noun of/from what noun": its noun is asked for first."""
    if asked < 4 or words[asked - 1] not in _PREPOSITION:
        return None
    head = _head(words, asked - 1)
    if head is None:
        return None
    start, noun = head
    named = words[noun : asked - 1]
    if named[-1] not in _PEOPLE or words[start] not in _DETERMINER:
        return None
    turned = _turned(words, start, noun, asked - 1, asked - 2)
    if turned is None:
        return None
    role = named if words[asked - 1] == "of" else ()
    return _Split(turned.ask, (_SLOT, "is", *role, *words[asked - 1 :]), turned=True)


def _verb_follows(words: Sequence[str], at: int) -> bool:
    """Whether a bare word after a name ends its phrase: "... of Name attend"."""
    return at + 1 == len(words) or words[at + 1] in _PREPOSITION | _DETERMINER


def _clause_end(words: Sequence[str], asked: int, start: int, at: int) -> int:
    """Where a clause that begins at ``at`` ends; its noun phrase begins at ``start``.

    A noun phrase right after the auxiliary of the question, or first in it, is the subject: its
    clause ends before the verb of the question, at the first plain word that follows a name or
    the clause's own verb.
    """
    before = words[start - 1] if start > 0 else ""
    subject = (
        start == 0
        or before == "when"
        or (before in _AUXILIARY and not (before == "is" and words[asked] == "what"))
    )
    objective = at < len(words) and (_is_name(words[at]) or words[at] in _DETERMINER)
    verb = -1
    for j in range(at, len(words)):
        word = words[j]
        if word in ".;" or (word == "," and j > at):
            return j
        second = j > at and word in ("is", "was", "are", "were") and 0 <= verb < j - 1
        if second and objective and not any(w in _JOINING for w in words[verb:j]):
            return j
        if j + 1 >= len(words):
            break
        following = words[j + 1]
        if verb < 0 and (
            _is_verb(word)
            or (
                objective
                and j > at
                and _is_word(word)
                and _is_name(words[j - 1])
                and word not in _STOPS
            )
        ):
            verb = j
        plain = (
            _is_word(following)
            and following not in _PREPOSITION | _DETERMINER
            and following not in _SUBORDINATE
            and following not in ("and", "or", "which", "who")
        )
        if not plain:
            continue
        if word in _PARTICIPLE and words[j - 1] in ("is", "was", "are", "were"):
            return j + 1
        if not subject or (following in _AUXILIARY and verb < 0):
            continue
        opens = _is_name(word) and words[j - 1] in _SUBORDINATE and j > at
        if (_is_name(word) and (verb >= 0 or not objective) and not opens) or (
            objective and j == verb and word not in _AUXILIARY
        ):
            return j + 1
    return len(words)


def _is_verb(word: str) -> bool:
    return word in _AUXILIARY or word in _NOT_NOUN or word in _PARTICIPLE or word.endswith("ed")


def _anchored(clause: Sequence[str]) -> bool:
    content = [w for w in clause if _is_word(w) and w not in STOP_WORDS]
    named = any(_is_name(w) for w in clause)
    return (named and len(clause) > 1) or len(content) >= 3


def _wh(noun: Sequence[str]) -> str:
    return "who" if noun[-1].rstrip("s") in _PEOPLE else "what"
