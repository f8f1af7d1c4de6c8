"""Word lists of the reader (``lexicon.toml``), as sets and maps."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from core.retrieval.tokenizer import fold, stem


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def words(section: str, name: str) -> frozenset[str]:
    """The folded words of a list; phrases where the list separates by ``|``.

    Raises:
        KeyError: no such list.
    """
    raw: str = _tables()[section][name]
    if "|" in raw:
        return frozenset(" ".join(part.split()) for part in raw.split("|"))
    return frozenset(raw.split())


@cache
def table(name: str) -> dict[str, str]:
    """A table of the lexicon as it is written.

    Raises:
        KeyError: no such table.
    """
    found: dict[str, str] = _tables()[name]
    return found


@cache
def quantity_table() -> tuple[dict[str, str], ...]:
    """The quantities that adjectives compare, as they are written."""
    return tuple(_tables()["quantities"])


@cache
def head_types() -> dict[str, str]:
    """Stem of a question's head noun -> the answer type that it asks for.

    A noun of several lists has the type of the first of them.
    """
    found: dict[str, str] = {}
    for kind, raw in _tables()["heads"].items():
        for word in raw.split():
            found.setdefault(stem(word), kind)
    return found


@cache
def asking() -> dict[str, str]:
    """A word that asks in another language -> the English one ("где" -> "where")."""
    return {fold(word): wh for wh in _tables()["asking"] for word in words("asking", wh)}


@cache
def synonyms() -> dict[str, frozenset[str]]:
    """Stem -> the stems of every group it is in, itself left out."""
    found: dict[str, set[str]] = {}
    for group in _tables()["synonyms"]:
        stems = {stem(word) for word in group["words"].split()}
        for term in stems:
            found.setdefault(term, set()).update(stems - {term})
    return {term: frozenset(others) for term, others in found.items()}


@cache
def country_of() -> dict[str, str]:
    """Folded demonym or short name -> the country's folded name ("german" -> "germany")."""
    found = {}
    for table in ("pairs", "aliases"):
        for pair in _tables()["demonym_of"][table].split(","):
            demonym, country = pair.strip().split("=")
            found[demonym] = country
    return found


@cache
def synonym_groups() -> tuple[tuple[str, ...], ...]:
    """The words of every synonym group, as they are written."""
    return tuple(tuple(group["words"].split()) for group in _tables()["synonyms"])
