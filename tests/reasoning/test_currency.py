"""Superseded documents under the reader: the successor answers, unless the version is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.reasoning.extractive.currency import current
from core.reasoning.extractive.features import build_scene
from core.reasoning.extractive.reading import read
from core.types import Metadata, Passage
from tests.reasoning.bag_view import view_of

ASKED = "How many hours are there between two snapshots of the store?"


def version(document: str, title: str, hours: str, superseded_by: str | None = None) -> Passage:
    text = f"A snapshot of the store is taken every {hours} hours and written to the second site."
    return Passage(
        id=document,
        document=document,
        title=title,
        text=text,
        start=0,
        end=len(text),
        metadata=Metadata(superseded_by=superseded_by),
    )


OLDEST = version("a.md", "Snapshots 2.4", "24", "b.md")
OLD = version("b.md", "Snapshots 2.9", "12", "c.md")
NEW = version("c.md", "Snapshots", "6")


def answered(question: str, *passages: Passage) -> tuple[str, set[str]]:
    ranked = read(build_scene(question, passages, view_of(*passages)))
    assert ranked.best is not None
    sources = {passages[s.passage].document for s in ranked.best.sources}
    for source in ranked.best.sources:
        text = passages[source.passage].text
        assert text[source.start : source.end].startswith(ranked.best.text)
    return ranked.best.text, sources


@pytest.mark.parametrize("order", [(OLDEST, OLD, NEW), (NEW, OLD, OLDEST), (OLD, NEW, OLDEST)])
def test_the_successor_answers_and_its_place_is_cited(order):
    value, sources = answered(ASKED, *order)
    assert value.startswith("6")
    assert sources == {"c.md"}


def test_a_named_version_is_read():
    kept = current("How many hours were there between snapshots in 2.9?", (OLDEST, OLD, NEW))
    assert kept == (1, 2)


@pytest.mark.parametrize("held", [(OLD,), (OLDEST, OLD), (OLDEST, NEW)])
def test_without_its_successor_a_superseded_document_is_read(held):
    kept = [held[i] for i in current(ASKED, held)]
    assert kept == [p for p in held if p is not OLDEST or OLD not in held]
    assert kept


def test_documents_that_supersede_each_other_are_both_read():
    one, other = version("a.md", "A", "1", "b.md"), version("b.md", "B", "2", "a.md")
    assert current(ASKED, (one, other)) == (0, 1)
    alone = version("a.md", "A", "1", "a.md")
    assert current(ASKED, (alone,)) == (0,)


NAMES = st.sampled_from("abcde")


@given(st.lists(st.tuples(NAMES, st.none() | NAMES), max_size=8))
def test_something_is_always_left_to_read_and_only_the_superseded_goes(told):
    held = [version(name, f"T {name}", "3", by) for name, by in told]
    kept = current(ASKED, held)
    assert list(kept) == sorted(set(kept))
    assert bool(kept) == bool(held)
    for i in set(range(len(held))) - set(kept):
        assert held[i].metadata.superseded_by in {p.document for p in held}
