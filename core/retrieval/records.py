"""Documents inside csv, json and jsonl files: one for each record with a text."""

from __future__ import annotations

import json
from collections.abc import Iterable

from core.errors import BadInput
from core.retrieval.decoding import whole_characters
from core.retrieval.metadata import DocumentFields, csv_rows, fields_from
from core.retrieval.names import document_id
from core.types import Frozen

MAX_RECORDS = 1_000_000


class Record(Frozen):
    """A record: its key inside the file (its own ``id``, or its number), text and fields."""

    key: str
    text: str
    fields: DocumentFields


class Records(Frozen):
    """The usable records of a file and what was wrong with the others."""

    records: tuple[Record, ...]
    problems: tuple[str, ...] = ()


def records(text: str, suffix: str) -> Records:
    """The records of a ``.csv``, ``.json`` or ``.jsonl`` text; each needs a ``text``.

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
    found: dict[str, Record] = {}
    without: list[str] = []
    twice: list[str] = []
    for number, (place, item) in enumerate(items, 1):
        if number > MAX_RECORDS:
            raise BadInput(f"it has more than {MAX_RECORDS:,} records; split it")
        values = item if isinstance(item, dict) else {}
        body = values.get("text")
        if not isinstance(body, str) or not body.strip():
            without.append(place)
            continue
        key = _key(values.get("id"), number)
        if key in found:
            twice.append(place)
            key = f"{key}-{number}"
        body = whole_characters(body.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " "))
        found[key] = Record(key=key, text=body, fields=fields_from(values))
    if not found:
        if unreadable:
            raise BadInput(f"it is not valid JSON lines ({unreadable[0]})")
        raise BadInput("no record of it has a 'text'; give records with 'title' and 'text'")
    problems = []
    for places, what in (
        (unreadable, "is not valid JSON"),
        (without, "has no text"),
        (twice, "repeats an id"),
    ):
        if places:
            more = f" and {len(places) - 5} more" if len(places) > 5 else ""
            problems.append(f"{', '.join(places[:5])}{more} {what}")
    return Records(records=tuple(found.values()), problems=tuple(problems))


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
