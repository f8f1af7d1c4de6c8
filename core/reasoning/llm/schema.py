"""The JSON schema of a reply, in the subset that providers' structured outputs share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from core.reasoning.llm.wire import HANDLE
from core.types import JsonObject

_DROPPED = frozenset({"title", "description", "default", "$defs", "minLength"})


def reply_schema(kind: type[BaseModel], highest: Mapping[str, int]) -> JsonObject:
    """The schema of ``kind`` with references put in and handles bounded by ``highest``."""
    schema = _raw(kind)
    inlined = _inline(schema, schema.get("$defs", {}), highest)
    assert isinstance(inlined, dict)
    return inlined


@cache
def _raw(kind: type[BaseModel]) -> dict[str, Any]:
    return kind.model_json_schema()


def _inline(node: Any, definitions: Mapping[str, Any], highest: Mapping[str, int]) -> Any:
    if isinstance(node, list):
        return [_inline(part, definitions, highest) for part in node]
    if not isinstance(node, dict):
        return node
    if reference := node.get("$ref"):
        return _inline(definitions[reference.rpartition("/")[2]], definitions, highest)
    found: dict[str, Any] = {}
    for key, part in node.items():
        if key == "properties":
            found[key] = {n: _inline(p, definitions, highest) for n, p in part.items()}
        elif key == HANDLE:
            found["maximum"] = max(highest.get(part, 0), node.get("minimum", 0))
        elif key not in _DROPPED:
            found[key] = _inline(part, definitions, highest)
    return found
