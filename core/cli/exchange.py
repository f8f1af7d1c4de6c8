"""``runs``, ``export`` and ``import``: the journal, and runs as files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from core.cli.options import JournalDir, Json, Run, open_journal, steps_of
from core.errors import BadInput
from core.export import FORMATS, written
from core.narration import counted, plain
from core.reasoning.llm.redact import masking
from core.settings import unknown_name
from core.types import LARGEST

_FORMS = ", ".join(f"{form.name} ({form.summary})" for form in FORMATS.values())


Limit = Annotated[int, typer.Option("--limit", min=1, max=LARGEST, help="At most so many.")]


def runs(
    limit: Limit = 20,
    as_json: Json = False,
    journal: JournalDir = None,
) -> None:
    """List runs, newest first: id, when, system, how it ended, question and answer."""
    kept = open_journal(journal)
    records, total = kept.runs(limit=limit), kept.count()
    if as_json:
        listed = [record.model_dump(mode="json") for record in records]
        print(json.dumps({"runs": listed, "total": total}, indent=2, ensure_ascii=False))
        return
    for r in records:
        ended = r.terminal or r.status
        answer = f" -> {_line(r.answer)}" if r.answer else ""
        print(f"{r.run_id}  {r.started:%Y-%m-%d %H:%M}  {r.system:<13} {ended:<12} ", end="")
        print(f"{_line(r.question)}{answer}")
    print(f"{len(records):,} of {counted(total, 'run')}")


def _line(text: str) -> str:
    """A text on one line of a terminal, without what could steer it."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split())[:160]


def export(
    run: Run,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write.")],
    form: Annotated[str, typer.Option("--format", help=f"{_FORMS}.")] = "jsonl",
    journal: JournalDir = None,
) -> None:
    """Write a run to a file, whole or not at all."""
    if form not in FORMATS:
        raise BadInput(unknown_name("format", form, FORMATS))
    text = written(steps_of(run, journal), form, masking())
    if not out.name:
        raise BadInput("--out names no file; give the path of the file to write.")
    try:
        _write(text, out)
    except OSError as error:
        raise BadInput(f"{plain(str(out), 120)} cannot be written: {error.strerror}.") from None
    print(f"Wrote {out}")


def _write(text: str, out: Path) -> None:
    """Write a file, whole or not at all. A link is followed; a pipe or device is written to, never
    replaced."""
    if out.exists() and not out.is_file() and not out.is_dir():
        with out.open("w", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
        return
    target = out.resolve()
    part = target.with_name(f".{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(target)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def import_run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A run as JSON lines.")],
    journal: JournalDir = None,
) -> None:
    """Take a run in from a file."""
    record = open_journal(journal).import_jsonl(file)
    ended = record.terminal or "interrupted"
    print(
        f"Imported run {record.run_id}: {record.system}, {counted(record.steps, 'step')}, {ended}"
    )
