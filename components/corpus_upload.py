"""Adding files: a verdict for every file and a look at its chunks before anything is indexed."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from types import MappingProxyType

import streamlit as st

from components import paging, session, waiting
from components.jobs import jobs
from components.markup import chip, facts, mono, passage, table
from components.notices import empty, error
from components.palette import BLUE, GREY, PASSED, REFUSED, WARNING, Sign
from components.safe import isolated, plural, visible
from core.errors import RagError
from core.retrieval.chunking import chunk, words
from core.retrieval.library import CorpusSummary, Library
from core.retrieval.loading import Document, FileVerdict, load, scan
from core.retrieval.names import printable
from core.retrieval.parsing import SECONDS, Parser
from core.retrieval.uploads import placed
from core.types import Passage

CHUNKS_SHOWN = 60
FILES_SHOWN = 100
VERDICTS = {
    "indexed": Sign(PASSED.colour, "check_circle", "will be indexed"),
    "warning": Sign(WARNING.colour, "warning", "with a warning"),
    "skipped": Sign(REFUSED.colour, "cancel", "will be skipped"),
    "metadata": Sign(BLUE, "label", "metadata"),
    "twice": Sign(GREY, "content_copy", "given twice"),
}
FILES_HELP = (
    "Of a CSV, JSON or JSON lines file each record is a document: its text and title; id and "
    "metadata are read too, other columns are not indexed. An ordinary table without a column "
    "named text is taken too: each text is then made of all its columns.\n\n"
    "A file named metadata.csv with the columns document, title, source_tier, date, superseded_by, "
    "tenant, jurisdiction and url gives metadata to the other files."
)


@dataclass(frozen=True, slots=True)
class Judged:
    """One file with what becomes of it: ``status`` is a key of ``VERDICTS``; ``kept`` is the safe
    name it is kept under."""

    file: str
    kept: str
    status: str
    reason: str = ""
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """What indexing would make of files: a verdict for each, documents, and their passages."""

    verdicts: tuple[Judged, ...]
    documents: tuple[Document, ...]
    passages: dict[str, list[Passage]]


@st.cache_data(show_spinner=False, max_entries=6)
def preview(files: tuple[tuple[str, bytes], ...]) -> Preview:
    """Read uploaded files as the index would, in a folder that is thrown away.

    Raises:
        BadInput: too many or too large files.
    """
    documents: list[Document] = []
    with tempfile.TemporaryDirectory() as place:
        library = Library(Path(place), "preview", bundled=Path(place) / "none")
        library.add_files("preview", files)
        folder = scan(Path(place) / "workspaces" / "preview" / "corpora" / "preview" / "sources")
        verdicts = {v.file: v for v in folder.skipped}
        with Parser(SECONDS) as parser:
            for source in folder.files:
                loaded = load(source, folder, parser)
                verdicts[printable(source.name)] = loaded.verdict
                documents += loaded.documents
    return Preview(
        tuple(_judged(files, verdicts, len(folder.sidecar.rows))),
        tuple(documents),
        {d.id: chunk(d) for d in documents},
    )


def _judged(
    files: Sequence[tuple[str, bytes]], verdicts: Mapping[str, FileVerdict], rows: int
) -> Iterator[Judged]:
    """A verdict for every file in the order they were given, whatever it is kept as."""
    seen: set[str] = set()
    for (file, _), kept in zip(files, placed(files), strict=True):
        verdict = verdicts.get(printable(kept))
        if kept in seen:
            yield Judged(file, kept, "twice", "the same file was given before; it counts once")
        elif kept == "metadata.csv":
            reason = f"it describes {plural(rows, 'document')}"
            wrong = verdict.reason if verdict else ""
            status = "warning" if wrong else "metadata"
            yield Judged(file, kept, status, "; ".join(filter(None, (reason, wrong))))
        elif verdict is None:
            yield Judged(file, kept, "skipped", "it is not a document")
        else:
            yield Judged(file, kept, verdict.status, verdict.reason, verdict.documents)
        seen.add(kept)


def draw(library: Library, corpora: Sequence[CorpusSummary], opened: CorpusSummary | None) -> None:
    """Choose files, look at what becomes of them, then add and index them.

    ``opened`` is the corpus that is open, if any: where it holds uploads, files are offered to it
    first, and else to a new one.
    """
    own = opened is not None and opened.kind == "uploads"
    names = {c.name for c in corpora}
    session.first(session.CORPUS_NAME, opened.name if opened and own else free_name(names))
    st.text_input(
        "Into the corpus",
        key=session.CORPUS_NAME,
        max_chars=64,
        help="A new name makes a new corpus; letters, digits, '_' and '-'.",
    )
    st.html(
        f'<p class="ri-dim">{target(corpora, opened, session.get(session.CORPUS_NAME, ""))}</p>'
    )
    files = st.file_uploader(
        "Files",
        accept_multiple_files=True,
        key=f"{session.CORPUS_FILES}:{session.get(session.CORPUS_ROUND, 0)}",
        help=FILES_HELP,
    )
    if not files:
        empty(
            "upload_file",
            "No files chosen",
            "Text, Markdown, HTML, CSV, JSON, PDF or Word. Nothing is indexed before you say so.",
        )
        return
    given = tuple((file.name, file.getvalue()) for file in files)
    try:
        with waiting.until(waiting.DOCUMENTS, "preview"):
            seen = preview(given)
    except RagError as problem:
        error(problem.message)
        return
    usable = sum(bool(v.documents) for v in seen.verdicts)
    shown = paging.page(seen.verdicts, FILES_SHOWN, key=session.CORPUS_FILES_PAGE, noun="file")
    st.html(verdict_table(shown, seen.passages))
    st.button(
        f"Add and index {usable:,} of {plural(len(seen.verdicts), 'file')}",
        type="primary",
        icon=":material/playlist_add:",
        key="corpus_add",
        disabled=not usable,
        on_click=_add,
        args=(library, given),
    )
    if seen.documents:
        _chunks(seen)


def free_name(taken: Collection[str]) -> str:
    """A name for a corpus of one's own that no corpus has."""
    names = chain(["my_corpus"], (f"my_corpus_{i}" for i in count(2)))
    return next(name for name in names if name not in taken)


