"""Navigation finds what walking the whole graph finds, from recorded scores alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from core.decisions import Decision, Undetermined
from core.events import Called, Decided, PathExplored, Proposed, RunFinished, Step
from core.graph import ADMISSIBLE, Expansion, GraphEdge, NodeType
from core.replay import replay
from core.rerun import fork
from core.systems.staterag.navigator import (
    LISTED,
    NAVIGATE,
    Explored,
    NavigateInputs,
    Trace,
    beam_search,
    by_parent,
    score,
)
from core.systems.staterag.settings import StateRAGSettings
from core.systems.staterag.tam_graph import IndexGraph
from core.tasks import Plan, PlanRequest, Verification
from core.types import Access, Passage, as_json
from tests.core.world import QUESTION, Kept, WordGraph, deps, run
from tests.retrieval.world import library
from tests.systems.staterag.tam_world import passage

MARS = {"bypass_rule": "off"}
WIDE = StateRAGSettings(beam=32)
KINDS: tuple[NodeType, ...] = ("TOPIC", "RELATION", "EVIDENCE")


@st.composite
def explored_graphs(draw: st.DrawFn) -> tuple[GraphEdge, ...]:
    """All edges of a layered graph, some of inadmissible types, with any scores."""
    count = draw(st.integers(2, 9))
    types: dict[str, NodeType] = {"root": "ROOT"}
    types |= {f"n{i}": draw(st.sampled_from(KINDS)) for i in range(count)}
    names = [*types]
    unit = st.floats(0, 1, allow_nan=False)
    found = []
    for a, parent in enumerate(names):
        for child in names[a + 1 :]:
            if draw(st.booleans()):
                pair = (types[parent], types[child])
                ok = pair in ADMISSIBLE
                scores = (draw(unit), draw(unit)) if ok else (None, None)
                found.append(
                    GraphEdge(
                        parent=parent, child=child, types=pair, lexical=scores[0], dense=scores[1]
                    )
                )
    return tuple(found)


def everything(edges: tuple[GraphEdge, ...]) -> dict[str, tuple[GraphEdge, ...]]:
    nodes = ("root", *(e.child for e in edges))
    return by_parent([Explored(parents=nodes, edges=edges)], plan_share=0.5)


def walk(edges: tuple[GraphEdge, ...], trace: Trace = ("root",)) -> list[Trace]:
    found = []
    for e in edges:
        if e.parent == trace[-1] and e.types in ADMISSIBLE:
            longer = (*trace, e.child)
            found += [longer] if e.types[1] == "EVIDENCE" else walk(edges, longer)
    return found


@settings(max_examples=200)
@given(explored_graphs(), st.integers(1, 4))
def test_traces_are_completed_typed_paths_and_a_wide_beam_finds_the_best(
    edges: tuple[GraphEdge, ...], beam: int
) -> None:
    every = walk(edges)
    narrow = beam_search("root", everything(edges), (), StateRAGSettings(beam=beam)).completed
    assert {trace for trace, _ in narrow} <= set(every)
    wide = beam_search("root", everything(edges), (), WIDE).completed
    assert bool(wide) == bool(every)
    if every:
        last = {t[-1] for t in every}
        best = max(score(e, WIDE.dense_share) for e in edges if e.child in last
                   and e.types == ("RELATION", "EVIDENCE")
                   and any(t[-2:] == (e.parent, e.child) for t in every))  # fmt: skip
        assert wide[0][1] <= best
        assert len({trace[-1] for trace, _ in wide}) == len(wide)
        assert [v for _, v in wide] == sorted((v for _, v in wide), reverse=True)


def edge(parent: str, child: str, types: tuple[NodeType, NodeType], value: float) -> GraphEdge:
    return GraphEdge(parent=parent, child=child, types=types, lexical=value, dense=value)


FORKED = (
    edge("root", "t", ("ROOT", "TOPIC"), 0.5),
    edge("t", "r1", ("TOPIC", "RELATION"), 0.9),
    edge("t", "r2", ("TOPIC", "RELATION"), 0.1),
    edge("r1", "e1", ("RELATION", "EVIDENCE"), 0.4),
    edge("r2", "e2", ("RELATION", "EVIDENCE"), 1.0),
)


def test_ties_go_to_the_lower_node_id_whatever_the_order_of_the_edges() -> None:
    edges = (
        edge("root", "t", ("ROOT", "TOPIC"), 0.5),
        edge("t", "r", ("TOPIC", "RELATION"), 0.5),
        *(edge("r", f"e{n}", ("RELATION", "EVIDENCE"), 0.5) for n in (3, 1, 2)),
    )
    for order in (edges, edges[::-1]):
        completed = beam_search("root", everything(order), (), WIDE).completed
        assert [trace[-1] for trace, _ in completed] == ["e1", "e2", "e3"]


def test_what_a_wider_beam_would_need_is_named_and_a_mix_is_decided_again() -> None:
    seen = tuple(
        Explored(parents=(p,), edges=tuple(e for e in FORKED if e.parent == p))
        for p in ("root", "t", "r1")
    )
    inputs = NavigateInputs(root="root", rounds=seen)
    narrow = NAVIGATE.decide(inputs, StateRAGSettings(beam=1))
    assert isinstance(narrow, Decision)
    assert narrow.outcome == "propose root>t>r1>e1"
    wider = NAVIGATE.decide(inputs, StateRAGSettings(beam=2))
    assert isinstance(wider, Undetermined)
    assert "r2" in wider.missing


def planned(e1: float, e2: float) -> tuple[Explored, ...]:
    """``FORKED`` in one piece, and how well its passages meet the plan's fact."""
    ends = {"e1": e1, "e2": e2}
    aimed = tuple(
        edge(e.parent, e.child, e.types, ends.get(e.child, e.lexical or 0.0)) for e in FORKED
    )
    nodes = ("root", *(e.child for e in FORKED))
    return (Explored(parents=nodes, edges=FORKED, planned=aimed),)


