"""Whole runs of ragX over a small world, with a reasoner that says what the script says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from core import registry, trace
from core.errors import BadInput, MalformedOutput, RetrieverError
from core.events import (
    Called,
    Composed,
    Decided,
    EvidenceChanged,
    ForageTurn,
    Grounded,
    HopResolved,
    QueryIssued,
    Retrieved,
    Step,
    Warned,
)
from core.grounding import ground
from core.observations import read_observation
from core.ports import Deps
from core.replay import replay
from core.rerun import fork
from core.runs import RunSpec, execute
from core.tasks import (
    AnswerRequest,
    DecomposeRequest,
    Decomposition,
    ForageRequest,
    HopAnswer,
    HopRequest,
    Reading,
    Request,
)
from core.types import Scored
from tests.core.world import (
    PASSAGES,
    QUESTION,
    Kept,
    WordReranker,
    WordRetriever,
    Words,
    deps,
    passage,
    run,
    spec,
)
from tests.systems.ragx.scripted import BY_TITLE, VARIANTS, end, of, says

# --- variants -----------------------------------------------------------------------------------


def test_the_seven_variants_have_their_frozen_settings() -> None:
    table = {
        "ragx": ("dense", True, 48, 12, False),
        "ragx-think": ("dense", True, 48, 12, True),
        "ragx-core": ("dense", True, 0, 12, False),
        "ragx-lexical": ("lexical", True, 0, 12, False),
        "ragx-fused": ("fused", True, 0, 12, False),
        "ragx-rerank": ("dense", True, 0, 12, False),
        "ragx-fast": ("dense", False, 0, 16, False),
    }
    assert list(table) == VARIANTS
    for name, (channel, chain, backfill, extra, thinking) in table.items():
        s = registry.system(name).settings()
        assert (s.channel, s.slot_chain, s.backfill, s.extra_cap, s.thinking) == (
            channel,
            chain,
            backfill,
            extra,
            thinking,
        )
        assert (s.steps, s.rank_k, s.hop_k, s.max_hops, s.read_cap) == (10, 8, 4, 4, 8)
        assert (s.words, s.fence) == (("RANK", "READ"), True)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_answers_and_cites(name: str) -> None:
    steps = run(name)
    assert end(steps).terminal == "answered"
    assert end(steps).answer == "Low Tide"
    assert end(steps).grounded
    assert {q.channel for q in of(steps, Retrieved)} == {registry.system(name).settings().channel}


def test_the_fast_variant_makes_only_forage_calls_and_the_compose_call() -> None:
    tasks = {c.task for c in of(run("ragx-fast"), Called) if c.port == "reasoner"}
    assert tasks == {"forage_turn", "compose"}
    assert not of(run("ragx-fast"), HopResolved)


def test_calls_by_stage_of_a_typical_run() -> None:
    steps = run("ragx-core")
    calls = [(s.stage, s.event.task) for s in steps if isinstance(s.event, Called)]
    assert [c for c in calls if c[0] == "chain" and c[1] != "search"] == [
        ("chain", "decompose"),
        ("chain", "hop_answer"),
        ("chain", "hop_answer"),
    ]
    assert [c[1] for c in calls if c[0] == "compose"] == ["search", "compose"]


# --- the slot chain -----------------------------------------------------------------------------


def test_every_hop_is_resolved_and_fills_the_next() -> None:
    first, second = of(run("ragx-core"), HopResolved)
    assert (first.hop, first.answer) == (1, "Ada Bell")
    assert second.sub_question == "Which band did #1 found?"
    assert second.filled == "Which band did Ada Bell found?"
    assert BY_TITLE["Ada Bell"].id in second.passages


def test_a_hop_answers_from_excerpts_of_at_most_hop_k_passages() -> None:
    asked: list[HopRequest] = []

    def hop_answer(request: HopRequest) -> HopAnswer:
        asked.append(request)
        return HopAnswer(answer="")

    run("ragx-core", deps({"hop_answer": hop_answer}), hop_k=2)
    assert asked
    assert all(len(r.passages) <= 2 for r in asked)
    assert all(len(p.text) <= 420 for r in asked for p in r.passages)


def test_an_empty_hop_leaves_the_question_text_in_the_slot_and_is_said() -> None:
    steps = run("ragx-core", deps({"hop_answer": HopAnswer(answer=" ")}))
    filled = [h.filled for h in of(steps, HopResolved)]
    assert filled[1] == "Which band did Who is the drummer of Kestrel Records found?"
    assert [w.fault for w in of(steps, Warned)] == ["empty_hop"]


def test_two_top_passages_of_each_hop_are_composed_as_such() -> None:
    steps = run("ragx-core", deps(says("ANSWER: x")))
    hops = of(steps, HopResolved)
    wanted = list(dict.fromkeys(i for h in hops for i in h.passages[:2]))
    routes = of(steps, Composed)[0].passages
    assert [r.id for r in routes if r.route == "hop"] == wanted


@pytest.mark.parametrize(
    "bad",
    [(), ("Who is #1?",), ("Who?", "Who?"), ("a?", "b?", "c?", "d?", "e?"), ("Who?", "")],
)
def test_a_bad_decomposition_is_asked_for_once_more_then_the_question_is_one_hop(
    bad: tuple[str, ...],
) -> None:
    asked: list[DecomposeRequest] = []

    def decompose(request: DecomposeRequest) -> Decomposition:
        asked.append(request)
        return Decomposition(sub_questions=bad)

    steps = run("ragx-core", deps({"decompose": decompose}))
    assert [bool(r.note) for r in asked] == [False, True]
    assert [d.outcome for d in of(steps, Decided) if d.decider == "ragx.slots"] == [
        "retry",
        "undecomposed",
    ]
    assert [h.filled for h in of(steps, HopResolved)] == [QUESTION]
    assert "invalid_decomposition" in [w.fault for w in of(steps, Warned)]


def test_a_good_second_decomposition_is_taken() -> None:
    replies = [Decomposition(sub_questions=("#1?",)), Decomposition(sub_questions=("Who sang?",))]
    steps = run("ragx-core", deps({"decompose": replies}))
    assert [h.filled for h in of(steps, HopResolved)] == ["Who sang?"]


def test_a_decomposition_that_fails_leaves_the_question_as_one_hop_and_is_said() -> None:
    steps = run("ragx-core", deps({"decompose": MalformedOutput("No JSON.")}))
    assert [w.fault for w in of(steps, Warned)] == ["malformed_output"]
    assert [h.filled for h in of(steps, HopResolved)] == [QUESTION]


def test_a_sub_question_that_comes_again_once_filled_ends_the_chain() -> None:
    script = {
        "decompose": Decomposition(sub_questions=("Who sang Whitby?", "Who sang #1?", "And #2?")),
        "hop_answer": HopAnswer(answer="Whitby"),
    }
    steps = run("ragx-core", deps(script))
    assert len(of(steps, HopResolved)) == 1
    assert "repeated_hop" in [w.fault for w in of(steps, Warned)]
    assert end(steps).terminal == "answered"


# --- compose ------------------------------------------------------------------------------------


def test_evidence_is_what_was_read_and_resolved_then_what_was_packed() -> None:
    steps = run("ragx-core")
    reasons = [e.reason for e in of(steps, EvidenceChanged)]
    assert reasons[:2] == ["read", "read"]
    assert reasons[-1] == "packing"
    composed = [p.id for p in of(steps, Composed)[0].passages]
    assert set(end(steps).evidence) == set(composed)
    assert composed[:2] == [BY_TITLE["Kestrel Records"].id, BY_TITLE["Ada Bell"].id]


def test_the_composer_gets_whole_passages_in_order_and_the_hint() -> None:
    asked: list[AnswerRequest] = []

    def compose(request: AnswerRequest) -> Reading:
        asked.append(request)
        return Reading(answer="Tom Reeve")

    steps = run("ragx", deps({"compose": compose}), question="Who is the singer of Low Tide?")
    composed = of(steps, Composed)[0]
    assert [p.id for p in asked[0].passages] == [r.id for r in composed.passages]
    assert all(p in PASSAGES for p in asked[0].passages)
    assert asked[0].hint == composed.hint == "The answer is the name of a person."
    assert of(steps, Grounded)[0].grounded
    quotes = [c.quote for c in end(steps).citations]
    assert quotes == ["Its singer is Tom Reeve."]


def test_an_answer_that_no_passage_holds_is_not_grounded() -> None:
    steps = run("ragx-core", deps({"compose": Reading(answer="Atlantis")}))
    assert (end(steps).terminal, end(steps).grounded) == ("answered", False)
    assert end(steps).citations == ()


def test_no_answer_abstains_and_never_is_empty() -> None:
    steps = run("ragx-core", deps({"compose": Reading(answer="  ")}))
    assert (end(steps).terminal, end(steps).branch) == ("abstained", "no_answer")
    assert end(steps).answer is None


def test_nothing_found_abstains_without_a_compose_call() -> None:
    steps = run("ragx-core", deps(retriever=WordRetriever(())))
    assert (end(steps).terminal, end(steps).branch) == ("abstained", "no_evidence")
    assert "compose" not in [c.task for c in of(steps, Called)]
    assert of(steps, Composed)[0].passages == ()


def test_over_the_context_window_backfill_goes_first_and_is_said() -> None:
    many = (
        *PASSAGES,
        *(passage(f"Band {n}", f"A band of the kestrel {n}. " * 8) for n in range(30)),
    )
    whole = run("ragx", deps(retriever=WordRetriever(many)))
    cut = run("ragx", deps(retriever=WordRetriever(many)), context_window=900)
    assert of(whole, Composed)[0].trimmed == ()
    packed = of(cut, Composed)[0]
    assert {(t.route, t.reason) for t in packed.trimmed} == {("backfill", "context_window")}
    kept = [p.id for p in of(whole, Composed)[0].passages]
    assert [p.id for p in packed.passages] == kept[: len(packed.passages)]
    compose = next(c for c in of(cut, Called) if c.task == "compose")
    assert compose.tokens_in + 250 <= 900


def test_replay_re_decides_the_packing_without_a_call() -> None:
    steps = run("ragx")
    assert not replay(steps, {}).diverged
    report = replay(steps, {"read_cap": 1})
    assert report.first_divergence is not None
    assert report.first_divergence.decider == "ragx.pack"
    assert replay(steps, {"slot_chain": False}).first_divergence.replayed == "compose"
    assert replay(steps, {"steps": 3}).unknown_from is not None


def test_the_question_is_in_every_request() -> None:
    seen: list[Request] = []
    world = deps()
    inner = world.reasoner

    class Watching:
        name, model = "watching", None

        def tokens_in(self, task: Any, request: Any) -> int:
            return inner.tokens_in(task, request)

        def perform(self, task: Any, request: Any, allowance: Any) -> Any:
            seen.append(request)
            return inner.perform(task, request, allowance)

    run("ragx-core", replace(world, reasoner=Watching()))
    assert {type(r) for r in seen} == {ForageRequest, DecomposeRequest, HopRequest, AnswerRequest}
    for request in seen:
        if not isinstance(request, HopRequest):
            assert request.question == QUESTION  # type: ignore[attr-defined]


# --- thinking and reranking ---------------------------------------------------------------------


@dataclass
class Thinker:
    """A model-like reasoner that notes what it may think with."""

    inner: Any
    allowed: set[int] = field(default_factory=set)
    name: str = "llm"
    model: str | None = "some/model"

    def tokens_in(self, task: Any, request: Any) -> int:
        return int(self.inner.tokens_in(task, request))

    def perform(self, task: Any, request: Any, allowance: Any) -> Any:
        self.allowed.add(task.thinking_tokens)
        return self.inner.perform(task, request, allowance)


def thinker(name: str) -> tuple[list[Step], Thinker]:
    world = deps()
    reasoner = Thinker(world.reasoner)
    return run(name, replace(world, reasoner=reasoner)), reasoner


def test_thinking_is_asked_for_with_its_tokens_in_every_call() -> None:
    steps, reasoner = thinker("ragx-think")
    assert reasoner.allowed == {8_192}
    assert not of(steps, Warned)
    _, plain = thinker("ragx")
    assert plain.allowed == {0}


def test_a_reasoner_without_a_model_says_that_it_does_not_think() -> None:
    assert [w.fault for w in of(run("ragx-think"), Warned)] == ["thinking_unsupported"]
    assert not of(run("ragx"), Warned)


def test_the_cross_encoder_reorders_the_top_of_the_ranker() -> None:
    class Backwards(WordReranker):
        def scores(self, model: str, query: str, passages: Any) -> list[float]:
            return [float(n) for n, _ in enumerate(passages)]

    steps = run("ragx-rerank", deps(reranker=Backwards()), rerank_depth=50)
    searched, reranked = of(steps, Called)[1:3]
    assert (searched.task, reranked.task) == ("search", "rerank")
    ids = [h["id"] for h in searched.response["hits"]]
    shown = of(steps, ForageTurn)[0]
    titles = [row.label for row in read_observation(shown.observation).ranked]
    texts = trace.passages(steps)
    assert titles == [texts[i].title for i in reversed(ids)][:8]


class TwoChannels(WordRetriever):
    """Finds by words, and knows a likeness of each passage too."""

    def search(self, *arguments: Any) -> list[Scored]:
        hits = super().search(*arguments)
        return [h.model_copy(update={"dense": 1 / (1 + h.rank)}) for h in hits]


def test_the_record_of_a_reranked_search_has_the_score_that_put_it_in_order() -> None:
    steps = run("ragx-rerank", deps(retriever=TwoChannels()))
    calls = [c for c in of(steps, Called) if c.port == "retriever" and c.task != "read"]
    assert [c.task for c in calls] == ["search", "rerank"] * (len(calls) // 2)
    lists = of(steps, Retrieved)
    assert len(lists) == len(of(steps, QueryIssued)) == len(calls) // 2
    for found, ordered, listed in zip(calls[::2], calls[1::2], lists, strict=True):
        before = {h["id"]: h for h in found.response["hits"]}
        scores = dict(zip(before, ordered.response["scores"], strict=True))
        assert {h.id: h.reranked for h in listed.passages} == scores
        for rank, hit in enumerate(listed.passages, 1):
            assert (hit.score, hit.rank) == (hit.reranked, rank)
            assert 0 <= hit.calibrated <= 1
            assert (hit.dense, hit.lexical) == tuple(
                before[hit.id][channel] for channel in ("dense", "lexical")
            )
        assert [h.score for h in listed.passages] == sorted(scores.values(), reverse=True)


@pytest.mark.parametrize("name", [n for n in VARIANTS if n != "ragx-rerank"])
def test_without_a_cross_encoder_no_hit_claims_its_score(name: str) -> None:
    lists = of(run(name, deps(retriever=TwoChannels())), Retrieved)
    assert {h.reranked for listed in lists for h in listed.passages} == {None}


def test_what_was_found_before_the_cross_encoder_failed_is_recorded() -> None:
    class Failing(WordReranker):
        def scores(self, *arguments: Any) -> Any:
            raise RetrieverError("The cross-encoder failed; choose another.", code="reranker")

    steps = run("ragx-rerank", deps(reranker=Failing()))
    failed = [s for s in steps if isinstance(s.event, Called) and s.event.task == "rerank"]
    assert failed
    for step in failed:
        listed = steps[step.seq + 1].event
        assert "reranker" in step.event.error
        assert isinstance(listed, Retrieved)
        assert [h.rank for h in listed.passages] == [*range(1, len(listed.passages) + 1)]
        assert {h.reranked for h in listed.passages} == {None}


def test_a_missing_cross_encoder_is_said_before_the_run() -> None:
    kept = Kept()
    chosen = spec("ragx-rerank", reranker="missing")
    with pytest.raises(BadInput, match="cross-encoder"):
        list(execute(chosen, deps(), kept))
    with pytest.raises(BadInput, match="another variant"):
        list(execute(spec("ragx-rerank"), deps(reranker=None), kept))
    assert kept.steps == []


def test_a_reranked_run_is_forked_from_its_record() -> None:
    steps = run("ragx-rerank")
    decided = [s.seq for s in steps if isinstance(s.event, Decided)][-1]

    class Gone(WordReranker):
        def scores(self, *arguments: Any) -> Any:
            raise AssertionError("the record has it")

    kept = Kept()
    forked = list(fork(steps, decided, deps(reranker=Gone()), kept))
    assert trace.identical(steps[1:], forked[1:])


def test_a_tight_token_budget_still_answers_from_what_is_held() -> None:
    steps = run("ragx-core", token_budget=1_200)
    assert end(steps).terminal == "answered"
    assert end(steps).usage.tokens <= 1_200


def system_deps(name: str) -> tuple[RunSpec, Deps]:
    return spec(name), deps()


@pytest.mark.parametrize("name", VARIANTS)
def test_words_are_counted_by_one_tokenizer(name: str) -> None:
    chosen, world = system_deps(name)
    assert isinstance(world.tokens, Words)
    steps = list(execute(chosen, world, Kept()))
    called = [c for c in of(steps, Called) if c.port == "reasoner"]
    assert end(steps).usage.tokens == sum(c.tokens_in + c.tokens_out for c in called)
    assert ground("Low Tide", PASSAGES)
