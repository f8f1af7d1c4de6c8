"""The list of runs: filter, page, edit, label, export, import, delete with undo."""

from __future__ import annotations

from components import runs_exchange, runs_list, session
from core.export import FORMATS
from tests.app.bench import FakeBench
from tests.app.conftest import RUN, RUNS, Open, html
from tests.app.recorded import NASTY, QUESTION, record


def _some(bench: FakeBench, count: int) -> None:
    for n in range(count):
        bench.journal.append(record(system="static", run_id=f"run{n}", question=f"Question {n}?"))


def test_runs_are_paged_with_a_stated_count(page: Open, bench: FakeBench) -> None:
    _some(bench, 17)
    app = page(RUNS)
    assert any("1 to 15 of 17 runs" in c.value for c in app.caption)
    app.get_by_key(session.RUNS_PAGE).set_value(2).run()
    assert any("16 to 17 of 17 runs" in c.value for c in app.caption)
    assert html(app).count("ri-title") == 2


def test_filters_narrow_the_list_and_start_at_its_first_page(page: Open, bench: FakeBench) -> None:
    _some(bench, 16)
    bench.journal.append(record(answer_threshold=0.55))
    app = page(RUNS)
    app.get_by_key(session.RUNS_PAGE).set_value(2).run()
    app.selectbox(key=session.RUNS_SYSTEM).set_value("beliefrag").run()
    assert any("1 to 1 of 1 run," in c.value for c in app.caption)
    assert QUESTION in html(app)
    app.text_input(key=session.RUNS_TEXT).set_value("no such words").run()
    assert "No run matches" in html(app)


def test_a_run_is_renamed_noted_and_labelled(page: Open, bench: FakeBench) -> None:
    _some(bench, 1)
    app = page(RUNS)
    app.button(key="edit:run0").click().run()
    app.text_input(key="name:run0").set_value("My run").run()
    app.text_area(key="note:run0").set_value("Looked at with care").run()
    app.get_by_key("label:run0").set_value("wrong").run()
    app.text_input(key="right:run0").set_value("Jennifer Connelly").run()
    kept = bench.journal.run("run0")
    assert (kept.name, kept.note) == ("My run", "Looked at with care")
    assert (kept.label, kept.right_answer) == ("wrong", "Jennifer Connelly")
    assert "marked: wrong" in html(app)
    app.get_by_key("label:run0").set_value("unanswerable").run()
    assert "marked: should not be answered" in html(app)
    assert "right:run0" not in [field.key for field in app.text_input]
    assert bench.journal.run("run0").label == "unanswerable"
    app.get_by_key("label:run0").set_value(None).run()
    assert "marked:" not in html(app)
    assert app.text_input(key="right:run0").value == "Jennifer Connelly"


def test_deleting_can_be_undone(page: Open, bench: FakeBench) -> None:
    _some(bench, 2)
    app = page(RUNS)
    app.button(key="edit:run1").click().run()
    app.button(key="delete:run1").click().run()
    assert bench.journal.count() == 1
    assert "The run was deleted" in html(app)
    app.button(key="runs_undo_button").click().run()
    assert bench.journal.count() == 2
    assert "The run is back" in html(app)


def test_deleted_runs_can_be_restored_until_they_are_deleted_for_good(
    page: Open, bench: FakeBench
) -> None:
    _some(bench, 2)
    bench.journal.delete("run0")
    app = page(RUNS)
    app.toggle(key=session.RUNS_DELETED).set_value(True).run()
    assert any("1 to 1 of 1 deleted run," in c.value for c in app.caption)
    app.button(key="restore:run0").click().run()
    assert bench.journal.count() == 2


def test_a_changed_and_a_gone_corpus_are_marked(page: Open, bench: FakeBench) -> None:
    _some(bench, 1)
    assert "corpus is gone" in html(page(RUNS))
    versions = {"three": "another"}
    words = runs_list._words(bench.journal.run("run0"), versions)
    assert "corpus changed since" in words
    assert "corpus" not in runs_list._words(bench.journal.run("run0"), {"three": "v1"})


