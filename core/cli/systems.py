"""``systems``: what can be asked, and what can be set."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from core import registry
from core.cli.options import Json
from core.registry import System

Name = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="A system, to see its settings and stages.")
]


def systems(name: Name = None, as_json: Json = False) -> None:
    """List the systems, or the settings and stages of one; --json gives the settings' schema."""
    known = [registry.system(name)] if name else list(registry.systems().values())
    if as_json:
        listed = [
            {
                "name": s.name,
                "title": s.title,
                "kind": s.kind,
                "settings": s.settings.model_json_schema(),
            }
            for s in known
        ]
        print(json.dumps(listed, indent=2, ensure_ascii=False))
        return
    width = max(len(s.name) for s in known)
    for s in known:
        print(f"{s.name:<{width}}  {s.title}: {s.summary}")
    if name:
        _describe(known[0])


def _describe(system: System) -> None:
    """The stages, and each setting with its default, its range and what it does."""
    print(f"\nStages: {', '.join(node.name for node in system.stages)}\n\nSettings:")
    schema = system.settings.model_json_schema()
    for name, field in schema["properties"].items():
        print(f"  {name} = {json.dumps(field.get('default'))}{_range(field)}")
        print(f"      {field['description']}")


def _range(field: dict[str, Any]) -> str:
    """The values that a setting's JSON schema allows, in words."""
    if "enum" in field:
        return f"  ({', '.join(json.dumps(value) for value in field['enum'])})"
    low = field.get("minimum", field.get("exclusiveMinimum"))
    high = field.get("maximum", field.get("exclusiveMaximum"))
    if low is None or high is None:
        return ""
    above = "above " if "exclusiveMinimum" in field else ""
    below = "below " if "exclusiveMaximum" in field else ""
    return f"  ({above}{low:,} to {below}{high:,})"
