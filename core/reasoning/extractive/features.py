"""One question and its passages, featurised once and shared by reading and verifying.

What depends on a passage alone (tokens, sentences, capitalised spans) is kept in a bounded cache,
so that the next question over the same passages pays for its own features only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from core.ports import FloatArray, TextView
from core.reasoning.extractive.lexicon import asking, words
from core.retrieval.sentences import sentence_spans
from core.retrieval.titles import TitleIndex, aliases
from core.retrieval.tokenizer import STOP_WORDS, Token, tokenize
from core.types import Passage

COVERAGE_WEIGHT = 0.5
"""Weight of coverage beside the cosine in a sentence's score (findings: emb + .5 cov)."""
NO_SENTENCE = -1.0
"""Score of a passage without a sentence: the least a cosine can be."""
PARSED_KEPT = 4_096
MAX_SPAN_TOKENS = 12


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CONNECTORS = _set(
    "of the and de la le du des da di del della van von der den el al bin ibn y e & for"
)
_OPENERS = (
    STOP_WORDS
    | frozenset(asking())
    | words("pronouns", "other")
    | _set("although despite since during according however another many most several one two")
)
_BINDING = frozenset(" -–.'’&/\u00a0")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start:end`` of a text, and the tokens ``first:last`` they come from."""

    start: int
    end: int
    first: int
    last: int
    key: str
    """Folded surfaces joined by blanks: equal for spellings that differ in case or accents."""


def is_name_like(text: str, token: Token) -> bool:
    """Whether a token may belong to a name: a capital first, or a letter of a caseless script."""
    first = text[token.start]
    return (
        first.isupper() or first.istitle() or (first.isalpha() and first.upper() == first.lower())
    )


def _bound(text: str, left: Token, right: Token) -> bool:
    gap = text[left.end : right.start]
    if gap.endswith("'s ") or gap.endswith("’s "):
        gap = gap[2:]
    flat = "\n" not in gap and "--" not in gap
    return len(gap) <= 3 and flat and all(c in _BINDING for c in gap)


def capitalised_spans(text: str, tokens: Sequence[Token], base: int = 0) -> list[Span]:
    """Runs of name-like tokens, numbers inside them, and connectors between them.

    A stop word or opener that merely starts the sentence is left out. ``base`` is added to the
    token indices of the result. At most ``MAX_SPAN_TOKENS`` tokens each.
    """
    found: list[Span] = []
    i, n = 0, len(tokens)
    while i < n:
        if not is_name_like(text, tokens[i]) or (
            tokens[i].surface in _OPENERS and not _titled(text, tokens, i)
        ):
            i += 1
            continue
        last = i
        j = i + 1
        while j < n and j - i < MAX_SPAN_TOKENS and _bound(text, tokens[j - 1], tokens[j]):
            if is_name_like(text, tokens[j]) or tokens[j].surface[0].isdigit():
                last = j
            elif tokens[j].surface not in _CONNECTORS or j - last > 2:
                break
            j += 1
        end = tokens[last].end
        if text[end : end + 1] == "." and tokens[last].surface in ("jr", "sr", "inc", "ltd", "co"):
            end += 1
        key = " ".join(t.surface for t in tokens[i : last + 1])
        found.append(Span(tokens[i].start, end, base + i, base + last + 1, key))
        i = last + 1
    return found


def _titled(text: str, tokens: Sequence[Token], i: int) -> bool:
    """Whether a capitalised stop word begins a name: followed by another, and not first."""
    return (
        0 < i < len(tokens) - 1
        and _bound(text, tokens[i], tokens[i + 1])
        and is_name_like(text, tokens[i + 1])
    )


def as_written(tokens: Sequence[Token]) -> list[str]:
    """The tokens' surfaces, once each; overlapping ones (pairs of characters) as one run."""
    seen: set[str] = set()
    found: list[str] = []
    end = -1
    for token in tokens:
        if token.term in seen:
            continue
        seen.add(token.term)
        if token.start < end and found:
            found[-1] += token.surface[end - token.start :]
        else:
            found.append(token.surface)
        end = max(end, token.end)
    return found


@dataclass(frozen=True, slots=True)
class SentenceParse:
    """A sentence apart from any question: characters, token range and content terms."""

    start: int
    end: int
    first: int
    last: int
    terms: frozenset[str]


