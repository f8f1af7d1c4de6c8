"""The question file that a journal's marked runs make."""

from __future__ import annotations

import json
from typing import Any

from core.journal import Journal, RunFilter, RunRecord
from core.types import Count, Frozen

UNANSWERED = frozenset({"abstained", "needs_clarification", "conflict"})
"""Terminals without an answer that can be the right end of a run."""


class QuestionFile(Frozen):
    """The file, how many questions it holds, and how many runs and questions it leaves out:
    ``without`` a right answer, and judged ``against`` each other."""

    text: str
    questions: Count
    without: Count
    against: Count


def question_file(journal: Journal) -> QuestionFile:
    """The marked runs of a journal as JSON lines.

    A run marked right gives its own answer, unless another was typed; where it ended without one,
    the question expects that end. One marked wrong needs a typed answer. One marked unanswerable
    expects an abstention. Runs of one question, however spaced, over one corpus are one question
    with all answers.
    """
    answers: dict[tuple[str, str], dict[str, None]] = {}
    ends: dict[tuple[str, str], set[str]] = {}
    ids: dict[tuple[str, str], str] = {}
    without = 0
    for label in ("right", "wrong", "unanswerable"):
        for record in journal.runs(RunFilter(label=label), limit=None):
            key = (" ".join(record.question.split()), record.corpus.id)
            end, answer = _expected(record)
            if end is None and answer is None:
                without += 1
                continue
            ids.setdefault(key, record.run_id)
            if end is not None:
                ends.setdefault(key, set()).add(end)
            if answer is not None:
                answers.setdefault(key, {})[answer] = None
    against = {k for k in ids if len(ends.get(k, ())) + (k in answers) > 1}
    lines = []
    for key, run_id in ids.items():
        if key in against:
            continue
        question, corpus = key
        item: dict[str, Any] = {"id": f"run-{run_id}", "question": question, "corpus": corpus}
        item["answers"] = list(answers.get(key, ()))
        if key in ends:
            (item["expected_terminal"],) = ends[key]
        lines.append(json.dumps(item, ensure_ascii=False) + "\n")
    return QuestionFile(
        text="".join(lines), questions=len(lines), without=without, against=len(against)
    )


def _expected(record: RunRecord) -> tuple[str | None, str | None]:
    """The end without an answer, or the answer, that a person's judgement makes the right one."""
    if record.label == "unanswerable":
        return "abstained", None
    if record.right_answer:
        return None, record.right_answer
    if record.label != "right":
        return None, None
    if record.answer:
        return None, record.answer
    return (record.terminal if record.terminal in UNANSWERED else None), None
