"""Uploaded files under safe, distinct names, within limits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from core.errors import BadInput
from core.retrieval.loading import NOT_DOCUMENTS
from core.retrieval.names import document_id, printable

MAX_BYTES = 100_000_000
MAX_FILES = 2_000


def named(files: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    """Contents by the name that each file is kept under.

    Raises:
        BadInput: as ``placed``.
    """
    given = list(files)
    return dict(zip(placed(given), (content for _, content in given), strict=True))


def placed(files: Iterable[tuple[str, bytes]]) -> tuple[str, ...]:
    """The name that each file is kept under, in their order.

    Two different files of one name are told apart by a mark of their content, also where the
    names differ in case only; equal ones get one name.

    Raises:
        BadInput: more than ``MAX_FILES`` files, or one larger than ``MAX_BYTES``.
    """
    given = list(files)
    if len(given) > MAX_FILES:
        raise BadInput(f"At most {MAX_FILES:,} files can be added at once.")
    chosen: dict[str, bytes] = {}
    names = []
    for file, content in given:
        if len(content) > MAX_BYTES:
            raise BadInput(
                f"{printable(file)} is larger than {MAX_BYTES // 1_000_000} MB; split it."
            )
        names.append(_free(_kept_as(file), content, chosen))
        chosen[names[-1]] = content
    return tuple(names)


def _kept_as(file: str) -> str:
    """A file that the top of a corpus folder would not take for a document goes below it."""
    name = document_id(file)
    return f"files/{name}" if name in NOT_DOCUMENTS - {"metadata.csv"} else name


def _free(name: str, content: bytes, taken: Mapping[str, bytes]) -> str:
    other = next((t for t in taken if t.casefold() == name.casefold()), None)
    if other is None or taken[other] == content:
        return other or name
    stem, dot, suffix = name.rpartition(".")
    mark = hashlib.sha256(content).hexdigest()[:8]
    return f"{stem}-{mark}.{suffix}" if dot else f"{name}-{mark}"
