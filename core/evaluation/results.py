"""Rows of ``results.csv`` and the summary by system."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import TextIO

from pydantic import ValidationError

from core.errors import BadInput
from core.types import Frozen, JsonObject

AVERAGED = (
    "em",
    "f1",
    "evidence_precision",
    "evidence_recall",
    "evidence_f1",
    "all_gold",
    "evidence_tokens",
    "tokens",
    "calls",
    "rounds",
    "seconds",
)
"""Columns whose mean over questions ``summary.json`` gives, in its order."""


class Row(Frozen):
    """One question answered by one system; the columns of ``results.csv`` in order.

    Evidence scores are absent where the question has no gold. ``lost_at`` is one of
    ``losses.LOST_AT``.
    """

    question_id: str
    system: str
    terminal: str
    branch: str
    answer: str | None
    em: float
    f1: float
    evidence_precision: float | None
    evidence_recall: float | None
    evidence_f1: float | None
    all_gold: float | None
    evidence_tokens: int
    tokens: int
    calls: int
    rounds: int
    seconds: float
    lost_at: str
    run_id: str
    hops: int | None
    type: str


COLUMNS = tuple(Row.model_fields)


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a results file, whole or not at all. An absent value is an empty cell."""

    def write(file: TextIO) -> None:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row.model_dump() for row in rows)

    _atomically(path, write)


def read_rows(path: Path) -> list[Row]:
    """Read a results file back; an empty cell is an absent value.

    Raises:
        BadInput: no such file, or a line that is no row; names it.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            records = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"The results file {path.name} cannot be read: {error}.") from None
    rows = []
    for number, record in enumerate(records, 2):
        try:
            rows.append(Row.model_validate({k: _cell(k, v) for k, v in record.items()}))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise BadInput(
                f"Line {number} of {path.name} is no result ({first['loc'][0]}: {first['msg']})."
            ) from None
    return rows


def _cell(name: str, value: str | None) -> str | None:
    return value if value or name in ("type", "branch") else None


def summarise(rows: Sequence[Row], systems: Sequence[str]) -> JsonObject:
    """``{system: {n, em, f1, ..., terminals}}``: means over the questions that have a value."""
    return {name: _summary([r for r in rows if r.system == name]) for name in systems}


def _summary(rows: Sequence[Row]) -> JsonObject:
    means: JsonObject = {name: mean(rows, name) for name in AVERAGED}
    terminals: JsonObject = dict(sorted(Counter(r.terminal for r in rows).items()))
    return {"n": len(rows), **means, "terminals": terminals}


def mean(rows: Sequence[Row], column: str) -> float | None:
    """The mean of a column over the rows that have a value; ``None`` where none has."""
    values = column_values(rows, column)
    return fmean(values) if values else None


def column_values(rows: Sequence[Row], column: str) -> list[float]:
    """The values of a numeric column, without the absent ones."""
    values = (getattr(row, column) for row in rows)
    return [float(value) for value in values if value is not None]


def write_json(path: Path, value: JsonObject) -> None:
    """Write a JSON file, whole or not at all."""
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    _atomically(path, lambda file: file.write(text))


def _atomically(path: Path, write: Callable[[TextIO], object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            write(file)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
