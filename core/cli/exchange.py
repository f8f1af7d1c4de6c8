"""``export`` and ``import``: runs as files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from core import jsonl
from core.cli.options import JournalDir, Run, open_journal, steps_of
from core.errors import BadInput
from core.events import Step
from core.settings import unknown_name

FORMATS: dict[str, Callable[[list[Step]], str]] = {"jsonl": jsonl.dump}
"""How a run is written, by the name of the format."""


def export(
    run: Run,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write.")],
    form: Annotated[str, typer.Option("--format", help="jsonl.")] = "jsonl",
    journal: JournalDir = None,
) -> None:
    """Write a run to a file, whole or not at all."""
    if form not in FORMATS:
        raise BadInput(unknown_name("format", form, FORMATS))
    text = FORMATS[form](steps_of(run, journal))
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(out)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput(f"{out} cannot be written: {error.strerror}.") from None
    print(f"Wrote {out}")


def import_run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A run as JSON lines.")],
    journal: JournalDir = None,
) -> None:
    """Take a run in from a file."""
    record = open_journal(journal).import_jsonl(file)
    ended = record.terminal or "interrupted"
    print(f"Imported run {record.run_id}: {record.system}, {record.steps} steps, {ended}")
