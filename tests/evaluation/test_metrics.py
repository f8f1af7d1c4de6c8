from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation import metrics
from core.evaluation.questions import Question
from core.events import Called, Decided, PassagesShown
from core.tasks import Verification
from core.types import Access, as_json
from tests.evaluation.building import end, gold, hold, of_tenant, prune, run, search, start

words = st.text(alphabet="ab c.,!THE the", max_size=30)


class Letters:
    def count(self, text: str) -> int:
        return len(text)


def question(*answers: str, **fields: Any) -> Question:
    return Question(id="q", question="?", answers=answers, **fields)


@pytest.mark.parametrize(
    ("said", "answers", "em", "f1"),
    [
        ("The Beatles", ["beatles"], 1, 1),
        ("the band the Beatles", ["Beatles"], 0, 2 / 3),
        ("Ringo", ["Paul", "Ringo Starr", "Ringo"], 1, 1),
        ("Yes.", ["yes"], 1, 1),
        ("TRUE", ["true"], 1, 1),
        ("false", ["True"], 0, 0),
        ("no no no", ["no"], 0, 0.5),
        ("twenty-one", ["twentyone"], 1, 1),
        (None, ["Paris"], 0, 0),
        ("  ", ["Paris"], 0, 0),
        ("A", ["A"], 1, 1),
        (None, ["A"], 0, 0),
        (None, [], 1, 1),
        ("Paris", [], 0, 0),
    ],
)
def test_answers(said: str | None, answers: list[str], em: float, f1: float) -> None:
    assert metrics.exact_match(said, answers) == em
    assert metrics.token_f1(said, answers) == pytest.approx(f1)


@given(words, words)
def test_f1_is_symmetric_bounded_and_one_where_em_is(a: str, b: str) -> None:
    f1 = metrics.token_f1(a, [b])
    assert 0 <= f1 <= 1
    if a.strip() and b.strip():
        assert f1 == pytest.approx(metrics.token_f1(b, [a]))
    if metrics.exact_match(a, [b]):
        assert f1 == 1


@given(words, st.lists(words, min_size=1, max_size=4))
def test_one_more_alias_never_lowers_a_score(said: str, answers: list[str]) -> None:
    assert metrics.token_f1(said, answers) >= metrics.token_f1(said, answers[:1])
    assert metrics.exact_match(said, answers) >= metrics.exact_match(said, answers[:1])


def test_evidence_against_gold() -> None:
    found = metrics.evidence_scores(["a", "x", "y"], gold("a", "b"))
    assert found is not None
    assert (found.precision, found.recall, found.all_gold) == (
        pytest.approx(1 / 3),
        pytest.approx(1 / 2),
        False,
    )
    assert found.f1 == pytest.approx(0.4)


def test_either_of_two_passages_bears_one_fact_out() -> None:
    found = metrics.evidence_scores(["b2"], gold({"b1", "b2"}))
    assert found == metrics.EvidenceScores(precision=1, recall=1, f1=1, all_gold=True)


def test_no_evidence_scores_zero_and_no_gold_scores_nothing() -> None:
    nothing = metrics.EvidenceScores(precision=0, recall=0, f1=0, all_gold=False)
    assert metrics.evidence_scores([], gold("a")) == nothing
    assert metrics.evidence_scores(["a"], ()) is None


def test_evidence_tokens_count_titles_and_texts_of_the_final_evidence_only() -> None:
    steps = run(start(), *search("q", "a", "b"), hold("a", "b"), end("x", "a"))
    assert metrics.evidence_tokens(steps, Letters()) == len("a") + len("text")


def test_an_unfinished_run_still_has_its_evidence() -> None:
    steps = run(start(), *search("q", "a", "b"), hold("a", "b"), prune("a"))
    assert metrics.final_evidence(steps) == ("b",)


def test_terminal_accuracy_and_task_success() -> None:
    right, wrong = run(end("Paris")), run(end("Rome"))
    assert metrics.terminal_accuracy(wrong, question("Paris")) == 1
    assert metrics.task_success(right, question("Paris")) == 1
    assert metrics.task_success(wrong, question("Paris")) == 0
    abstained = run(end(None, terminal="abstained"))
    expects = question(expected_terminal="abstained")
    assert metrics.terminal_accuracy(abstained, question("Paris")) == 0
    assert metrics.terminal_accuracy(abstained, expects) == 1
    assert metrics.task_success(abstained, expects) == 1
    assert metrics.task_success(right, expects) == 0
    assert metrics.task_success([], question("Paris")) == 0


def test_a_retrieval_is_unnecessary_once_all_gold_is_held() -> None:
    steps = run(*search("q1", "a"), hold("a"), *search("q2", "b"), hold("b"), *search("q3", "c"))
    assert metrics.unnecessary_retrieval_rate(steps, gold("a", "b")) == pytest.approx(1 / 3)
    assert metrics.unnecessary_retrieval_rate(steps, gold("z")) == 0
    assert metrics.unnecessary_retrieval_rate(steps, ()) is None
    assert metrics.unnecessary_retrieval_rate([], gold("a")) is None


def test_later_retrievals_are_useful_when_they_bring_new_gold() -> None:
    steps = run(*search("q1", "a"), *search("q2", "b", "a"), *search("q3", "a", "x"))
    assert metrics.branch_utility(steps, gold("a", "b")) == pytest.approx(1 / 2)
    assert metrics.branch_utility(run(*search("q1", "a")), gold("a")) is None


def test_duplicate_queries_are_told_by_their_index_terms() -> None:
    steps = run(
        *search("Who married Ann?", "a"), *search("who marries ANN", "b"), *search("x", "c")
    )
    assert metrics.duplicate_query_rate(steps) == pytest.approx(1 / 2)
    assert metrics.duplicate_query_rate(run(*search("x", "a"))) is None


def decided(outcome: str) -> Decided:
    return Decided(decider="beliefrag.act", inputs={}, gates=(), outcome=outcome, reason="")


def test_corrections_succeed_when_they_end_with_more_gold() -> None:
    steps = run(
        *search("q", "a"),
        hold("a"),
        decided("verify"),
        *search("q2", "b"),
        hold("b"),
        decided("verify"),
        prune("b"),
        end("x", "a"),
    )
    assert metrics.correction_success(steps, gold("a", "b")) == pytest.approx(1 / 2)
    assert metrics.correction_success(run(decided("retrieve"), end()), gold("a")) is None


def verified(support: float) -> Called:
    reply = Verification(support=support, conflict=0, uncertainty=0, gap=0)
    return Called(port="reasoner", task="verify", request_digest="d", response=as_json(reply))


def test_verifier_reversals() -> None:
    steps = run(*map(verified, [0.1, 0.2, 0.9, 0.4]))
    assert metrics.verifier_reversals(steps) == pytest.approx(2 / 3)
    assert metrics.verifier_reversals(steps[:1]) is None


def test_a_passage_of_another_tenant_is_a_policy_violation() -> None:
    shown = PassagesShown(passages=(of_tenant("a", "mine"), of_tenant("b", "theirs")))
    only_mine = start(access=Access(tenants=frozenset({"mine"})))
    assert metrics.policy_violations(run(only_mine, shown, end())) == 1
    assert metrics.policy_violations(run(start(), shown, end())) == 0


def test_coverage_of_all_that_was_retrieved() -> None:
    steps = run(*search("q", "a"), hold("a"), prune("a"), end("x"))
    assert metrics.evidence_coverage(steps, gold("a", "b")) == pytest.approx(1 / 2)
