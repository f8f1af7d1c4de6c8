"""Facts of passages as subject, relation, object, each in the passage's own words.

A fact is read off two neighbouring names, dates or figures of a sentence and the words between
them; a sentence that opens with a pronoun or without a name is about its passage's title. Facts
of a passage are those of the sentences nearest to the question.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.reasoning.extractive.case import Case
from core.reasoning.extractive.features import PassageFeatures, SentenceFeatures
from core.reasoning.extractive.kinds import name_kinds
from core.reasoning.extractive.lexicon import words
from core.reasoning.extractive.relevance import relevances
from core.retrieval.tokenizer import STOP_WORDS, Token
from core.tasks import Fact, Facts

MOST_FACTS = 200
FACTS_A_PASSAGE = 4
SENTENCES_A_PASSAGE = 3
MOST_BETWEEN = 9
"""Tokens between two values that still tell how they are related."""
MOST_TEXT = 300
_PRONOUNS = frozenset(["he", "she", "it", "they", "his", "her", "its", "their", "this", "these"])
_BREAKS = frozenset(";:()—")
_JOINS = frozenset(["and", "or"])


def extract_facts(case: Case) -> Facts:
    """At most four facts a passage and 200 in all, passages in order, nearest sentences first.

    ``confidence`` is the fitted probability that the question takes the passage.
    """
    found: list[Fact] = []
    for passage, relevance in zip(case.scene.passages, relevances(case), strict=True):
        nearest = sorted(passage.sentences, key=lambda s: (-s.s, s.index))[:SENTENCES_A_PASSAGE]
        kept: dict[tuple[str, str, str], Fact] = {}
        for sentence in nearest:
            for subject, relation, obj in _triples(passage, sentence):
                key = (subject.lower(), relation.lower(), obj.lower())
                if len(kept) < FACTS_A_PASSAGE and key not in kept:
                    kept[key] = Fact(
                        subject=subject,
                        relation=relation,
                        object=obj,
                        passage_id=passage.passage.id,
                        confidence=relevance,
                    )
        found += kept.values()
    return Facts(facts=tuple(found[:MOST_FACTS]))


def _triples(
    passage: PassageFeatures, sentence: SentenceFeatures
) -> Iterator[tuple[str, str, str]]:
    parse, text = passage.parse, passage.text
    tokens = parse.tokens[sentence.parse.first : sentence.parse.last]
    values = _values(passage, sentence)
    if not tokens:
        return
    title = " ".join(passage.passage.title.split())
    if not title:
        return
    subject, at = title, 0
    if values and values[0][0] == 0 and tokens[0].surface not in _PRONOUNS:
        subject, at = _written(text, tokens, *values[0]), values[0][1]
        if subject.lower() in title.lower():
            subject = title
        values = values[1:]
    elif tokens[0].surface in _PRONOUNS:
        at = 1
    for first, last in values:
        between = tokens[at:first]
        apart = text[tokens[max(at - 1, 0)].end : tokens[first].start]
        obj = _written(text, tokens, first, last)
        relation = "" if any(c in apart for c in _BREAKS) else _relation(text, between)
        people = "nationality" in name_kinds(" ".join(t.surface for t in tokens[first:last]))
        if relation and not people and obj.lower() != subject.lower():
            yield subject[:MOST_TEXT], relation[:MOST_TEXT], obj[:MOST_TEXT]
        at = last


def _values(passage: PassageFeatures, sentence: SentenceFeatures) -> list[tuple[int, int]]:
    """Names, dates and figures of a sentence as token ranges in it, in order, none inside one."""
    base = sentence.parse.first
    tokens = passage.parse.tokens[base : sentence.parse.last]
    spans = [(s.first - base, s.last - base) for s in passage.parse.spans[sentence.index]]
    taken = {i for first, last in spans for i in range(first, last)}
    units = words("numbers", "units") | words("numbers", "scale") | words("time", "units")
    i = 0
    while i < len(tokens):
        if i in taken or not tokens[i].surface[0].isdigit():
            i += 1
            continue
        last = i + 1
        while (
            last < len(tokens)
            and last not in taken
            and (tokens[last].surface[0].isdigit() or tokens[last].surface in units)
        ):
            last += 1
        spans.append((i, last))
        i = last
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        dated = merged and first <= merged[-1][1] and _is_date(tokens, merged[-1][0], last)
        if dated:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged


def _is_date(tokens: list[Token], first: int, last: int) -> bool:
    months = words("time", "months")
    return all(t.surface in months or t.surface.isdigit() for t in tokens[first:last])


def _relation(text: str, between: list[Token]) -> str:
    """The words between, from the first content word on; empty where nothing is said."""
    if len(between) > MOST_BETWEEN:
        between = between[-MOST_BETWEEN:]
    if not any(t.surface not in STOP_WORDS for t in between):
        said = [t.surface for t in between if t.surface not in _JOINS]
        return " ".join(said) if any(s in ("is", "was", "are", "were") for s in said) else ""
    return " ".join(text[between[0].start : between[-1].end].split())


def _written(text: str, tokens: list[Token], first: int, last: int) -> str:
    return " ".join(text[tokens[first].start : tokens[last - 1].end].split())
