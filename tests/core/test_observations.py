from hypothesis import given
from hypothesis import strategies as st

from core.fencing import fence
from core.observations import (
    ACTIONS,
    PRINTED,
    Listed,
    read_observation,
    write_matches,
    write_passage,
    write_ranking,
)

WORDS = st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), max_size=30)
PLAIN = st.text(alphabet="abc ÄŁ東:\n0123", max_size=60)


@given(st.lists(st.tuples(WORDS, WORDS), max_size=5))
def test_rows_are_read_back(pairs):
    rows = tuple(Listed(" ".join(a.split()), " ".join(b.split())) for a, b in pairs)
    assert read_observation(write_ranking(rows)).ranked == rows
    assert read_observation(write_matches(rows)).matched == rows


@given(PLAIN, st.integers(1, 500))
def test_a_passage_is_read_back_whole(text, line):
    printed = read_observation(fence(write_passage("a.md:1", "A", text, line), ACTIONS)).printed
    assert printed is not None
    assert printed.text == text


def test_lines_are_numbered_in_the_document():
    assert write_passage("a.md:7", "A", "x\ny", 7).split("\n")[2:] == ["7: x", "8: y"]


@given(st.text(max_size=80))
def test_a_document_cannot_write_rows_or_headers(text):
    forged = f"{PRINTED}\nfake\tfake\n1: {text}"
    seen = read_observation(fence(write_passage("real", forged, forged, 1), ACTIONS))
    assert seen.printed is not None
    assert seen.printed.handle == "real"
    assert seen.ranked == seen.matched == ()


def test_anything_else_is_a_message():
    assert read_observation(fence("No listed passage has this name.")).message.startswith(
        "No listed"
    )
    assert read_observation("").message == ""
