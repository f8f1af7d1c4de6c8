"""Kinds of descriptions inside a question, each found by its own pattern over masked words."""

from __future__ import annotations

from dataclasses import dataclass

from core.reasoning.extractive.phrases import (
    APPOSED,
    AUXILIARY,
    DANGLING,
    DETERMINER,
    EMPTY_NOUN,
    NOT_NOUN,
    OF_NOUNS,
    PARTICIPLE,
    PEOPLE,
    PREPOSITION,
    PRONOUN,
    RELATIVE,
    STOPS,
    anchored,
    clause_end,
    head_before,
    is_name,
    is_verb,
    is_word,
    says,
    verb_follows,
    wh_for,
)
from core.retrieval.tokenizer import STOP_WORDS

SLOT = "\x00"
MOST_OWNER_WORDS = 3
OWNER_PREPOSITIONS = frozenset(["in", "from", "on", "for", "behind", "at"])
ROLES = frozenset(["voice", "role", "character", "part", "player", "actor", "actress"])


@dataclass(frozen=True, slots=True)
class Split:
    """A description at ``start:end`` of the words: ``ask`` asks for it, ``rest`` asks on."""

    ask: tuple[str, ...]
    rest: tuple[str, ...]
    """The words that remain, with ``SLOT`` where the answer goes."""
    turned: bool = False
    """Whether the description holds the question word, so that ``ask`` is what surrounds it."""


def relative(words: tuple[str, ...], asked: int) -> Split | None:
    """The last relative clause: "the state (in) where/which/that ...", innermost by position."""
    for r in range(len(words) - 2, 0, -1):
        if words[r] not in RELATIVE or r == asked:
            continue
        edge = r
        if words[edge - 1] in PREPOSITION:
            edge -= 1
        if edge > 0 and words[edge - 1] == ",":
            edge -= 1
        head = head_before(words, edge)
        if head is None:
            continue
        start, noun = head
        if start == noun and not words[edge - 1].endswith("s"):
            continue
        end = clause_end(words, asked, start, r + 1)
        if r < asked < end:
            return _turned(words, start, noun, edge, r)
        clause = words[r + 1 : end]
        if not anchored(clause):
            continue
        named = words[noun:edge]
        bare = words[edge:r] if words[edge:r] != (",",) else ()
        subject = (
            words[r] in ("who", "which", "that")
            and not bare
            and clause[0] not in DETERMINER | PRONOUN
            and not is_name(clause[0])
        )
        if subject:
            ask = ("which", *named, *clause)
        elif words[r] == "whose":
            ask = ("which", *named, "'s", *clause)
        else:
            link = tuple(w for w in bare if w != ",")
            ask = ("what", "is", "the", *named, *link, words[r], *clause)
        return Split(ask, (*words[:start], SLOT, *words[end:]))
    return None


def contact(words: tuple[str, ...], asked: int) -> Split | None:
    """A relative clause without its pronoun: "the country Signmark is from"."""
    for i in range(len(words) - 3, 0, -1):
        if not (is_name(words[i]) and words[i + 1] in AUXILIARY | NOT_NOUN):
            continue
        head = head_before(words, i)
        if head is None or words[head[0]] not in ("the", "a"):
            continue
        end = clause_end(words, asked, head[0], i)
        stop = next(
            (
                j
                for j in range(i + 2, end)
                if words[j] in DANGLING
                and (j + 1 >= end or not (is_name(words[j + 1]) or words[j + 1] in DETERMINER))
            ),
            None,
        )
        if stop is None or i < asked < end:
            continue
        ask = ("what", "is", "the", *words[head[1] : stop + 1])
        return Split(ask, (*words[: head[0]], SLOT, *words[stop + 1 :]))
    return None


def reduced(words: tuple[str, ...], asked: int) -> Split | None:
    """A clause without pronoun and verb: "the film directed by ...", "the state containing ..."."""
    for i in range(len(words) - 2, 0, -1):
        if words[i] not in PARTICIPLE or words[i - 1] in AUXILIARY:
            continue
        head = head_before(words, i)
        if head is None or words[head[0]] not in DETERMINER:
            continue
        start, noun = head
        end = clause_end(words, asked, start, i)
        if i < asked < end:
            return _turned(words, start, noun, i, i - 1)
        passive = start > 0 and words[start - 1] in AUXILIARY and start - 1 == asked + 1
        if passive and not says(words[end:]):
            continue
        clause = words[i:end]
        if not any(is_name(w) for w in clause):
            continue
        link = () if words[i].endswith("ing") else ("is",) if words[i] == "behind" else ("was",)
        return Split(
            ("which", *words[noun:i], *link, *clause), (*words[:start], SLOT, *words[end:])
        )
    return None


