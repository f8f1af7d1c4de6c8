"""What passages name: entities, by capitals and codes, and mentions of other documents' titles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import regex

from core.reasoning.extractive.lexicon import country_of
from core.retrieval.sentences import sentence_spans
from core.retrieval.titles import TitleIndex, aliases
from core.retrieval.tokenizer import STOP_WORDS, Token, tokenize
from core.types import Passage

CONNECTORS = frozenset("of the de la le del della di da do du van von der den el al y bin".split())
ARTICLES = ("the ", "a ", "an ")
INITIALS = frozenset("st")
"""Stop words (what is left of "it's" and "don't") that in capitals are initials."""
CALENDAR = frozenset(
    """january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter
    today tomorrow yesterday""".split()
)
_PARENTHETICAL = regex.compile(r"\s*\([^()]*\)$")
MAX_NAME = 8
"""Words of a name at most; a longer run of capitals is a heading."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Characters ``start:end`` of the passage's text and its content terms."""

    start: int
    end: int
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Named:
    """What a passage names: entity keys and how each is written, the keys of its own title, and
    its sentences."""

    entities: dict[str, str]
    own: tuple[str, ...]
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of capitals as it was found: its tokens, and whether it opens a sentence."""

    tokens: tuple[Token, ...]
    opens: bool


def title_keys(title: str) -> tuple[str, ...]:
    """Keys that a title is named by, articles left out."""
    return tuple(dict.fromkeys(_bare(alias) for alias in aliases(title)))


def shown(title: str) -> str:
    """A title on one line."""
    return " ".join(title.replace("_", " ").split())


def bare_title(title: str) -> str:
    """A title without its parenthetical, as a name."""
    line = shown(title)
    return _PARENTHETICAL.sub("", line) or line


def names_of(passages: Sequence[Passage], step: Callable[[int], None]) -> list[Named]:
    """What each passage names. A word that only opens sentences is a name where the corpus
    writes it with a capital elsewhere too, or it is a title. ``step`` is told how many are read.
    """
    titles = TitleIndex(p.title for p in passages)
    known = {key for p in passages for key in title_keys(p.title)}
    read: list[tuple[list[_Run], list[tuple[str, str]], tuple[Sentence, ...]]] = []
    inside: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    for done, passage in enumerate(passages):
        step(done)
        tokens = tokenize(passage.text)
        sentences = _sentences(passage.text, tokens)
        runs = list(_runs(passage.text, _spoken(passage.text, tokens, sentences), sentences))
        mentions = [
            (_bare(alias), passage.text[start:end])
            for start, end, alias in titles.find(passage.text, tokens)
        ]
        inside.update({_key(run.tokens) for run in runs if not run.opens})
        lower.update({t.surface for t in tokens if passage.text[t.start].islower()})
        read.append((runs, mentions, sentences))
    found = []
    for passage, (runs, mentions, sentences) in zip(passages, read, strict=True):
        entities: dict[str, str] = {}
        for key, written in mentions:
            if _names(key):
                entities.setdefault(key, _without_article(written))
        for run in runs:
            for tokens_of in _readings(run, inside, known):
                key = _key(tokens_of)
                common = " " not in key and lower[key] > inside[key] and key not in known
                if _names(key) and not common:
                    written = passage.text[tokens_of[0].start : tokens_of[-1].end]
                    entities.setdefault(key, " ".join(written.split()))
        own = tuple(key for key in title_keys(passage.title) if key)
        entities = _whole(entities, own)
        for key in own[:1]:
            entities[key] = bare_title(passage.title)
        found.append(Named(entities, own, sentences))
    step(len(passages))
    return found


@lru_cache(maxsize=4_096)
def read_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a passage's text."""
    return _sentences(text, tokenize(text))


def _sentences(text: str, tokens: Sequence[Token]) -> tuple[Sentence, ...]:
    found = []
    place = 0
    for start, end in sentence_spans(text):
        terms = set()
        while place < len(tokens) and tokens[place].start < end:
            if tokens[place].surface not in STOP_WORDS:
                terms.add(tokens[place].term)
            place += 1
        found.append(Sentence(start, end, frozenset(terms)))
    return tuple(found)


