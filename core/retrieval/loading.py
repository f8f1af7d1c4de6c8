"""Files of a corpus as documents, with a verdict for each file.

A corpus folder's ``README.md``, ``questions.jsonl`` and ``metadata.csv`` at its top are not
documents. Metadata of a document comes from its front matter (md), its record (csv, json,
jsonl) or the sidecar ``metadata.csv``, which wins.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import regex

from core.errors import BadInput
from core.retrieval.decoding import decode
from core.retrieval.metadata import (
    DocumentFields,
    Sidecar,
    front_matter,
    read_sidecar,
)
from core.retrieval.names import document_id, printable, title_of
from core.retrieval.parsing import UNFINISHED, Parser
from core.retrieval.records import records
from core.types import Frozen, Metadata, digest

LOADER_VERSION = 2
"""Raised when the same file would load differently, so that every document is read anew."""
MAX_TEXT_BYTES = 20_000_000
MAX_BINARY_BYTES = 100_000_000
MAX_FILES = 200_000
NOT_DOCUMENTS = frozenset({"README.md", "questions.jsonl", "metadata.csv", "policy.toml"})
TEXT_TYPES = frozenset({".txt", ".md", ".markdown", ".html", ".htm", ".csv", ".json", ".jsonl"})
BINARY_TYPES = frozenset({".pdf", ".docx"})
ARCHIVES = frozenset(
    {".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst", ".jar", ".whl", ".iso"}
)
_ARCHIVE_MAGIC = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!")
_DECLARED = regex.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{2,30})")
_HEADING = regex.compile(r"^ {0,3}#{1,6}[ \t]+(\S.*?)[ \t]*#*$", regex.MULTILINE)


class Document(Frozen):
    """A text with its title and metadata; passages are cut from ``text[body_start:]``."""

    id: str
    title: str
    text: str
    body_start: int = 0
    metadata: Metadata = Metadata()


class FileVerdict(Frozen):
    """What became of a file: in the index, in it with a warning, or skipped with the reason."""

    file: str
    status: Literal["indexed", "warning", "skipped"]
    reason: str = ""
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a corpus. ``name`` is relative to the corpus with ``/``, ``id`` its safe form."""

    path: Path
    name: str
    id: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """The documents of one file (none: it was skipped) and its verdict. ``again``: it may come
    out differently the next time, though the file stays as it is."""

    documents: tuple[Document, ...]
    verdict: FileVerdict
    again: bool = False


@dataclass(frozen=True, slots=True)
class Folder:
    """What a corpus folder holds: candidate files, verdicts on what is none, the sidecar."""

    root: Path
    files: tuple[SourceFile, ...]
    skipped: tuple[FileVerdict, ...]
    sidecar: Sidecar

    def fingerprint(self, source: SourceFile) -> str:
        """Digest of all that a file's documents derive from: its bytes and its metadata.

        Raises:
            OSError: the file cannot be read.
        """
        with source.path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        given = [self.sidecar.rows[key].model_dump() for key in self._keys(source)]
        return digest([LOADER_VERSION, source.id, content, *given])

    def _keys(self, source: SourceFile) -> list[str]:
        """Sidecar rows of a file: its own, and those of its records."""
        return sorted(
            key
            for key in self.sidecar.rows
            if key == source.name or key.startswith(f"{source.name}#")
        )

    def given(self, name: str) -> DocumentFields:
        """What the sidecar says of a document."""
        return self.sidecar.rows.get(name, DocumentFields())


def scan(root: Path) -> Folder:
    """List a corpus folder. Links out of it, hidden and special files are skipped with a verdict.

    Raises:
        BadInput: no such folder, or it holds more than ``MAX_FILES`` files.
    """
    if not root.is_dir():
        raise BadInput(f"There is no folder {printable(str(root))!r}; give a corpus or a folder.")
    real = root.resolve()
    files: list[SourceFile] = []
    skipped: list[FileVerdict] = []
    for folder, folders, names in os.walk(real):
        here = Path(folder)
        for name in sorted(folders):
            reason = "a hidden folder" if name.startswith(".") else ""
            reason = "a link to a folder" if (here / name).is_symlink() else reason
            if reason:
                folders.remove(name)
                skipped.append(_skip(_relative(here / name, real), f"it is {reason}"))
        folders.sort()
        for name in sorted(names):
            relative = _relative(here / name, real)
            if relative in NOT_DOCUMENTS:
                continue
            if reason := _not_a_file(here / name, real):
                skipped.append(_skip(relative, reason))
            else:
                files.append(SourceFile(here / name, relative, document_id(relative)))
        if len(files) > MAX_FILES:
            raise BadInput(f"The folder holds more than {MAX_FILES:,} files; choose a smaller one.")
    ids: set[str] = set()
    for file in files:
        if file.id in ids:
            skipped.append(_skip(file.name, f"another file is known as {file.id!r}; rename it"))
        ids.add(file.id)
    sidecar = Sidecar()
    if (real / "metadata.csv").is_file():
        sidecar = read_sidecar(real / "metadata.csv", {file.name for file in files})
        if sidecar.problem:
            skipped.append(
                FileVerdict(file="metadata.csv", status="warning", reason=sidecar.problem)
            )
    chosen = {file.id: file for file in reversed(files)}
    return Folder(real, tuple(chosen[i] for i in sorted(chosen)), tuple(skipped), sidecar)


