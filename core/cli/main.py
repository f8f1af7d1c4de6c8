"""The commands, and how an error becomes an exit code and one line.

Exit 0: the command did its work; a run that ended in any defined terminal did. Exit 2: what was
given cannot be used, or a model failed at all that the command asked of it. Exit 1: the disk is
full, or an internal error.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

import typer
from typer.exceptions import TyperException

from core.cli import ask, corpora, evaluation, exchange, memory_graph, replaying, systems
from core.errors import JournalFull, RagError
from core.narration import plain

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Inspect adaptive RAG: ask, replay, evaluate.",
)
app.command("systems")(systems.systems)
app.command("index")(corpora.index)
app.command("ask")(ask.ask)
app.command("replay")(replaying.replay)
app.command("evaluate")(evaluation.evaluate)
app.command("sweep")(evaluation.sweep)
app.command("fit")(evaluation.fit)
app.command("tam")(memory_graph.tam)
app.command("runs")(exchange.runs)
app.command("export")(exchange.export)
app.command("import")(exchange.import_run)
app.command("serve-model")(corpora.serve_model)

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130
FIRST = (
    "To begin: python -m core ask --system beliefrag --corpus film_night "
    '--question "Who is the spouse of the actor who plays Jarvis in Iron Man?"'
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if not given:
            with contextlib.redirect_stdout(sys.stderr):
                _run(["--help"])
            return _say(FIRST, BAD_INPUT)
        return _run(given)
    except TyperException as error:
        return _say(error.format_message(), BAD_INPUT)
    except JournalFull as error:
        return _say(error.message, FAILED)
    except RagError as error:
        return _say(error.message, BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        return _say(f"Internal error, {type(error).__name__}: {error}", FAILED)


def _run(arguments: list[str]) -> int:
    code = app(args=arguments, prog_name="python -m core", standalone_mode=False)
    return int(code or 0)


def _say(message: str, code: int) -> int:
    print(plain(message, 1_000), file=sys.stderr)
    return code
