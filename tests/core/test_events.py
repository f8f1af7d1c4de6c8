"""Every kind of event survives JSON, is closed, and tells what it is."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from core import events as e
from core.narration import narrate
from core.types import Frozen
from tests.core.samples import EVENTS, step

KINDS = [type(event).__name__ for event in EVENTS]


def test_the_samples_are_of_every_kind() -> None:
    assert [type(event) for event in EVENTS] == list(e.EVENT_TYPES)
    for event in EVENTS:
        same = {"kind", "schema_version"}
        for name, field in type(event).model_fields.items():
            if name in same or (name == "error" and isinstance(event, e.Called)):
                continue
            assert field.is_required() or getattr(event, name) != field.get_default(
                call_default_factory=True
            ), f"{type(event).__name__}.{name} is at its default"


@pytest.mark.parametrize("event", EVENTS, ids=KINDS)
def test_json_round_trip(event: Frozen) -> None:
    before = step(event)
    text = before.model_dump_json()
    after = e.Step.model_validate_json(text, strict=True)
    assert after == before
    assert type(after.event) is type(event)
    assert after.model_dump_json() == text
    assert e.EVENT_ADAPTER.validate_python(event.model_dump(mode="json")) == event


@pytest.mark.parametrize("event", EVENTS, ids=KINDS)
def test_events_are_closed_and_frozen(event: Frozen) -> None:
    with pytest.raises(ValidationError):
        e.EVENT_ADAPTER.validate_python({**event.model_dump(), "surprise": 1})
    with pytest.raises(ValidationError):
        event.kind = "Other"  # type: ignore[attr-defined]


@pytest.mark.parametrize("event", EVENTS, ids=KINDS)
def test_every_kind_is_told_in_one_line(event: Frozen) -> None:
    line = narrate(step(event), {"p1": "Ada Bell", "p2": "Herring"})
    assert line.strip()
    assert "\n" not in line
    assert len(line) <= 400
    assert not any(word in line for word in ("None", "Frozen(", "{", "kind="))


def test_identity_drops_times_and_the_run_alone() -> None:
    first = step(EVENTS[5])
    later = first.model_copy(
        update={
            "run_id": "other",
            "elapsed_ms": 99.0,
            "event": first.event.model_copy(update={"ms": 77.0}),
            "usage": first.usage.model_copy(update={"seconds": 5.0}),
        }
    )
    assert e.identity(first) == e.identity(later)
    assert e.identity(first) != e.identity(first.model_copy(update={"stage": "other"}))
    spent = first.usage.model_copy(update={"tokens": 1})
    assert e.identity(first) != e.identity(first.model_copy(update={"usage": spent}))


@pytest.mark.parametrize("field", ["plan", "artifacts", "evidence"])
def test_a_commit_reads_well_whatever_the_number_of_its_field(field: str) -> None:
    event = next(x for x in EVENTS if isinstance(x, e.Committed))
    line = narrate(step(event.model_copy(update={"field": field})))
    assert line.startswith(f"Committed to the state: {field}")


@pytest.mark.parametrize(("kind", "named"), [("plan", "a plan"), ("artifact", "an artifact")])
def test_what_memory_holds_has_its_article(kind: str, named: str) -> None:
    event = next(x for x in EVENTS if isinstance(x, e.MemoryOp))
    assert named in narrate(step(event.model_copy(update={"artifact": f"{kind}:abc"})))


@pytest.mark.parametrize("grounded", [True, False])
def test_that_its_words_stand_in_the_sources_is_no_praise_of_an_answer(grounded: bool) -> None:
    for kind in (e.Grounded, e.RunFinished):
        event = next(x for x in EVENTS if isinstance(x, kind))
        change = {"grounded": grounded} | ({"answer": "Ada"} if kind is e.RunFinished else {})
        line = narrate(step(event.model_copy(update=change)))
        assert ("words stand in" in line) is grounded
        assert ("not found in the sources" in line) is not grounded
