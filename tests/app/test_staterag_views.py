"""What a person sees of a StateRAG run, and the abstraction memory on the corpus page."""

from __future__ import annotations

import html as html_library
import json
import re
import time
from itertools import pairwise

import pytest

from components import cycles, memory_panel, session, staged_state, tam_labels, tam_view
from core import trace
from core.events import (
    Decided,
    MemoryOp,
    ParentStep,
    PathExplored,
    Proposed,
    RunFinished,
    RunStarted,
    Step,
    Validated,
)
from core.memory import PathArtifact, PlanArtifact
from core.narration import narrate
from core.replay import ParsedRun, replay
from core.settings import override
from core.tasks import Plan
from core.types import CorpusRef
from tests.app.bench import FakeBench
from tests.app.conftest import RUN, Open, html, srcdoc
from tests.app.navigating import NOT_ENOUGH, ROOT, TYPES, Graph, Roles, navigated
from tests.app.recorded import NASTY
from tests.app.test_ragx_views import keep

STEPS = navigated()
FOUND = cycles.lineage(STEPS)
NAMES = tam_labels.Names({})


def seq(kind: type, nth: int = 0, steps: list[Step] = STEPS) -> int:
    return [s.seq for s in steps if isinstance(s.event, kind)][nth]


def view(app, name: str):  # type: ignore[no-untyped-def]
    return html(app.get_by_key(session.VIEW).set_value(name).run())


# --- the fold ------------------------------------------------------------------------------------


def test_a_run_is_folded_into_its_cycles() -> None:
    assert [c.number for c in FOUND.cycles] == [1, 2]
    first, second = FOUND.cycles
    assert first.complete
    assert second.complete
    assert first.action is not None
    assert second.action is not None
    assert [first.action[1].outcome, second.action[1].outcome] == ["REVISE", "RELEASE"]
    assert first.proposed[0] == ROOT
    assert first.types == ("ROOT", "TOPIC", "RELATION", "EVIDENCE")
    assert second.query != ""
    assert FOUND.admitted is not None
    assert len(FOUND.operations) == sum(isinstance(s.event, MemoryOp) for s in STEPS)


@pytest.mark.parametrize("cut", range(len(STEPS)))
def test_every_cut_is_a_beginning_of_the_whole(cut: int) -> None:
    part = cycles.lineage(STEPS[: cut + 1])
    for mine, whole in zip(part.cycles, FOUND.cycles, strict=False):
        assert mine.first == whole.first
        assert mine.rounds == whole.rounds[: len(mine.rounds)]
        for role, state in mine.roles.items():
            assert state.proposal in (None, whole.roles[role].proposal)
            assert state.after in ("", whole.roles[role].after)


def test_a_refused_proposal_ends_the_cycle_and_the_rest_was_not_run() -> None:
    empty = Plan(objective="", required_facts=("x",), entities=())
    steps = navigated(roles=Roles(plan=empty))
    found = cycles.lineage(steps)
    (cycle,) = found.cycles
    assert cycle.refused is cycle.roles["planner"]
    assert [r.verdict for r in cycle.roles.values()] == ["reject", "not_run", "not_run", "not_run"]
    assert not any(r.committed for r in cycle.roles.values())


# --- path ----------------------------------------------------------------------------------------


def test_every_recorded_transition_is_listed_with_what_became_of_it() -> None:
    for cycle in FOUND.cycles:
        listed = tam_view.seen(cycle)
        assert len(listed) == sum(len(x.transitions) for _, x in cycle.rounds)
        chosen = [(s.transition.parent, s.transition.child) for s in listed if s.state == "chosen"]
        assert chosen == list(pairwise(cycle.proposed))
        for one in listed:
            assert (one.state == "refused") == (not one.transition.admissible)
        frontiers = {n for _, x in cycle.rounds[1:] for n in x.frontier}
        assert {s.transition.child for s in listed if s.state == "kept"} <= frontiers


