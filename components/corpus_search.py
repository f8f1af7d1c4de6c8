"""Search one corpus in both channels, and see why each passage was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components import session, waiting
from components.markup import TIPS, chip, icon, mono, number, passage
from components.notices import empty, error
from components.palette import BLUE, Sign
from components.safe import esc, isolated
from core.errors import RagError
from core.passage_names import passage_names
from core.retrieval.fusion import DEPTH, RRF_CONSTANT
from core.retrieval.index import Index
from core.retrieval.lexical import idf
from core.retrieval.tokenizer import STOP_TERMS, tokenize
from core.types import Access, Channel, Scored

MATCHED = Sign(BLUE, "match_word", "matched")
CHANNELS: dict[Channel, tuple[str, str]] = {
    "fused": ("Fused", "Both channels by reciprocal rank: 1/(60 + rank), added."),
    "lexical": ("Lexical (BM25)", "Shared terms, rare ones counting more."),
    "dense": ("Dense (embeddings)", "Closeness in meaning: the cosine of the two vectors."),
}


@dataclass(frozen=True, slots=True)
class Match:
    """A term of the query in a passage: how often, and how rare it is in the corpus."""

    term: str
    count: int
    idf: float


def matches(query: str, text: str, frequencies: dict[str, int], size: int) -> list[Match]:
    """The query's terms that occur in a text, rarest first."""
    wanted = dict.fromkeys(t.term for t in tokenize(query))
    counts = Counter(t.term for t in tokenize(text))
    found = [
        Match(term, counts[term], idf(size, frequencies.get(term, 0)))
        for term in wanted
        if counts[term]
    ]
    return sorted(found, key=lambda match: (-match.idf, match.term))


def spans(query: str, text: str) -> list[tuple[int, int]]:
    """Where the query's terms stand in a text, stop words left out."""
    wanted = {t.term for t in tokenize(query)} - STOP_TERMS
    return [(t.start, t.end) for t in tokenize(text) if t.term in wanted]


def draw(index: Index) -> None:
    """A search box, the channel, and the hits with their explanation."""
    box, channel_box, size_box = st.columns([3, 1.6, 0.8], vertical_alignment="bottom")
    with box:
        query = st.text_input(
            "Search this corpus",
            key=session.CORPUS_ASK,
            placeholder="words, a name, or a question",
            icon=":material/search:",
            max_chars=1_000,
        )
    with channel_box:
        channel: Channel = st.selectbox(
            "Channel", list(CHANNELS), key=session.CORPUS_CHANNEL, format_func=_channel_title
        )
    with size_box:
        k = st.number_input("Hits", 1, 50, 8, key=session.CORPUS_HITS)
    st.caption(CHANNELS[channel][1])
    if not query.strip():
        empty("search", "Nothing searched yet", "Type words above to see what each channel finds.")
        return
    try:
        with waiting.until(waiting.HITS, "search"):
            hits = index.retriever().search(query, int(k), channel, Access())
            places = channel_places(index, query) if channel == "fused" and hits else {}
    except RagError as problem:
        error(problem.message)
        return
    if not hits:
        empty("search_off", "Nothing found", "No term of the query occurs; try the dense channel.")
        return
    frequencies = index.lexical.frequencies()
    names = passage_names(hit.passage for hit in hits)
    for hit in hits:
        _hit(hit, names[hit.passage.id], query, channel, index, frequencies, places)


def channel_places(index: Index, query: str) -> dict[str, dict[str, int]]:
    """Where each of the best ``DEPTH`` passages of either channel stands in it, from 1."""
    found: dict[str, dict[str, int]] = {}
    single: tuple[Channel, ...] = ("lexical", "dense")
    for channel in single:
        for hit in index.retriever().search(query, DEPTH, channel, Access()):
            found.setdefault(hit.passage.id, {})[channel] = hit.rank
    return found


def fused_as(places: dict[str, int]) -> str:
    """How a fused score comes about: ``1/(60+2) lexical + 1/(60+1) dense = 0.0325``."""
    score = sum(1 / (RRF_CONSTANT + place) for place in places.values())
    parts = " + ".join(f"1/({RRF_CONSTANT}+{place}) {name}" for name, place in places.items())
    return f"{parts} = {score:.4f}"


def _channel_title(channel: Channel) -> str:
    return CHANNELS[channel][0]


def _hit(
    hit: Scored,
    name: str,
    query: str,
    channel: Channel,
    index: Index,
    frequencies: dict[str, int],
    places: dict[str, dict[str, int]],
) -> None:
    found = hit.passage
    both = matches(query, f"{found.title}\n{found.text}", frequencies, index.manifest.passages)
    scores = [
        ("score", "Score", number(hit.score, 4)),
        ("calibrated", "Calibrated", number(hit.calibrated)),
        ("BM25", "BM25", number(hit.lexical, 2)),
        ("cosine", "Dense", number(hit.dense)),
    ]
    line = "".join(
        f'<span><abbr title="{esc(TIPS[tip])}">{esc(name)}</abbr> <b>{value}</b></span>'
        for name, tip, value in scores
    )
    if found.id in places:
        line += f"<span>{esc(fused_as(places[found.id]))}</span>"
    st.html(
        f'<div class="ri-hit"><div class="ri-title"><span class="ri-dim ri-num">{hit.rank}.</span> '
        f"{isolated(name)}</div>"
        f'<div class="ri-byline ri-tabular">{line}</div>'
        f'<div class="ri-why">{_why(both, channel)}</div>'
        f"{passage(found.text, spans(query, found.text))}"
        f'<div class="ri-byline"><span>{isolated(found.document)}</span><span>characters '
        f"{found.start} to {found.end}</span>{mono(found.id)}</div></div>"
    )


def _why(both: Sequence[Match], channel: Channel) -> str:
    if not both:
        close = icon("blur_on") + " no shared term: found by closeness in meaning"
        return f'<span class="ri-dim">{close}</span>'
    chips = "".join(chip(MATCHED, f"{m.term} ×{m.count}, rarity {m.idf:.2f}") for m in both[:10])
    more = f' <span class="ri-dim">and {len(both) - 10} more</span>' if len(both) > 10 else ""
    lead = "shared terms " if channel != "dense" else "ranked by cosine; shared terms "
    return f'<span class="ri-dim">{lead}</span>{chips}{more}'
