from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import BadInput
from core.evaluation.gold import resolve_gold
from core.evaluation.questions import GoldQuote, Question, load_questions
from core.retrieval.library import BUNDLED, Library
from core.types import Passage
from tests.evaluation.building import gold, passage
from tests.evaluation.test_worlds import WordVectors


def asks(*quotes: tuple[str, str], ids: frozenset[str] = frozenset()) -> Question:
    quoted = tuple(GoldQuote(document=d, quote=q) for d, q in quotes)
    return Question(id="q1", question="?", answers=("x",), gold=ids, gold_quotes=quoted)


def corpus() -> list[Passage]:
    return [
        passage("m1", "Moon is a film.\nIts music is\n by Clint.", document="docs/Moon.md"),
        passage("m2", "He sang in a band.", document="docs/Moon.md", start=40),
        passage("i1", "Moon is a film.", document="docs/Iron.md"),
    ]


def test_ids_are_facts_of_their_own() -> None:
    assert resolve_gold([asks(ids=frozenset({"m1", "i1"}))], corpus()) == {"q1": gold("i1", "m1")}


def test_a_quote_is_looked_for_in_its_own_document_white_space_aside() -> None:
    found = resolve_gold([asks(("docs/Moon.md", "music is by Clint"))], corpus())
    assert found["q1"] == gold("m1")
    found = resolve_gold([asks(("docs/Iron.md", "Moon is a film."))], corpus())
    assert found["q1"] == gold("i1")


def test_a_passage_that_holds_two_quotes_is_one_fact() -> None:
    both = asks(("docs/Moon.md", "Moon is"), ("docs/Moon.md", "by Clint"))
    assert resolve_gold([both], corpus())["q1"] == gold("m1")


def test_a_quote_across_a_chunk_boundary_needs_both_chunks() -> None:
    found = resolve_gold([asks(("docs/Moon.md", "by Clint. He sang"))], corpus())
    assert found["q1"] == gold("m1", "m2")


def test_a_document_is_found_under_a_shorter_name_if_it_is_the_only_one() -> None:
    assert resolve_gold([asks(("Moon.md", "He sang"))], corpus())["q1"] == gold("m2")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (asks(("docs/Moon.md", "by Nobody")), "gold quote"),
        (asks(("docs/Moon.md", " ")), "gold quote"),
        (asks(("docs/Sun.md", "x")), "document 'docs/Sun.md'"),
        (asks(ids=frozenset({"zz"})), "gold passage 'zz'"),
    ],
)
def test_what_the_corpus_does_not_hold_is_named(question: Question, message: str) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        resolve_gold([question], corpus())
    assert "q1" in caught.value.message


@pytest.mark.parametrize("name", ["film_night", "music_labels", "support_desk"])
def test_every_gold_quote_of_a_bundled_corpus_is_in_one_chunk(name: str, tmp_path: Path) -> None:
    library = Library(tmp_path, embedder=WordVectors())
    library.index(name)
    questions = load_questions(BUNDLED / name / "questions.jsonl").questions
    found = resolve_gold(questions, library.open(name).passages())
    quoted = sum(len(q.gold_quotes) for q in questions)
    assert quoted >= sum(len(facts) for facts in found.values()) > 0
    assert all(len(fact) == 1 for facts in found.values() for fact in facts)