def test_the_picture_and_the_table_say_the_same(page: Open, bench: FakeBench) -> None:
    app = page(RUN, run=keep(bench, STEPS))
    shown = view(app, "path")
    for sign in ("on the path", "kept in the beam", "refused by type"):
        assert sign in shown
    assert re.search(r"ROOT</span></td><td>[^/]*(?:</bdi>)?<br><span[^>]*>RELATION<", shown)
    (frame,) = app.get("iframe")
    drawn = json.loads(re.search(r"nodes = new vis.DataSet\((\[.*?\])\);", srcdoc(frame))[1])  # type: ignore[index]
    assert {n["id"] for n in drawn} <= set(TYPES)
    assert set(FOUND.cycles[-1].proposed) <= {n["id"] for n in drawn}
    assert "Path: ROOT" in _alt(frame)


def _alt(frame) -> str:  # type: ignore[no-untyped-def]
    return str(frame.proto)


def test_the_path_follows_the_cursor(page: Open, bench: FakeBench) -> None:
    run = keep(bench, STEPS)
    early = view(page(RUN, run=run, step=seq(PathExplored)), "path")
    assert "Round 1 of the search" in early
    assert "on the path" not in early
    assert "No navigation yet" in view(page(RUN, run=run, step=8), "path")


def test_a_wider_share_of_words_draws_the_other_path(page: Open, bench: FakeBench) -> None:
    class Tilted(Graph):
        def expand(self, query, parents, access):  # type: ignore[no-untyped-def]
            found = []
            for edge in super().expand(query, parents, access):
                wordy = edge.child in ("topic:people", "relation:wedding") or (
                    edge.parent == "relation:wedding"
                )
                if edge.lexical is None:
                    found.append(edge)
                else:
                    change = {"lexical": 1.0, "dense": 0.0} if wordy else {"lexical": 0.0}
                    found.append(edge.model_copy(update=change))
            return found

    steps = navigated(graph=Tilted(), dense_share=1.0)
    report = replay(steps, {"dense_share": 0.0})
    first = next(d for d in report.decisions if d.decider == "staterag.navigate")
    cycle = cycles.lineage(steps).cycles[0]
    other = tam_view.ghost_path(cycle, first)
    assert first.certainty == "diverged"
    assert other
    assert other != cycle.proposed
    drawing = tam_view.neighbourhood(cycle, tam_view.seen(cycle), NAMES, other)
    ghosts = [(e.parent, e.child) for e in drawing.edges if e.state == "ghost"]
    assert ghosts == list(pairwise(other))
    app = page(RUN, run=keep(bench, steps), set="dense_share=0.0")
    shown = view(app, "gates")
    assert "now: propose another" in shown
    assert "would propose another" in shown
    assert f"go on with {first.replayed!r}" not in html_library.unescape(shown)


@pytest.mark.parametrize(
    "other", [{"pass_support": 0.05, "pass_gap": 1.0}, {"max_cycles": 1}, {"beam": 1}]
)
def test_recorded_decisions_redecide_as_recorded_and_otherwise(other: dict[str, float]) -> None:
    run = ParsedRun(STEPS)
    assert all(d.certainty == "same" for d in run.replay(run.settings).decisions)
    again = run.replay(override(run.settings, dict(other)))
    assert any(d.certainty != "same" for d in again.decisions)


def test_a_run_names_its_nodes_where_its_graph_is_gone(page: Open, bench: FakeBench) -> None:
    relation = next(n for n, kind in TYPES.items() if kind == "RELATION")
    texts = {n: f"About {n} · more" for n, kind in TYPES.items() if kind in ("TOPIC", "RELATION")}
    steps = navigated(graph=Graph(texts_of=texts))
    told = tam_labels.recorded_texts(steps)
    assert told[relation] == f"About {relation} · more"
    assert f"About {relation}" in view(page(RUN, run=keep(bench, steps)), "path")


# --- state and memory ----------------------------------------------------------------------------


def test_the_staged_state_shows_proposal_verdict_and_commit(page: Open, bench: FakeBench) -> None:
    app = page(RUN, run=keep(bench, STEPS))
    shown = view(app, "state")
    for words in ("Planner", "Navigator", "Retriever", "Verifier", "PASS", "committed", "accepted"):
        assert words in shown
    assert "Cycles side by side" in shown
    plan = FOUND.cycles[-1].roles["planner"].proposal
    assert plan is not None
    assert str(plan["objective"]) in shown
    early = view(page(RUN, run=keep(bench, navigated(run_id="b")), step=seq(Validated)), "state")
    assert "Cycles side by side" not in early
    assert "PASS" not in early


