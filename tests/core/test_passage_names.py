"""What passages are called: no two of different place alike, and no more than tells them apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.passage_names import LONGEST_SECTION, passage_names, section
from core.types import Passage


def passage(key: str, document: str, title: str, text: str = "Words.", line: int = 1) -> Passage:
    return Passage(id=key, document=document, title=title, text=text, line_start=line)


def test_a_title_of_its_own_is_enough() -> None:
    one, two = passage("1", "a.md", "Ada", "## Youth\nBorn."), passage("2", "b.md", "Bea")
    assert passage_names([one, two]) == {"1": "Ada", "2": "Bea"}


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
        "1": "Ada, line 3",
        "2": "Ada · Youth",
        "3": "Ada, line 9",
        "4": "Ada, line 12",
    }


def test_documents_of_one_title_are_told_apart_by_as_much_of_their_path_as_it_takes() -> None:
    names = passage_names(
        [
            passage("1", "x/notes.md", "Notes"),
            passage("2", "y/notes.md", "Notes", "Words.", 1),
            passage("3", "y/notes.md", "Notes", "Words.", 7),
            passage("4", "y/other.md", "Other"),
        ]
    )
    assert names == {
        "1": "Notes (x/notes.md)",
        "2": "Notes (y/notes.md), line 1",
        "3": "Notes (y/notes.md), line 7",
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