def is_heading(line: str) -> bool:
    """Whether a sentence is a Markdown heading."""
    return line.startswith("#")


def _spoken(text: str, tokens: Sequence[Token], sentences: Sequence[Sentence]) -> list[Token]:
    """Tokens outside headings, whose capitals say little."""
    headings = [(s.start, s.end) for s in sentences if is_heading(text[s.start : s.start + 1])]
    if not headings:
        return list(tokens)
    return [t for t in tokens if not any(a <= t.start < b for a, b in headings)]


def _runs(text: str, tokens: Sequence[Token], sentences: Sequence[Sentence]) -> Iterator[_Run]:
    """Runs of capitalised words with connectors inside, short numbers after, and codes."""
    opening = {sentence.start for sentence in sentences}
    run: list[Token] = []
    pending: list[Token] = []
    for before, token in pairwise([None, *tokens]):
        assert token is not None
        apart = before is not None and text[before.end : token.start] not in (" ", "-", "\u00a0")
        first = text[token.start]
        if apart or token.start in opening:
            yield from _closed(run, opening)
            run, pending = [], []
        if first.isupper() or _is_code(token.surface):
            run = [*run, *pending, token]
            pending = []
        elif run and token.surface in CONNECTORS and len(pending) < 2:
            pending.append(token)
        elif run and not pending and token.surface.isdigit() and len(token.surface) <= 2:
            run.append(token)
        else:
            yield from _closed(run, opening)
            run, pending = [], []
    yield from _closed(run, opening)


def _closed(run: list[Token], opening: set[int]) -> Iterator[_Run]:
    opens = bool(run) and run[0].start in opening
    while (
        run and run[0].surface in STOP_WORDS and (len(run[0].surface) > 1 or run[0].surface in "ai")
    ):
        run, opens = run[1:], False
    if run and len(run) <= MAX_NAME:
        yield _Run(tuple(run), opens)


def _readings(run: _Run, inside: Counter[str], known: set[str]) -> list[tuple[Token, ...]]:
    """What a run names: itself, or, at the start of a sentence, what the rest of the corpus
    bears out of it."""
    key = _key(run.tokens)
    if not run.opens or key in known or inside[key] or _is_code(key):
        return [run.tokens]
    if len(run.tokens) == 1:
        return []
    rest = run.tokens[1:]
    while rest and rest[0].surface in CONNECTORS:
        rest = rest[1:]
    bears = rest and (inside[_key(rest)] or _key(rest) in known)
    return [rest] if bears else [run.tokens]


def _whole(entities: dict[str, str], own: Sequence[str]) -> dict[str, str]:
    """Entities by key; a single word that ends or begins a longer one of the same passage, or
    its title, is that one ("Bettany" beside "Paul Bettany")."""
    longer = [key.split() for key in (*entities, *own) if " " in key]
    ends = {part for words in longer for part in (words[0], words[-1])}
    return {k: v for k, v in sorted(entities.items()) if " " in k or k not in ends}


def _key(tokens: Sequence[Token]) -> str:
    return " ".join(token.surface for token in tokens)


def _bare(key: str) -> str:
    for article in ARTICLES:
        if key.startswith(article) and len(key) > len(article):
            return key[len(article) :]
    return key


def _without_article(name: str) -> str:
    first, _, rest = name.partition(" ")
    return rest if rest and first.lower() in ("the", "a", "an") else name


def _is_code(surface: str) -> bool:
    """Whether it is an identifier: letters first, then digits."""
    return len(surface) >= 3 and surface[0].isalpha() and any(c.isdigit() for c in surface)


def _names(key: str) -> bool:
    """Whether a key says more than a date, a number, a nationality or a stop word."""
    words = key.split()
    if key in country_of() and key != country_of()[key]:
        return False
    telling = [w for w in words if not (w.isdigit() or w in CALENDAR or w in STOP_WORDS)]
    return bool(telling) and (len(words) > 1 or len(key) >= 3 or not key.isascii())