class PassageParse:
    """What is read of a title and text without a question. Offsets are in the text."""

    def __init__(self, title: str, text: str) -> None:
        self.title, self.text = title, text
        self.tokens = tokenize(text)
        self.title_tokens = tokenize(title)
        self.title_terms = frozenset(
            t.term for t in self.title_tokens if t.surface not in STOP_WORDS
        ) or frozenset(t.term for t in self.title_tokens)
        self.aliases = aliases(title)
        starts = [t.start for t in self.tokens]
        sentences = []
        for start, end in sentence_spans(text):
            first, last = bisect_left(starts, start), bisect_left(starts, end)
            content = frozenset(
                t.term for t in self.tokens[first:last] if t.surface not in STOP_WORDS
            )
            sentences.append(SentenceParse(start, end, first, last, content))
        self.sentences = tuple(sentences)

    @cached_property
    def spans(self) -> tuple[tuple[Span, ...], ...]:
        """Capitalised spans of each sentence, in order."""
        return tuple(
            tuple(capitalised_spans(self.text, self.tokens[s.first : s.last], s.first))
            for s in self.sentences
        )


@lru_cache(maxsize=PARSED_KEPT)
def parse(title: str, text: str) -> PassageParse:
    """The cached parse of a passage."""
    return PassageParse(title, text)


@dataclass(frozen=True, slots=True)
class SentenceFeatures:
    """A sentence under a question.

    ``emb``: cosine of question and "title. sentence", in [-1, 1]; ``cov``: idf share of the
    question's content stems found in title or sentence, in [0, 1]; ``cov_alone``: in the sentence
    alone; ``s`` = emb + .5 cov; ``covered``: the stems behind ``cov``; ``row``: its row in
    ``Scene.vectors``.
    """

    passage: int
    index: int
    row: int
    start: int
    end: int
    parse: SentenceParse
    emb: float
    cov: float
    cov_alone: float
    s: float
    covered: frozenset[str]


@dataclass(frozen=True, slots=True)
class PassageFeatures:
    """A passage under a question.

    ``pm``: its best sentence's ``s``; ``p_rel`` = pm - best pm of the scene, at most 0;
    ``title_share``: idf share of the title's terms that the question holds, in [0, 1];
    ``question_share``: idf share of the question's terms that the title holds, in [0, 1];
    ``covered``: question stems in title or text.
    """

    index: int
    passage: Passage
    parse: PassageParse
    sentences: tuple[SentenceFeatures, ...]
    pm: float
    p_rel: float
    title_share: float
    question_share: float
    covered: frozenset[str]

    @property
    def text(self) -> str:
        """The passage's text, in which all offsets are."""
        return self.passage.text


