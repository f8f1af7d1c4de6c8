"""Titles and metadata of documents as files give them: front matter, records, the sidecar."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping
from pathlib import Path

import regex

from core.errors import BadInput
from core.retrieval.decoding import decode, whole_characters
from core.retrieval.names import document_id, printable
from core.types import Frozen, Metadata

MAX_VALUE = 500
MAX_FRONT_MATTER = 16_000
MAX_BRACKETS = 100
MAX_FIELD = 10_000_000
KEY_COLUMNS = ("document", "file", "path")
_FRONT_MATTER = regex.compile(r"---[ \t]*\n(?:(.*?)\n)?---[ \t]*(?:\n|$)", regex.DOTALL)
_SPACE = regex.compile(r"\s+")
_URL = regex.compile(r"https?://\S+", regex.IGNORECASE)


class DocumentFields(Frozen):
    """A title and metadata, each absent where nothing was said."""

    title: str | None = None
    source_tier: str | None = None
    date: str | None = None
    superseded_by: str | None = None
    tenant: str | None = None
    jurisdiction: str | None = None
    url: str | None = None

    def metadata(self) -> Metadata:
        """Everything but the title."""
        return Metadata.model_validate(self.model_dump(exclude={"title"}))

    def overridden_by(self, other: DocumentFields) -> DocumentFields:
        """These fields with those that ``other`` has in their place."""
        return self.model_copy(update=other.model_dump(exclude_none=True))


def fields_from(values: Mapping[str, object]) -> DocumentFields:
    """The known fields of a mapping; others, and values that are no plain text, are left out.

    A url must be http or https; any other scheme could run when it is opened.
    """
    found: dict[str, str] = {}
    for name in DocumentFields.model_fields:
        value = values.get(name)
        if value is None or isinstance(value, (dict, list)):
            continue
        text = _SPACE.sub(" ", whole_characters(str(value))).strip()[:MAX_VALUE]
        if text and (name != "url" or _URL.fullmatch(text)):
            found[name] = text
    return DocumentFields(**found)


def front_matter(text: str) -> tuple[DocumentFields, int, str]:
    """Fields of a YAML front matter, where the body starts, and what is wrong with it if anything.

    Broken front matter is left in the text, so that nothing is lost.
    """
    match = _FRONT_MATTER.match(text)
    if match is None:
        return DocumentFields(), 0, ""
    block = match.group(1) or ""
    if len(block) > MAX_FRONT_MATTER or block.count("[") + block.count("{") > MAX_BRACKETS:
        return DocumentFields(), 0, "its front matter is too large and was taken as text"
    import yaml  # type: ignore[import-untyped]

    try:
        # BaseLoader makes every scalar a string: no dates, no numbers, no objects.
        values = yaml.load(block, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        values = None
    if not isinstance(values, dict):
        if block.strip():
            return DocumentFields(), 0, "its front matter is not valid YAML and was taken as text"
        values = {}
    return fields_from(values), match.end(), ""


class Sidecar(Frozen):
    """Rows of ``metadata.csv`` by the file (or ``file#record``) they name."""

    rows: dict[str, DocumentFields] = {}  # noqa: RUF012
    problem: str = ""


def csv_rows(text: str) -> list[tuple[int, dict[str, str]]]:
    """Rows of a csv text with a header, as (line, lower-case column -> value).

    Raises:
        BadInput: it has no header or is not csv.
    """
    csv.field_size_limit(MAX_FIELD)
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows = []
    try:
        for row in reader:
            cells = {
                str(column).strip().lower(): value
                for column, value in row.items()
                if column is not None and isinstance(value, str)
            }
            rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise BadInput(f"line {reader.line_num} is not valid csv ({error})") from None
    return rows


def read_sidecar(path: Path, names: Collection[str]) -> Sidecar:
    """Read ``metadata.csv``: joined to files by name, never by position.

    ``names`` are the corpus's files, relative to its top. A row may leave out ``docs/``, and may
    name an uploaded file as it was called before it got a safe name. A row that names no file,
    or a file for the second time, is reported and not used.
    """
    try:
        text, _ = decode(path.read_bytes())
        rows = csv_rows(text)
    except BadInput as error:
        return Sidecar(problem=f"it was not used: {error.message}")
    except OSError as error:
        return Sidecar(problem=f"it was not used: it cannot be opened ({error.strerror})")
    column = next((c for c in KEY_COLUMNS if rows and c in rows[0][1]), None)
    if column is None:
        return Sidecar(problem=f"it was not used: it has no column {KEY_COLUMNS[0]!r}")
    used: dict[str, DocumentFields] = {}
    unknown: list[str] = []
    twice: list[str] = []
    for line, cells in rows:
        name = cells.get(column, "").strip().replace("\\", "/").removeprefix("./")
        file, sign, record = name.partition("#")
        ways = (file, f"docs/{file}", document_id(file))
        file = next((way for way in ways if way in names), file)
        key = f"{file}{sign}{record}"
        if file not in names:
            unknown.append(str(line))
        elif key in used:
            twice.append(str(line))
        else:
            used[key] = fields_from(cells)
    problems = []
    if unknown:
        problems.append(f"no file here is named by line {printable(', '.join(unknown[:20]))}")
    if twice:
        problems.append(f"a file is named again by line {', '.join(twice[:20])}")
    return Sidecar(rows=used, problem="; ".join(problems))
