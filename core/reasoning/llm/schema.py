"""The JSON schema of a reply, in the subset that providers' structured outputs share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from core.reasoning.llm.wire import EACH, HANDLE, LENGTH, MOST
from core.types import JsonObject

_DROPPED = frozenset({"title", "description", "default", "$defs", "minLength"})


def reply_schema(kind: type[BaseModel], counts: Mapping[str, int]) -> JsonObject:
    """The schema of ``kind``, references put in, handles and lists bounded by ``counts``.

    Raises:
        KeyError: a count that the type refers to is not given.
    """
    schema = _raw(kind)
    inlined = _inline(schema, schema.get("$defs", {}), counts)
    assert isinstance(inlined, dict)
    return inlined


@cache
def _raw(kind: type[BaseModel]) -> dict[str, Any]:
    return kind.model_json_schema()


def _inline(node: Any, definitions: Mapping[str, Any], counts: Mapping[str, int]) -> Any:
    if isinstance(node, list):
        return [_inline(part, definitions, counts) for part in node]
    if not isinstance(node, dict):
        return node
    if reference := node.get("$ref"):
        return _inline(definitions[reference.rpartition("/")[2]], definitions, counts)
    found: dict[str, Any] = {}
    for key, part in node.items():
        if key == "properties":
            found[key] = {n: _inline(p, definitions, counts) for n, p in part.items()}
        elif key not in _DROPPED and key not in (HANDLE, LENGTH, MOST, EACH):
            found[key] = _inline(part, definitions, counts)
    if kind := node.get(HANDLE):
        found["maximum"] = max(counts[kind], node["minimum"])
    if length := node.get(LENGTH):
        found["maxLength"] = length
    if kind := node.get(MOST) or node.get(EACH):
        found["maxItems"] = counts[kind]
        found["minItems"] = counts[kind] if EACH in node else found.get("minItems", 0)
    return found
