"""Errors that a run can end with, and errors of bad input.

Every error names the stage it arose in, a machine-readable reason code, and one plain
sentence that says what to do. ``runs.execute`` turns a :class:`RagError` into the run's
terminal event; the command line turns :class:`BadInput` into exit code 2.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

Terminal = Literal[
    "answered",
    "abstained",
    "needs_clarification",
    "conflict",
    "budget_exhausted",
    "incomplete",
    "cancelled",
    "failed",
]


class RagError(Exception):
    """Base of every expected failure.

    ``notices`` are events that tell how it came about, journaled before the run's end.
    ``code`` is stable and machine-readable; ``terminal`` is how a run ends when nothing
    below ``runs.execute`` handles the error; ``retryable`` says whether the same call may
    succeed later without any change.
    """

    code: ClassVar[str] = "error"
    terminal: ClassVar[Terminal] = "failed"
    retryable: ClassVar[bool] = False
    notices: tuple[Any, ...] = ()

    def __init__(self, message: str, *, stage: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.stage = stage
        self.reason_code = code or self.code


class BadInput(RagError):
    """What the person gave cannot be used; nothing was started or changed."""

    code = "bad_input"


class BudgetExhausted(RagError):
    """The next step does not fit the budget. Raised before the step, never after."""

    code = "budget_exhausted"
    terminal = "budget_exhausted"

    def __init__(self, resource: str, needed: float, left: float, *, stage: str = "") -> None:
        super().__init__(
            f"The next step needs {needed:g} {resource} and {left:g} are left; "
            f"raise the {resource} budget or ask a simpler question.",
            stage=stage,
            code=f"budget_{resource}",
        )
        self.resource, self.needed, self.left = resource, needed, left


class RunCancelled(RagError):
    """The person stopped the run."""

    code = "cancelled"
    terminal = "cancelled"


class RetrieverError(RagError):
    """The retriever could not answer."""

    code = "retriever_error"


class RetrieverTimeout(RetrieverError):
    """The retriever did not answer in time."""

    code = "retriever_timeout"
    retryable = True


class StaleIndex(RetrieverError):
    """The index names a document or passage that is gone; re-index the corpus."""

    code = "stale_index"


class IndexMismatch(RetrieverError):
    """The index was built with another embedder or chunking; re-index the corpus."""

    code = "index_mismatch"


class ReasonerError(RagError):
    """A piece of language work failed; nothing is committed from it.

    ``model_calls`` are the requests (``ports.ModelCall``) that were spent on it.
    """

    code = "reasoner_error"
    terminal = "incomplete"
    model_calls: tuple[Any, ...] = ()


class MalformedOutput(ReasonerError):
    """The reply does not validate, also after the one strict retry and the repair."""

    code = "malformed_output"


class TaskUnsupported(ReasonerError):
    """This reasoner has no way to do this task; choose another reasoner."""

    code = "task_unsupported"


class ModelRefusal(ReasonerError):
    """The model declined to answer."""

    code = "model_refusal"


class ModelTimeout(ReasonerError):
    """The model did not answer in time."""

    code = "model_timeout"
    retryable = True


class RateLimited(ReasonerError):
    """The provider limits the rate of calls; wait or lower the concurrency.

    ``retry_after`` is the wait in seconds that the provider asks for, where it says one.
    """

    code = "rate_limit"
    retryable = True
    retry_after: float | None = None


class ModelUnavailable(ReasonerError):
    """The model's server cannot be reached or failed by itself."""

    code = "model_unavailable"
    retryable = True


class ModelRejected(ReasonerError):
    """The model's server does not take the request: unknown model, or unfit parameters."""

    code = "model_rejected"


class AuthenticationFailed(ReasonerError):
    """The provider refused the key."""

    code = "auth_error"


class ContextTooLong(ReasonerError):
    """The prompt does not fit the model's context window."""

    code = "context_too_long"


class JournalError(RagError):
    """A run could not be read or written; nothing was shown that is not on disk."""

    code = "journal_error"


class JournalFull(JournalError):
    """The disk is full; free space and resume the run."""

    code = "disk_full"


class PlaybackDiverged(RagError):
    """A recorded run does not come out the same when its controller is rerun."""

    code = "playback_diverged"
