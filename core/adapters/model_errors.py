"""What litellm raises, as this product's errors: one plain sentence each, no key, no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.adapters.litellm_client import load
from core.errors import (
    AuthenticationFailed,
    ContextTooLong,
    ModelRefusal,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    ReasonerError,
)

EXTRACTIVE_OFFER = "or use --model extractive"
_SCHEMA_WORDS = ("response_format", "json_schema", "response_schema", "grammar", "json schema")
_CONTEXT_WORDS = ("context length", "context size", "context window", "context_length", "too long")
_POLICY_WORDS = ("content_policy", "content_filter", "content policy", "flagged", "safety system")
_DOWN = ("ConnectError", "ConnectTimeout", "ConnectionRefusedError")


class SchemaRefused(ModelRejected):
    """The server takes no JSON schema; the gateway goes on without one."""

    code = "schema_refused"
    retryable = True
    retry_after = 0.0


def translated(error: Exception, model: str, *, schema_sent: bool) -> ReasonerError:
    """The typed error for what a call of ``model`` raised. Never holds the provider's own words."""
    litellm = load()
    kinds = litellm.exceptions
    text = str(error).casefold()
    status = getattr(error, "status_code", None)
    if isinstance(error, kinds.AuthenticationError) or status in (401, 403):
        return AuthenticationFailed(
            f"The provider refused the key for {model}; set a valid one {EXTRACTIVE_OFFER}."
        )
    if isinstance(error, kinds.RateLimitError):
        limited = RateLimited(
            f"The provider limits the rate of calls to {model}; wait, or lower the concurrency."
        )
        limited.retry_after = _retry_after(error)
        return limited
    if isinstance(error, kinds.ContextWindowExceededError) or (
        status in (400, 413, 422) and any(word in text for word in _CONTEXT_WORDS)
    ):
        return ContextTooLong(
            f"The prompt does not fit the context of {model}; show it fewer passages or choose a "
            "model with a longer context."
        )
    if isinstance(error, kinds.ContentPolicyViolationError) or (
        status == 400 and any(word in text for word in _POLICY_WORDS)
    ):
        return refusal(model)
    if isinstance(error, kinds.Timeout):
        return ModelTimeout(f"{model} did not answer in time; try again or raise the time limit.")
    if isinstance(error, kinds.NotFoundError):
        return ModelRejected(
            f"The provider knows no model {model}; check its name {EXTRACTIVE_OFFER}."
        )
    if any(type(e).__name__ in _DOWN for e in _chain(error)):
        return ModelUnavailable(
            f"The server of {model} cannot be reached; start it or check its address, "
            f"{EXTRACTIVE_OFFER}."
        )
    if status is not None and 400 <= status < 500:
        if schema_sent and any(word in text for word in _SCHEMA_WORDS):
            return SchemaRefused(f"The server of {model} takes no JSON schema; asked without one.")
        return ModelRejected(
            f"The server of {model} does not take the request (HTTP {status}); check the model's "
            f"name and its server {EXTRACTIVE_OFFER}."
        )
    return ModelUnavailable(
        f"The server of {model} failed ({type(error).__name__}); try again {EXTRACTIVE_OFFER}."
    )


def refusal(model: str) -> ModelRefusal:
    """The model declined."""
    return ModelRefusal(
        f"{model} declined to answer; rephrase the question or choose another reasoner."
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _retry_after(error: Any) -> float | None:
    for link in _chain(error):
        headers = getattr(getattr(link, "response", None), "headers", None)
        try:
            seconds = float(headers["retry-after"]) if headers is not None else None
        except (KeyError, ValueError):
            continue
        if seconds is not None and 0 <= seconds < 86_400:
            return seconds
    return None