@pytest.mark.parametrize(("share", "first"), [(0.0, "e2"), (0.5, "e1"), (1.0, "e1")])
def test_the_fact_that_the_plan_looks_for_leads_by_its_share(share: float, first: str) -> None:
    inputs = NavigateInputs(root="root", rounds=planned(e1=0.9, e2=0.1))
    decision = NAVIGATE.decide(inputs, StateRAGSettings(plan_share=share))
    assert isinstance(decision, Decision)
    assert decision.outcome.endswith(f">{first}")


@given(st.floats(0, 1))
def test_a_search_recorded_without_the_plans_fact_is_by_the_query_alone(share: float) -> None:
    rounds = tuple(r.model_copy(update={"planned": ()}) for r in planned(0.9, 0.1))
    assert by_parent(rounds, share) == everything(FORKED)


def test_the_navigator_asks_for_the_first_fact_of_each_plan_beside_the_query() -> None:
    doubt = Verification(support=0.1, conflict=0.0, uncertainty=0.5, gap=0.9)
    asked: list[tuple[str, tuple[str, ...]]] = []

    class Noting(WordGraph):
        def expand(self, query: str, parents: Sequence[str], access: Access) -> list[GraphEdge]:
            asked.append((query, tuple(parents)))
            return super().expand(query, parents, access)

    steps = run("staterag", deps({"verify": lambda _: doubt}, graph=Noting()), **MARS)
    facts = [s.event.value["required_facts"][0] for s in steps if _is_plan(s)]
    queries = list(dict.fromkeys(query for query, _ in asked))
    assert len(facts) == 3
    assert queries[:2] == [QUESTION, facts[0]]
    for query, fact in zip(asked[::2], asked[1::2], strict=True):
        assert fact[0] in facts
        assert query[1] == fact[1], "the same nodes, scored for both"


def _is_plan(step: Step) -> bool:
    return isinstance(step.event, Proposed) and step.event.field == "plan"


def test_a_plan_whose_first_fact_is_the_question_is_searched_for_once() -> None:
    def plan(request: PlanRequest) -> Plan:
        return Plan(objective="find", required_facts=(request.question,), entities=())

    steps = run("staterag", deps({"plan": plan}), **MARS)
    rounds = [s for s in steps if isinstance(s.event, PathExplored)]
    expanded = [s for s in steps if isinstance(s.event, Called) and s.event.task == "expand"]
    assert len(expanded) == len(rounds) > 0


def test_a_committed_node_is_not_proposed_again() -> None:
    completed = beam_search("root", everything(FORKED), ("e2",), WIDE).completed
    assert [trace[-1] for trace, _ in completed] == ["e1"]


def test_committed_nodes_count_again_where_there_is_no_other() -> None:
    completed = beam_search("root", everything(FORKED), ("e1", "e2"), WIDE).completed
    assert [trace[-1] for trace, _ in completed] == ["e2", "e1"]


def test_a_corpus_of_one_passage_is_gone_through_to_an_answer() -> None:
    class Single(WordGraph):
        def __init__(self) -> None:
            super().__init__()
            only = sorted(self.passages)[0]
            about = {parent for parent, child in self.edges if child == only}
            self.edges = {("root", "topic")} | {("topic", a) for a in about - {"root"}}
            self.edges |= {(a, only) for a in about - {"root"}}

    doubt = Verification(support=0.1, conflict=0.0, uncertainty=0.5, gap=0.9)
    steps = run("staterag", deps({"verify": lambda _: doubt}, graph=Single()), **MARS)
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    assert (end.terminal, end.branch) == ("answered", "FALLBACK")