class Scene:
    """A question and its passages with their features; see ``build_scene``.

    ``terms`` maps the question's content stems, in order, to their idf, and ``weight`` is the sum;
    ``vector`` is the question's; ``vectors`` has one row for each of ``sentences``.
    """

    def __init__(self, question: str, passages: Sequence[Passage], view: TextView) -> None:
        self.question = question
        self.view = view
        self.tokens = tokenize(question)
        content = [t.term for t in self.tokens if t.surface not in STOP_WORDS]
        self.terms = {term: view.idf(term) for term in content or [t.term for t in self.tokens]}
        self.weight = sum(self.terms.values())
        self.asked = frozenset(self.terms)
        self._passages = tuple(passages)

    def share(self, terms: frozenset[str]) -> float:
        """Idf share of the question's content stems that are among ``terms``, in [0, 1]."""
        if not self.weight:
            return 0.0
        return sum(w for term, w in self.terms.items() if term in terms) / self.weight

    @cached_property
    def entities(self) -> tuple[Span, ...]:
        """Capitalised spans of the question, and titles of the corpus that it mentions."""
        spans = capitalised_spans(self.question, self.tokens)
        taken = {(s.start, s.end) for s in spans}
        starts = [t.start for t in self.tokens]
        for start, end, alias in self.view.titles_in(self.question):
            if (start, end) not in taken:
                first, last = bisect_left(starts, start), bisect_left(starts, end)
                spans.append(Span(start, end, first, last, alias))
        return tuple(sorted(spans, key=lambda s: (s.start, -s.end)))

    def asking(self, question: str) -> Scene:
        """The same passages under another question; what does not depend on it is shared."""
        other = Scene(question, self._passages, self.view)
        other.__dict__.update(vectors=self.vectors, mentions=self.mentions, linked=self.linked)
        return other

    @cached_property
    def vector(self) -> FloatArray:
        """The question's unit vector."""
        row: FloatArray = self.view.encode([self.question])[0]
        return row

    @cached_property
    def _vectors(self) -> list[FloatArray]:
        return [self.view.sentence_vectors(p)[1] for p in self._passages]

    @cached_property
    def vectors(self) -> FloatArray:
        """Unit vectors of "title. sentence", shape (len(sentences), dimension)."""
        full = [v for v in self._vectors if len(v)]
        return np.concatenate(full) if full else np.zeros((0, len(self.vector)), dtype=np.float32)

    @cached_property
    def passages(self) -> tuple[PassageFeatures, ...]:
        """Features of the passages, in the order given."""
        cosines = (self.vectors @ self.vector).tolist()
        rows, row = [], 0
        for index, passage in enumerate(self._passages):
            parsed = parse(passage.title, passage.text)
            in_title = parsed.title_terms & self.asked
            sentences = []
            for i, s in enumerate(parsed.sentences):
                alone = s.terms & self.asked
                covered = alone | in_title
                emb, cov = cosines[row], self.share(covered)
                sentences.append(
                    SentenceFeatures(
                        passage=index,
                        index=i,
                        row=row,
                        start=s.start,
                        end=s.end,
                        parse=s,
                        emb=emb,
                        cov=cov,
                        cov_alone=self.share(alone),
                        s=emb + COVERAGE_WEIGHT * cov,
                        covered=covered,
                    )
                )
                row += 1
            rows.append((index, passage, parsed, tuple(sentences), in_title))
        pms = [max((s.s for s in r[3]), default=NO_SENTENCE) for r in rows]
        best = max(pms, default=NO_SENTENCE)
        return tuple(
            PassageFeatures(
                index=index,
                passage=passage,
                parse=parsed,
                sentences=sentences,
                pm=pm,
                p_rel=pm - best,
                title_share=self._title_share(parsed.title_terms),
                question_share=self.share(in_title),
                covered=in_title.union(*(s.covered for s in sentences)),
            )
            for (index, passage, parsed, sentences, in_title), pm in zip(rows, pms, strict=True)
        )

    def _title_share(self, title: frozenset[str]) -> float:
        weights = {term: self.view.idf(term) for term in title}
        total = sum(weights.values())
        return sum(w for t, w in weights.items() if t in self.asked) / total if total else 0.0

    @cached_property
    def sentences(self) -> tuple[SentenceFeatures, ...]:
        """Every passage's sentences, in order; ``sentences[i].row == i``."""
        return tuple(s for p in self.passages for s in p.sentences)

    @cached_property
    def mentions(self) -> tuple[dict[int, tuple[tuple[int, int], ...]], ...]:
        """For each passage, the other passages whose title its text mentions, with the places."""
        parsed = [p.parse for p in self.passages]
        holders: dict[str, list[int]] = {}
        for i, p in enumerate(parsed):
            for alias in p.aliases:
                holders.setdefault(alias, []).append(i)
        titles = TitleIndex(p.title for p in parsed)
        found: list[dict[int, tuple[tuple[int, int], ...]]] = []
        for i, p in enumerate(parsed):
            places: dict[int, list[tuple[int, int]]] = {}
            for start, end, alias in titles.find(p.text, p.tokens):
                for j in holders[alias]:
                    if j != i and parsed[j].title != p.title:
                        places.setdefault(j, []).append((start, end))
            found.append({j: tuple(where) for j, where in sorted(places.items())})
        return tuple(found)

    @cached_property
    def linked(self) -> tuple[frozenset[int], ...]:
        """For each passage, the passages joined to it by a title mention either way."""
        out = [set(m) for m in self.mentions]
        for i, m in enumerate(self.mentions):
            for j in m:
                out[j].add(i)
        return tuple(frozenset(s) for s in out)


def build_scene(question: str, passages: Sequence[Passage], view: TextView) -> Scene:
    """Featurise a question and its passages; everything is computed when first asked for.

    Sentences are those of ``retrieval.sentences``; vectors come from the view's cache where the
    index holds the passage. Empty questions and passages are fine.
    """
    return Scene(question, passages, view)