def test_what_was_not_run_is_said_so(page: Open, bench: FakeBench) -> None:
    empty = Plan(objective="", required_facts=("x",), entities=())
    shown = view(page(RUN, run=keep(bench, navigated(roles=Roles(plan=empty)))), "state")
    assert "no_objective" in shown
    assert shown.count("not run") >= 3
    assert "nothing is committed; the cycle ends here" in shown


def test_before_the_first_cycle_the_bypass_is_told(page: Open, bench: FakeBench) -> None:
    run = keep(bench, STEPS)
    assert "No cycle yet" in view(page(RUN, run=run, step=1), "state")
    assert "no bypass" in view(page(RUN, run=run, step=seq(Decided)), "state")


def test_where_no_reader_is_asked_nothing_is_said_to_go_to_one(
    page: Open, bench: FakeBench
) -> None:
    unsure = NOT_ENOUGH.model_copy(update={"uncertainty": 0.95})
    steps = navigated(roles=Roles(verdicts=(unsure,)))
    assert isinstance(end := steps[-1].event, RunFinished)
    assert end.terminal == "abstained"
    app = page(RUN, run=keep(bench, steps), step=steps[-2].seq)
    for name in ("state", "gates", "story"):
        shown = view(app, name)
        assert "go to the reader" not in shown, name
        assert "no reader" in shown, name
    told = [narrate(s) for s in steps if isinstance(s.event, Decided)]
    assert told[-2].startswith("Decided to ask no reader")
    assert "reader" not in told[-1]


def test_operations_are_listed_with_their_verdicts(page: Open, bench: FakeBench) -> None:
    shown = view(page(RUN, run=keep(bench, STEPS)), "memory")
    assert "private planner" in shown
    assert "applied" in shown
    assert "Nothing of an earlier question was reused" in shown
    for rule in memory_panel.PERMISSIONS:
        assert rule.actor in shown
    isolated = view(page(RUN, run=keep(bench, without_memory())), "memory")
    assert "Memory is off" in isolated


def without_memory() -> list[Step]:
    return navigated(run_id="withoutmemory", mode="off")


def test_a_second_question_says_what_it_reused(page: Open, bench: FakeBench) -> None:
    scope = "global three@v1/*"
    reused = MemoryOp(
        role="planner",
        operation="read",
        scope=scope,
        artifact="plan:abc",
        allowed=True,
        reason="reused from “Who plays Jarvis?”: saves a plan of 30 tokens",
    )
    refused = reused.model_copy(
        update={"role": "verifier", "allowed": False, "reason": "the verifier may not read"}
    )
    at = seq(Validated)
    steps = [*STEPS[:at]]
    for event in (reused, refused):
        steps.append(STEPS[at].model_copy(update={"seq": len(steps), "event": event}))
    steps += [s.model_copy(update={"seq": s.seq + 2, "parent_seq": s.seq + 1}) for s in STEPS[at:]]
    found = cycles.lineage(steps)
    assert found.cycles[0].roles["planner"].reused == reused.reason
    assert [op for _, op in memory_panel.reused(found.operations)] == [reused]
    shown = memory_panel.listing(found.operations)
    assert "the verifier may not read" in shown
    assert "refused" in shown
    kept = [s.model_copy(update={"run_id": "reusedrun"}) for s in steps]
    head = html(page(RUN, run=keep(bench, kept)))
    assert "<span>reused memory</span>" in head
    assert f"step {at}: reused from “Who plays Jarvis?”" in head
    assert "set Memory to isolated in Settings" in head
    parent = keep(bench, STEPS)
    for name, made, said in (
        ("again", steps, "no setting changed, memory reused"),
        ("like", STEPS, "nothing changed"),
    ):
        started = made[0].event.model_copy(update={"parent": ParentStep(run_id=parent, seq=0)})
        first = made[0].model_copy(update={"event": started})
        child = [s.model_copy(update={"run_id": name}) for s in (first, *made[1:])]
        shown = html(page(RUN, run=keep(bench, child)))
        assert f'<span class="ri-dim">{said}</span>' in shown
    assert "reused memory" not in html(page(RUN, run=keep(bench, STEPS)))


