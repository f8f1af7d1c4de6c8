"""Options that several commands share, and how a run is named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core import jsonl, registry
from core.events import Step
from core.faults import FAULTS
from core.settings import SystemSettings

if TYPE_CHECKING:
    from core.journal import Journal
    from core.retrieval.progress import Progress, Report

_EVERYWHERE = [
    name
    for name in SystemSettings.model_fields
    if all(name in s.settings.model_fields for s in registry.systems().values())
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting; a value is JSON or a word. May be repeated. `systems NAME` lists "
        f"a system's settings; every system has {', '.join(_EVERYWHERE)}.",
    ),
]
FAULT_HELP = (
    f"Inject a fault: {', '.join(FAULTS)}. `systems NAME` lists a system's stages; without one "
    "it strikes in all."
)
JournalDir = Annotated[
    Path | None,
    typer.Option("--journal", metavar="DIR", help="The journal is DIR/journal.db."),
]
Model = Annotated[
    str, typer.Option("--model", help="'extractive', or a language model as litellm names it.")
]
ApiBase = Annotated[
    str | None, typer.Option("--api-base", metavar="URL", help="Where the model is served.")
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the run.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or a JSON lines file.")]


def open_journal(directory: Path | None) -> Journal:
    """The journal in a directory, or the one that is shared with the app.

    Raises:
        JournalError: it cannot be opened.
    """
    from core.wiring import Workbench

    return Workbench(journal_dir=directory).journal


def steps_of(run: str, directory: Path | None) -> list[Step]:
    """The steps of a run given by a file or by its id.

    Raises:
        BadInput: the file is refused, or there is no such run.
    """
    path = Path(run)
    if path.suffix == ".jsonl" or "/" in run or _is_file(path):
        return jsonl.load(path)
    return open_journal(directory).steps(run)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no file can have
        return False


def progress_line() -> Report:
    """Shows progress on one line of the terminal. Where there is no terminal, nothing but that
    another process is waited for, once."""
    waits = False

    def show(progress: Progress) -> None:
        nonlocal waits
        if progress.elsewhere and not waits:
            waits = True
            print("Another process is indexing the corpus; waiting for it.", file=sys.stderr)
        if not sys.stderr.isatty():
            return
        left = progress.seconds_remaining
        remaining = "" if left is None else f", {left:.0f} s left"
        end = "\n" if progress.done >= progress.total and not progress.elsewhere else ""
        line = f"\r{progress.phase} {progress.done} of {progress.total}{remaining}\x1b[K"
        print(line, end=end, file=sys.stderr, flush=True)

    return show
