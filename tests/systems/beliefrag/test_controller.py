"""The closed loop through its events, with a scripted reasoner over a small world."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import ReasonerError, RetrieverTimeout
from core.events import (
    BeliefUpdated,
    Called,
    Decided,
    DiagnosticsMeasured,
    EvidenceChanged,
    QueryIssued,
    Retrieved,
    RunFinished,
    Step,
    Warned,
)
from core.systems.beliefrag.belief import DIMENSIONS
from core.systems.excerpts import EXCERPT
from core.tasks import Reading, Rewrite, Verification, WrittenQuery
from tests.core.world import QUESTION, WordRetriever, deps, passage, run


def events(steps: list[Step], kind: type) -> list[Any]:
    return [s.event for s in steps if isinstance(s.event, kind)]


def outcomes(steps: list[Step]) -> list[str]:
    return [e.outcome for e in events(steps, Decided)]


def end(steps: list[Step]) -> RunFinished:
    return events(steps, RunFinished)[0]


def verdicts(*values: tuple[float, float, float, float]) -> list[Verification]:
    return [Verification(support=s, conflict=c, uncertainty=u, gap=g) for s, c, u, g in values]


def test_the_structural_first_step_is_recorded_to_four_places() -> None:
    steps = run(profile="paper")
    first = events(steps, BeliefUpdated)[0]
    assert [round(getattr(first.before, d), 2) for d in DIMENSIONS] == [0.35, 0.5, 0.05, 0.7, 0.9]
    after = [round(getattr(first.after, d), 4) for d in DIMENSIONS]
    assert after == [0.0420, 0.3318, 0.0760, 0.8764, 0.9121]
    assert round(first.p_ans, 4) == 0.4242
    assert first.p_flip == 0.59
    measured = events(steps, DiagnosticsMeasured)[0]
    assert (measured.support, measured.conflict, measured.uncertainty, measured.gap) == (0, 0, 1, 1)
    assert not any(s.event.task == "verify" for s in steps[:3] if isinstance(s.event, Called))


def test_the_first_query_is_the_question_and_the_whole_loop_has_the_papers_shape() -> None:
    weak = (0.05, 0.0, 1.0, 0.9)
    replies = verdicts(weak, (0.9, 0.0, 0.05, 0.0))
    flagged: list[str] = []

    def verify(request: Any) -> Verification:
        reply = replies.pop(0)
        if not flagged:
            flagged.extend(p.id for p in request.passages[1:3])
            reply = reply.model_copy(update={"unhelpful": tuple(flagged)})
        return reply

    steps = run(world=deps({"verify": verify}), profile="paper", answer_threshold=0.55)
    assert outcomes(steps) == ["retrieve", "verify", "rewrite", "retrieve", "answer"]
    assert events(steps, QueryIssued)[0].query == QUESTION
    assert events(steps, QueryIssued)[0].transformation == "verbatim"
    pruned = [e for e in events(steps, EvidenceChanged) if e.removed]
    assert [set(e.removed) for e in pruned] == [set(flagged)]
    assert pruned[0].banned == pruned[0].removed
    assert end(steps).terminal == "answered"
    assert not set(flagged) & set(end(steps).evidence)
    assert end(steps).usage.rounds == 2
    assert end(steps).usage.actions == 5


def test_a_pruned_passage_never_comes_back() -> None:
    def verify(request: Any) -> Verification:
        ids = tuple(p.id for p in request.passages[:2])
        return Verification(support=0.0, conflict=0.0, uncertainty=1.0, gap=1.0, unhelpful=ids)

    steps = run(
        world=deps({"verify": verify}), profile="paper", max_actions=60, max_rounds=6, top_k=6
    )
    banned: set[str] = set()
    for event in events(steps, EvidenceChanged):
        assert not banned & set(event.added)
        banned |= set(event.banned)
    assert banned


def test_rewriting_searches_nothing() -> None:
    weak = (0, 0, 1, 1)
    steps = run(
        world=deps({"verify": verdicts(weak, weak, (1, 0, 0, 0))}),
        profile="paper",
        flip_threshold=0.0,
        novelty_threshold=1.0,
    )
    assert outcomes(steps)[:4] == ["retrieve", "retrieve", "rewrite", "retrieve"]
    kinds = [s.event.kind for s in steps if s.stage == "rewrite"]
    assert "Retrieved" not in kinds
    assert kinds[-1] == "QueryIssued"


def test_a_query_writer_that_misses_nothing_leads_to_the_answer_gate() -> None:
    nothing = WrittenQuery(query="", rationale="all is said", nothing_missing=True)
    steps = run(
        world=deps({"verify": verdicts((0, 0, 1, 1)), "write_query": nothing}),
        profile="paper",
        flip_threshold=0.0,
    )
    assert outcomes(steps) == ["retrieve", "retrieve", "stop"]
    assert len(events(steps, Retrieved)) == 1
    assert end(steps).branch == "stop"


def test_unresolved_conflict_ends_as_conflict() -> None:
    clash = (0.0, 1.0, 0.5, 0.5)
    steps = run(world=deps({"verify": verdicts(clash, clash, clash, clash)}), profile="paper")
    assert outcomes(steps)[1] == "verify"
    assert end(steps).terminal == "conflict"
    assert end(steps).answer is None


def test_nothing_found_abstains_and_says_so() -> None:
    world = deps(retriever=WordRetriever(()))
    steps = run(world=world)
    assert end(steps).terminal == "abstained"
    assert end(steps).evidence == ()


def test_an_answer_that_is_not_in_the_evidence_is_not_grounded() -> None:
    from core.tasks import Reading

    steps = run(world=deps({"answer": Reading(answer="High Water", confidence=0.9)}))
    assert end(steps).terminal == "answered"
    assert end(steps).grounded is False
    assert end(steps).citations == ()


def test_an_empty_answer_abstains() -> None:
    from core.tasks import Reading

    steps = run(world=deps({"answer": Reading(answer="")}))
    assert end(steps).terminal == "abstained"
    assert end(steps).branch == "no_answer"


def test_a_verifier_that_names_unknown_passages_prunes_none_of_them() -> None:
    forged = Verification(
        support=0.0, conflict=0.0, uncertainty=1.0, gap=1.0, unhelpful=("forged", "ids")
    )
    steps = run(world=deps({"verify": forged}), profile="paper")
    assert not [e for e in events(steps, EvidenceChanged) if e.removed]
    assert "unknown_handle" in {e.fault for e in events(steps, Warned)}


class FailsAfterFirst(WordRetriever):
    def search(self, *args: Any) -> Any:
        if self.searches:
            raise RetrieverTimeout("The retriever did not answer in time.")
        return super().search(*args)


def test_a_later_retrieval_that_fails_still_answers_from_what_is_held() -> None:
    steps = run(
        world=deps({"verify": verdicts((0, 0, 1, 1))}, retriever=FailsAfterFirst()),
        profile="paper",
        flip_threshold=0.0,
    )
    assert outcomes(steps) == ["retrieve", "retrieve", "stop"]
    assert "retriever_timeout" in {e.fault for e in events(steps, Warned)}
    assert end(steps).terminal == "answered"


@pytest.mark.parametrize("task", ["verify", "write_query", "rewrite", "answer"])
def test_failed_language_work_commits_nothing_and_is_on_record(task: str) -> None:
    failure = ReasonerError("The reasoner failed.")
    weak = Verification(support=0.0, conflict=0.0, uncertainty=1.0, gap=1.0)
    script: dict[str, Any] = {"verify": weak, task: failure}
    settings: dict[str, Any] = {"flip_threshold": 0.0}
    if task == "rewrite":
        settings |= {"novelty_threshold": 1.0, "max_rounds": 3}
    steps = run(world=deps(script), profile="paper", **settings)
    assert end(steps).terminal == "incomplete"
    failed = [e for e in events(steps, Called) if e.error]
    assert [e.task for e in failed] == [task]
    assert failed[0].response is None


@pytest.mark.parametrize("budget", [100, 200, 300, 400, 700, 1000, 1500, 3000])
def test_the_token_budget_holds_and_something_useful_is_said(budget: int) -> None:
    weak = Verification(support=0.0, conflict=0.0, uncertainty=1.0, gap=1.0)
    steps = run(world=deps({"verify": weak}), flip_threshold=0.0, token_budget=budget)
    assert end(steps).usage.tokens <= budget
    assert end(steps).terminal in ("answered", "budget_exhausted")
    assert end(steps).reason


def test_the_written_query_follows_a_rewrite_and_names_its_parent() -> None:
    weak = (0, 0, 1, 1)
    rewritten = Rewrite(query="band founded by a drummer", transformation="keywords", rationale="x")
    written = WrittenQuery(query="Ada Bell band", rationale="a new name", bridge="Ada Bell")
    script = {
        "verify": verdicts(weak, weak, (1, 0, 0, 0)),
        "rewrite": rewritten,
        "write_query": written,
    }
    steps = run(
        world=deps(script),
        profile="paper",
        flip_threshold=0.0,
        novelty_threshold=1.0,
    )
    first, second, third, fourth = events(steps, QueryIssued)
    assert second.parent == first.query
    assert (third.query, third.transformation) == (rewritten.query, "keywords")
    assert third.parent == second.query
    assert (fourth.transformation, fourth.parent) == ("bridge", third.query)


def test_what_is_flagged_stays_held_and_is_not_read_again() -> None:
    flagged: list[str] = []
    read: dict[str, list[set[str]]] = {"write_query": [], "answer": [], "verify": []}

    def verify(request: Any) -> Verification:
        read["verify"].append({p.id for p in request.passages})
        named = tuple(p.id for p in request.passages[1:2]) if not flagged else ()
        flagged.extend(named)
        return Verification(support=0, conflict=0, uncertainty=1, gap=1, unhelpful=named)

    def write(request: Any) -> WrittenQuery:
        read["write_query"].append({p.id for p in request.passages})
        return WrittenQuery(query="Whitby herring fish", rationale="more")

    def answer(request: Any) -> Reading:
        read["answer"].append({p.id for p in request.passages})
        return Reading(answer="Low Tide")

    steps = run(
        world=deps({"verify": verify, "write_query": write, "answer": answer}),
        profile="paper",
        flip_threshold=0.0,
        answer_threshold=1.0,
        unhelpful_trigger="off",
        top_k=2,
        max_rounds=2,
    )
    assert flagged
    assert len(read["verify"]) == 2
    assert set(flagged) <= set(end(steps).evidence)
    for shown in (*read["write_query"], *read["answer"], read["verify"][1]):
        assert shown
        assert not shown & set(flagged)


def test_where_all_is_flagged_all_is_read() -> None:
    shown: list[int] = []

    def verify(request: Any) -> Verification:
        ids = tuple(p.id for p in request.passages)
        return Verification(support=0, conflict=0, uncertainty=1, gap=1, unhelpful=ids)

    def answer(request: Any) -> Reading:
        shown.append(len(request.passages))
        return Reading(answer="Low Tide")

    steps = run(
        world=deps({"verify": verify, "answer": answer}),
        profile="paper",
        answer_threshold=0.0,
        unhelpful_trigger="off",
    )
    assert shown == [len(end(steps).evidence)]


def test_measuring_and_rewording_read_excerpts_while_the_reader_reads_whole_passages() -> None:
    body = "Ada Bell is the drummer of Kestrel Records. " + "She went on. " * 200
    long = passage("Ada Bell", body)
    lengths: dict[str, int] = {}

    def noted(name: str, reply: Any) -> Any:
        def say(request: Any) -> Any:
            lengths[name] = max(len(p.text) for p in request.passages)
            return reply

        return say

    bad = Verification(support=0, conflict=1, uncertainty=1, gap=1)
    again = Rewrite(query="drummer band", transformation="key words", rationale="x")
    script = {
        "verify": noted("verify", bad),
        "rewrite": noted("rewrite", again),
        "answer": noted("answer", Reading(answer="Low Tide")),
    }
    run(
        world=deps(script, retriever=WordRetriever((long,))),
        profile="paper",
        conflict_threshold=1.0,
        reliability_threshold=1.0,
        abstain_threshold=0.0,
    )
    assert lengths["verify"] <= EXCERPT
    assert lengths["rewrite"] <= EXCERPT
    assert lengths["answer"] == len(body)