def test_the_shared_memory_is_inspected_and_cleared(page: Open, bench: FakeBench) -> None:
    from core.memory import Artifact, MemoryScope, artifact_id
    from core.types import Access

    corpus = CorpusRef(id="three", version="v1")
    pool = bench.journal.memory()
    payload = PlanArtifact(objective=NASTY, required_facts=("x",), entities=())
    path = PathArtifact(nodes=("root", "e"))
    kept = [
        Artifact(
            id=artifact_id(NASTY, p),
            producer=role,
            store="global",
            question=NASTY,
            payload=p,
            verified=True,
        )
        for p, role in ((payload, "planner"), (path, "navigator"))
    ]
    scope = MemoryScope.of(corpus, Access())
    pool.keep(scope, kept, ())
    app = page(RUN, run=keep(bench, STEPS))
    shown = view(app, "memory")
    assert "2 artifacts" in shown
    assert "<script" not in shown
    app.button(key="pool_clear_yes:run:0").click().run()
    assert pool.artifacts(scope) == []
    assert "2 artifacts cleared" in html(app)
    assert "Nothing is kept" in html(app)


def test_questions_asked_here_share_their_memory_unless_told_otherwise(page: Open) -> None:
    key = session.setting_key("staterag", "memory")
    app = page(RUN, system="staterag")
    assert app.selectbox(key=key).value == "shared"
    assert app.button(key="reset:staterag").disabled
    told = page(RUN, system="staterag", set="memory=off")
    assert told.selectbox(key=key).value == "off"
    told.button(key="reset:staterag").click().run()
    assert told.selectbox(key=key).value == "shared"


def test_a_run_made_elsewhere_is_shown_with_its_own_memory(page: Open, bench: FakeBench) -> None:
    app = page(RUN, run=keep(bench, STEPS))
    app.segmented_control(key=session.RAIL).set_value("settings").run()
    made = next(s.event for s in STEPS if isinstance(s.event, RunStarted)).settings["memory"]
    assert app.selectbox(key=session.setting_key("staterag", "memory")).value == made


# --- words, hostile text, scale ------------------------------------------------------------------


def test_every_step_is_told_without_ids() -> None:
    titles = trace.titles(STEPS)
    for step in STEPS:
        if isinstance(step.event, (Decided, MemoryOp, Proposed, Validated)):
            words = narrate(step, titles)
            assert not re.search(r"[0-9a-f]{12}", words.replace(" ", "")), words
            assert "_" not in words or "run" in words, words


def test_hostile_text_is_text_in_every_view(page: Open, bench: FakeBench) -> None:
    evil = Plan(objective=NASTY, required_facts=(NASTY,), entities=(NASTY,))
    roles = Roles(plan=evil, verdicts=(NOT_ENOUGH.model_copy(update={"missing": (NASTY,)}),))
    app = page(RUN, run=keep(bench, navigated(roles=roles, question=NASTY)))
    for name in ("path", "state", "memory", "gates", "evidence", "answer", "story"):
        shown = view(app, name)
        for bad in ("<script", "<img", "<a ", "\u202e", "\u200b"):
            assert bad not in shown, f"{name}: {bad!r}"


def test_a_long_run_is_folded_once(page: Open) -> None:
    body = STEPS[8:48]
    long: list[Step] = list(STEPS[:8])
    while len(long) < 30_000:
        long += [s.model_copy(update={"seq": len(long) + n}) for n, s in enumerate(body)]
    began = time.process_time()
    found = cycles.lineage(long)
    took = time.process_time() - began
    assert len(found.cycles) > 700
    assert took < 1.5, f"{took:.2f} s for {len(long):,} events"
    assert staged_state.side_by_side(found.cycles[-3:], {}, NAMES)