def test_the_page_says_what_the_question_file_holds_and_leaves_out(
    page: Open, bench: FakeBench
) -> None:
    app = page(RUNS)
    (button,) = [b for b in app.get("download_button") if b.proto.label == "Export question file"]
    assert button.proto.disabled
    assert any("they become a question file" in c.value for c in app.caption)
    _some(bench, 2)
    for n, label in enumerate(("right", "unanswerable", "wrong")):
        bench.journal.append(record(answer_threshold=0.55, run_id=f"m{n}", question=f"Q{n // 2}?"))
        bench.journal.label(f"m{n}", label)  # type: ignore[arg-type]
    app.run()
    assert "Left out as judged both ways: 1 question." in " ".join(c.value for c in app.caption)
    assert "Left out for want of a right answer: 1 run." in " ".join(c.value for c in app.caption)
    bench.journal.label("m1", None)
    app.run()
    assert "1 question from marked runs." in " ".join(c.value for c in app.caption)


def test_an_edit_in_one_tab_leaves_what_another_tab_changed(page: Open, bench: FakeBench) -> None:
    _some(bench, 1)
    app = page(RUNS)
    app.button(key="edit:run0").click().run()
    bench.journal.rename("run0", "Theirs")
    bench.journal.label("run0", "wrong", "Ada Brook")
    app.text_area(key="note:run0").set_value("Mine").run()
    kept = bench.journal.run("run0")
    assert (kept.name, kept.note, kept.label) == ("Theirs", "Mine", "wrong")
    assert kept.right_answer == "Ada Brook"
    assert app.text_input(key="name:run0").value == "Theirs"
    assert app.get_by_key("label:run0").value == "wrong"


def test_a_run_is_exported_and_imported_into_another_workspace(
    page: Open, bench: FakeBench, benches: dict[str, FakeBench]
) -> None:
    bench.journal.append(record(question=NASTY, answer_threshold=0.55))
    text = bench.journal.export_jsonl("recordedrun")
    app = page(RUNS)
    app.file_uploader(key=session.RUNS_UPLOAD).upload("a<b>.jsonl", text.encode()).run()
    assert not app.exception
    other = FakeBench(root=bench.root / "elsewhere", workspace="other")
    assert other.journal.import_jsonl(text).question == NASTY
    other.journal.close()


def test_a_broken_import_is_refused_with_its_line_and_changes_nothing(
    page: Open, bench: FakeBench
) -> None:
    lines = [s.model_dump_json() for s in record(system="static")]
    broken = "\n".join([*lines[:2], "{oops", *lines[3:]])
    app = page(RUNS)
    app.file_uploader(key=session.RUNS_UPLOAD).upload("run.jsonl", broken.encode()).run()
    assert "Line 3 of the run is refused" in html(app)
    assert bench.journal.count() == 0


def test_runs_of_a_corpus_are_deleted_together_and_come_back(bench: FakeBench) -> None:
    _some(bench, 3)
    assert sorted(runs_exchange.purge_corpus(bench.journal, "three")) == ["run0", "run1", "run2"]
    assert bench.journal.count() == 0
    for run_id in ("run0", "run1", "run2"):
        bench.journal.restore(run_id)
    assert bench.journal.count() == 3


def test_every_form_of_a_run_is_offered_on_its_page_and_in_the_list(
    page: Open, bench: FakeBench
) -> None:
    bench.journal.append(record(answer_threshold=0.55))
    labels = {f"Export as {form.title}" for form in FORMATS.values()}
    app = page(RUN, run="recordedrun")
    assert {b.proto.label for b in app.get("download_button")} >= labels
    listed = page(RUNS)
    listed.button(key="edit:recordedrun").click().run()
    assert {b.proto.label for b in listed.get("download_button")} >= labels
