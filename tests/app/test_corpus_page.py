"""The corpora: index, documents, search in both channels, uploads with nasty names, delete."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, strategies

from components import composer, corpus_search, corpus_upload, session
from components.jobs import Jobs, jobs
from core.retrieval.progress import Tracker
from core.types import Access
from tests.app.bench import FakeBench
from tests.app.conftest import CORPUS, RUN, Open, html

FILES = (
    ("../../etc/passwd.txt", b"The first keeper of the lighthouse was Ada Brook."),
    ("a<script>.md", b"# A <b>bold</b> title\n\nThe second keeper was Tom Reed. $x$ :red[no]"),
    ("\u202etxt.exe", b"MZ\x00\x00"),
    ("empty.txt", b""),
    ("bundle.zip", b"PK\x03\x04rest"),
    ("notes/b.md", b"# Lamp\n\nThe lamp was changed in 1951."),
    ("metadata.csv", b"document,source_tier,date\nnotes/b.md,official,2024-05-01\n"),
)


@pytest.fixture
def indexed(bench: FakeBench) -> FakeBench:
    bench.library.add_files("keepers", FILES)
    bench.library.index("keepers")
    return bench


def test_indexing_from_the_page_ends_ready(page: Open, bench: FakeBench) -> None:
    app = page(CORPUS, corpus="film_night")
    app.button(key="corpus_index").click().run()
    job = jobs().get("shared", "film_night")
    assert job is not None
    assert job.done.wait(120)
    assert not job.problem
    app.run()
    shown = html(app)
    assert "ready" in shown
    assert "46 documents" in shown
    assert any("1 to 20 of 46 documents" in c.value for c in app.caption)


def test_documents_are_filtered_opened_and_closed(page: Open, indexed: FakeBench) -> None:
    app = page(CORPUS, corpus="keepers")
    assert any("of 3 documents" in c.value for c in app.caption)
    app.text_input(key=session.CORPUS_FILTER).set_value("official").run()
    assert any("of 1 document" in c.value for c in app.caption)
    (button,) = [b for b in app.button if b.label.startswith("Open ")]
    button.click().run()
    shown = html(app)
    assert "The lamp was changed in 1951." in shown
    assert "2024-05-01" in shown
    app.button(key="document_back").click().run()
    assert "words</span>" not in html(app)


def test_a_fused_score_is_explained_by_its_places_in_both_channels(indexed: FakeBench) -> None:
    index = indexed.library.open("keepers")
    places = corpus_search.channel_places(index, "second keeper")
    hits = index.retriever().search("second keeper", 5, "fused", Access())
    assert len(hits) > 1
    for hit in hits:
        told = corpus_search.fused_as(places[hit.passage.id])
        assert told.endswith(f"= {hit.score:.4f}")


@pytest.mark.parametrize("channel", ["fused", "lexical", "dense"])
def test_search_shows_scores_and_why(page: Open, indexed: FakeBench, channel: str) -> None:
    app = page(CORPUS, corpus="keepers")
    app.get_by_key(session.CORPUS_VIEW).set_value("search").run()
    app.selectbox(key=session.CORPUS_CHANNEL).set_value(channel).run()
    app.text_input(key=session.CORPUS_ASK).set_value("second keeper").run()
    shown = html(app)
    assert "<mark>second</mark> <mark>keeper</mark>" in shown
    assert "rarity" in shown
    app.text_input(key=session.CORPUS_ASK).set_value("zzz").run()
    if channel == "lexical":
        assert "Nothing found" in html(app)


def test_a_hostile_document_opens_as_text(page: Open, indexed: FakeBench) -> None:
    app = page(CORPUS, corpus="keepers")
    app.text_input(key=session.CORPUS_FILTER).set_value("bold").run()
    next(b for b in app.button if b.label.startswith("Open ")).click().run()
    shown = html(app)
    assert "The second keeper was Tom Reed. $x$ :red[no]" in shown
    assert "A &lt;b&gt;bold&lt;/b&gt; title" in shown


def test_health_tells_what_was_skipped_and_why(page: Open, indexed: FakeBench) -> None:
    app = page(CORPUS, corpus="keepers")
    app.get_by_key(session.CORPUS_VIEW).set_value("health").run()
    shown = html(app)
    assert "it is empty" in shown
    assert "unpack it" in shown
    assert "k1 0.9, b 0.4" in shown


def test_every_file_has_a_verdict_before_anything_is_indexed(page: Open, bench: FakeBench) -> None:
    seen = corpus_upload.preview(FILES)
    by_status = {v.status: v for v in seen.verdicts}
    assert [v.file for v in seen.verdicts] == [name for name, _ in FILES]
    assert sorted(v.status for v in seen.verdicts) == [
        *["indexed"] * 3,
        "metadata",
        *["skipped"] * 3,
    ]
    assert by_status["skipped"].reason
    assert all(".." not in d.id for d in seen.documents)
    table = corpus_upload.verdict_table(seen.verdicts, seen.passages)
    assert "<script>" not in table
    assert "\u202e" not in table
    assert [c.name for c in bench.library.list() if c.kind != "bundled"] == []


def test_upload_preview_add_and_index(page: Open, bench: FakeBench) -> None:
    app = page(CORPUS)
    app.get_by_key(session.CORPUS_VIEW).set_value("add").run()
    app.text_input(key=session.CORPUS_NAME).set_value("mine").run()
    uploader = app.file_uploader(key=f"{session.CORPUS_FILES}:0")
    uploader.upload("one.txt", b"The harbour of Brill was closed in 1987.").run()
    assert "will be indexed" in html(app)
    assert "The harbour of Brill" in html(app), "its passages are shown beforehand"
    app.button(key="corpus_add").click().run()
    job = jobs().get("shared", "mine")
    assert job is not None
    assert job.done.wait(60)
    assert bench.library.summary("mine").documents == 1
    app.run()
    assert app.selectbox(key=session.CORPUS_CHOSEN).value == "mine"


def test_a_corpus_name_that_cannot_be_is_refused_in_words(page: Open, bench: FakeBench) -> None:
    app = page(CORPUS)
    app.get_by_key(session.CORPUS_VIEW).set_value("add").run()
    app.text_input(key=session.CORPUS_NAME).set_value("../evil").run()
    app.file_uploader(key=f"{session.CORPUS_FILES}:0").upload("one.txt", b"Some text.").run()
    app.button(key="corpus_add").click().run()
    assert "cannot name a corpus" in html(app)


def test_a_deleted_corpus_can_be_added_again(indexed: FakeBench) -> None:
    indexed.library.delete("keepers")
    assert "keepers" not in [c.name for c in indexed.library.list()]
    indexed.library.add_files("keepers", FILES)
    assert indexed.library.index("keepers").documents == 3


def test_a_second_start_joins_the_job_that_runs(bench: FakeBench) -> None:
    at_work = Jobs()
    first = at_work.start(bench.library, "film_night")
    assert at_work.start(bench.library, "film_night") is first
    first.stopping = True
    assert first.done.wait(120)
    assert first.problem.startswith("Indexing was stopped") or first.report is not None


def test_terms_that_matched_are_named_rarest_first() -> None:
    found = corpus_search.matches(
        "the second keeper", "The keeper kept the second light", {"the": 9, "keeper": 2}, 10
    )
    assert [m.term for m in found][-1] == "the"
    assert {m.term: m.count for m in found}["the"] == 2
    assert corpus_search.spans("the keeper", "The keeper") == [(4, 10)]


def test_every_given_file_is_judged_under_its_own_name_whatever_it_is_kept_as() -> None:
    files = (
        ("a/notes.md", b"# Lamp\n\nThe lamp."),
        ("b/notes.md", b"# Reef\n\nThe reef."),
        ("notes.md", b"# One\n\nOne."),
        ("notes.md", b"# Two\n\nTwo."),
        ("notes.md", b"# One\n\nOne."),
        ("<i>x</i>.txt", b"Tides."),
        ("metadata.csv", b"document,date\n<i>x</i>.txt,2024-01-02\nnobody.txt,2024-01-03\n"),
    )
    seen = corpus_upload.preview(files)
    assert [v.file for v in seen.verdicts] == [name for name, _ in files]
    assert [v.status for v in seen.verdicts] == [*["indexed"] * 4, "twice", "indexed", "warning"]
    assert len({v.kept for v in seen.verdicts}) == 6
    assert "it describes 1 document" in seen.verdicts[-1].reason
    assert "no file here is named by line 3" in seen.verdicts[-1].reason
    described = next(d for d in seen.documents if d.id == seen.verdicts[5].kept)
    assert described.metadata.date == "2024-01-02"
    table = corpus_upload.verdict_table(seen.verdicts, seen.passages)
    assert "&lt;i&gt;x&lt;/i&gt;.txt" in table
    assert "kept as" in table


def test_files_of_one_name_and_other_contents_have_their_own_preview() -> None:
    one = corpus_upload.preview((("a.txt", b"The first lamp."),))
    two = corpus_upload.preview((("a.txt", b"A second reef."),))
    assert [p.text for p in one.passages["a.txt"]] == ["The first lamp."]
    assert [p.text for p in two.passages["a.txt"]] == ["A second reef."]


def test_the_open_corpus_is_taken_to_the_question_box(page: Open, indexed: FakeBench) -> None:
    app = page()
    assert app.selectbox(key=session.CORPUS).value == "film_night"
    assert app.text_area(key=session.QUESTION).value in composer.samples("film_night")
    app.text_area(key=session.QUESTION).set_value("Typed for another corpus?").run()
    app.switch_page(CORPUS)
    app.run()
    app.selectbox(key=session.CORPUS_CHOSEN).set_value("keepers").run()
    app.button(key="corpus_ask_about").click().run()
    assert not app.exception
    assert app.selectbox(key=session.CORPUS).value == "keepers"
    assert app.text_area(key=session.QUESTION).value == ""


def test_a_bundled_corpus_is_taken_to_an_empty_question_box_with_its_samples(
    page: Open, bench: FakeBench
) -> None:
    bench.library.index("music_labels")
    app = page(CORPUS, corpus="music_labels")
    app.button(key="corpus_ask_about").click().run()
    assert app.selectbox(key=session.CORPUS).value == "music_labels"
    assert app.text_area(key=session.QUESTION).value == ""
    assert app.selectbox(key="home:samples").options == composer.samples("music_labels")


def test_a_corpus_that_is_not_indexed_is_not_asked_about(page: Open) -> None:
    assert not [b for b in page(CORPUS).button if b.key == "corpus_ask_about"]


def test_files_go_to_the_open_corpus_of_ones_own_and_else_to_a_new_one(
    page: Open, indexed: FakeBench
) -> None:
    app = page(CORPUS, corpus="film_night")
    app.get_by_key(session.CORPUS_VIEW).set_value("add").run()
    assert app.text_input(key=session.CORPUS_NAME).value == "my_corpus"
    assert "<bdi>film_night</bdi> comes with the app and stays as it is" in html(app)
    app.selectbox(key=session.CORPUS_CHOSEN).set_value("keepers").run()
    assert app.text_input(key=session.CORPUS_NAME).value == "keepers"
    assert "Adds to your corpus <bdi>keepers</bdi>, 3 documents so far" in html(app)
    app.text_input(key=session.CORPUS_NAME).set_value("music_labels").run()
    assert "<bdi>music_labels</bdi> takes no files" in html(app)


@given(strategies.sets(strategies.from_regex(r"my_corpus(_[1-9])?", fullmatch=True)))
def test_a_new_corpus_is_offered_under_a_name_that_none_has(taken: set[str]) -> None:
    assert corpus_upload.free_name(taken) not in taken


def test_a_question_box_whose_corpus_was_deleted_says_so_and_takes_another(
    page: Open, indexed: FakeBench
) -> None:
    app = page(RUN, corpus="keepers")
    assert app.selectbox(key=session.CORPUS).value == "keepers"
    indexed.library.delete("keepers")
    app.run()
    assert not app.exception
    assert app.selectbox(key=session.CORPUS).value == "film_night"
    assert "The corpus keepers was deleted. film_night is chosen now." in html(app)
    app.run()
    assert "was deleted" not in html(app)


@pytest.fixture
def elsewhere(indexed: FakeBench) -> Iterator[FakeBench]:
    """Another process is indexing the corpus, and has embedded 3 of 9 texts."""
    home = indexed.library._find("keepers").home
    tracker = Tracker()
    with home.writing("keepers", tracker):
        tracker.step("embedding", 3, 9)
        yield indexed


def test_a_corpus_that_another_process_is_indexing_is_shown_so(
    page: Open, elsewhere: FakeBench
) -> None:
    app = page(CORPUS, corpus="keepers")
    (bar,) = app.get("progress")
    assert bar.proto.text.startswith("Another process is indexing it. Embedding texts: 3 of 9")
    assert app.button(key="corpus_delete").disabled
    assert app.button(key="corpus_index").disabled
    assert any("of 3 documents" in c.value for c in app.caption), "the old index serves meanwhile"


def test_what_is_started_here_waits_for_another_process_and_then_goes_on(
    elsewhere: FakeBench,
) -> None:
    at_work = Jobs()
    job = at_work.start(elsewhere.library, "keepers")
    while job.progress is None:
        assert not job.done.wait(0.01)
    assert job.progress.elsewhere
    job.stopping = True
    assert job.done.wait(60)
    assert "goes on there" in job.problem


def test_files_are_not_added_while_another_process_indexes_and_are_kept_chosen(
    page: Open, elsewhere: FakeBench
) -> None:
    app = page(CORPUS, corpus="keepers")
    app.get_by_key(session.CORPUS_VIEW).set_value("add").run()
    app.file_uploader(key=f"{session.CORPUS_FILES}:0").upload("one.txt", b"Some text.").run()
    app.button(key="corpus_add").click().run()
    assert "being indexed already; wait" in html(app)
    assert app.file_uploader(key=f"{session.CORPUS_FILES}:0").value


TWINS = (
    (
        "north/lamp.md",
        b"# The lamp\n\nIt burns at night.\n\n## Oil & <b>wick</b>\n\nChanged weekly.",
    ),
    ("south/lamp.md", b"# The lamp\n\nIt is green.\n"),
    ("reef.md", b"# The reef\n\nIt is grey.\n"),
)


def test_documents_and_hits_of_one_title_are_told_apart_by_where_they_lie(
    page: Open, bench: FakeBench
) -> None:
    bench.library.add_files("twins", TWINS)
    bench.library.index("twins")
    paths = [d.id for d in bench.library.open("twins").manifest.documents if d.title == "The lamp"]
    assert len(paths) == 2
    app = page(CORPUS, corpus="twins")
    shown = [t for t in html(app).split('<div class="ri-title">')[1:]]
    for path in paths:
        assert any(
            t.startswith("<bdi>The lamp</bdi>") and path in t.split("</div>")[0] for t in shown
        )
    (reef,) = [t for t in shown if t.startswith("<bdi>The reef</bdi>")]
    assert "reef.md" not in reef.split("</div>")[0]
    app.get_by_key(session.CORPUS_VIEW).set_value("search").run()
    app.text_input(key=session.CORPUS_ASK).set_value("lamp green night").run()
    titles = [t.split("</div>")[0] for t in html(app).split('<div class="ri-title">')[1:]]
    lamps = [t.partition("</span> ")[2] for t in titles if "The lamp" in t]
    assert len(set(lamps)) == len(lamps) == 3


def test_a_heading_in_a_passage_looks_like_one_and_stays_literal(
    page: Open, bench: FakeBench
) -> None:
    seen = corpus_upload.preview(TWINS)
    assert any("## Oil" in p.text for each in seen.passages.values() for p in each)
    app = page(CORPUS)
    app.get_by_key(session.CORPUS_VIEW).set_value("add").run()
    uploader = app.file_uploader(key=f"{session.CORPUS_FILES}:0")
    uploader.upload(*TWINS[0]).run()
    assert '<span class="ri-hash">## </span><b>Oil &amp; &lt;b&gt;wick&lt;/b&gt;</b>' in html(app)
    bench.library.add_files("twins", TWINS)
    bench.library.index("twins")
    found = page(CORPUS, corpus="twins")
    found.get_by_key(session.CORPUS_VIEW).set_value("search").run()
    found.text_input(key=session.CORPUS_ASK).set_value("wick oil").run()
    assert '<span class="ri-hash">## </span><b><mark>Oil</mark> &amp; ' in html(found)


def test_a_corpus_that_is_gone_is_not_replaced_on_the_page_without_a_word(
    page: Open, indexed: FakeBench
) -> None:
    app = page(CORPUS, corpus="keepers")
    assert app.selectbox(key=session.CORPUS_CHOSEN).value == "keepers"
    indexed.library.delete("keepers")
    app.run()
    assert not app.exception
    assert "The corpus keepers was deleted. film_night is shown now." in html(app)
    app.run()
    assert "was deleted" not in html(app)
    assert "The corpus of this link is not here." in html(page(CORPUS, corpus="keepers"))
