"""What a question asks for: its form, the type and head noun of the answer, its relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import regex

from core.reasoning.extractive.lexicon import asking, head_types, words
from core.retrieval.tokenizer import STOP_WORDS, Token, stem, tokenize

Form = Literal["span", "yes_no", "choice"]
Kind = Literal["person", "place", "org", "work", "date", "number", "nationality", "language", "any"]
Life = Literal["", "birth", "death"]
Wh = Literal["who", "when", "where", "what", "which", "how_many", "how", "why", "none"]

_WH = frozenset(["who", "whom", "whose", "when", "where", "what", "which", "how", "why"])
_SHORT = {"whats": "what", "whos": "who", "whens": "when", "wheres": "where", "whose": "who"}
_MEASURE = {
    "many": "number",
    "much": "number",
    "tall": "number",
    "high": "number",
    "old": "number",
    "long": "number",
    "far": "number",
    "large": "number",
    "big": "number",
    "deep": "number",
    "wide": "number",
    "fast": "number",
    "often": "number",
    "soon": "number",
    "heavy": "number",
    "quickly": "number",
    "frequently": "number",
    "expensive": "number",
    "small": "number",
    "short": "number",
    "late": "number",
    "low": "number",
    "thick": "number",
    "hot": "number",
    "cold": "number",
}
_TYPE_NOUNS = frozenset(
    [
        "kind",
        "type",
        "sort",
        "form",
        "name",
        "names",
        "example",
        "examples",
        "part",
        "one",
        "member",
        "family",
        "term",
        "word",
    ]
)
_TYPES = frozenset(["kind", "type", "sort", "genre", "category", "class"])
_BIRTH = frozenset(["born", "birth", "birthday", "birthdate", "old", "age", "birthplace"])
_DEATH = frozenset(["die", "died", "death", "dead", "buried"])
_SCHOOLING = frozenset(
    ["university", "college", "school", "study", "studied", "educated", "graduate"]
)
_OR = regex.compile(r"\bor\b", regex.IGNORECASE)
_EITHER = regex.compile(
    r"\bbetween\b.+\band\b.+,\s*(?:which|who|what)\b|\b(?:which|who|what)\b.+\bbetween\b.+\band\b",
    regex.IGNORECASE,
)
_RUN = regex.compile(
    r"\bwhat\b(?: \w+){0,3} (?:run|type|execute|enter|issue)"
    r"(?: first| next| then)?(?: (?:to|in|on|for|when|if|after|before)\b.*)?\s*\?*\s*$",
    regex.IGNORECASE,
)
"""What is run is a command, though none is named."""
_CLAUSE = regex.compile(r"[.!?]\s+(?=\S)")
MAX_HEAD_TOKENS = 6


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question read by rules.

    ``kind``: the answer's type, ``any`` where nothing tells; ``head``: stems of the noun that the
    answer is one of ("which *river*", "who is the *captain*"); ``phrase``: stems of the whole
    wh-phrase; ``measure``: the stem after "how many/much" or of a measured quality;
    ``wants_name``: asks what something is called; ``cloze``: a statement to be completed;
    ``plural``: asks for several; ``type_of``: for a kind of something, not its name; ``counts``:
    how many there are; ``life``: whether it turns on a birth or a death; ``span``: token range of
    the wh-phrase.
    """

    form: Form
    wh: Wh
    kind: Kind
    head: frozenset[str]
    phrase: frozenset[str]
    measure: str
    wants_name: bool
    cloze: bool
    plural: bool
    type_of: bool
    counts: bool
    life: Life
    span: tuple[int, int]


@lru_cache(maxsize=1_024)
def analyse(question: str) -> Analysis:
    """Read a question. Never raises: a text that is no question is one of form ``span``."""
    tokens = [t._replace(surface=asking().get(t.surface, t.surface)) for t in tokenize(question)]
    at = _wh_position(question, tokens)
    wh = _wh(tokens, at)
    form = _form(question, tokens, at)
    phrase, end = _phrase(question, tokens, at) if at is not None else ([], 0)
    head, kind = _head(tokens, at, wh, phrase, end)
    measure = ""
    if wh in ("how", "how_many") and at is not None and at + 1 < len(tokens):
        measure = tokens[at + 2].term if wh == "how_many" and at + 2 < len(tokens) else ""
        measure = measure or tokens[at + 1].term
    surfaces = [t.surface for t in tokens]
    named = {"called", "named", "name", "known", "termed", "nickname", "nicknamed", "titled"}
    return Analysis(
        form=form,
        wh=wh,
        kind=kind,
        head=frozenset(head),
        phrase=frozenset(t.term for t in phrase if t.surface not in STOP_WORDS),
        measure=measure,
        wants_name=bool(named & set(surfaces)),
        cloze=at is None and form == "span",
        plural=_plural(tokens, phrase, at),
        type_of=not _TYPES.isdisjoint(surfaces[at or 0 : (at or 0) + 4]),
        counts="many" in surfaces[at or 0 : (at or 0) + 2],
        life="birth" if _BIRTH & set(surfaces) else "death" if _DEATH & set(surfaces) else "",
        span=(at or 0, end),
    )


