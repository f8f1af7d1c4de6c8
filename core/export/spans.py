"""A run as OpenInference spans in OTLP JSON, ready for a collector's ``/v1/traces``.

One tree: the run, under it the stages one after the other, under each the searches, the language
work (with the requests to a model below it) and the decisions taken in it. What takes no time of
its own, such as a belief update, is an event of its stage's span. Attribute names are those of the
OpenInference semantic conventions; ids derive from the run's id, times from the record.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

from core import trace
from core.events import (
    Called,
    Decided,
    Grounded,
    Hit,
    ModelCalled,
    QueryIssued,
    Retrieved,
    RunFinished,
    RunStarted,
    Step,
    Validated,
)
from core.export.otlp import ERROR, OK, UNSET, Attributes, Span, attributes, encoded
from core.graph import Region, RegionHit
from core.narration import narrate
from core.responses import ReadResponse, RerankResponse, SearchResponse, parse_response
from core.types import JsonObject, Passage

SCOPE = "rag-inspector"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KINDS = {
    **dict.fromkeys(("search", "read", "neighbours", "region"), "RETRIEVER"),
    "rerank": "RERANKER",
}
"""The kind of a port call's span by its task; any other is a link of the chain."""
_TEXT, _JSON = "text/plain", "application/json"
_GOOD = ("answered", "abstained", "needs_clarification", "conflict")
"""Terminals that are an outcome; a span of any other has the status of an error."""


