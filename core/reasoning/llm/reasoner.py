"""Language work by a model: prompt, reply, one strict retry, repair, typed failure."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from core.chat import ChatReply, ChatRequest, Gateway, Message
from core.errors import (
    BadInput,
    BudgetExhausted,
    ContextTooLong,
    MalformedOutput,
    ModelTimeout,
    ReasonerError,
    TaskUnsupported,
)
from core.ports import TokenCounter
from core.reasoning.llm.fence import inert
from core.reasoning.llm.forms import FORMS, Doubtful, Form
from core.reasoning.llm.parse import Invalid, parsed, repaired, spoken
from core.reasoning.llm.prompts import render
from core.reasoning.llm.redact import Redact, masking
from core.reasoning.llm.schema import reply_schema
from core.tasks import Allowance, ModelCall, Performed, Rep, Reply, Req, Request, Task

TIMEOUT = 180.0
"""Seconds that one request may take; a slow local server may need more."""
LONGEST_WAIT = 20.0
"""Longest pause before a repeated request, in seconds."""
CHARACTERS_A_TOKEN = 20
"""More characters than this per token allowed are never looked at."""


@dataclass(slots=True)
class _Work:
    """One piece of work: its calls so far, and what it may still spend."""

    allowance: Allowance
    token_limit: float
    started: float
    monotonic: Callable[[], float]
    calls: list[ModelCall] = field(default_factory=list)

    def seconds_left(self) -> float:
        return self.allowance.seconds - (self.monotonic() - self.started)

    def affords(self, tokens: int, worst_cost: float) -> bool:
        """Whether one more request with at most this many tokens and dollars may be made."""
        return (
            len(self.calls) < 1 + self.allowance.calls
            and sum(c.tokens_in + c.tokens_out for c in self.calls) + tokens <= self.token_limit
            and sum(c.cost for c in self.calls) + worst_cost <= self.allowance.cost
            and self.seconds_left() > 0
        )

    def failed(self, error: ReasonerError) -> ReasonerError:
        error.model_calls = tuple(self.calls)
        return error


@dataclass(frozen=True, slots=True)
class LLMReasoner:
    """Does every task of the port with one model.

    ``timeout`` is in seconds for one request; ``repeats`` bounds how often a request that failed
    on the way (time, rate limit, server) is made again, and is the only such layer. ``redact``
    is applied to the prompts and replies that are recorded. Prompts and replies are counted by
    ``tokens``, not by the provider; thinking counts where the task allows tokens for it.
    """

    gateway: Gateway
    tokens: TokenCounter
    timeout: float = TIMEOUT
    repeats: int = 2
    seed: int | None = 0
    redact: Redact = field(default_factory=masking)
    wait: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic

    @classmethod
    def for_model(
        cls,
        model: str,
        tokens: TokenCounter,
        api_key: str | None = None,
        api_base: str | None = None,
        *,
        context_tokens: int | None = None,
        cache: Path | None = None,
        redact: Redact | None = None,
        timeout: float | None = None,
    ) -> LLMReasoner:
        """The reasoner over litellm. Nothing is imported or asked before the first call.

        ``context_tokens`` is used where litellm does not know the model's; ``cache`` is a folder
        for validated replies (off by default); ``timeout`` is in seconds for one request, by
        default ``LITELLM_TIMEOUT`` or 180.

        Raises:
            BadInput: ``LITELLM_TIMEOUT`` is no positive number.
        """
        from core.adapters.gateway import LiteLLMGateway
        from core.adapters.reply_cache import CachingGateway

        gateway: Gateway = LiteLLMGateway(model, api_key, api_base, context_tokens=context_tokens)
        if cache is not None:
            gateway = CachingGateway(gateway, cache)
        return cls(
            gateway,
            tokens,
            timeout=timeout or _timeout(),
            redact=redact or masking(api_key),
        )

    @property
    def name(self) -> str:
        """``llm``."""
        return "llm"

    @property
    def model(self) -> str:
        """The model string."""
        return self.gateway.model

    @property
    def context_tokens(self) -> int | None:
        """Most tokens of prompt and reply together, where known; for packing."""
        return self.gateway.context_tokens

    def prompt(self, task: Task[Req, Rep], request: Req) -> ChatRequest:
        """The first request that ``perform`` would send.

        Raises:
            TaskUnsupported: there is no form for the task.
        """
        form = _form(task)
        schema = form.wire and reply_schema(form.wire, form.counts(request))
        return ChatRequest(
            task=task.name,
            messages=(
                Message(role="system", content=render("system", {})),
                Message(role="user", content=render(task.name, form.values(request))),
            ),
            max_tokens=task.max_tokens_out,
            thinking_tokens=task.thinking_tokens,
            reply_schema=schema,
            seed=self.seed,
        )

    def tokens_in(self, task: Task[Req, Rep], request: Req) -> int:
        """Tokens of the rendered prompt."""
        return self._size(self.prompt(task, request))

    def perform(self, task: Task[Req, Rep], request: Req, allowance: Allowance) -> Performed[Rep]:
        """Do the work.

        Raises:
            BudgetExhausted: the first request could cost more than is left; nothing was sent.
            MalformedOutput: no usable reply, also after the one strict retry and the repair.
            ReasonerError: the model or its server failed; ``model_calls`` tells what was spent.
        """
        form, chat = _form(task), self.prompt(task, request)
        size = self._size(chat)
        limit = allowance.tokens + size + _longest(task)
        work = _Work(allowance, limit, self.monotonic(), self.monotonic)
        self._check_first(chat, size, allowance)
        doubtful: Reply | None = None
        texts: list[str] = []
        problem = ""
        for attempt in (1, 2):
            reply, text, whole = self._send(chat, task, work)
            try:
                value = _read(form, request, text, mend=False)
            except Doubtful as doubt:
                problem, doubtful = doubt.problem, doubt.value
            except Invalid as invalid:
                problem = invalid.problem
                if whole:
                    texts.append(text)
            else:
                self.gateway.accepted(chat, reply)
                return Performed(cast(Rep, value), tuple(work.calls))
            work.calls[-1] = replace(work.calls[-1], error=f"invalid reply: {problem}")
            if attempt == 1:
                chat = _again(chat, text, problem)
                if not self._affordable(chat, task, work):
                    break
        if doubtful is not None:
            return Performed(cast(Rep, doubtful), tuple(work.calls))
        for text in reversed(texts):
            try:
                value = _read(form, request, text, mend=True)
            except Doubtful as doubt:
                value = doubt.value
            except Invalid:
                continue
            return Performed(cast(Rep, value), tuple(work.calls))
        raise work.failed(
            MalformedOutput(
                f"The model's reply to {task.name} cannot be used ({problem}); try again, or "
                "choose a stronger model or the extractive reasoner."
            )
        )

    def _check_first(self, chat: ChatRequest, size: int, allowance: Allowance) -> None:
        worst = self.gateway.worst_cost(size, chat.max_tokens + chat.thinking_tokens)
        if worst > allowance.cost:
            raise BudgetExhausted("cost", worst, max(0.0, allowance.cost))
        context = self.gateway.context_tokens
        if context is not None and size + chat.max_tokens > context:
            raise ContextTooLong(
                f"The prompt has about {size} tokens and {self.model} holds {context} with its "
                "reply; show it fewer passages or choose a model with a longer context."
            )

    def _affordable(self, chat: ChatRequest, task: Task[Req, Rep], work: _Work) -> bool:
        size = self._size(chat)
        worst = self.gateway.worst_cost(size, chat.max_tokens + chat.thinking_tokens)
        return work.affords(size + _longest(task), worst)

    def _send(
        self, chat: ChatRequest, task: Task[Req, Rep], work: _Work
    ) -> tuple[ChatReply, str, bool]:
        """One request, repeated where the way there failed: the reply, what it says cut to the
        tokens allowed, and whether that is all of it."""
        size = self._size(chat)
        for repeat in range(self.repeats + 1):
            before = self.monotonic()
            left = work.seconds_left()
            if left <= 0:
                raise work.failed(ModelTimeout("The time limit is reached; raise it to go on."))
            try:
                timed = chat.model_copy(update={"timeout": min(self.timeout, left)})
                reply = self.gateway.complete(timed)
            except ReasonerError as error:
                work.calls.append(self._call(chat, size, before, work, error=error))
                pause = _pause(error, repeat)
                if (
                    not error.retryable
                    or repeat == self.repeats
                    or pause >= min(work.seconds_left(), LONGEST_WAIT + 1)
                    or not self._affordable(chat, task, work)
                ):
                    raise work.failed(error) from None
                self.wait(pause)
                continue
            text = spoken(reply.text)
            kept = self._kept(text, task.max_tokens_out)
            thought = self._thought(reply, text, task.thinking_tokens)
            call = self._call(chat, size, before, work, reply=reply, text=kept)
            work.calls.append(replace(call, tokens_out=call.tokens_out + thought))
            return reply, kept, len(kept) == len(text) and reply.finish == "stop"
        raise AssertionError("unreachable")

    def _call(
        self,
        chat: ChatRequest,
        size: int,
        before: float,
        work: _Work,
        reply: ChatReply | None = None,
        text: str = "",
        error: ReasonerError | None = None,
    ) -> ModelCall:
        return ModelCall(
            prompt=self.redact(chat.text()),
            reply=self.redact(text),
            model=self.model,
            tokens_in=size,
            tokens_out=self.tokens.count(text),
            ms=round(1000 * max(0.0, self.monotonic() - before), 3),
            attempt=len(work.calls) + 1,
            cached=reply is not None and reply.cached,
            cost=reply.cost if reply is not None else 0.0,
            error=None if error is None else f"{error.reason_code}: {error.message}",
        )

    def _size(self, chat: ChatRequest) -> int:
        return sum(self.tokens.count(m.content) for m in chat.messages)

    def _thought(self, reply: ChatReply, said: str, limit: int) -> int:
        """Tokens of thinking that count: as much as the task allows, shown or hidden."""
        if not limit:
            return 0
        shown = reply.text[: max(0, len(reply.text) - len(said))][: limit * CHARACTERS_A_TOKEN]
        return min(limit, max(reply.thinking, self.tokens.count(shown)))

    def _kept(self, text: str, limit: int) -> str:
        """The longest beginning found that has at most ``limit`` tokens."""
        text = text[: limit * CHARACTERS_A_TOKEN]
        if self.tokens.count(text) <= limit:
            return text
        low, high = 0, len(text)
        while high - low > 1:
            middle = (low + high) // 2
            if self.tokens.count(text[:middle]) <= limit:
                low = middle
            else:
                high = middle
        return text[:low]


def _longest(task: Task[Req, Rep]) -> int:
    return task.max_tokens_out + task.thinking_tokens


def _timeout() -> float:
    given = os.environ.get("LITELLM_TIMEOUT")
    if not given:
        return TIMEOUT
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise BadInput("LITELLM_TIMEOUT must be a number of seconds above 0; set it or remove it.")
    return seconds


def _form(task: Task[Req, Rep]) -> Form:
    if task.name not in FORMS:
        raise TaskUnsupported(f"No prompt is written for {task.name}; choose another reasoner.")
    return FORMS[task.name]


def _read(form: Form, request: Request, text: str, *, mend: bool) -> Reply:
    try:
        if form.wire is None:
            return form.read(request, text)
        return form.read(request, (repaired if mend else parsed)(form.wire, text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise Invalid(str(first["msg"])) from None


def _again(chat: ChatRequest, text: str, problem: str) -> ChatRequest:
    """The strict retry: the same prompt, the reply, and what is wrong with it."""
    demand = render("retry", {"problem": inert(problem)})
    said = inert(text).strip()
    *before, last = chat.messages
    if not said:
        merged = Message(role="user", content=f"{last.content}\n\n{demand}")
        return chat.model_copy(update={"messages": (*before, merged)})
    turns = (Message(role="assistant", content=said), Message(role="user", content=demand))
    return chat.model_copy(update={"messages": (*chat.messages, *turns)})


def _pause(error: ReasonerError, repeat: int) -> float:
    """Seconds to wait before a request is made again: as asked for, else 1, 2, 4, ..."""
    asked = getattr(error, "retry_after", None)
    return float(2**repeat) if asked is None else max(0.0, float(asked))