def target(corpora: Sequence[CorpusSummary], opened: CorpusSummary | None, name: str) -> str:
    """Where the files will go, in escaped words: into which corpus, and which stays as it is."""
    name = name.strip()
    there = next((c for c in corpora if c.name == name), None)
    if not name:
        said = "Name the corpus that takes the files."
    elif there is None:
        said = f"Makes a new corpus of your own, {isolated(name)}."
    elif there.kind == "uploads":
        said = (
            f"Adds to your corpus {isolated(name)}, {plural(there.documents, 'document')} so far."
        )
    else:
        said = f"{isolated(name)} takes no files: choose another name."
    if opened is not None and opened.kind != "uploads" and opened.name != name:
        why = "comes with the app" if opened.kind == "bundled" else "is not made of uploads"
        said += f" {isolated(opened.name)} {why} and stays as it is."
    return said


def _add(library: Library, given: Sequence[tuple[str, bytes]]) -> None:
    name = str(session.get(session.CORPUS_NAME, "")).strip()
    try:
        library.add_files(name, given)
    except RagError as problem:
        session.put(session.CORPUS_NOTICE, ("error", problem.message))
        return
    jobs().start(library, name)
    session.put(session.CORPUS_CHOSEN, name)
    session.put(session.CORPUS_VIEW, "documents")
    session.put(session.CORPUS_ROUND, session.get(session.CORPUS_ROUND, 0) + 1)


def verdict_table(
    verdicts: Sequence[Judged],
    passages: Mapping[str, Sequence[Passage]] | None = None,
    words: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Every file with what becomes of it and why; ``passages`` by document, where they are known.
    ``words`` replaces those of ``VERDICTS``."""
    rows = []
    for one in verdicts:
        kept = "" if one.kept == one.file else f'<div class="ri-dim">kept as {mono(one.kept)}</div>'
        cells = [
            chip(VERDICTS[one.status], words.get(one.status)),
            isolated(one.file) + kept,
            isolated(one.reason) or '<span class="ri-dim">–</span>',
            f'<span class="ri-num">{len(one.documents)}</span>',
        ]
        if passages is not None:
            made = sum(len(passages.get(d, ())) for d in one.documents)
            cells.append(f'<span class="ri-num">{made}</span>')
        rows.append(cells)
    heads = ["Verdict", "File", "Reason", "Documents", "Passages"]
    return table("Verdict for each file", heads[: 4 + (passages is not None)], rows, numeric=(3, 4))


def _chunks(seen: Preview) -> None:
    titles = {d.id: f"{visible(d.title)} ({visible(d.id)})" for d in seen.documents}
    chosen = st.selectbox(
        "Look at the passages of",
        list(titles),
        format_func=lambda i: titles.get(i, i),
        key="corpus_preview",
    )
    document = next(d for d in seen.documents if d.id == chosen)
    known = {k: v for k, v in document.metadata.model_dump().items() if v is not None}
    if known:
        st.html(facts((k.replace("_", " "), isolated(v)) for k, v in known.items()))
    chunk_list(seen.passages[chosen])


def chunk_list(passages: Sequence[Passage]) -> None:
    """Passages of one document one below the other, each with its size and place."""
    parts = [
        f'<li><div class="ri-byline ri-tabular"><span>passage {n}</span><span>{words(p.text)} words'
        f"</span><span>characters {p.start} to {p.end}</span><span>lines {p.line_start} to "
        f"{p.line_end}</span></div>{passage(p.text)}</li>"
        for n, p in enumerate(passages[:CHUNKS_SHOWN], 1)
    ]
    st.html(f'<ol class="ri-chunks">{"".join(parts)}</ol>')
    if len(passages) > CHUNKS_SHOWN:
        st.caption(f"The first {CHUNKS_SHOWN} of {len(passages):,} passages are shown.")
