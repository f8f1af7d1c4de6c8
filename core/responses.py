"""What ports returned, in the form in which a run records it (``Called.response``).

A reasoner's replies are recorded as they are (``tasks``), and so is what an abstraction memory
(``graph``) and a memory pool (``memory``) return.
"""

from __future__ import annotations

from pydantic import JsonValue, ValidationError

from core.errors import BadInput
from core.events import Hit, Port
from core.graph import Expansion, NodeTexts, PathFacts, Region, Spread
from core.memory import Persisted, Recalled
from core.tasks import TASKS
from core.types import Finite, Frozen


class SearchResponse(Frozen):
    """Recorded form of a search: texts are in ``PassagesShown``."""

    hits: tuple[Hit, ...]


class RerankResponse(Frozen):
    """Recorded form of a reranking: a score for each passage, in the order given."""

    scores: tuple[Finite, ...]


class ReadResponse(Frozen):
    """Recorded form of a read or of neighbours."""

    ids: tuple[str, ...]


_RETRIEVER_RESPONSES: dict[str, type[Frozen]] = {
    "search": SearchResponse,
    "read": ReadResponse,
    "neighbours": ReadResponse,
    "rerank": RerankResponse,
    "expand": Expansion,
    "spread": Spread,
    "path": PathFacts,
    "texts": NodeTexts,
    "region": Region,
}
_MEMORY_RESPONSES: dict[str, type[Frozen]] = {"recall": Recalled, "persist": Persisted}


def parse_response(port: Port, task: str, response: JsonValue) -> Frozen:
    """A recorded ``Called.response`` as the value that the port returned.

    Raises:
        BadInput: an unknown task or a response that does not validate.
    """
    kind: type[Frozen]
    if port == "reasoner" and task in TASKS:
        kind = TASKS[task].reply
    elif port == "retriever" and task in _RETRIEVER_RESPONSES:
        kind = _RETRIEVER_RESPONSES[task]
    elif port == "memory" and task in _MEMORY_RESPONSES:
        kind = _MEMORY_RESPONSES[task]
    else:
        raise BadInput(f"A recorded call names the unknown task {port}.{task}.")
    try:
        return kind.model_validate(response)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(
            f"The response of {port}.{task} is invalid at {where}: {first['msg']}."
        ) from None
