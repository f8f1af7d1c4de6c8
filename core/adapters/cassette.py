"""Recorded model traffic for tests: record once against a real model, replay without one.

A cassette is a JSONL file, one exchange a line: the model, what was asked, and the reply or the
typed failure. A request is found by all that its reply depends on; the same request recorded
several times plays its replies in order and then goes on with the last one.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path

from pydantic import ValidationError

from core import errors
from core.chat import ChatReply, ChatRequest, Gateway
from core.errors import BadInput, RagError, ReasonerError
from core.types import Frozen, digest

_FAILURES = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, ReasonerError)
}


class CassetteMiss(RagError):
    """The cassette has no reply for a request; the prompt changed since it was recorded."""

    code = "cassette_miss"


class Failure(Frozen):
    """A typed failure as recorded."""

    code: str
    message: str


class Exchange(Frozen):
    """One line of a cassette; exactly one of ``reply`` and ``failure`` is set."""

    model: str
    asked: ChatRequest
    reply: ChatReply | None = None
    failure: Failure | None = None


class RecordingGateway:
    """Passes everything on to a real gateway and appends each exchange to the cassette."""

    def __init__(self, gateway: Gateway, path: Path) -> None:
        self._gateway, self._path = gateway, path
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """The model string of the gateway behind."""
        return self._gateway.model

    @property
    def context_tokens(self) -> int | None:
        """As the gateway behind says."""
        return self._gateway.context_tokens

    def worst_cost(self, tokens_in: int, tokens_out: int) -> float:
        """As the gateway behind says."""
        return self._gateway.worst_cost(tokens_in, tokens_out)

    def complete(self, request: ChatRequest) -> ChatReply:
        """One request over the wire, recorded whether it succeeds or fails."""
        try:
            reply = self._gateway.complete(request)
        except ReasonerError as error:
            failure = Failure(code=error.code, message=error.message)
            self._write(Exchange(model=self.model, asked=_untimed(request), failure=failure))
            raise
        self._write(Exchange(model=self.model, asked=_untimed(request), reply=reply))
        return reply

    def accepted(self, request: ChatRequest, reply: ChatReply) -> None:
        """Passed on."""
        self._gateway.accepted(request, reply)

    def _write(self, exchange: Exchange) -> None:
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(exchange.model_dump_json(exclude_none=True) + "\n")


class Cassette:
    """A gateway that plays a recorded cassette; it needs no model and no network.

    Raises:
        BadInput: the file is missing, empty or broken; the line is named.
    """

    def __init__(self, path: Path, *, context_tokens: int | None = None) -> None:
        self._path, self.context_tokens = path, context_tokens
        self._lock = threading.Lock()
        self._exchanges = _read(path)
        self._tracks: dict[str, list[Exchange]] = defaultdict(list)
        for exchange in self._exchanges:
            self._tracks[digest(exchange.asked.asked())].append(exchange)

    @property
    def model(self) -> str:
        """The model that was recorded."""
        return self._exchanges[0].model

    def worst_cost(self, tokens_in: int, tokens_out: int) -> float:
        """Nothing: no model is called."""
        return 0.0

    def complete(self, request: ChatRequest) -> ChatReply:
        """The recorded reply.

        Raises:
            CassetteMiss: there is none for this request; says where the nearest one differs.
            ReasonerError: a failure was recorded.
        """
        with self._lock:
            track = self._tracks.get(digest(request.asked()))
            if not track:
                raise CassetteMiss(self._miss(request))
            exchange = track.pop(0) if len(track) > 1 else track[0]
        if exchange.failure is not None:
            kind = _FAILURES.get(exchange.failure.code, ReasonerError)
            raise kind(exchange.failure.message)
        assert exchange.reply is not None
        return exchange.reply

    def accepted(self, request: ChatRequest, reply: ChatReply) -> None:
        """Nothing to do."""

    def _miss(self, request: ChatRequest) -> str:
        said = f"{self._path.name} has no reply for this {request.task} request"
        recorded = [e for e in self._exchanges if e.asked.task == request.task]
        if not recorded:
            return f"{said}, nor for any other of the task; record the cassette again."
        asked = request.text()
        others = [e.asked.text() for e in recorded]
        nearest = max(others, key=lambda t: SequenceMatcher(None, asked, t).quick_ratio())
        pairs = zip_longest(asked.splitlines(), nearest.splitlines(), fillvalue="")
        for number, (here, there) in enumerate(pairs, start=1):
            if here != there:
                return (
                    f"{said}; the nearest one differs first in line {number}: asked "
                    f"{here[:120]!r}, recorded {there[:120]!r}. Record the cassette again."
                )
        return f"{said}; the nearest one differs in its parameters. Record the cassette again."


def _untimed(request: ChatRequest) -> ChatRequest:
    return request.model_copy(update={"timeout": None})


def _read(path: Path) -> list[Exchange]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput(f"There is no cassette {path.name}; record it first.") from None
    found = []
    lines = text.removesuffix("\n").split("\n") if text else []
    for number, line in enumerate(lines, start=1):
        try:
            exchange = Exchange.model_validate_json(line)
        except ValidationError:
            raise BadInput(f"Line {number} of the cassette {path.name} is broken.") from None
        if (exchange.reply is None) == (exchange.failure is None):
            raise BadInput(f"Line {number} of the cassette {path.name} holds no reply.")
        found.append(exchange)
    if not found:
        raise BadInput(f"The cassette {path.name} is empty; record it again.")
    return found
