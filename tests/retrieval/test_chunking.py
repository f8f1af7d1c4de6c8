from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.retrieval.chunking import MAX_WORDS, TARGET_WORDS, chunk, words
from core.retrieval.loading import Document
from core.retrieval.sentences import sentence_spans
from core.types import Passage, digest

SENTENCE = "The tower of the lighthouse was raised by a crew of forty men over four summers."


def cut(text: str, body_start: int = 0, name: str = "docs/a.md", title: str = "A") -> list[Passage]:
    return chunk(Document(id=name, title=title, text=text, body_start=body_start))


pieces = st.sampled_from(
    [
        "A short sentence. ",
        "Dr. Fox met Mr. J. Smith at 3.5 km, e.g. here. ",
        SENTENCE + " ",
        "word " * 200,
        "x" * 1_500,
        "\n",
        "\n\n",
        "# Heading\n",
        "\n## Another heading ##\n\n",
        "Title\n=====\n",
        "- item one\n- item two\n",
        "```\n# no heading\ncode here\n",
        "```\n",
        "| a | b |\n|---|---|\n",
        "東京は日本の首都です。",
        "مرحبا بالعالم. ",
        "🎬 ",
        "\u2028",
        "\t",
    ]
)
texts = st.lists(pieces | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)).map(
    "".join
)


@settings(max_examples=150)
@given(texts, st.integers(0, 30))
def test_chunks_are_exact_ordered_and_cover_the_text(text: str, body_start: int) -> None:
    body_start = min(body_start, len(text))
    passages = cut(text, body_start)
    position = body_start
    for passage in passages:
        assert passage.text == text[passage.start : passage.end]
        assert passage.text.strip() == passage.text != ""
        assert text[position : passage.start].strip() == ""
        assert passage.line_start == text.count("\n", 0, passage.start) + 1
        assert passage.line_end == text.count("\n", 0, passage.end) + 1
        position = passage.end
    assert text[position:].strip() == ""
    assert len({passage.id for passage in passages}) == len(passages)


@settings(max_examples=60)
@given(texts)
def test_no_chunk_is_far_above_the_target(text: str) -> None:
    for passage in cut(text):
        assert words(passage.text) <= MAX_WORDS + TARGET_WORDS


@settings(max_examples=60)
@given(texts)
def test_cutting_again_gives_the_same(text: str) -> None:
    assert cut(text) == cut(text)


def test_a_long_section_is_cut_evenly_at_sentence_ends() -> None:
    text = " ".join([SENTENCE] * 40)
    passages = cut(text)
    sizes = [words(passage.text) for passage in passages]
    assert all(100 <= size <= 150 for size in sizes)
    assert max(sizes) - min(sizes) <= words(SENTENCE)
    ends = {end for _, end in sentence_spans(text)}
    assert all(passage.end in ends for passage in passages)


def test_a_heading_opens_a_chunk_and_belongs_to_it() -> None:
    text = "Opening.\n\n# One\n\n## Two\n\nBody of two.\n\n## Three\nBody of three.\n"
    assert [p.text for p in cut(text)] == [
        "Opening.",
        "# One\n\n## Two\n\nBody of two.",
        "## Three\nBody of three.",
    ]


def test_an_underlined_heading_opens_a_chunk() -> None:
    assert [p.text for p in cut("Opening.\n\nSecond part\n---\n\nBody.")] == [
        "Opening.",
        "Second part\n---\n\nBody.",
    ]


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_a_comment_in_code_is_no_heading(fence: str) -> None:
    text = f"Run this.\n\n{fence}\n# a comment\nmake\n{fence}\n\nDone."
    assert [p.text for p in cut(text)] == [text]


def test_a_long_log_is_cut_between_lines() -> None:
    text = "\n".join(f"ERROR {n} at worker {n} of queue a b c" for n in range(100))
    passages = cut(text)
    assert len(passages) > 4
    assert all(text[p.end : p.end + 1] in ("\n", "") for p in passages)


def test_words_of_scripts_without_spaces() -> None:
    assert words("東京は日本の首都") == 4
    assert words("two words") == 2
    assert len(cut("東京は日本の首都です。" * 200)) > 5


def test_the_front_matter_is_in_no_passage_but_lines_count_from_the_files_top() -> None:
    text = "---\ntitle: x\n---\n\nBody.\n"
    (passage,) = cut(text, body_start=text.index("\nBody"))
    assert (passage.text, passage.line_start, passage.line_end) == ("Body.", 5, 5)


def test_ids_survive_an_edit_elsewhere_in_the_document() -> None:
    before = cut("# One\n\nFirst.\n\n# Two\n\nSecond.")
    after = cut("# One\n\nFirst, rewritten and longer.\n\n# Two\n\nSecond.")
    assert before[1].id == after[1].id
    assert before[0].id != after[0].id
    assert before[1].start != after[1].start


def test_equal_texts_are_told_apart_within_and_between_documents() -> None:
    text = "# A\n\nSame.\n\n# A\n\nSame.\n"
    first, second = cut(text)
    (elsewhere,) = cut("# A\n\nSame.\n", name="docs/b.md")
    assert len({first.id, second.id, elsewhere.id}) == 3
    assert first.digest == second.digest == elsewhere.digest


def test_the_digest_is_of_title_and_text() -> None:
    (passage,) = cut("Body.", title="T")
    assert passage.digest == digest(["T", "Body."])
    assert passage.digest != cut("Body.", title="U")[0].digest
