"""What passages are called: no two of different place alike, and no more than tells them apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.passage_names import (
    FRONT_MATTER,
    LEAST_TITLE,
    LONGEST_SECTION,
    brief,
    passage_names,
    section,
)
from core.types import Passage


def passage(key: str, document: str, title: str, text: str = "Words.", line: int = 1) -> Passage:
    return Passage(id=key, document=document, title=title, text=text, line_start=line)


def test_a_passage_that_begins_its_document_or_opens_with_its_title_is_called_by_it() -> None:
    one, two = passage("1", "a.md", "Ada", "# Ada\nBorn.", 5), passage("2", "b.md", "Bea")
    lead, cast = passage("3", "c.md", "Cee", line=7), passage("4", "c.md", "Cee", "## Cast\n", 9)
    named = {"1": "Ada", "2": "Bea", "3": "Cee", "4": "Cee · Cast"}
    for seen in ([one, two, lead, cast], [one, lead], [cast], [lead]):
        assert passage_names(seen) == {p.id: named[p.id] for p in seen}


def test_passages_of_one_document_are_called_by_their_section_or_line() -> None:
    names = passage_names(
        [
            passage("1", "a.md", "Ada", "Ada is a ship.", 3),
            passage("2", "a.md", "Ada", "## Youth ##\n\nBorn.", 5),
            passage("3", "a.md", "Ada", "### Later\nLived.", 9),
            passage("4", "a.md", "Ada", "### Later\nDied.", 12),
        ]
    )
    assert names == {
        "1": "Ada",
        "2": "Ada · Youth",
        "3": "Ada, line 9",
        "4": "Ada, line 12",
    }


def test_documents_of_one_title_are_told_apart_by_as_much_of_their_path_as_it_takes() -> None:
    names = passage_names(
        [
            passage("1", "x/notes.md", "Notes"),
            passage("2", "y/notes.md", "Notes", "Words.", 1),
            passage("3", "y/notes.md", "Notes", "Words.", 17),
            passage("4", "y/other.md", "Other"),
        ]
    )
    assert names == {
        "1": "Notes (x/notes.md)",
        "2": "Notes (y/notes.md)",
        "3": "Notes (y/notes.md), line 17",
        "4": "Other",
    }
    assert passage_names([passage("1", "x/a.md", "N"), passage("2", "x/b.md", "N")]) == {
        "1": "N (a.md)",
        "2": "N (b.md)",
    }


def test_a_long_heading_is_cut_and_a_hash_alone_is_none() -> None:
    assert section(passage("1", "a.md", "A", "# " + "x" * 80)).endswith("…")
    assert len(section(passage("1", "a.md", "A", "# " + "x" * 80))) == LONGEST_SECTION
    assert section(passage("1", "a.md", "A", "#hash\n")) == ""
    assert section(passage("1", "a.md", "A", "#\nwords")) == ""
    assert section(passage("1", "a.md", "A", "Words.\n## Later")) == ""


_PASSAGES = st.lists(
    st.tuples(
        st.sampled_from(["a.md", "x/a.md", "y/a.md", "b"]),
        st.sampled_from(["Ada", "Bea", ""]),
        st.integers(1, 4),
        st.sampled_from(["Words.", "## One\nWords.", "## Two\n"]),
    ),
    unique_by=lambda t: (t[0], t[2]),
)


@given(st.sets(st.integers(FRONT_MATTER + 1, 60), min_size=1), st.sets(st.integers(0, 4)))
def test_a_passage_has_one_name_whatever_else_is_at_hand(lines: set[int], heads: set[int]) -> None:
    """In two runs over one corpus that saw different passages, what both saw is called alike."""
    made = [
        passage(str(n), "a.md", "Ada", f"## Part {n}\nWords." if n in heads else "Words.", line)
        for n, line in enumerate(sorted(lines))
    ]
    whole = passage_names(made)
    for n in range(len(made)):
        assert passage_names(made[n : n + 2]) == {p.id: whole[p.id] for p in made[n : n + 2]}


@given(st.text(alphabet="ab ", min_size=1, max_size=120), st.integers(2, 999), st.integers(20, 60))
def test_a_name_is_shortened_in_its_title_alone(title: str, line: int, limit: int) -> None:
    for end in (" · Cast and crew", f", line {line}", " (2008 film)", " (a/b.md) · Plot"):
        name = f"x{title}x{end}"
        shown = brief(name, limit)
        assert shown.endswith(end)
        assert shown == name or "…" in shown
        assert len(shown) <= max(limit, len(end) + LEAST_TITLE + 1)


def test_names_that_differ_differ_when_they_are_shortened() -> None:
    title = "Information Retrieval, course NPFL103 of the winter term"
    names = [f"{title} · {part}" for part in ("Ranking", "Indexing", "Boolean retrieval")]
    assert len({brief(name, 40) for name in names}) == 3


@given(_PASSAGES)
def test_no_two_passages_of_different_place_are_called_alike(
    given_: list[tuple[str, str, int, str]],
) -> None:
    made = [
        passage(str(n), document, title, text, line)
        for n, (document, title, line, text) in enumerate(given_)
    ]
    names = passage_names(made)
    assert list(names) == [p.id for p in made]
    assert len(set(names.values())) == len(made)