def dump(steps: Sequence[Step]) -> str:
    """The spans of a run, finished or not, as one line of JSON.

    Raises:
        ValueError: the steps do not begin with RunStarted.
    """
    tree = _Tree(steps)
    tree.grow()
    resource = {"service.name": SCOPE, "openinference.project.name": SCOPE}
    spans = [encoded(span, tree.run_id) for span in tree.spans]
    scoped = {"scope": {"name": SCOPE}, "spans": spans}
    whole = {"resource": {"attributes": attributes(resource)}, "scopeSpans": [scoped]}
    text = json.dumps({"resourceSpans": [whole]}, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n"


class _Tree:
    """Spans in the order in which they began."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps, self.started = steps, trace.start(steps)
        self.run_id = steps[0].run_id
        self.passages, self.titles = trace.passages(steps), trace.titles(steps)
        began = (steps[0].at - _EPOCH) // timedelta(microseconds=1) * 1_000
        elapsed = accumulate((s.elapsed_ms for s in steps), max)
        self.times = [began + round((ms - steps[0].elapsed_ms) * 1e6) for ms in elapsed]
        self.spans: list[Span] = []
        self.query = self.started.question
        self.listed: tuple[Hit, ...] = ()

    def grow(self) -> None:
        """Make every span."""
        end = self.steps[-1].event
        finished = end if isinstance(end, RunFinished) else None
        root = self._root(finished)
        for stage in trace.spans(self.steps):
            before = max(stage.first - 1, 0)
            span = self._add(
                stage.stage,
                root,
                self.times[before],
                self.times[stage.last],
                {
                    "openinference.span.kind": "CHAIN",
                    "graph.node.id": stage.stage,
                    "metadata": _json(
                        {
                            "branch": stage.branch,
                            "steps": [stage.first, stage.last],
                            "calls": stage.calls,
                            "tokens": stage.tokens,
                            "cost": stage.cost,
                        }
                    ),
                },
            )
            self._within(span, self.steps[stage.first : stage.last + 1])

    def _root(self, finished: RunFinished | None) -> Span:
        started = self.started
        root = self._add(
            started.system,
            None,
            self.times[0],
            self.times[-1],
            {
                "openinference.span.kind": "CHAIN",
                "session.id": started.parent.run_id if started.parent else self.run_id,
                **_input(started.question),
                "metadata": _json(_facts(self.run_id, started, finished)),
            },
            UNSET,
        )
        tags = [started.system, started.corpus.id]
        if finished is not None:
            tags.append(finished.terminal)
            answer = finished.reason if finished.answer is None else finished.answer
            root.attributes |= _output(answer)
            root.status = OK if finished.terminal in _GOOD else ERROR
            root.message = "" if root.status == OK else finished.reason
        root.attributes["tag.tags"] = tags
        return root

    def _within(self, stage: Span, steps: Sequence[Step]) -> None:
        """The spans and events of one stage."""
        requests: list[Step] = []
        for n, step in enumerate(steps):
            event = step.event
            if isinstance(event, ModelCalled):
                requests.append(step)
            elif isinstance(event, Called):
                span = self._called(stage, step, event, steps[n + 1 :])
                for request in requests:
                    assert isinstance(request.event, ModelCalled)
                    self._model(span, request, request.event)
                requests = []
            elif isinstance(event, Decided):
                self._decided(stage, step, event)
            elif isinstance(event, Grounded):
                self._grounded(stage, step, event)
            elif isinstance(event, Validated):
                self._validated(stage, step, event)
            else:
                if isinstance(event, QueryIssued):
                    self.query = event.query
                stage.events.append(self._moment(step))
        for request in requests:  # the record ends before the call that they belong to
            assert isinstance(request.event, ModelCalled)
            self._model(stage, request, request.event)

    def _called(self, stage: Span, step: Step, event: Called, after: Sequence[Step]) -> Span:
        failed = event.error is not None
        attributes: Attributes = {
            "openinference.span.kind": _KINDS.get(event.task, "CHAIN"),
            "metadata": _json(
                {
                    "seq": step.seq,
                    "request_digest": event.request_digest,
                    "tokens_in": event.tokens_in,
                    "tokens_out": event.tokens_out,
                    "attempt": event.attempt,
                    "cached": event.cached,
                    "cost": event.cost,
                }
            ),
            **_output(event.error or _json(event.response), _TEXT if failed else _JSON),
        }
        if event.task in ("search", "rerank"):
            attributes |= _input(self.query)
        if not failed:
            attributes |= self._found(event, after)
        return self._lasting(
            f"{event.port}.{event.task}",
            stage,
            step,
            event.ms,
            attributes,
            ERROR if failed else OK,
            event.error or "",
        )

    def _found(self, event: Called, after: Sequence[Step]) -> Attributes:
        """The passages that a call of the retriever came back with."""
        response = parse_response(event.port, event.task, event.response)
        if isinstance(response, RerankResponse):
            final = next((s.event for s in after if isinstance(s.event, Retrieved)), None)
            before, self.listed = self.listed, final.passages if final else ()
            return {
                "reranker.query": self.query,
                "reranker.model_name": str(self.started.settings.get("reranker", "")),
                **self._documents("reranker.input_documents", before),
                **self._documents("reranker.output_documents", self.listed),
            }
        if isinstance(response, SearchResponse):
            self.listed = response.hits
            return self._documents("retrieval.documents", response.hits)
        if isinstance(response, Region):
            return self._documents("retrieval.documents", response.hits)
        if isinstance(response, ReadResponse):
            return self._documents("retrieval.documents", response.ids)
        return {}

    def _documents(self, where: str, found: Sequence[Hit | RegionHit | str]) -> Attributes:
        documents: Attributes = {}
        for n, hit in enumerate(found):
            id_ = hit if isinstance(hit, str) else hit.id
            passage = self.passages.get(id_)
            document = f"{where}.{n}.document"
            documents[f"{document}.id"] = id_
            documents[f"{document}.content"] = passage.text if passage else ""
            if not isinstance(hit, str):
                documents[f"{document}.score"] = hit.score
            documents[f"{document}.metadata"] = _json(_described(hit, passage))
        return documents

    def _model(self, parent: Span, step: Step, event: ModelCalled) -> None:
        failed = event.error is not None
        attributes: Attributes = {
            "openinference.span.kind": "LLM",
            "llm.model_name": event.model,
            "llm.token_count.prompt": event.tokens_in,
            "llm.token_count.completion": event.tokens_out,
            "llm.token_count.total": event.tokens_in + event.tokens_out,
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": event.prompt,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": event.reply,
            **_input(event.prompt),
            **_output(event.reply),
            "metadata": _json({"seq": step.seq, "attempt": event.attempt, "cached": event.cached}),
        }
        self._lasting(
            event.task,
            parent,
            step,
            event.ms,
            attributes,
            ERROR if failed else OK,
            event.error or "",
        )

    def _decided(self, stage: Span, step: Step, event: Decided) -> None:
        gates = [gate.model_dump(mode="json") for gate in event.gates]
        attributes = {
            **_evaluator(_json(event.inputs), event.outcome),
            "input.mime_type": _JSON,
            "metadata": _json({"seq": step.seq, "reason": event.reason, "gates": gates}),
        }
        self._lasting(event.decider, stage, step, 0.0, attributes)

    def _grounded(self, stage: Span, step: Step, event: Grounded) -> None:
        citations = [c.model_dump(mode="json") for c in event.citations]
        attributes = {
            **_evaluator(self.started.question, "grounded" if event.grounded else "not grounded"),
            "metadata": _json({"seq": step.seq, "citations": citations}),
        }
        self._lasting("grounding", stage, step, 0.0, attributes)

    def _validated(self, stage: Span, step: Step, event: Validated) -> None:
        attributes = {
            **_evaluator(event.validator, event.verdict),
            "metadata": _json({"seq": step.seq, "reason": event.reason}),
        }
        self._lasting(event.validator, stage, step, 0.0, attributes)

    def _moment(self, step: Step) -> JsonObject:
        told = {"seq": step.seq, "message": narrate(step, self.titles)}
        return {
            "timeUnixNano": str(self.times[step.seq]),
            "name": step.event.kind,
            "attributes": attributes(told),
        }

    def _lasting(
        self,
        name: str,
        parent: Span,
        step: Step,
        ms: float,
        attributes: Attributes,
        status: int = OK,
        message: str = "",
    ) -> Span:
        """A span that took ``ms`` and ended at its step, no longer than its parent."""
        end = min(self.times[step.seq], parent.end)
        start = min(max(end - round(ms * 1e6), parent.start), end)
        return self._add(name, parent, start, end, attributes, status, message)

    def _add(
        self,
        name: str,
        parent: Span | None,
        start: int,
        end: int,
        attributes: Attributes,
        status: int = OK,
        message: str = "",
    ) -> Span:
        span = Span(len(self.spans), name, parent, start, end, attributes, status, message)
        self.spans.append(span)
        return span


def _facts(run_id: str, started: RunStarted, finished: RunFinished | None) -> JsonObject:
    facts: JsonObject = {"run_id": run_id, **started.model_dump(mode="json")}
    for known in ("kind", "question"):
        facts.pop(known)
    if finished is not None:
        facts |= finished.model_dump(mode="json", exclude={"kind", "answer", "reason"})
    return facts


def _described(hit: Hit | RegionHit | str, passage: Passage | None) -> JsonObject:
    known: JsonObject = {}
    if not isinstance(hit, str):
        known |= hit.model_dump(mode="json", exclude={"id", "score"}, exclude_none=True)
    if passage is not None:
        known |= passage.model_dump(
            mode="json",
            include={"title", "document", "start", "end", "digest", "line_start", "line_end"},
        )
        known |= passage.metadata.model_dump(mode="json", exclude_none=True)
    return known


def _evaluator(given: str, verdict: str) -> Attributes:
    return {"openinference.span.kind": "EVALUATOR", **_input(given), **_output(verdict)}


def _input(text: str) -> Attributes:
    return {"input.value": text, "input.mime_type": _TEXT}


def _output(text: str, mime: str = _TEXT) -> Attributes:
    return {"output.value": text, "output.mime_type": mime}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
