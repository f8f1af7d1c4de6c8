from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.evaluation import cycle_losses as module
from core.evaluation.cycle_losses import (
    FACT_LOST,
    MISJUDGED,
    CycleLosses,
    cycle_losses,
    facts_lost,
    verdicts_misjudged,
)
from core.evaluation.report import cycles
from core.evaluation.runner import evaluate
from core.events import PathCommitted, Proposed, Validated
from tests.evaluation.building import end, gold, run, search, start
from tests.evaluation.small_world import SmallWorld, question_file

BOTH = gold("a", "b")


def took(*ids: str, accepted: bool = True) -> tuple[Any, ...]:
    items = [{"id": i, "start": 0} for i in ids]
    proposed = Proposed(role="retriever", field="evidence", value={"items": items})
    verdict = "accept" if accepted else "reject"
    return proposed, Validated(validator="evidence", verdict=verdict, reason="")


def judged(verdict: str) -> tuple[Any, ...]:
    proposed = Proposed(role="verifier", field="verdict", value={"verdict": verdict})
    return proposed, Validated(validator="verdict", verdict="accept", reason="")


def region(*ids: str) -> PathCommitted:
    return PathCommitted(path=("root", ids[0]), region=ids)


def finish(branch: str, *evidence: str) -> Any:
    return end("Paris", *evidence).model_copy(update={"branch": branch})


@pytest.mark.parametrize(
    ("events", "lost"),
    [
        ((*search("q", "x"), region("a", "x"), *took("a")), ("unreached",)),
        ((*search("q", "b"), region("a", "x"), *took("a")), ("unentered",)),
        ((*search("q", "b"), region("a", "b"), *took("a")), ("unselected",)),
        ((*search("q", "x"), region("a", "b"), *took("a", "b")), ("unadmitted",)),
        ((*search("q", "x"), region("a", "b"), *took("a", "b", accepted=False)), ("unselected",)),
    ],
)
def test_a_lost_fact_is_lost_at_the_last_step_that_still_had_it(
    events: tuple[Any, ...], lost: tuple[str, ...]
) -> None:
    steps = run(start(), *events, finish("FALLBACK", "a"))
    assert facts_lost(steps, BOTH) == lost


def test_what_the_final_evidence_covers_is_not_lost() -> None:
    steps = run(start(), *search("q", "x"), finish("FALLBACK", "a", "c"))
    assert facts_lost(steps, gold("a", {"b", "c"})) == ()


@pytest.mark.parametrize(
    ("events", "wrong"),
    [
        ((*took("a", "b"), *judged("FAIL")), ("failed_whole",)),
        ((*took("a"), *judged("FAIL"), *took("b"), *judged("FAIL")), ("failed_whole",)),
        ((*took("a"), *judged("FAIL"), *took("b"), *judged("PASS")), ("passed_short",)),
        ((*took("a"), *judged("FAIL"), *took("a", "b"), *judged("PASS")), ()),
        ((*took("a", "b"),), ()),
    ],
)
def test_a_verdict_is_wrong_by_what_was_held_when_it_fell(
    events: tuple[Any, ...], wrong: tuple[str, ...]
) -> None:
    assert verdicts_misjudged(run(start(), *events, finish("RELEASE", "a")), BOTH) == wrong


@pytest.mark.parametrize(("evidence", "wrong"), [(("a",), ("bypassed_short",)), (("a", "b"), ())])
def test_a_bypass_is_short_where_it_lacks_a_fact(
    evidence: tuple[str, ...], wrong: tuple[str, ...]
) -> None:
    assert verdicts_misjudged(run(start(), finish("BYPASS", *evidence)), BOTH) == wrong


def test_runs_of_an_evaluation_are_counted_and_told(tmp_path: Path) -> None:
    evaluation = evaluate(question_file(tmp_path), ["staterag"], tmp_path / "o", world=SmallWorld())
    found = cycle_losses(evaluation, "staterag")
    with_gold = [q for q, facts in evaluation.manifest.gold.items() if facts]
    assert found.runs == len(with_gold) > 0
    assert found.facts == sum(len(evaluation.gold(q)) for q in with_gold)
    assert found.verdicts >= found.runs
    lost = [
        fact
        for row, steps in evaluation.runs("staterag")
        for fact in facts_lost(steps, evaluation.gold(row.question_id))
    ]
    assert sum(found.lost.values()) == len(lost)


def test_a_table_tells_each_set() -> None:
    counts = CycleLosses(
        runs=2,
        facts=5,
        verdicts=3,
        lost=dict.fromkeys(FACT_LOST, 1),
        misjudged=dict.fromkeys(MISJUDGED, 0),
    )
    table = cycles({"own": counts})
    assert table.heading == ("questions", "facts", *FACT_LOST, "verdicts", *MISJUDGED)
    assert table.lines == [("own", "5", *"1111", "3", *"000")]


def test_every_class_is_documented() -> None:
    assert all(f"``{name}``" in (module.__doc__ or "") for name in (*FACT_LOST, *MISJUDGED))
