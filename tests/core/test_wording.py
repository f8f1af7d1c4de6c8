"""The words for what records name by codes: there are words for every code, and none to spare."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import registry, wording
from core.decisions import Decider, gate
from core.events import Called, Committed, Decided, MemoryOp, QueryIssued, Step
from core.measures import GATES, INPUTS, measure
from core.narration import narrate
from tests.core.samples import EVENTS, step

ROOT = Path(__file__).resolve().parents[2]
DECIDERS: dict[str, Decider] = {  # type: ignore[type-arg]
    d.name: d for s in registry.systems().values() for d in s.deciders
}
SOURCES = sorted((ROOT / "core" / "systems").rglob("*.py"))


def gate_names() -> set[str]:
    """Every name that a system's code gives to a gate."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("gate", "gates"):
                first = node.args[0]
                found.update([first.value] if isinstance(first, ast.Constant) else [])
    return found


def texts() -> Iterator[str]:
    for path in (*SOURCES, ROOT / "core" / "steps.py", ROOT / "core" / "memory.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_every_gate_has_a_title_and_a_meaning_and_no_words_are_left_over() -> None:
    assert set(GATES) == set(DECIDERS)
    packed = {"read", "extra", "backfill", "window", "tokens"}  # named by a loop in ``packing``
    told = {name for gates in GATES.values() for name in gates}
    assert told - packed == gate_names()
    for gates in GATES.values():
        for what in gates.values():
            assert what.title
            assert what.meaning.endswith(".")


@pytest.mark.parametrize("name", sorted(DECIDERS))
def test_the_threshold_of_a_gate_is_a_setting_of_its_system(name: str) -> None:
    settings = registry.system(name.partition(".")[0]).settings
    named = {what.setting for what in GATES[name].values()} - {""}
    assert named <= set(settings.model_fields)


@pytest.mark.parametrize("name", sorted(DECIDERS))
def test_every_outcome_is_told_in_words_of_its_own(name: str) -> None:
    outcomes = [o.strip() for o in DECIDERS[name].outcomes]
    told = [wording.decided(name, f"{o} id1,id2") for o in outcomes]
    assert len(set(told)) == len(told)
    for code, words in zip(outcomes, told, strict=True):
        assert "_" not in words
        assert "id1" not in words
        assert f"{name} {code}" in wording.OUTCOMES or code in wording.OUTCOMES


def test_every_single_input_of_a_decision_is_explained_and_none_is_left_over() -> None:
    found = set()
    for decider in DECIDERS.values():
        for name, field in decider.inputs.model_fields.items():
            if not re.match(r"(tuple|dict|list)\b", str(field.annotation)):
                found.add(name)
    assert found == set(INPUTS)


def test_every_reason_in_other_words_is_one_that_a_system_gives() -> None:
    given = set(texts())
    pieces = [r for r in wording.REASONS if r not in given]
    assert pieces == [  # made of two parts in the code
        "The evidence is unreliable: correct it.",
        "The evidence conflicts: correct it.",
    ]


def test_every_call_of_a_stage_is_told_in_words() -> None:
    declared = {c for s in registry.systems().values() for n in s.stages for c in n.calls}
    assert {c for c in declared if c not in wording.WORK} == set()
    called = next(x for x in EVENTS if isinstance(x, Called))
    line = narrate(step(called.model_copy(update={"port": "reasoner", "task": "verify"})))
    assert line.startswith("Judging the evidence took")


def test_what_is_chosen_after_an_abstention_is_not_said_to_be_read() -> None:
    """StateRAG decides first that no reader is asked, then what evidence the run ends with."""
    decided = next(x for x in EVENTS if isinstance(x, Decided))

    def told(decider: str, outcome: str, reason: str) -> str:
        return narrate(
            step(
                decided.model_copy(
                    update={"decider": decider, "outcome": outcome, "reason": reason}
                )
            )
        )

    first = told("staterag.abstain", "abstain", "No cycle passed.")
    then = told("staterag.admit", "admit a,b", "2 passages of 5 found go to the reader.")
    assert first == "Decided to ask no reader, and leave it unanswered: No cycle passed."
    assert then == "Decided to choose the evidence that the run ends with: 2 passages of 5 found."


@pytest.mark.parametrize(
    ("value", "threshold", "op", "said", "at", "margin"),
    [
        (0.0827, 0.5, ">=", "0.0827", "≥ 0.5000", "−0.4173"),
        (1.0, 1.0, ">=", "1.0000", "≥ 1.0000", "0.0000"),
        (0.61, 0.5, ">=", "0.6100", "≥ 0.5000", "+0.1100"),
    ],
)
def test_a_score_is_told_with_its_places(
    value: float, threshold: float, op: str, said: str, at: str, margin: str
) -> None:
    made, what = gate("answer", value, op, threshold), measure("beliefrag.act", "answer")  # type: ignore[arg-type]
    assert wording.value_of(made, what) == said
    assert wording.condition(made, what) == at
    assert wording.margin(made, what) == margin


def test_a_count_is_whole_and_a_flag_is_yes_or_no() -> None:
    count = gate("rounds_left", 1_200, ">=", 1)
    assert wording.compared(count, measure("static.next", "rounds_left")) == ("1,200; fires at ≥ 1")
    flag = gate("drafted", 0.0, "==", 1.0)
    what = measure("ragx.forage", "drafted")
    assert wording.compared(flag, what) == "no; fires at yes"
    assert wording.margin(flag, what) == ""


def test_a_gate_that_nobody_knows_is_told_by_its_name() -> None:
    what = measure("elsewhere.act", "some_gate")
    assert (what.title, what.meaning) == ("Some gate", "")
    assert wording.compared(gate("some_gate", 2, ">=", 3), what) == "2; fires at ≥ 3"


def test_a_run_is_told_by_the_title_of_its_system() -> None:
    start = step(EVENTS[0])
    known: Step = start.model_copy(
        update={"event": start.event.model_copy(update={"system": "beliefrag"})}
    )
    assert narrate(known).startswith("BeliefRAG starts on")


def test_a_query_is_told_by_how_it_came_about() -> None:
    query = next(x for x in EVENTS if isinstance(x, QueryIssued))
    told = narrate(step(query.model_copy(update={"transformation": "verbatim"})))
    assert told.endswith(", the question as it is.") or "with a constraint lost" in told


def test_a_cycle_begins_with_a_verdict_that_is_open() -> None:
    commit = next(x for x in EVENTS if isinstance(x, Committed))
    opening = step(commit.model_copy(update={"field": "verdict"})).model_copy(
        update={"stage": "planner"}
    )
    assert narrate(opening) == "A new cycle begins: the verdict is set back to PENDING."


def test_a_role_sets_its_work_aside_in_its_own_store() -> None:
    kept = next(x for x in EVENTS if isinstance(x, MemoryOp)).model_copy(
        update={
            "role": "planner",
            "operation": "write",
            "scope": "private planner",
            "artifact": "plan:1",
            "allowed": True,
            "reason": "transient until the action is chosen",
        }
    )
    assert narrate(step(kept)) == (
        "The planner writes a plan in its own store: for this cycle only."
    )
