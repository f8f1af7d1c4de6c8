"""Where in a passage a model's quotation stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.grounding import ground
from core.ports import Support
from core.types import Passage


def locate(words: str, passage: Passage) -> Support | None:
    """The place of a quotation: its exact characters, else the sentence that holds its words
    (``core.grounding``: token run, or 80% of the content words). None: it is not there."""
    words = words.strip()
    if not words:
        return None
    start = passage.text.find(words)
    if start >= 0:
        return Support(passage_id=passage.id, start=start, end=start + len(words))
    found = ground(words, [passage]) if len(words) > 3 else ()
    if not found:
        return None
    return Support(passage_id=passage.id, start=found[0].start, end=found[0].end)


def supports(
    answer: str, quoted: Iterable[tuple[int, str]], passages: Sequence[Passage]
) -> tuple[Support, ...]:
    """Places that bear an answer out: quotations found in their passage; for one that is not
    found, the place of the answer itself there. A quotation that is nowhere counts for nothing.
    """
    places: dict[Support, None] = {}
    for handle, words in quoted:
        passage = passages[handle - 1]
        place = locate(words, passage) or locate(answer, passage)
        if place is not None:
            places[place] = None
    return tuple(places)[:8]