def _turned(words: tuple[str, ...], start: int, noun: int, edge: int, pronoun: int) -> Split | None:
    """The description holds the question word: ask for its head first, then on from it."""
    before = words[:start]
    named = any(is_name(w) and not w.startswith("#") for w in before)
    if not named or not any(is_word(w) and w not in STOP_WORDS for w in before):
        return None
    tail = words[pronoun + 1 :]
    if words[pronoun] == "whose":
        tail = (SLOT, "'s", *tail)
    elif words[pronoun] == "where":
        tail = ("in", SLOT, ",", *tail)
    else:
        tail = (SLOT, *tail)
    return Split((*before, "which", *words[noun:edge]), tail, turned=True)


def possessive(words: tuple[str, ...], asked: int) -> Split | None:
    """The first possessive of a name: "Corey Taylor's city of birth"."""
    for i in range(1, len(words) - 1):
        plural = words[i] in "'’" and i > 0
        if not (words[i] in ("'s", "’s") or plural) or not is_name(words[i - 1]):
            continue
        end = i + 1
        while (
            end < len(words)
            and end - i <= 4
            and is_word(words[end])
            and (words[end] not in STOPS and not (end > i + 1 and is_verb(words[end])))
        ):
            end += 1
        if end == i + 1 or (end < len(words) and is_name(words[end])):
            continue
        if end + 1 < len(words) and words[end] == "of" and words[end + 1] in OF_NOUNS:
            end += 2
        start = i - 1
        if start > 0 and words[start - 1] == "the":
            start -= 1
        owner, noun = words[start:i], words[i + 1 : end]
        ask = (wh_for(noun), "is", "the", *noun, "of", *owner)
        return Split(ask, (*words[:start], SLOT, *words[end:]))
    return None


def of_name(words: tuple[str, ...], asked: int) -> Split | None:
    """The last "noun of Name": "the director of Big Eyes"."""
    for i in range(len(words) - 2, 0, -1):
        if words[i] != "of":
            continue
        owner = owner_at(words, i + 1)
        head = head_before(words, i)
        if owner is None or head is None:
            continue
        start, noun = head
        first, end = owner
        if words[noun:i][-1] in ROLES and end + 1 < len(words) and words[end] in ("in", "on"):
            end += 2 if is_name(words[end + 1]) else 0
        subject = start > 0 and words[start - 1] in AUXILIARY and asked < start
        if end < len(words) and is_word(words[end]) and words[end] not in STOPS:
            direct = first == i + 1 and end + 1 < len(words)
            if (direct or end + 1 < len(words)) and not (subject or verb_follows(words, end)):
                continue
        if words[noun] in OF_NOUNS and noun == i - 1 and words[start - 1] == "of":
            outer = head_before(words, start - 1)
            if outer is None:
                continue
            start, noun = outer
        named = words[noun:i]
        if words[start] in ("a", "an") or named[-1] in EMPTY_NOUN | APPOSED:
            continue
        if named[-1].endswith("ing") or (noun <= asked and asked - start < 2):
            continue
        before = words[start - 1] if start > 0 else ""
        stated = before in ("is", "are", "was", "were", ",") and (asked > start or start == noun)
        if before == "as" or stated:
            continue
        ask = (wh_for(named), "is", "the", *named, "of", *words[i + 1 : end])
        return Split(ask, (*words[:start], SLOT, *words[end:]))
    return None


def owner_at(words: tuple[str, ...], at: int) -> tuple[int, int] | None:
    """What follows "of": a name, or a thing in or from a name ("the music in Moon"); its name
    and end."""
    i = at + 1 if words[at] in ("the", "a", "an") else at
    if i < len(words) and is_name(words[i]):
        return i, i + 1
    last = min(i + MOST_OWNER_WORDS, len(words) - 1)
    while i < last and is_word(words[i]) and words[i] not in STOPS:
        i += 1
    if i == at or i + 1 >= len(words) or words[i] not in OWNER_PREPOSITIONS:
        return None
    i += 2 if words[i + 1] == "the" else 1
    return (i, i + 1) if i < len(words) and is_name(words[i]) else None


def asked_of(words: tuple[str, ...], asked: int) -> Split | None:
    """A statement that ends "... noun of/from what noun": its noun is asked for first."""
    if asked < 4 or words[asked - 1] not in PREPOSITION:
        return None
    head = head_before(words, asked - 1)
    if head is None:
        return None
    start, noun = head
    named = words[noun : asked - 1]
    if named[-1].split("-")[-1] not in PEOPLE or words[start] not in DETERMINER:
        return None
    turned = _turned(words, start, noun, asked - 1, asked - 2)
    if turned is None:
        return None
    role = named if words[asked - 1] == "of" else ()
    return Split(turned.ask, (SLOT, "is", *role, *words[asked - 1 :]), turned=True)


KINDS = (relative, contact, reduced, possessive, of_name, asked_of)
"""In the order in which they are tried."""
