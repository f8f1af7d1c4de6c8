"""What crosses between the llm reasoner and a model gateway: one request, one reply."""

from __future__ import annotations

from typing import Annotated, Literal, Protocol

from pydantic import Field

from core.types import Count, Frozen, JsonObject

Finish = Literal["stop", "length"]


class Message(Frozen):
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


class ChatRequest(Frozen):
    """One request to a chat model, at temperature 0 where the model has one.

    ``reply_schema`` is the JSON schema of the reply (None: free text); ``task`` names the work;
    ``max_tokens`` bounds the reply's text, ``thinking_tokens`` what a thinking model may write
    before it (0: thinking is not asked for). ``timeout`` is in seconds and no part of what is
    asked, so no part of ``asked``.
    """

    task: str
    messages: tuple[Message, ...]
    max_tokens: Annotated[int, Field(ge=1)]
    thinking_tokens: Count = 0
    reply_schema: JsonObject | None = None
    seed: int | None = None
    timeout: Annotated[float, Field(gt=0)] | None = None

    def asked(self) -> JsonObject:
        """All that the reply depends on beside the model: the key of caches and cassettes."""
        dumped: JsonObject = self.model_dump(mode="json", exclude={"timeout"})
        return dumped

    def text(self) -> str:
        """The messages as one text, for a log."""
        return "\n\n".join(f"[{m.role}]\n{m.content}" for m in self.messages)


class ChatReply(Frozen):
    """What the model wrote. ``finish`` is ``length`` where it was cut off; ``cost`` in USD.

    ``thinking`` counts the tokens that it thought with out of sight, by the provider's count;
    ``schema_used`` says whether the reply was constrained to the request's schema.
    """

    text: str
    finish: Finish = "stop"
    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    tokens_in: Count | None = None
    tokens_out: Count | None = None
    thinking: Count = 0
    schema_used: bool = False
    cached: bool = False


class Gateway(Protocol):
    """One model behind one endpoint. Safe to use from several threads."""

    @property
    def model(self) -> str:
        """The model string as the person gave it."""

    @property
    def context_tokens(self) -> int | None:
        """Most tokens of prompt and reply together, None where it is not known."""

    def worst_cost(self, tokens_in: int, tokens_out: int) -> float:
        """Upper bound in USD of a call of this size, thinking that the model does unasked
        included; 0 where no price is known."""

    def complete(self, request: ChatRequest) -> ChatReply:
        """One request over the wire, never repeated here.

        Raises:
            ReasonerError: typed failure (timeout, rate limit, key, context, refusal, server).
        """

    def accepted(self, request: ChatRequest, reply: ChatReply) -> None:
        """Told when a reply validated; a cache may keep it from here on."""
