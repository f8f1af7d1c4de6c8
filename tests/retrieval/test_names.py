from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.retrieval.names import MAX_ID, checked_slug, document_id, printable, title_of

SAFE = [
    "docs/Iron_Man.md",
    "Robert Downey Jr.txt",
    "docs/2001 - A Space Odyssey (film).md",
    "docs/日本語の文書.md",
    "عربي/ملف.txt",
    "café.md",
]
HOSTILE = [
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\Windows\\system32\\x.txt",
    "a/../../b.md",
    "CON",
    "aux.txt",
    "docs/nul.md",
    "x" * 300 + ".md",
    "a/" * 300 + "b.md",
    "🎬🍿.md",
    "invoice\u202egnp.exe.txt",
    "a\u200bb.md",
    "tab\tnewline\n.md",
    "<script>alert(1)</script>.md",
    "trailing. ",
    "...",
    "",
    "\udcff\udcfe.md",
    "a#1.md",
    "-rf",
    ".hidden.md",
]


@pytest.mark.parametrize("name", SAFE)
def test_a_safe_name_is_its_own_id(name: str) -> None:
    assert document_id(name) == name


@pytest.mark.parametrize("name", HOSTILE)
def test_an_unsafe_name_becomes_a_safe_one(name: str) -> None:
    _assert_safe(document_id(name))


def test_hostile_names_stay_distinct() -> None:
    ids = [document_id(name) for name in [*SAFE, *HOSTILE]]
    assert len(set(ids)) == len(ids)


def test_the_extension_survives() -> None:
    assert document_id("🎬" * 100 + ".md").endswith(".md")
    assert document_id("x" * 300 + ".pdf").endswith(".pdf")


def test_composed_and_decomposed_forms_are_told_apart() -> None:
    assert document_id("caf\u00e9.md") != document_id("cafe\u0301.md")


@given(st.text(st.characters(), max_size=400))
def test_any_name_becomes_safe(name: str) -> None:
    identifier = document_id(name)
    _assert_safe(identifier)
    assert document_id(name) == identifier


@given(st.lists(st.text(st.characters(), max_size=30), unique=True, max_size=8))
def test_distinct_names_give_distinct_ids(names: list[str]) -> None:
    assert len({document_id(name) for name in names}) == len(names)


def _assert_safe(identifier: str) -> None:
    assert identifier
    assert len(identifier) <= MAX_ID
    assert identifier.encode("utf-8")
    assert not regex.search(r"[\p{C}\p{Zl}\p{Zp}\\#:*?\"<>|]", identifier)
    for part in identifier.split("/"):
        assert part.strip(". ") == part.strip(". ") != ""
        assert not part.startswith((".", "-", " "))
        assert not part.endswith((".", " "))
        assert not regex.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", part)


def test_invisible_characters_are_shown() -> None:
    assert printable("a\u202eb\n") == "a\\u202eb\\u000a"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("docs/Iron_Man.md", "Iron Man"),
        ("a\\b\\Report.final.pdf", "Report.final"),
        ("\u202e.md", "Untitled"),
        ("___.txt", "Untitled"),
    ],
)
def test_titles_from_names(name: str, title: str) -> None:
    assert title_of(name) == title


@pytest.mark.parametrize("name", ["", "..", "a/b", "a b", "x" * 65, ".x", "CON", "é", "a..b"])
def test_unusable_slugs_are_refused(name: str) -> None:
    with pytest.raises(BadInput):
        checked_slug(name, "workspace")
