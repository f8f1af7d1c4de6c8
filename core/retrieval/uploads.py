"""Uploaded files under safe, distinct names, within limits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from core.errors import BadInput
from core.retrieval.loading import NOT_DOCUMENTS
from core.retrieval.names import document_id, printable

MAX_BYTES = 100_000_000
MAX_FILES = 2_000


def named(files: Iterable[tuple[str, bytes]], there: Iterable[str] = ()) -> dict[str, bytes]:
    """Contents by the name that each file is kept under.

    Raises:
        BadInput: as ``placed``.
    """
    given = list(files)
    return dict(zip(placed(given, there), (content for _, content in given), strict=True))


def placed(files: Iterable[tuple[str, bytes]], there: Iterable[str] = ()) -> tuple[str, ...]:
    """The name that each file is kept under, in their order.

    Two different files of one name are told apart by a mark of their content, also where the
    names differ in case only; equal ones get one name. So is a file whose place is a folder, or
    whose folder is a file, among these or among those that are ``there`` already.

    Raises:
        BadInput: more than ``MAX_FILES`` files, or one larger than ``MAX_BYTES``.
    """
    given = list(files)
    if len(given) > MAX_FILES:
        raise BadInput(f"At most {MAX_FILES:,} files can be added at once.")
    before, places = _Places(), _Places()
    for name in there:
        before.add(name, b"")
    names = []
    for file, content in given:
        if len(content) > MAX_BYTES:
            raise BadInput(
                f"{printable(file)} is larger than {MAX_BYTES // 1_000_000} MB; split it."
            )
        name = _kept_as(file)
        other = places.named(name)
        if other is not None and places.contents[other] == content:
            name = other
        elif other is not None or places.crosses(name) or before.crosses(name):
            name = _apart(name, content, places.within(name) or before.within(name))
        places.add(name, content)
        names.append(name)
    return tuple(names)


class _Places:
    """Names that are taken, and the folders that they make; case makes no difference."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self._files: dict[str, str] = {}
        self._folders: set[str] = set()

    def add(self, name: str, content: bytes) -> None:
        self.contents[name] = content
        self._files[name.casefold()] = name
        self._folders.update(_folders(name))

    def named(self, name: str) -> str | None:
        """The file of that name."""
        return self._files.get(name.casefold())

    def within(self, name: str) -> bool:
        """Whether a folder of the name is a file here."""
        return any(folder in self._files for folder in _folders(name))

    def crosses(self, name: str) -> bool:
        """Whether the name cannot be a file beside these."""
        return name.casefold() in self._folders or self.within(name)


def _folders(name: str) -> list[str]:
    parts = name.casefold().split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _kept_as(file: str) -> str:
    """A file that the top of a corpus folder would not take for a document goes below it."""
    name = document_id(file)
    return f"files/{name}" if name in NOT_DOCUMENTS - {"metadata.csv"} else name


def _apart(name: str, content: bytes, flat: bool) -> str:
    """The name with a mark of the content; ``flat``: out of its folder, which cannot be one."""
    stem, dot, suffix = (name.replace("/", "_") if flat else name).rpartition(".")
    mark = hashlib.sha256(content).hexdigest()[:8]
    return f"{stem}-{mark}.{suffix}" if dot else f"{suffix}-{mark}"


def kept(source: Path) -> tuple[str, ...]:
    """The names of the files in a corpus's folder of uploads."""
    return tuple(p.relative_to(source).as_posix() for p in source.rglob("*") if p.is_file())


def keep(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.parent / ".partial"
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
