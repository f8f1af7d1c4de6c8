"""One language model through litellm: any provider, an own server, or a proxy.

A call is one request over the wire; nothing here or below repeats it. Keys belong to the
gateway's session: they are passed with the call, and an address given by the caller never
receives a key of the environment.
"""

from __future__ import annotations

import math
import os
import threading
from dataclasses import dataclass, replace
from typing import Any, Literal

from core.adapters.litellm_client import load
from core.adapters.model_check import Route, check_model, context_of, route
from core.adapters.model_errors import SchemaRefused, refusal, translated
from core.chat import ChatReply, ChatRequest
from core.errors import ModelTimeout, ModelUnavailable, ReasonerError

__all__ = ["LiteLLMGateway", "check_model"]

CONCURRENCY = 4
"""Requests at once to one endpoint, over all runs of the process."""
OLLAMA_CONTEXT = 16_384
"""Context asked of an Ollama server, whose own default silently cuts prompts off."""

Structure = Literal["schema", "json", "none"]
_slots: dict[str, threading.BoundedSemaphore] = {}
_slots_lock = threading.Lock()


UNASKED_THINKING = 4_096
"""Tokens left to models that think whether or not they are asked to."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What litellm knows of a model."""

    structure: Structure
    context: int | None
    thinks: bool


