"""Documents of a corpus, their passages, and how healthy the index is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from components import paging, session
from components.corpus_upload import Judged, chunk_list, verdict_table
from components.jobs import jobs
from components.markup import facts, mono, which
from components.notices import empty, error
from components.safe import esc, isolated, plural
from core.errors import BadInput, RagError
from core.retrieval.index import Index
from core.retrieval.library import CorpusSummary, Library
from core.retrieval.manifest import DocumentEntry

PAGE = 20


def documents(library: Library, summary: CorpusSummary, index: Index) -> None:
    """The documents, a page at a time; one of them opened shows its passages."""
    entries = index.manifest.documents
    opened = session.get(session.CORPUS_DOCUMENT)
    entry = next((d for d in entries if d.id == opened), None)
    if entry is not None:
        _document(library, summary, index, entry)
        return
    if not entries:
        empty("description", "No documents", "Add files to this corpus, then index it.")
        return
    text = st.text_input(
        "Filter by title, name or metadata",
        key=session.CORPUS_FILTER,
        icon=":material/filter_alt:",
        on_change=session.put,
        args=(session.CORPUS_PAGE, 1),
    )
    found = [d for d in entries if _matches(d, text)]
    if not found:
        empty("filter_alt_off", "No document matches", "Loosen the filter above.")
        return
    titles = Counter(d.title for d in entries)
    numbers = {d.id: n for n, d in enumerate(found, 1)}
    for one in paging.page(found, PAGE, key=session.CORPUS_PAGE, noun="document", always=True):
        _row(one, f"document {numbers[one.id]}", alone=titles[one.title] == 1)


def _matches(entry: DocumentEntry, text: str) -> bool:
    wanted = text.strip().casefold()
    values = [entry.title, entry.id, *(str(v) for v in entry.metadata.model_dump().values() if v)]
    return not wanted or any(wanted in value.casefold() for value in values)


def _row(entry: DocumentEntry, what: str, *, alone: bool) -> None:
    """One document; beside a title that is not its ``alone`` stands where it lies."""
    path = "" if alone else f' <span class="ri-dim">({isolated(entry.id)})</span>'
    known = [f"{k.replace('_', ' ')}: {v}" for k, v in _metadata(entry)]
    byline = [entry.id, plural(entry.passages, "passage"), *known]
    words, action = st.columns([6, 1], vertical_alignment="center", gap="small")
    with words:
        st.html(
            f'<div class="ri-title">{isolated(entry.title)}{path}</div><div class="ri-byline '
            f'ri-tabular">{"".join(f"<span>{isolated(b)}</span>" for b in byline)}</div>'
        )
    with action, st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            which("Open", what),
            key=f"document:{entry.id}",
            icon=":material/menu_book:",
            on_click=session.put,
            args=(session.CORPUS_DOCUMENT, entry.id),
        )


def _metadata(entry: DocumentEntry) -> list[tuple[str, str]]:
    return [(k, str(v)) for k, v in entry.metadata.model_dump().items() if v is not None]


def _document(library: Library, summary: CorpusSummary, index: Index, entry: DocumentEntry) -> None:
    with st.container(horizontal=True, gap="small"):
        st.button(
            "All documents",
            icon=":material/arrow_back:",
            key="document_back",
            on_click=session.put,
            args=(session.CORPUS_DOCUMENT, None),
        )
        if summary.kind == "uploads":
            st.button(
                "Remove this file",
                icon=":material/delete:",
                key="document_remove",
                on_click=_remove,
                args=(library, summary.name, entry),
                help="Takes the file out of the corpus and indexes it again.",
            )
    st.html(f"<h3>{isolated(entry.title)}</h3>")
    st.html(
        facts(
            [
                ("document", mono(entry.id)),
                ("file", isolated(entry.file or "–")),
                *((k.replace("_", " "), isolated(v)) for k, v in _metadata(entry)),
            ]
        )
    )
    chunk_list([index.at(row) for row in index.rows_of_document(entry.id)])


def _remove(library: Library, corpus: str, entry: DocumentEntry) -> None:
    try:
        library.remove_file(corpus, entry.file or entry.id)
    except RagError as problem:
        session.put(session.CORPUS_NOTICE, ("error", problem.message))
        return
    session.put(session.CORPUS_DOCUMENT, None)
    jobs().start(library, corpus)


def health(summary: CorpusSummary, index: Index) -> None:
    """What the index is made of, and what did not get in."""
    manifest = index.manifest
    calibration = [
        (f"{name} scores", f"location {c.mu:.4f}, scale {c.tau:.4f}")
        for name, c in manifest.calibration.items()
    ]
    left, right = st.columns(2, gap="large")
    with left:
        st.html(
            facts(
                [
                    ("version", mono(manifest.version)),
                    ("documents", f"{len(manifest.documents):,}"),
                    ("passages", f"{manifest.passages:,}"),
                    ("sentence vectors", f"{manifest.sentences:,}" or "none are stored"),
                    ("updated", f"{manifest.updated_at:%Y-%m-%d %H:%M} UTC"),
                    ("vector store", isolated(manifest.place)),
                ]
            )
        )
    with right:
        st.html(
            facts(
                [
                    ("embedder", mono(manifest.embedder.model)),
                    ("dimension", str(manifest.embedder.dimension)),
                    ("BM25", f"k1 {manifest.lexical.k1:g}, b {manifest.lexical.b:g}"),
                    (
                        "passage size",
                        f"about {manifest.chunking.target_words} words, at most "
                        f"{manifest.chunking.max_words}",
                    ),
                    *calibration,
                ]
            )
        )
        st.caption(
            "A score is calibrated as sigmoid((score - location) / scale): 0.5 is a typical good "
            "match in its channel."
        )
    _values(summary)
    verdicts = [
        Judged(v.file, v.file, v.status, v.reason, v.documents)
        for v in (entry.verdict for entry in manifest.files)
    ]
    counts = Counter(v.status for v in verdicts)
    st.caption(
        f"{plural(counts['indexed'], 'file')} indexed, {counts['warning']} with a warning, "
        f"{counts['skipped']} skipped"
    )
    odd = [v for v in verdicts if v.status != "indexed"]
    if odd:
        shown = paging.page(odd, 100, key=session.CORPUS_FILES_PAGE, noun="such file")
        st.html(verdict_table(shown, words={"skipped": "skipped"}))


def _values(summary: CorpusSummary) -> None:
    pairs: list[tuple[str, Sequence[str]]] = [
        ("source tiers", summary.source_tiers),
        ("tenants", summary.tenants),
        ("jurisdictions", summary.jurisdictions),
        ("dates", (" to ".join(summary.dates),) if summary.dates else ()),
    ]
    st.html(facts((name, " · ".join(esc(v) for v in values) or "–") for name, values in pairs))


def opened(library: Library, name: str) -> Index | None:
    """The index of a corpus; None where there is none that can be used, with the reason shown."""
    try:
        return library.open(name)
    except BadInput:
        return None
    except RagError as problem:
        error(problem.message)
        return None
