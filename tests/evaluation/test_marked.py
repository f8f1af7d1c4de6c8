"""Marked runs as a question file, and evaluating it over the corpora that its questions name."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.cli.main import main
from core.errors import BadInput
from core.evaluation import runner
from core.evaluation.marked import question_file
from core.evaluation.questions import Question, load_questions, of_corpus
from core.journal import Journal, RunFilter
from core.types import CorpusRef
from tests.app.recorded import QUESTION, World, record
from tests.evaluation.small_world import ASKED, SmallWorld


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal(tmp_path / "journal")
    yield opened
    opened.close()


def keep(journal: Journal, run_id: str, corpus: str = "three", **options: Any) -> str:
    """A recorded run over a corpus of that name."""
    threshold = {} if "system" in options else {"answer_threshold": 0.55}
    first, *rest = record(run_id=run_id, **threshold, **options)
    event = first.event.model_copy(update={"corpus": CorpusRef(id=corpus, version="v1")})
    journal.append([first.model_copy(update={"event": event}), *rest])
    return run_id


def read(journal: Journal, tmp_path: Path) -> tuple[Question, ...]:
    path = tmp_path / "questions.jsonl"
    path.write_text(question_file(journal).text, encoding="utf-8")
    return load_questions(path).questions


def test_runs_of_one_question_over_one_corpus_are_one_question_with_all_answers(
    journal: Journal, tmp_path: Path
) -> None:
    for run_id in ("a", "b"):
        keep(journal, run_id)
    keep(journal, "c", "harbour")
    journal.label("a", "right")
    journal.label("b", "wrong", "Connelly")
    journal.label("c", "wrong", "J. Connelly")
    one, two = read(journal, tmp_path)
    assert (one.question, one.corpus) == (QUESTION, "three")
    assert one.answers == ("Jennifer Connelly", "Connelly")
    assert (two.question, two.corpus, two.answers) == (QUESTION, "harbour", ("J. Connelly",))
    assert one.expected_terminal is two.expected_terminal is None
    assert one.id != two.id


def test_a_question_that_should_not_be_answered_expects_an_abstention(
    journal: Journal, tmp_path: Path
) -> None:
    keep(journal, "a")
    journal.label("a", "wrong", "Connelly")
    journal.label("a", "unanswerable")
    assert journal.run("a").right_answer == "Connelly", "kept, should the judgement change again"
    (question,) = read(journal, tmp_path)
    assert (question.answers, question.expected_terminal) == ((), "abstained")
    assert [r.run_id for r in journal.runs(RunFilter(label="unanswerable"))] == ["a"]


def test_a_run_that_rightly_ended_without_an_answer_expects_that_end(
    journal: Journal, tmp_path: Path
) -> None:
    keep(journal, "a", world=World(down_after=1))
    assert (journal.run("a").terminal, journal.run("a").answer) == ("abstained", None)
    journal.label("a", "right")
    (question,) = read(journal, tmp_path)
    assert (question.answers, question.expected_terminal) == ((), "abstained")


def test_judgements_against_each_other_are_left_out_and_counted(journal: Journal) -> None:
    for run_id in ("a", "b", "c"):
        keep(journal, run_id)
    journal.label("a", "right")
    journal.label("b", "unanswerable")
    journal.label("c", "wrong")
    made = question_file(journal)
    assert (made.text, made.questions, made.without, made.against) == ("", 0, 1, 1)


def test_a_failed_run_marked_right_has_no_answer_to_give(journal: Journal) -> None:
    keep(journal, "a", system="static", world=World(down_after=0))
    assert journal.run("a").terminal == "failed"
    journal.label("a", "right")
    assert question_file(journal).without == 1


def test_a_journal_from_before_the_third_judgement_opens_and_takes_it(tmp_path: Path) -> None:
    before = Journal(tmp_path)
    keep(before, "a")
    before.label("a", "wrong", "Connelly")
    before.close()
    with sqlite3.connect(tmp_path / "journal.db") as database:
        assert database.execute("select label, right_answer from runs").fetchall() == [
            ("wrong", "Connelly")
        ]
    after = Journal(tmp_path)
    assert after.run("a").label == "wrong"
    after.label("a", "unanswerable")
    after.correct("a", None)
    assert (after.run("a").label, after.run("a").right_answer) == ("unanswerable", None)
    after.close()


def asked(*corpora: str | None) -> list[Question]:
    return [
        Question(id=str(n), question=f"Question {n}?", answers=("x",), corpus=corpus)
        for n, corpus in enumerate(corpora)
    ]


@pytest.mark.parametrize(
    ("corpora", "given", "kept", "over"),
    [
        (("a", "a"), None, "01", "a"),
        ((None, None), None, "01", None),
        ((None, None), "b", "01", "b"),
        (("a", "b", "a"), "a", "02", "a"),
        (("a", "b", None), "b", "1", "b"),
        (("a", "b"), "c", "01", "c"),
    ],
)
def test_questions_are_asked_over_the_corpus_that_they_name(
    corpora: tuple[str | None, ...], given: str | None, kept: str, over: str | None
) -> None:
    chosen, corpus = of_corpus(asked(*corpora), given)
    assert ("".join(q.id for q in chosen), corpus) == (kept, over)


@pytest.mark.parametrize("corpora", [("a", "b"), ("b", "a", None)])
def test_questions_about_several_corpora_are_refused_with_their_names(
    corpora: tuple[str | None, ...],
) -> None:
    with pytest.raises(BadInput, match=r"several corpora .*a.*--corpus") as info:
        of_corpus(asked(*corpora), None)
    assert "b" in info.value.message
    assert ("name no corpus" in info.value.message) == (None in corpora)


def test_the_command_line_asks_over_the_named_corpus_and_says_what_it_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    over: list[str | None] = []

    def prepared(given: Any, out: Path, corpus: str | None, *_: Any) -> SmallWorld:
        over.append(corpus)
        return SmallWorld()

    monkeypatch.setattr(runner, "prepared", prepared)
    path = tmp_path / "questions.jsonl"

    def evaluate(corpora: tuple[str, ...], *options: str) -> int:
        lines = [q | {"corpus": c} for q, c in zip(ASKED, corpora, strict=True)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        out = str(tmp_path / f"out{len(over)}")
        given = ["--questions", str(path), "--systems", "static", "--out", out, *options]
        return main(["evaluate", *given])

    assert evaluate(("world", "world", "world")) == 0
    assert "Left out" not in capsys.readouterr().err
    assert evaluate(("world", "other", "world"), "--corpus", "world") == 0
    assert "Left out, about other corpora: 1 question." in capsys.readouterr().err
    assert over == ["world", "world"]
    assert evaluate(("world", "other", "world")) == 2
    assert "world, other" in capsys.readouterr().err


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\n", "\r"])
def test_an_answer_with_any_line_separator_is_read_back_as_it_was(
    journal: Journal, tmp_path: Path, end: str
) -> None:
    keep(journal, "a")
    journal.label("a", "wrong", f"Jennifer{end}Connelly")
    (one,) = read(journal, tmp_path)
    assert one.answers == (f"Jennifer{end}Connelly",)


def test_a_question_spaced_otherwise_is_the_same_question(journal: Journal) -> None:
    keep(journal, "a")
    keep(journal, "b", question=QUESTION.replace(" ", "  "))
    journal.label("a", "right")
    journal.label("b", "unanswerable")
    made = question_file(journal)
    assert (made.questions, made.against) == (0, 1)


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [("answers", "bcd", "answers are a list"), ("corpus", 7, "corpus"), ("hops", "x", "hops")],
)
def test_a_field_of_the_wrong_kind_is_refused_in_one_line(
    tmp_path: Path, field: str, value: object, says: str
) -> None:
    path = tmp_path / "questions.jsonl"
    item = {"id": "a", "question": "Who?", "answers": [], field: value}
    path.write_text(json.dumps(item), encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        load_questions(path)
    assert says in refused.value.message
    assert "http" not in refused.value.message
    assert "\n" not in refused.value.message
