"""``index`` and ``serve-model``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from core.cli.options import Json, progress_line
from core.narration import counted, plain

Corpus = Annotated[
    str, typer.Option("--corpus", metavar="PATH_OR_NAME", help="A folder, or a known corpus.")
]


def index(corpus: Corpus, as_json: Json = False) -> None:
    """Bring a corpus's index up to date."""
    from core.wiring import Workbench

    report = Workbench().library.index(corpus, progress_line())
    if as_json:
        print(json.dumps(report.model_dump(mode="json"), ensure_ascii=False))
        return
    for file in report.files:
        if file.status != "indexed":
            print(f"{plain(file.file, 120)}: {file.status}, {plain(file.reason, 300)}")
    print(f"{plain(report.corpus)}: {report.message}")
    documents = counted(report.documents, "document")
    print(f"{documents}, {counted(report.passages, 'passage')}, version {report.version}")


def serve_model(
    model: Annotated[Path, typer.Argument(metavar="MODEL.gguf", help="A GGUF file.")],
    port: Annotated[int, typer.Option("--port", help="Port on this machine; 0: any.")] = 8012,
    context: Annotated[int, typer.Option("--context", help="Tokens of prompt and reply.")] = 16_384,
) -> None:
    """Serve a local model on this machine until it is stopped with Ctrl-C."""
    from core.adapters.local_model import serve_model as serve

    serve(model, port, context=context, say=_say)


def _say(line: str) -> None:
    print(line, flush=True)
