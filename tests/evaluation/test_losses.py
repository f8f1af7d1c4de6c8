from __future__ import annotations

from typing import Any

import pytest

from core.evaluation.losses import LOST_AT, lost_at
from core.evaluation.questions import Question
from core.types import Usage
from tests.evaluation.building import end, gold, hold, prune, run, search, start

BOTH = gold("a", "b")


def question(**fields: Any) -> Question:
    return Question(id="q", question="?", answers=("Paris",), **fields)


def test_answered_needs_half_the_tokens() -> None:
    steps = run(start(), *search("q", "x"), hold("x"), end("Paris now", "x"))
    assert lost_at(steps, question(), BOTH) == "answered"


def test_reader_missed_has_all_gold_in_its_final_evidence() -> None:
    steps = run(start(), *search("q", "a", "b"), hold("a", "b"), end("Rome", "a", "b"))
    assert lost_at(steps, question(), BOTH) == "reader_missed"


def test_withheld_gave_no_answer_with_all_gold_held() -> None:
    steps = run(start(), *search("q", "a", "b"), end(None, "a", "b", terminal="abstained"))
    assert lost_at(steps, question(), BOTH) == "withheld"


def test_pruned_had_all_gold_and_let_it_go() -> None:
    steps = run(start(), *search("q", "a", "b"), hold("a", "b"), prune("b"), end("Rome", "a"))
    assert lost_at(steps, question(), BOTH) == "pruned"


def test_gold_that_was_retrieved_but_never_admitted_is_pruned_too() -> None:
    steps = run(start(), *search("q", "a", "b"), hold("a"), end("Rome", "a"))
    assert lost_at(steps, question(), BOTH) == "pruned"


@pytest.mark.parametrize(
    ("budgets", "usage", "expected"),
    [
        ({"rounds": 3, "actions": 6}, Usage(rounds=1, actions=2), "stopped_too_early"),
        ({"rounds": 3, "actions": 6}, Usage(rounds=3, actions=4), "retrieval_missed"),
        ({"rounds": 3, "actions": 6}, Usage(rounds=2, actions=6), "retrieval_missed"),
        ({"rounds": 3, "tokens": 500}, Usage(rounds=1, tokens=500), "retrieval_missed"),
        ({}, Usage(rounds=9), "stopped_too_early"),
    ],
)
def test_gold_never_found_is_the_stops_fault_while_a_search_still_fits(
    budgets: dict[str, Any], usage: Usage, expected: str
) -> None:
    steps = run(start(**budgets), *search("q", "a"), hold("a"), end("Rome", "a", usage=usage))
    assert lost_at(steps, question(), BOTH) == expected


def test_without_gold_a_wrong_answer_cannot_be_explained() -> None:
    steps = run(start(), *search("q", "a"), end("Rome", "a"))
    assert lost_at(steps, question(), ()) == "unjudged"


def test_other_terminals() -> None:
    abstained = run(start(), end(None, terminal="abstained"))
    assert lost_at(abstained, question(expected_terminal="abstained"), ()) == "answered"
    assert lost_at(abstained, question(expected_terminal="conflict"), ()) == "wrong_terminal"
    assert lost_at(run(start(), end(None, terminal="failed")), question(), BOTH) == "failed"
    assert lost_at(run(start()), question(), BOTH) == "failed"


def test_every_class_is_documented() -> None:
    from core.evaluation import losses

    assert all(f"``{name}``" in (losses.__doc__ or "") for name in LOST_AT)
