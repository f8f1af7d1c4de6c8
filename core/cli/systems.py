"""``systems``: what can be asked."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from core import registry

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def systems(as_json: JsonOption = False) -> None:
    """List the systems; with --json also every setting's JSON schema."""
    known = registry.systems().values()
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
