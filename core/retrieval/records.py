"""Documents inside csv, json and jsonl files: one for each record.

A record's text is its ``text``. In an ordinary table, where no record has one, the text is made of
the columns, a ``column: value`` line for each.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from itertools import islice

from core.errors import BadInput
from core.retrieval.decoding import whole_characters
from core.retrieval.metadata import DocumentFields, csv_rows, fields_from
from core.retrieval.names import document_id, printable
from core.types import Frozen

MAX_RECORDS = 1_000_000
NAMED = 10
"""Columns that a verdict names; the rest is counted."""
KNOWN = frozenset({"id", "text", *DocumentFields.model_fields})
"""Columns that are read where a record has a ``text``; the others are not."""


class Record(Frozen):
    """A record: its key inside the file (its own ``id``, or its number), text and fields."""

    key: str
    text: str
    fields: DocumentFields


class Records(Frozen):
    """The usable records of a file, and what was wrong with the others or was made up for."""

    records: tuple[Record, ...]
    problems: tuple[str, ...] = ()


def records(text: str, suffix: str) -> Records:
    """The records of a ``.csv``, ``.json`` or ``.jsonl`` text.

    Raises:
        BadInput: none can be used; the message is the reason.
    """
    unreadable: list[str] = []
    if suffix == ".csv":
        items: Iterable[tuple[str, object]] = [(f"line {n}", row) for n, row in csv_rows(text)]
    elif suffix == ".json":
        items = _json_items(text)
    else:
        items = _json_lines(text, unreadable)
    given = list(islice(items, MAX_RECORDS + 1))
    if len(given) > MAX_RECORDS:
        raise BadInput(f"it has more than {MAX_RECORDS:,} records; split it")
    columns = dict.fromkeys(c for _, item in given if isinstance(item, dict) for c in item)
    plain_table = "text" not in columns
    found: dict[str, Record] = {}
    without: list[str] = []
    twice: list[str] = []
    for number, (place, item) in enumerate(given, 1):
        values = item if isinstance(item, dict) else {}
        if plain_table:
            values = _with_text(values)
        body = values.get("text")
        if not isinstance(body, str) or not body.strip():
            without.append(place)
            continue
        key = _key(values.get("id"), number)
        if key in found:
            twice.append(place)
            key = f"{key}-{number}"
        found[key] = Record(key=key, text=_whole(body), fields=fields_from(values))
    if not found:
        if unreadable:
            raise BadInput(f"it is not valid JSON lines ({unreadable[0]})")
        raise BadInput("no record of it has any text, neither a 'text' nor other columns")
    problems = []
    for places, what in (
        (unreadable, "is not valid JSON"),
        (without, "has no text"),
        (twice, "repeats an id"),
    ):
        if places:
            more = f" and {len(places) - 5} more" if len(places) > 5 else ""
            problems.append(f"{', '.join(places[:5])}{more} {what}")
    unused = [c for c in columns if c not in KNOWN]
    if plain_table:
        problems.append(
            f"it has no column 'text', so each text was made of the columns: {_named(columns)}"
        )
    elif unused:
        problems.append(f"not indexed, beside 'text': {_named(unused)}")
    return Records(records=tuple(found.values()), problems=tuple(problems))


def _with_text(values: dict[str, object]) -> dict[str, object]:
    """A record of an ordinary table with a ``text`` of all its columns, and a ``title``: its own,
    else its ``name``, else its first value."""
    cells = {c: _plain(v).strip() for c, v in values.items() if v is not None}
    cells = {c: cell for c, cell in cells.items() if cell}
    title = cells.get("title") or cells.get("name") or next(iter(cells.values()), None)
    text = "\n".join(f"{c}: {cell}" if c else cell for c, cell in cells.items())
    return {**values, "title": title, "text": text}


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _named(columns: Collection[str]) -> str:
    names = ", ".join(printable(c)[:40] or "(no name)" for c in islice(columns, NAMED))
    more = len(columns) - NAMED
    return f"{names} and {more} more" if more > 0 else names


def _whole(text: str) -> str:
    return whole_characters(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " "))


def _key(given: object, number: int) -> str:
    if isinstance(given, (str, int)) and str(given).strip():
        return document_id(whole_characters(str(given).strip())).replace("/", "_")
    return str(number)


def _json_items(text: str) -> list[tuple[str, object]]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"it is not valid JSON ({str(error)[:200]})") from None
    except (ValueError, RecursionError):
        raise BadInput(
            "it is not valid JSON (nested too deep, or a number in it is too long)"
        ) from None
    items = value if isinstance(value, list) else [value]
    return [(f"item {number}", item) for number, item in enumerate(items, 1)]


def _json_lines(text: str, unreadable: list[str]) -> list[tuple[str, object]]:
    items: list[tuple[str, object]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            items.append((f"line {number}", json.loads(line)))
        except (ValueError, RecursionError):
            unreadable.append(f"line {number}")
    return items
