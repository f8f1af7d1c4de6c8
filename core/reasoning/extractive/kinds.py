"""What kind of thing a name is: person, place, organisation, work, nationality, language.

Evidence is the name's own words (closed lists), the words beside it, and, for a passage's title,
what the passage's first sentence says that it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from core.reasoning.extractive.features import PassageParse
from core.reasoning.extractive.lexicon import head_types, words
from core.reasoning.extractive.question import Kind
from core.retrieval.tokenizer import Token

Kinds = dict[Kind, float]
STRONG, WEAK = 1.0, 0.5

_OCCUPATION_KINDS = ("person", "org", "work", "place")


@cache
def _places() -> frozenset[str]:
    return frozenset().union(*(words("names", n) for n in ("countries", "states", "us_states")))


@cache
def _place_phrases() -> frozenset[str]:
    lists = ("country_phrases", "state_phrases", "us_state_phrases")
    return frozenset().union(*(words("names", n) for n in lists))


@cache
def _lone_places() -> frozenset[str]:
    return _places().union(words("names", "cities"), words("names", "continents"))


@lru_cache(maxsize=16_384)
def name_kinds(key: str) -> Kinds:
    """Kinds of a name by its own words alone: kind -> strength in {.5, 1}; empty: unknown."""
    parts = key.split()
    if not parts:
        return {}
    found: Kinds = {}
    first, last = parts[0], parts[-1]
    if key in _place_phrases():
        return {"place": STRONG}
    if len(parts) == 1:
        if key in _lone_places():
            found["place"] = STRONG
        if key in words("names", "demonyms"):
            found["nationality"] = STRONG
        if key in words("names", "languages"):
            found["language"] = STRONG
        if key in words("names", "first"):
            found.setdefault("person", WEAK)
        if key in words("time", "months") or key in words("time", "weekdays"):
            found["date"] = STRONG
        return found
    lettered = all(p.isalpha() and len(p) > 1 for p in parts)
    if last in words("names", "org_suffixes") or first in ("university", "bank", "ministry"):
        found["org"] = STRONG
    elif last in words("names", "place_suffixes") or first in ("lake", "mount", "river", "fort"):
        found["place"] = STRONG
    elif (
        first in words("names", "person_titles")
        or last in words("names", "person_suffixes")
        or (first in words("names", "first") and len(parts) <= 5)
        or (len(first) == 1 and first.isalpha() and len(parts) <= 4)
    ):
        found["person"] = STRONG
    elif last in _places() and len(parts) <= 4:
        found["place"] = STRONG
    elif len(parts) <= 3 and lettered:
        found["person"] = WEAK
    return found


@cache
def _members(head: str) -> frozenset[str]:
    """The closed list that the head noun of a question names; empty: there is none."""
    lists = {
        "countri": ("countries", "country_phrases"),
        "nation": ("countries", "country_phrases"),
        "state": ("us_states", "us_state_phrases", "states", "state_phrases"),
        "provinc": ("states", "state_phrases"),
        "contin": ("continents",),
        "languag": ("languages",),
    }
    return frozenset().union(*(words("names", n) for n in lists.get(head, ())))


def listed(key: str, heads: Iterable[str]) -> float:
    """1 if the name is of the closed list that a head noun names ("which *country*"), -1 if
    it is not; 0 for no list."""
    known = [m for m in (_members(h) for h in heads) if m]
    if not known:
        return 0.0
    return 1.0 if any(key in m for m in known) else -1.0


def context_kind(tokens: Sequence[Token], first: int, last: int) -> tuple[Kind | None, Kind | None]:
    """What the common nouns just before and just after ``tokens[first:last]`` say that it is:
    "film **X**", "**X** County", "the drummer **X**"."""
    before = after = None
    if first > 0:
        before = _noun_kind(tokens[first - 1])
    if last < len(tokens):
        after = _noun_kind(tokens[last])
    return before, after


def _noun_kind(token: Token) -> Kind | None:
    kind = head_types().get(token.term)
    if kind is None and token.surface in words("names", "person_titles"):
        kind = "person"
    return kind  # type: ignore[return-value]


def title_kinds(parsed: PassageParse) -> Kinds:
    """What the passage says its title is, in the first sentence: "TITLE is a ... NOUN".

    The noun phrase after the first copula and article is read up to a preposition, comma or
    relative pronoun; its last known noun tells. Life dates in brackets tell a person.
    """
    found = dict(name_kinds(parsed.aliases[0] if parsed.aliases else ""))
    title = parsed.title.lower()
    if "(film)" in title or title.endswith(("film)", "song)", "album)", "series)", "novel)")):
        return {"work": STRONG}
    said = _said(parsed)
    if said is not None:
        return {said: STRONG}
    return found


def _said(parsed: PassageParse) -> Kind | None:
    if not parsed.sentences:
        return None
    sentence = parsed.sentences[0]
    tokens = parsed.tokens[sentence.first : sentence.last]
    head = parsed.text[sentence.start : sentence.end]
    copula = next(
        (i for i, t in enumerate(tokens[:40]) if t.surface in ("is", "was", "are", "were")), None
    )
    kind: str | None = None
    if copula is not None:
        stop = words("grammar", "prepositions") | words("grammar", "pronouns") | {"and", "or"}
        for i in range(copula + 1, min(copula + 14, len(tokens))):
            token = tokens[i]
            if token.surface in stop and not (token.surface == "of" and kind is None):
                break
            gap = parsed.text[tokens[i - 1].end : token.start]
            if "," in gap and kind is not None:
                break
            kind = head_types().get(token.term, kind)
    if kind in _OCCUPATION_KINDS:
        return kind  # type: ignore[return-value]
    if "born" in head[:200].lower() and "(" in head:
        return "person"
    return None