def _wh_position(question: str, tokens: Sequence[Token]) -> int | None:
    """The token that asks; a relative pronoun is passed over where another word asks."""
    best, where = 0.0, None
    last = len(tokens) - 1
    for i, token in enumerate(tokens):
        surface = token.surface
        if surface not in _WH and surface not in _SHORT:
            continue
        before = tokens[i - 1].surface if i else ""
        gap = question[tokens[i - 1].end : token.start] if i else ""
        after = tokens[i + 1].surface if i < last else ""
        starts = i == 0 or any(c in gap for c in ".!?:")
        score = 1.0
        if starts:
            score += 4.0
        elif before in words("grammar", "prepositions") and (
            i == 1 or surface == "what" or after not in words("grammar", "auxiliaries")
        ):
            score += 4.5 if i == 1 else 2.0
        if i == last:
            score += 3.0
        if surface in ("what", "how"):
            score += 1.5
        elif surface == "which" and after and after not in words("grammar", "auxiliaries"):
            score += 0.5
        if "," in gap and after in words("grammar", "auxiliaries") and surface != "which":
            score += 1.0
        if "," in gap and surface != "what" and _OR.search(question[: token.start]):
            score += 1.0
        if "," in gap and tokens[0].surface == "between":
            score += 2.0
        if starts and surface in ("when", "where", "while") and "," in question[token.end :]:
            score -= 1.0
        if surface == "how" and after in _MEASURE:
            score += 1.0
        letter = question[token.start]
        if letter.upper() == letter.lower():  # a script whose words that ask stay in their place
            score += 2.0
        if score > best:
            best, where = score, i
    if where is not None and best < 2.0 and where > 0:
        after = tokens[where + 1].surface if where < last else ""
        if tokens[where].surface != "what" and after:
            return None
    return where


def _wh(tokens: Sequence[Token], at: int | None) -> Wh:
    if at is None:
        return "none"
    surface = _SHORT.get(tokens[at].surface, tokens[at].surface)
    if surface == "how":
        return "how_many" if at + 1 < len(tokens) and tokens[at + 1].surface in _MEASURE else "how"
    if surface in ("whom", "whose"):
        return "who"
    forms: dict[str, Wh] = {
        "who": "who",
        "when": "when",
        "where": "where",
        "what": "what",
        "which": "which",
        "why": "why",
    }
    return forms[surface]


def _form(question: str, tokens: Sequence[Token], at: int | None) -> Form:
    sentence_starts = [0, *(m.end() for m in _CLAUSE.finditer(question))]
    opening = next((t for t in tokens if t.start >= sentence_starts[-1]), None)
    aux = opening is not None and opening.surface in words("grammar", "auxiliaries")
    has_or = _OR.search(question) is not None
    picks = at is not None and tokens[at].surface in ("who", "which", "what")
    if (has_or and (aux or picks)) or (picks and _EITHER.search(question) is not None):
        return "choice"
    asks = at is not None and (
        tokens[at].surface == "what"
        or tokens[at - 1].surface
        in words("grammar", "prepositions") | words("grammar", "past_verbs")
    )
    if aux and not asks:
        return "yes_no"
    return "span"


def _phrase(question: str, tokens: Sequence[Token], at: int) -> tuple[list[Token], int]:
    """The tokens after the wh-word up to a verb, preposition or break, and where they end."""
    surface = _SHORT.get(tokens[at].surface, tokens[at].surface)
    if surface not in ("what", "which", "how", "who"):
        return [], at + 1
    stop = words("grammar", "auxiliaries") | words("grammar", "prepositions")
    stop |= words("grammar", "past_verbs") | words("grammar", "determiners") | _WH
    stop |= words("grammar", "pronouns")
    found: list[Token] = []
    i = at + 1
    if surface == "who":
        return [], i
    if surface == "how" and i < len(tokens) and tokens[i].surface in _MEASURE:
        i += 1
    while i < len(tokens) and len(found) < MAX_HEAD_TOKENS:
        token = tokens[i]
        gap = question[tokens[i - 1].end : token.start]
        if any(c in gap for c in ",.;:?") or (token.surface in stop and token.surface != "of"):
            break
        if token.surface == "of":
            if not (found and found[-1].surface in _TYPE_NOUNS):
                break
            found.clear()
        else:
            found.append(token)
        i += 1
    if len(found) > 1 and i < len(tokens) and tokens[i].surface in words("grammar", "determiners"):
        found.pop()
    while len(found) > 1 and found[-1].surface.endswith("ed"):
        found.pop()
    return found, i


