"""OpenInference spans: one tree, times in order, names of the conventions, nothing lost."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from core import registry, trace
from core.events import Called, Decided, ModelCalled, Retrieved, RunFinished, Step
from core.export import spans
from tests.core.export.runs import CASES, NASTY, asked_of_a_model, of, poisoned

KINDS = {"CHAIN", "RETRIEVER", "RERANKER", "LLM", "EVALUATOR"}
DOCUMENT = r"document\.(id|content|score|metadata)"
NAMES = re.compile(
    r"openinference\.span\.kind|(input|output)\.(value|mime_type)|metadata|session\.id|tag\.tags"
    r"|graph\.node\.id|llm\.model_name|llm\.token_count\.(prompt|completion|total)"
    r"|llm\.(input|output)_messages\.\d+\.message\.(role|content)"
    rf"|retrieval\.documents\.\d+\.{DOCUMENT}|reranker\.(query|model_name)"
    rf"|reranker\.(input|output)_documents\.\d+\.{DOCUMENT}"
)


def read(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """The spans, their attributes by name; the file was taken by the protocol's own parser."""
    whole = json.loads(spans.dump(steps))
    ParseDict(whole, ExportTraceServiceRequest())
    (resource,) = whole["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    for span in scope["spans"]:
        names = [a["key"] for a in span["attributes"]]
        assert len(names) == len(set(names))
        assert [n for n in names if not NAMES.fullmatch(n)] == []
        span["attributes"] = {a["key"]: value(a["value"]) for a in span["attributes"]}
    found: list[dict[str, Any]] = scope["spans"]
    return found


def value(encoded: dict[str, Any]) -> Any:
    ((kind, held),) = encoded.items()
    if kind == "arrayValue":
        return [value(item) for item in held["values"]]
    return int(held) if kind == "intValue" else held


def of_kind(found: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [s for s in found if s["attributes"]["openinference.span.kind"] == kind]


@pytest.mark.parametrize("name", CASES)
def test_spans_form_one_tree_with_times_in_order(name: str) -> None:
    steps = CASES[name]
    found = read(steps)
    by_id = {s["spanId"]: s for s in found}
    assert len(by_id) == len(found)
    assert len({s["traceId"] for s in found}) == 1
    assert all(re.fullmatch("[0-9a-f]{32}", s["traceId"]) for s in found)
    assert all(re.fullmatch("[0-9a-f]{16}", s["spanId"]) for s in found)
    root, *others = found
    assert root["parentSpanId"] == ""
    seen = {root["spanId"]}
    for span in others:
        assert span["parentSpanId"] in seen  # so there is no circle
        seen.add(span["spanId"])
        parent = by_id[span["parentSpanId"]]
        times = [
            int(t["startTimeUnixNano" if edge == "start" else "endTimeUnixNano"])
            for t, edge in ((parent, "start"), (span, "start"), (span, "end"), (parent, "end"))
        ]
        assert times == sorted(times)
        for event in span.get("events", ()):
            assert times[1] <= int(event["timeUnixNano"]) <= times[2]
    stages = [s for s in others if s["parentSpanId"] == root["spanId"]]
    assert [s["name"] for s in stages] == [s.stage for s in trace.spans(steps)]
    ends = [int(s["endTimeUnixNano"]) for s in stages]
    assert ends == sorted(ends)
    assert ends[-1] == int(root["endTimeUnixNano"])


@pytest.mark.parametrize("name", CASES)
def test_every_step_is_a_span_or_an_event_of_one(name: str) -> None:
    steps = CASES[name]
    found = read(steps)
    assert {s["attributes"]["openinference.span.kind"] for s in found} <= KINDS
    seqs = [
        json.loads(s["attributes"]["metadata"])["seq"]
        for s in found
        if '"seq"' in s["attributes"]["metadata"]
    ]
    for span in found:
        for event in span.get("events", ()):
            told = {a["key"]: value(a["value"]) for a in event["attributes"]}
            seqs.append(told["seq"])
            assert event["name"] == steps[told["seq"]].event.kind
    assert sorted(seqs) == [s.seq for s in steps]


@pytest.mark.parametrize("name", CASES)
def test_the_root_tells_the_question_and_the_outcome(name: str) -> None:
    steps = CASES[name]
    root = read(steps)[0]
    started, end = trace.start(steps), steps[-1].event
    assert root["name"] == started.system
    assert root["attributes"]["input.value"] == started.question
    assert root["attributes"]["session.id"] == steps[0].run_id
    facts = json.loads(root["attributes"]["metadata"])
    assert facts["settings"] == started.settings
    if not isinstance(end, RunFinished):
        assert root["status"] == {"code": spans.UNSET}
        assert "output.value" not in root["attributes"]
        return
    assert root["attributes"]["output.value"] == (end.reason if end.answer is None else end.answer)
    assert facts["terminal"] == end.terminal
    bad = end.terminal in ("failed", "incomplete", "budget_exhausted", "cancelled")
    assert root["status"]["code"] == (spans.ERROR if bad else spans.OK)


@pytest.mark.parametrize("system", registry.systems())
def test_searches_carry_their_documents_and_decisions_their_gates(system: str) -> None:
    steps = of(system)
    found, known = read(steps), trace.passages(steps)
    searched = [s for s in of_kind(found, "RETRIEVER") if s["name"] == "retriever.search"]
    calls = [s.event for s in steps if isinstance(s.event, Called) and s.event.task == "search"]
    listed = [s.event for s in steps if isinstance(s.event, Retrieved)]
    assert len(searched) == len(calls) == len(listed)
    for span, retrieved in zip(searched, listed, strict=True):
        given = span["attributes"]
        assert given["input.value"] == retrieved.query
        ids = [
            given[f"retrieval.documents.{n}.document.id"] for n in range(len(retrieved.passages))
        ]
        assert set(ids) == {hit.id for hit in retrieved.passages}
        for n, id_ in enumerate(ids):
            assert given[f"retrieval.documents.{n}.document.content"] == known[id_].text
            described = json.loads(given[f"retrieval.documents.{n}.document.metadata"])
            assert described["document"] == known[id_].document
    decided = [s.event for s in steps if isinstance(s.event, Decided)]
    judged = {(s["name"], s["attributes"]["output.value"]) for s in of_kind(found, "EVALUATOR")}
    assert {(d.decider, d.outcome) for d in decided} <= judged


def test_requests_to_a_model_stand_below_their_call_with_all_tokens() -> None:
    steps = asked_of_a_model(of("beliefrag"))
    found = read(steps)
    asked = of_kind(found, "LLM")
    by_id = {s["spanId"]: s for s in found}
    assert len(asked) == sum(isinstance(s.event, ModelCalled) for s in steps) > 0
    for span in asked:
        assert by_id[span["parentSpanId"]]["name"] == f"reasoner.{span['name']}"
        given = span["attributes"]
        assert given["llm.model_name"] == "openai/small"
        assert given["llm.input_messages.0.message.content"] == given["input.value"]
    totals = [s["attributes"]["llm.token_count.total"] for s in asked]
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    assert sum(totals) == end.usage.tokens


def test_without_a_model_no_span_claims_one() -> None:
    for system in registry.systems():
        assert of_kind(read(of(system)), "LLM") == []


@pytest.mark.parametrize("system", registry.systems())
def test_hostile_texts_change_no_structure(system: str) -> None:
    steps = asked_of_a_model(of(system))
    clean, dirty = read(steps), read(poisoned(steps))
    assert len(clean) == len(dirty)
    for a, b in zip(clean, dirty, strict=True):
        assert [*a["attributes"]] == [*b["attributes"]]
        assert (a["spanId"], a["startTimeUnixNano"]) == (b["spanId"], b["startTimeUnixNano"])
    assert NASTY in dirty[0]["attributes"]["input.value"]


def test_times_never_run_backwards_even_where_the_record_does() -> None:
    steps = [s.model_copy(update={"elapsed_ms": float(100 - s.seq)}) for s in of("static")]
    found = read(steps)
    assert all(int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"]) for s in found)


def test_a_fork_belongs_to_the_session_of_its_parent() -> None:
    from core.events import ParentStep

    first, *rest = of("static")
    parent = ParentStep(run_id="parent", seq=3)
    event = first.event.model_copy(update={"parent": parent})
    root = read([first.model_copy(update={"event": event}), *rest])[0]
    assert root["attributes"]["session.id"] == "parent"


def test_a_reranking_carries_what_it_was_given_and_the_order_it_made() -> None:
    steps = of("ragx-rerank")
    spans_of = of_kind(read(steps), "RERANKER")
    lists = [s.event for s in steps if isinstance(s.event, Retrieved)]
    assert len(spans_of) == len(lists) > 0
    for span, listed in zip(spans_of, lists, strict=True):
        given = span["attributes"]
        assert given["reranker.query"] == given["input.value"] == listed.query
        assert "cross-encoder" in given["reranker.model_name"]
        places = range(len(listed.passages))
        put = [given[f"reranker.output_documents.{n}.document.id"] for n in places]
        scores = [given[f"reranker.output_documents.{n}.document.score"] for n in places]
        before = [given[f"reranker.input_documents.{n}.document.id"] for n in places]
        assert put == [hit.id for hit in listed.passages]
        assert scores == [hit.reranked for hit in listed.passages]
        assert sorted(before) == sorted(put)
