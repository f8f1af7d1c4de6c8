"""A reasoner that says what a script says: for tests and lessons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from core.errors import RagError, TaskUnsupported
from core.ports import CallContext, TokenCounter
from core.reasoning.replies import validate_reply
from core.tasks import Allowance, Performed, Rep, Reply, Req, Request, Task

Line: TypeAlias = Reply | RagError | str
"""A reply, an error to raise, or raw text that is validated like a model's."""
Script: TypeAlias = Line | Callable[[Request], Line] | Sequence[Line]
"""One line for every call, a function of the request, or lines in order, then no more."""


@dataclass(slots=True)
class ScriptedReasoner:
    """Replies by task name. A sequence is used up per run; past its end, or for a task without a
    script, the task is unsupported."""

    script: Mapping[str, Script]
    tokens: TokenCounter
    name: str = "scripted"
    model: str | None = None
    _used: dict[str, int] = field(default_factory=dict)

    def bind(self, context: CallContext) -> ScriptedReasoner:
        """The same script from its beginning, for one run."""
        return ScriptedReasoner(self.script, self.tokens, self.name, self.model)

    def tokens_in(self, task: Task[Req, Rep], request: Req) -> int:
        """Tokens of every text in the request."""
        return sum(self.tokens.count(text) for text in request.texts())

    def perform(self, task: Task[Req, Rep], request: Req, allowance: Allowance) -> Performed[Rep]:
        """What the script says next for this task.

        Raises:
            TaskUnsupported: the script has nothing more to say.
            ReasonerError: the script says so, or its raw text is malformed.
        """
        line = self._next(task.name, request)
        if isinstance(line, RagError):
            raise line
        if isinstance(line, str):
            return Performed(validate_reply(task, line))
        return Performed(task.reply.model_validate(line.model_dump()))

    def _next(self, task: str, request: Request) -> Line:
        script = self.script.get(task)
        if script is None:
            raise TaskUnsupported(f"The script has no line for {task}.")
        if callable(script):
            return script(request)
        if isinstance(script, (str, Reply, RagError)):
            return script
        used = self._used.get(task, 0)
        if used >= len(script):
            raise TaskUnsupported(f"The script has only {len(script)} lines for {task}.")
        self._used[task] = used + 1
        return script[used]
