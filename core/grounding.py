"""Where passages bear an answer out (spec: ragX, Grounding; used by every system).

An answer is grounded by a token-boundary match after normalisation, in any script, else by at
least 80% of its content words in one passage. Yes/no answers are grounded by the evidence the
reader used. Nothing found is ``grounded=False``; a citation is never made up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.retrieval.sentences import sentence_spans
from core.retrieval.tokenizer import STOP_WORDS, Token, fold, tokenize
from core.tasks import Support
from core.types import Citation, Passage

MAX_CITATIONS = 8
CONTENT_SHARE = 0.8
YES_NO = frozenset({"yes", "no"})


def ground(
    answer: str, passages: Sequence[Passage], used: Iterable[Support] = ()
) -> tuple[Citation, ...]:
    """Citations of the passages that contain the answer, the reader's own places first.

    Each quotes the sentence that holds the match. Handles in ``used`` that name no passage, or
    a span outside its text, are rejected. Empty: not grounded.
    """
    by_id = {p.id: p for p in passages}
    places = [
        (by_id[u.passage_id], u.start, u.end)
        for u in used
        if u.passage_id in by_id and u.start < u.end <= len(by_id[u.passage_id].text)
    ]
    if fold(answer.strip(" .!")) in YES_NO:
        return _unique(_sentence(p, a, b) for p, a, b in places)
    wanted = tokenize(answer)
    if not wanted:
        return ()
    exact = []
    for passage, start, end in places:
        if _find(wanted, passage.text[start:end]) is not None:
            exact.append(_sentence(passage, start, end))
    for passage in passages:
        span = _find(wanted, passage.text)
        if span is not None:
            exact.append(_sentence(passage, *span))
    if exact:
        return _unique(exact)
    ordered = list(dict.fromkeys([p.id for p, _, _ in places] + [p.id for p in passages]))
    return _unique(c for i in ordered if (c := _by_content(wanted, by_id[i])) is not None)


def _find(wanted: Sequence[Token], text: str) -> tuple[int, int] | None:
    """Characters of the first run of tokens in ``text`` that equals the wanted surfaces."""
    surfaces = [t.surface for t in wanted]
    tokens = tokenize(text)
    for i in range(len(tokens) - len(surfaces) + 1):
        if all(tokens[i + j].surface == s for j, s in enumerate(surfaces)):
            return tokens[i].start, tokens[i + len(surfaces) - 1].end
    return None


def _by_content(wanted: Sequence[Token], passage: Passage) -> Citation | None:
    words = {t.surface for t in wanted if t.surface not in STOP_WORDS} or {
        t.surface for t in wanted
    }
    tokens = tokenize(passage.text)
    if len(words & {t.surface for t in tokens}) < CONTENT_SHARE * len(words):
        return None
    best, best_count = None, 0
    for start, end in sentence_spans(passage.text):
        count = len({t.surface for t in tokens if start <= t.start < end} & words)
        if count > best_count:
            best, best_count = (start, end), count
    if best is None:
        return None
    return _quote(passage, *best)


def _sentence(passage: Passage, start: int, end: int) -> Citation:
    """The citation of the sentences that ``start:end`` touches."""
    touched = [(a, b) for a, b in sentence_spans(passage.text) if a < end and start < b]
    if touched:
        start, end = min(start, touched[0][0]), max(end, touched[-1][1])
    return _quote(passage, start, end)


def _quote(passage: Passage, start: int, end: int) -> Citation:
    return Citation(passage_id=passage.id, start=start, end=end, quote=passage.text[start:end])


def _unique(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    seen: dict[str, Citation] = {}
    for citation in citations:
        seen.setdefault(citation.passage_id, citation)
    return tuple(seen.values())[:MAX_CITATIONS]
