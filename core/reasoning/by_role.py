"""A reasoner per task: extractive navigation with a model for verifying, and the like.

Written ``extractive, verify=openai/gpt-4o-mini``: who does all tasks, then who does which instead.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.errors import BadInput
from core.ports import CallContext, Reasoner, bound
from core.settings import unknown_name
from core.tasks import TASKS, Allowance, Performed, Rep, Req, Task


class RoleReasoner:
    """Sends each task to the reasoner chosen for it, or to the default.

    ``name`` is the one name of all of them, else ``mixed``; ``model`` is the choice as written.

    Raises:
        BadInput: a task that does not exist; the nearest is offered.
    """

    def __init__(self, by_task: Mapping[str, Reasoner], default: Reasoner) -> None:
        for task in by_task:
            if task not in TASKS:
                raise BadInput(unknown_name("task", task, TASKS))
        self._by_task, self._default = dict(by_task), default

    def bind(self, context: CallContext) -> RoleReasoner:
        """The same choice, each reasoner bound to one run."""
        chosen = {task: bound(reasoner, context) for task, reasoner in self._by_task.items()}
        return RoleReasoner(chosen, bound(self._default, context))

    @property
    def name(self) -> str:
        """The reasoners' common name, or ``mixed``."""
        names = {r.name for r in self._all()}
        return names.pop() if len(names) == 1 else "mixed"

    @property
    def model(self) -> str | None:
        """The choice as ``parse_choice`` reads it; the default's model where nothing differs."""
        if not self._by_task:
            return self._default.model
        parts = [_label(self._default)]
        parts += [f"{task}={_label(r)}" for task, r in sorted(self._by_task.items())]
        return ", ".join(parts)

    def chosen(self, task: str) -> Reasoner:
        """Who does a task."""
        return self._by_task.get(task, self._default)

    def tokens_in(self, task: Task[Req, Rep], request: Req) -> int:
        """Tokens that the chosen reasoner would be given."""
        return self.chosen(task.name).tokens_in(task, request)

    def perform(self, task: Task[Req, Rep], request: Req, allowance: Allowance) -> Performed[Rep]:
        """Have the chosen reasoner do it; raises what that raises."""
        return self.chosen(task.name).perform(task, request, allowance)

    def _all(self) -> tuple[Reasoner, ...]:
        return tuple({id(r): r for r in map(self.chosen, TASKS)}.values())


def parse_choice(text: str) -> tuple[str, dict[str, str]]:
    """Who does all tasks, and who does which task instead, from ``a, verify=b, answer=c``.

    Raises:
        BadInput: an unknown task, one named twice, or not exactly one part without a task.
    """
    default: list[str] = []
    by_task: dict[str, str] = {}
    for part in text.split(","):
        task, sign, model = (piece.strip() for piece in part.partition("="))
        if not sign:
            default.append(task)
        elif task not in TASKS:
            raise BadInput(unknown_name("task", task, TASKS))
        elif task in by_task:
            raise BadInput(f"The task {task} is given to two models; name it once.")
        else:
            by_task[task] = model
    if len(default) != 1:
        raise BadInput(
            "Name one reasoner for all tasks, then others by task, such as "
            "'extractive, verify=openai/gpt-4o-mini'."
        )
    return default[0], by_task


def _label(reasoner: Reasoner) -> str:
    return reasoner.model or reasoner.name