def _head(
    tokens: Sequence[Token], at: int | None, wh: Wh, phrase: list[Token], end: int
) -> tuple[list[str], Kind]:
    """Stems of the head noun and the type that it, or else the wh-word, asks for."""
    fixed: dict[Wh, Kind] = {"who": "person", "when": "date", "where": "place"}
    head: list[str] = []
    kind: Kind = fixed.get(wh, "any")
    if wh == "how_many":
        plurals = [t.term for t in phrase if t.surface.endswith("s")]
        return plurals[-1:] or [t.term for t in phrase[-1:]], "number"
    if wh == "where" and not _SCHOOLING.isdisjoint(t.surface for t in tokens):
        return [], "org"
    if wh in ("when", "where", "why", "how"):
        return [], kind
    timed = phrase and phrase[-1].surface == "time"
    if timed and at and tokens[at - 1].surface in ("within", "after"):
        return ["time"], "number"
    source = phrase or (_after_copula(tokens, end) if at is not None else _cloze_subject(tokens))
    typed = _code_word(source)
    if typed and wh != "who":  # "command" has the stem of "commander"
        return [typed[0].term], "any"
    if [t.surface for t in source[-2:]] in (["longest", "time"], ["shortest", "time"]):
        return ["time"], "number"
    known = [t for t in source if t.term in head_types()]
    if known:
        head = [known[-1].term]
        if kind == "any":
            kind = _typed(known[-1].term)
    elif source:
        head = [source[-1].term]
    return head, kind


@lru_cache(maxsize=1_024)
def code_asked(question: str) -> str:
    """The form of the code that a question asks for (a key of the lexicon's ``code``): "which
    file", "what command", "what do I run"; empty where it asks for none."""
    tokens = tokenize(question)
    at = _wh_position(question, tokens)
    if at is None or tokens[at].surface not in ("what", "which", "whats"):
        return ""
    phrase, end = _phrase(question, tokens, at)
    typed = _code_word(phrase or _after_copula(tokens, end))
    if typed:
        return typed[1]
    return "command" if _RUN.search(question) else ""


def _code_word(source: Sequence[Token]) -> tuple[Token, str] | None:
    """The word of a noun phrase that asks for code, and its form: the last, or one that a verb
    seems to follow ("which command starts it")."""
    for i, token in enumerate(source):
        rest = source[i + 1 :]
        verb = rest and rest[0].surface.endswith("s") and not token.surface.endswith("s")
        for form in ("command", "file", "flag", "setting", "any"):
            if token.surface in words("code", form) and (not rest or verb):
                return token, form
    return None


def _typed(term: str) -> Kind:
    kinds: dict[str, Kind] = {
        "person": "person",
        "place": "place",
        "org": "org",
        "work": "work",
        "date": "date",
        "number": "number",
        "nationality": "nationality",
        "language": "language",
    }
    return kinds[head_types()[term]]


def _after_copula(tokens: Sequence[Token], start: int) -> list[Token]:
    """In "what is the NOUN of ...", "who was the NOUN that ...": the noun phrase's tokens."""
    i = start
    copulas = ("is", "are", "was", "were", "s")
    if i >= len(tokens) or tokens[i].surface not in copulas:
        return []
    i += 1
    found: list[Token] = []
    stop = words("grammar", "auxiliaries") | words("grammar", "prepositions") | _WH
    stop |= words("grammar", "pronouns") | words("grammar", "past_verbs")
    if i >= len(tokens) or tokens[i].surface not in words("grammar", "determiners"):
        return []
    i += 1
    while i < len(tokens) and len(found) < MAX_HEAD_TOKENS:
        token = tokens[i]
        if token.surface == "of" and found and found[-1].surface in _TYPE_NOUNS:
            found.clear()
            while i + 1 < len(tokens) and (
                tokens[i + 1].surface in words("grammar", "determiners")
            ):
                i += 1
        elif token.surface in stop:
            break
        else:
            found.append(token)
        i += 1
    return found


def _cloze_subject(tokens: Sequence[Token]) -> list[Token]:
    """The first noun phrase of a statement that the answer completes."""
    found: list[Token] = []
    stop = words("grammar", "auxiliaries") | words("grammar", "prepositions") | _WH
    for token in tokens:
        if token.surface in ("name", "list", "tell", "give", "find") and not found:
            continue
        if token.surface in words("grammar", "determiners") and not found:
            continue
        if token.surface in stop:
            if token.surface == "of" and found and found[-1].surface in _TYPE_NOUNS:
                found.clear()
                continue
            break
        found.append(token)
        if len(found) == MAX_HEAD_TOKENS:
            break
    return found


def _plural(tokens: Sequence[Token], phrase: list[Token], at: int | None) -> bool:
    if phrase:
        last = phrase[-1].surface
        return last.endswith("s") and not last.endswith("ss") and stem(last) != last
    return at is not None and at + 1 < len(tokens) and tokens[at + 1].surface in ("are", "were")