def test_a_run_tells_each_round_with_what_was_admitted_and_what_was_refused() -> None:
    steps = run("staterag", **MARS)
    rounds = [s.event for s in steps if isinstance(s.event, PathExplored)]
    expanded = [s for s in steps if isinstance(s.event, Called) and s.event.task == "expand"]
    assert len(expanded) == 2 * len(rounds), "once for the query, once for the plan's fact"
    assert [r.round for r in rounds][:3] == [1, 2, 3]
    refused = [t for r in rounds for t in r.transitions if not t.admissible]
    assert {t.types for t in refused} == {("ROOT", "EVIDENCE")}
    assert all(t.score is None and t.lexical is None for t in refused)
    admitted = [t for r in rounds for t in r.transitions if t.admissible]
    assert all(t.types in ADMISSIBLE and t.score is not None for t in admitted)


def test_many_transitions_are_listed_in_part_and_the_rest_is_counted() -> None:
    class Broad(WordGraph):
        def __init__(self) -> None:
            super().__init__()
            self.edges |= {("topic", f"about nothing {n}") for n in range(200)}

    steps = run("staterag", deps(graph=Broad()), **MARS)
    second = [s.event for s in steps if isinstance(s.event, PathExplored)][1]
    assert len(second.transitions) == LISTED
    assert second.dropped_count == 200 + 6 - LISTED


def test_without_a_completed_trace_the_required_update_fails() -> None:
    class Headless(WordGraph):
        def __init__(self) -> None:
            super().__init__()
            self.edges = {pair for pair in self.edges if pair[1] not in self.passages}

    steps = run("staterag", deps(graph=Headless()), **MARS)
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    assert (end.terminal, end.branch) == ("incomplete", "no_completed_trace")
    assert not any(isinstance(s.event, Called) and s.event.task == "answer" for s in steps)


UNSEEN: dict[str, tuple[list[Passage], Access]] = {
    "an empty corpus": ([], Access()),
    "nothing of the asker's tenant": (
        [passage("a.md", "Plan of A", "Ada Bell tours Leeds.", tenant="a")],
        Access(tenants=frozenset({"b"})),
    ),
}


@pytest.mark.parametrize("case", UNSEEN)
def test_where_there_is_no_passage_to_see_the_end_says_so(tmp_path: Path, case: str) -> None:
    passages, access = UNSEEN[case]
    shelf = library(tmp_path)
    shelf.index_passages("town", passages)
    index = shelf.open("town")
    world = deps(retriever=index.retriever(), graph=IndexGraph(index), access=access)
    steps = run("staterag", world, **MARS)
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    assert (end.terminal, end.branch) == ("incomplete", "no_passages")
    assert "no passage that this run may see" in end.reason
    assert "beam" not in end.reason.lower()
    again = list(fork(steps, len(steps) - 2, deps(graph=None), Kept()))
    assert again[-1].event == end.model_copy(update={"usage": again[-1].usage})


def test_a_recorded_search_is_searched_again_under_other_settings() -> None:
    steps = run("staterag", **MARS)
    seq = next(
        s.seq
        for s in steps
        if isinstance(s.event, Decided) and s.event.decider == "staterag.navigate"
    )
    assert not replay(steps, {"beam": 4}).diverged
    again = next(d for d in replay(steps, {"beam": 8}).decisions if d.seq == seq)
    assert again.certainty == "undetermined"
    assert "edges out of" in again.reason


names = st.text("abc:é", min_size=1, max_size=4)
kinds = st.sampled_from(sorted(ADMISSIBLE | {("ROOT", "EVIDENCE"), ("EVIDENCE", "ROOT")}))
shares = st.none() | st.floats(0, 1, allow_nan=False)
drawn_edges = st.lists(
    st.builds(GraphEdge, parent=names, child=names, types=kinds, lexical=shares, dense=shares),
    max_size=12,
).map(tuple)


@given(drawn_edges)
def test_edges_are_recorded_packed_and_read_back_in_order(edges: tuple[GraphEdge, ...]) -> None:
    held = Expansion(edges=edges)
    recorded = json.loads(json.dumps(as_json(held)))
    assert Expansion.model_validate(recorded) == held
    inputs = NavigateInputs(root="r", rounds=(Explored(parents=("r",), edges=edges),))
    assert NavigateInputs.model_validate_json(inputs.model_dump_json()) == inputs
    one_by_one = {"edges": [edge.model_dump(mode="json") for edge in edges]}
    assert Expansion.model_validate(one_by_one) == held, "as earlier runs recorded them"


@pytest.mark.parametrize(
    "edges",
    [
        "r",
        [["r"]],
        [["r", ["ROOT", "TOPIC"], 3]],
        [["r", ["ROOT", "TOPIC"], [["t", 0.5]]]],
        [["r", ["ROOT", "NOWHERE"], [["t", 0.5, 0.5]]]],
        [["r", ["ROOT", "TOPIC"], [["t", 2.0, 0.5]]]],
        [[3, ["ROOT", "TOPIC"], [["t", 0.5, 0.5]]]],
        [None],
    ],
)
def test_edges_that_are_not_packed_so_are_refused(edges: object) -> None:
    with pytest.raises(ValidationError):
        Expansion.model_validate({"edges": edges})
