"""A raw reply, from whatever wrote it, as a validated value or a typed refusal."""

from __future__ import annotations

from pydantic import ValidationError

from core.errors import MalformedOutput
from core.tasks import Rep, Req, Task

MAX_REPLY = 200_000
"""Most characters of a raw reply that are parsed at all."""


def validate_reply(task: Task[Req, Rep], raw: str) -> Rep:
    """The reply in a raw JSON text.

    Raises:
        MalformedOutput: it is too long, no JSON, or not of the task's reply type; the message names
            the first place that is wrong and never repeats the text.
    """
    if len(raw) > MAX_REPLY:
        raise MalformedOutput(
            f"The reply to {task.name} has {len(raw)} characters; at most {MAX_REPLY} are read."
        )
    try:
        return task.reply.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:60] for part in first["loc"]) or "the top"
        raise MalformedOutput(
            f"The reply to {task.name} is malformed at {where}: {first['msg']}."
        ) from None
