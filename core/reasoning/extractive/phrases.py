"""Word classes by closed lists, and the phrases of a masked question.

A question is a sequence of words in which each name is one private-use character and an earlier
answer is a slot, ``#1``.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.retrieval.tokenizer import STOP_WORDS

FIRST_MASK = 0xE000
LAST_MASK = 0xF8FF


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


INTERROGATIVE = _set("who whom whose what which when where why how")
RELATIVE = _set("who whom whose which that where")
DETERMINER = _set("the a an this these those his her its their another")
PREPOSITION = _set(
    """in on at of for from to by with under during into after before as about near behind against
    around between inside outside through along besides since until within without over per"""
)
AUXILIARY = _set(
    """is are was were be been being has have had do does did will would can could should may
    might must"""
)
PRONOUN = _set("he she it they we you i there him them")
NOT_NOUN = _set(
    """began begins become becomes became went goes came comes led won wins plays play played stars
    took take takes lies lived lives died wrote writes directed published founded named sung called
    or and but when where than because also not both either if then"""
)
STOPS = PREPOSITION | AUXILIARY | PRONOUN | INTERROGATIVE | DETERMINER | NOT_NOUN
DANGLING = _set("in from of to at on by with for after")
PARTICIPLE = _set(
    """located situated born found held based set formed founded made produced directed written
    played released published recorded built created discovered killed buried raised educated
    drafted licensed named called known shot filmed signed headquartered stationed sung won led
    voiced owned run developed designed composed performed starring featuring containing including
    allowing carrying bordering organised organized sponsored behind"""
)
PEOPLE = _set(
    """actor actress author writer singer director composer producer artist musician person man
    woman player politician president king queen founder drummer guitarist wife husband spouse
    mother father son daughter brother sister performer painter character driver coach leader
    poet novelist screenwriter creator inventor mayor senator minister pianist bassist winner
    star voice butler songwriter nurse teacher doctor architect mathematician physicist scientist
    comedian model"""
)
EMPTY_NOUN = _set(
    """kind type sort number amount name part list percentage share lot member citizen instance one
    some many most all each any none rest end half"""
)
APPOSED = _set("city town village state county province district island region republic river")
OF_NOUNS = _set("birth origin death residence citizenship")
SUBORDINATE = _set("when while before after where that because if as")
JOINING = SUBORDINATE | {"and", "to"}
MAX_HEAD = 5


def is_name(word: str) -> bool:
    """Whether the word is a masked name or a slot."""
    return (len(word) == 1 and FIRST_MASK <= ord(word) <= LAST_MASK) or word.startswith("#")


def is_word(word: str) -> bool:
    """Whether it is a plain word or number, not punctuation."""
    return word[0].isalnum() and not is_name(word)


def compares(words: Sequence[str]) -> bool:
    """Whether the question sets two things beside each other; those are not nested."""
    if words and words[0] in AUXILIARY:
        return True
    return any(
        word == "or" and is_name(words[i + 1]) and any(is_name(w) for w in words[max(0, i - 2) : i])
        for i, word in enumerate(words[:-1])
    ) or any(
        w == "or" and is_name(words[i + 2]) and words[i + 1] == "the"
        for i, w in enumerate(words[:-2])
    )


def asked_at(words: Sequence[str]) -> int:
    """Index of the word that asks; -1 if none."""
    places = [i for i, w in enumerate(words) if w in INTERROGATIVE]
    for i in places:
        opens = i == 0 or (i == 1 and words[0] in PREPOSITION) or words[i - 1] in ".;"
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


def says(words: Sequence[str]) -> bool:
    """Whether the words ask anything of the slot: "who is #1" does not."""
    return any(
        (is_word(w) and w not in STOP_WORDS and w not in EMPTY_NOUN)
        or (is_name(w) and not w.startswith("#"))
        for w in words
    )


def head_before(words: Sequence[str], end: int) -> tuple[int, int] | None:
    """The noun phrase that ends before ``end``: (with its determiner, first word of the noun)."""
    first = end
    while (
        first > 0
        and end - first < MAX_HEAD
        and (
            is_name(words[first - 1])
            or (is_word(words[first - 1]) and words[first - 1] not in STOPS)
        )
    ):
        first -= 1
    if first == end or not is_word(words[end - 1]):
        return None
    if first > 0 and words[first - 1] in DETERMINER:
        return first - 1, first
    if first == 0:
        return first, first
    while first < end - 1 and (is_name(words[first]) or end - first > 2):
        first += 1
    return first, first


def verb_follows(words: Sequence[str], at: int) -> bool:
    """Whether a bare word after a name ends its phrase: "... of Name attend"."""
    return at + 1 == len(words) or words[at + 1] in PREPOSITION | DETERMINER


def clause_end(words: Sequence[str], asked: int, start: int, at: int) -> int:
    """Where a clause that begins at ``at`` ends; its noun phrase begins at ``start``.

    A noun phrase right after the auxiliary of the question, or first in it, is the subject: its
    clause ends before the verb of the question, at the first plain word that follows a name or
    the clause's own verb.
    """
    while start > 1 and words[start - 1] == "of" and (owner := head_before(words, start - 1)):
        start = owner[0]
    before = words[start - 1] if start > 0 else ""
    subject = (
        start == 0
        or before == "when"
        or (before in AUXILIARY and not (before == "is" and words[asked] == "what"))
    )
    objective = at < len(words) and (is_name(words[at]) or words[at] in DETERMINER)
    verb = -1
    for j in range(at, len(words)):
        word = words[j]
        if word in ".;" or (word == "," and j > at):
            return j
        second = j > at and word in ("is", "was", "are", "were") and 0 <= verb < j - 1
        if second and objective and not any(w in JOINING for w in words[verb:j]):
            return j
        if j + 1 >= len(words):
            break
        following = words[j + 1]
        if verb < 0 and (
            is_verb(word)
            or (
                objective
                and j > at
                and is_word(word)
                and is_name(words[j - 1])
                and word not in STOPS
            )
        ):
            verb = j
        plain = (
            is_word(following)
            and following not in PREPOSITION | DETERMINER
            and following not in SUBORDINATE
            and following not in ("and", "or", "which", "who")
        )
        if not plain:
            continue
        if word in PARTICIPLE and words[j - 1] in ("is", "was", "are", "were"):
            return j + 1
        if not subject or (following in AUXILIARY and verb < 0):
            continue
        opens = is_name(word) and words[j - 1] in SUBORDINATE and j > at
        if (is_name(word) and (verb >= 0 or not objective) and not opens) or (
            objective and j == verb and word not in AUXILIARY
        ):
            return j + 1
    return len(words)


def is_verb(word: str) -> bool:
    """Whether it may be a verb: an auxiliary, a listed form, or one in -ed."""
    return word in AUXILIARY or word in NOT_NOUN or word in PARTICIPLE or word.endswith("ed")


def anchored(clause: Sequence[str]) -> bool:
    """Whether a clause says enough to find something by: a name, or three content words."""
    content = [w for w in clause if is_word(w) and w not in STOP_WORDS]
    named = any(is_name(w) for w in clause)
    return (named and len(clause) > 1) or len(content) >= 3


def wh_for(noun: Sequence[str]) -> str:
    """ "who" for nouns of people, "what" for others."""
    return "who" if noun[-1].rstrip("s") in PEOPLE else "what"