class LiteLLMGateway:
    """A chat model by its litellm string (``openai/gpt-4o-mini``, ``ollama/llama3``, ...).

    ``api_base`` is the address of an own OpenAI-compatible server (or of the provider named in
    the string); without it ``LITELLM_BASE_URL`` is used where set. ``context_tokens`` stands in
    where neither litellm nor the server tells the context's size. Raises nothing before a call.
    """

    def __init__(
        self,
        model: str,
        api_key: str | None = None,
        api_base: str | None = None,
        *,
        context_tokens: int | None = None,
        concurrency: int = CONCURRENCY,
    ) -> None:
        self._model, self._api_key, self._api_base = model, api_key, api_base
        self._context_setting, self._concurrency = context_tokens, concurrency
        self._lock = threading.Lock()
        self._route: Route | None = None
        self._known: _Known | None = None

    def __repr__(self) -> str:
        return f"LiteLLMGateway({self._model!r})"

    @property
    def model(self) -> str:
        """The model string as it was given."""
        return self._model

    @property
    def context_tokens(self) -> int | None:
        """Tokens of prompt and reply together: the setting, else as litellm or the server says."""
        return self._context_setting or self._learn().context

    def worst_cost(self, tokens_in: int, tokens_out: int) -> float:
        """Upper bound in USD by litellm's prices; 0 for models without a price.

        Counted with a quarter more tokens, since the provider's tokenizer is another one.
        """
        try:
            prices = load().cost_per_token(
                model=self._model,
                prompt_tokens=math.ceil(tokens_in * 1.25),
                completion_tokens=math.ceil((tokens_out + self._unasked()) * 1.25),
            )
        except Exception:
            return 0.0
        return float(sum(prices))

    def complete(self, request: ChatRequest) -> ChatReply:
        """Send the request once.

        Raises:
            ReasonerError: typed failure, with one sentence that says what to do.
            BadInput: the model string or the address cannot be used.
        """
        found = self._where()
        slot = _slot(found, self._concurrency)
        if not slot.acquire(timeout=request.timeout):
            raise ModelTimeout(
                f"Too many requests to {self._model} are waiting; try again or run fewer at once."
            )
        try:
            return self._complete(request, found)
        finally:
            slot.release()

    def accepted(self, request: ChatRequest, reply: ChatReply) -> None:
        """Nothing to do: nothing is kept."""

    def _complete(self, request: ChatRequest, found: Route) -> ChatReply:
        parameters = self._parameters(request, found)
        schema_sent = parameters.get("response_format", {}).get("type") == "json_schema"
        try:
            response = load().completion(**parameters)
            reply = self._reply(response, schema_sent)
        except ReasonerError:
            raise
        except Exception as error:
            failure = translated(error, self._model, schema_sent=schema_sent)
            if isinstance(failure, SchemaRefused):
                self._now_known(structure="none")
            raise failure from None
        return reply

    def _parameters(self, request: ChatRequest, found: Route) -> dict[str, Any]:
        parameters: dict[str, Any] = {
            "model": found.given,
            "messages": [m.model_dump() for m in request.messages],
            "max_tokens": request.max_tokens + max(request.thinking_tokens, self._unasked()),
            "temperature": 0,
            "timeout": request.timeout,
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": True,
        }
        if request.seed is not None:
            parameters["seed"] = request.seed
        if found.api_base is not None:
            parameters["api_base"] = found.api_base
        if found.own and found.provider == "openai":
            parameters |= {"model": found.model, "custom_llm_provider": "openai"}
        if key := found.key(self._api_key):
            parameters["api_key"] = key
        if found.provider in ("ollama", "ollama_chat"):
            parameters["num_ctx"] = self.context_tokens or OLLAMA_CONTEXT
        if not found.own and self._learn().thinks:
            if request.thinking_tokens:
                parameters["reasoning_effort"] = "medium"
            elif found.provider == "openai":
                parameters["reasoning_effort"] = "low"
        structure = self._learn().structure
        if request.reply_schema is not None and structure == "schema":
            parameters["response_format"] = {
                "type": "json_schema",
                "json_schema": {
                    "name": request.task,
                    "strict": True,
                    "schema": _bounded(request.reply_schema, keep_lengths=found.own),
                },
            }
        elif request.reply_schema is not None and structure == "json":
            parameters["response_format"] = {"type": "json_object"}
        return parameters

    def _reply(self, response: Any, schema_sent: bool) -> ChatReply:
        if not getattr(response, "choices", None):
            raise ModelUnavailable(
                f"The server of {self._model} sent no reply; try again or check the server."
            )
        choice = response.choices[0]
        if getattr(choice.message, "refusal", None) or choice.finish_reason == "content_filter":
            raise refusal(self._model)
        try:
            cost = float(load().completion_cost(completion_response=response, model=self._model))
        except Exception:
            cost = 0.0
        usage = getattr(response, "usage", None)
        details = getattr(usage, "completion_tokens_details", None)
        text = (choice.message.content or "").encode("utf-8", "replace").decode("utf-8")
        if text.lstrip().startswith("<think") or getattr(choice.message, "reasoning_content", None):
            self._now_known(thinks=True)
        return ChatReply(
            text=text,
            finish="length" if choice.finish_reason == "length" else "stop",
            cost=cost if math.isfinite(cost) and cost > 0 else 0.0,
            tokens_in=_count(getattr(usage, "prompt_tokens", None)),
            tokens_out=_count(getattr(usage, "completion_tokens", None)),
            thinking=_count(getattr(details, "reasoning_tokens", None)) or 0,
            schema_used=schema_sent,
        )

    def _unasked(self) -> int:
        return UNASKED_THINKING if self._learn().thinks else 0

    def _where(self) -> Route:
        if self._route is None:
            self._route = route(self._model, self._api_base)
        return self._route

    def _learn(self) -> _Known:
        with self._lock:
            if self._known is None:
                found = self._where()
                context = context_of(found, self._api_key)
                thinks = not found.own and load().supports_reasoning(found.model, found.provider)
                self._known = _Known(_structure(found), context, bool(thinks))
            return self._known

    def _now_known(self, **found: Any) -> None:
        """What a call showed of the model, for the calls to come."""
        known = self._learn()
        with self._lock:
            self._known = replace(known, **found)


def _structure(found: Route) -> Structure:
    litellm = load()
    if found.own or litellm.supports_response_schema(found.model, found.provider):
        return "schema"
    if found.provider in ("ollama", "ollama_chat"):
        return "schema"
    known = litellm.get_supported_openai_params(found.model, found.provider) or ()
    return "json" if "response_format" in known else "none"


def _bounded(node: Any, *, keep_lengths: bool) -> Any:
    """The schema, without the lengths of texts where the server is a provider's: few take them."""
    if isinstance(node, list):
        return [_bounded(part, keep_lengths=keep_lengths) for part in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _bounded(part, keep_lengths=keep_lengths)
        for key, part in node.items()
        if keep_lengths or not (key == "maxLength" and isinstance(part, int))
    }


def _slot(found: Route, concurrency: int) -> threading.BoundedSemaphore:
    key = found.api_base or found.provider
    with _slots_lock:
        if key not in _slots:
            _slots[key] = threading.BoundedSemaphore(
                int(os.environ.get("LITELLM_CONCURRENCY", concurrency))
            )
        return _slots[key]


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