def load(source: SourceFile, folder: Folder, parser: Parser) -> Loaded:
    """Read one file. Never raises for what is in it: the verdict says what became of it."""
    warnings: list[str] = []
    try:
        documents = tuple(_documents(source, folder, parser, warnings))
        if not documents:
            raise BadInput("it has no text")
    except BadInput as error:
        return Loaded((), _skip(source.name, error.message), error.reason_code == UNFINISHED)
    except OSError as error:
        reason = f"it cannot be opened ({error.strerror or error})"
        return Loaded((), _skip(source.name, reason), again=True)
    except Exception as error:  # one bad file must never stop the rest
        return Loaded((), _skip(source.name, f"it cannot be read ({type(error).__name__})"))
    verdict = FileVerdict(
        file=printable(source.name),
        status="warning" if warnings else "indexed",
        reason="; ".join(warnings),
        documents=tuple(document.id for document in documents),
    )
    return Loaded(documents, verdict)


def _documents(
    source: SourceFile, folder: Folder, parser: Parser, warnings: list[str]
) -> Iterator[Document]:
    suffix = source.path.suffix.lower()
    size = source.path.stat().st_size
    _refuse_unreadable(suffix, size)
    given = folder.given(source.name)
    if suffix in BINARY_TYPES:
        parsed = parser.parse("pdf" if suffix == ".pdf" else "docx", str(source.path))
        warnings.extend(parsed.warnings)
        yield _document(source, parsed.text, given, DocumentFields(title=parsed.title or None))
        return
    raw = source.path.read_bytes()
    if raw.startswith(_ARCHIVE_MAGIC):
        raise BadInput("it is an archive; unpack it and add the files")
    if raw.startswith(b"%PDF-"):
        raise BadInput("it is a PDF under another name; give it the ending .pdf")
    declared = _DECLARED.search(raw[:4096]) if suffix in (".html", ".htm") else None
    text, doubt = decode(raw, declared.group(1).decode("ascii") if declared else None)
    if doubt:
        warnings.append(doubt)
    if suffix in (".html", ".htm"):
        parsed = parser.parse("html", text)
        yield _document(source, parsed.text, given, DocumentFields(title=parsed.title or None))
    elif suffix in (".csv", ".json", ".jsonl"):
        yield from _from_records(source, text, suffix, folder, warnings)
    elif suffix == ".txt":
        yield _document(source, text, given, DocumentFields())
    else:
        fields, body, problem = front_matter(text)
        if problem:
            warnings.append(problem)
        if fields.title is None and (heading := _HEADING.search(text, body)):
            fields = fields.model_copy(update={"title": heading.group(1)[:300]})
        yield _document(source, text, given, fields, body)


def _document(
    source: SourceFile, text: str, given: DocumentFields, own: DocumentFields, body: int = 0
) -> Document:
    if not text[body:].strip():
        raise BadInput("it is empty" if not text.strip() else "it has no text")
    fields = own.overridden_by(given)
    return Document(
        id=source.id,
        title=fields.title or title_of(source.name),
        text=text,
        body_start=body,
        metadata=fields.metadata(),
    )


def _from_records(
    source: SourceFile, text: str, suffix: str, folder: Folder, warnings: list[str]
) -> Iterator[Document]:
    if not text.strip():
        raise BadInput("it is empty")
    found = records(text, suffix)
    warnings.extend(found.problems)
    for record in found.records:
        fields = record.fields.overridden_by(folder.given(f"{source.name}#{record.key}"))
        yield Document(
            id=f"{source.id}#{record.key}",
            title=fields.title or f"{title_of(source.name)} {record.key}",
            text=record.text,
            metadata=fields.metadata(),
        )


def _refuse_unreadable(suffix: str, size: int) -> None:
    if suffix in ARCHIVES:
        raise BadInput("it is an archive; unpack it and add the files")
    if suffix not in TEXT_TYPES | BINARY_TYPES:
        known = ", ".join(sorted(kind[1:] for kind in TEXT_TYPES | BINARY_TYPES))
        raise BadInput(f"its type is not supported; these are: {known}")
    if size == 0:
        raise BadInput("it is empty")
    limit = MAX_BINARY_BYTES if suffix in BINARY_TYPES else MAX_TEXT_BYTES
    if size > limit:
        raise BadInput(f"it is larger than {limit // 1_000_000} MB; split it")


def _not_a_file(path: Path, root: Path) -> str:
    if path.name.startswith("."):
        return "it is a hidden file"
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            return "it is a link out of the folder"
        return "" if path.is_file() else "it is not a file"
    except (OSError, RuntimeError):  # a link that may not be followed, or that leads to itself
        return "it cannot be opened"


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _skip(name: str, reason: str) -> FileVerdict:
    return FileVerdict(file=printable(name), status="skipped", reason=reason)
