"""A TAM on disk, in the folder of the index that it was built from.

``tam.npz`` holds arrays and ``tam.json`` names and texts, with the graph's digest; nothing is
pickled. The digest covers the corpus's version, the settings and the seed, so that a graph of
another state is not taken for this one. Abstractions are kept beside the index folders, for the
next build.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from pydantic import TypeAdapter, ValidationError

from core.errors import StaleIndex
from core.systems.staterag.tam import InvalidTam, Tam, validate_tam
from core.types import Count, Frozen, Passage

ARRAYS = (
    "types",
    "edges",
    "region_ends",
    "region_rows",
    "region_weights",
    "term_ends",
    "term_ids",
    "term_routes",
)
Kept = Literal["abstractions", "written"]
KEPT: tuple[Kept, ...] = get_args(Kept)
_TEXTS = TypeAdapter(dict[str, str])


class _Words(Frozen):
    digest: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    names: dict[Count, tuple[str, ...]]
    terms: tuple[str, ...]
    writer: str = ""


def save(tam: Tam, folder: Path) -> None:
    """Write a graph; a reader sees the whole of it or the one before."""
    words = _Words(
        digest=tam.digest,
        ids=tam.ids,
        texts=tam.texts,
        names=tam.names,
        terms=tam.terms,
        writer=tam.writer,
    )
    mark = os.getpid()
    arrays, text = folder / f"tam.npz.{mark}", folder / f"tam.json.{mark}"
    with arrays.open("wb") as file:
        np.savez(file, **{name: getattr(tam, name) for name in ARRAYS}, digest=np.array(tam.digest))
    text.write_text(words.model_dump_json(), encoding="utf-8")
    arrays.replace(folder / "tam.npz")
    text.replace(folder / "tam.json")


def load(folder: Path, key: str, passages: Sequence[Passage], corpus: str) -> Tam | None:
    """The stored graph of a digest; None where there is none, or one of another state.

    Raises:
        StaleIndex: it is damaged or breaks an invariant; names the first breach.
    """
    if not (folder / "tam.json").exists() or not (folder / "tam.npz").exists():
        return None
    try:
        words = _Words.model_validate_json((folder / "tam.json").read_bytes())
        with np.load(folder / "tam.npz", allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in ARRAYS}
            of = str(stored["digest"])
    except (OSError, ValueError, KeyError, ValidationError, zipfile.BadZipFile, EOFError) as error:
        raise _refused(corpus, "its files cannot be read") from error
    if words.digest != key or of != key:
        return None
    for name, array in arrays.items():
        wanted = {"region_weights": "f", "term_routes": "b"}.get(name, "i")
        if array.dtype.kind != wanted:
            raise _refused(corpus, f"its {name.replace('_', ' ')} are not of their kind")
    tam = Tam(
        digest=words.digest,
        ids=words.ids,
        texts=words.texts,
        names=words.names,
        terms=words.terms,
        writer=words.writer,
        **arrays,
    )
    try:
        validate_tam(tam, passages)
    except InvalidTam as breach:
        raise _refused(corpus, str(breach).rstrip(".")) from breach
    return tam


def _refused(corpus: str, why: str) -> StaleIndex:
    return StaleIndex(
        f"The stored abstraction memory of {corpus!r} is refused: {why}. Rebuild it with "
        f"'python -m core tam --corpus {corpus} --rebuild'.",
        code="invalid_tam",
    )


def remove(folder: Path) -> None:
    """Forget the stored graph, and what earlier builds and models said of its nodes."""
    for path in (folder / "tam.json", folder / "tam.npz", *(_cache(folder, k) for k in KEPT)):
        path.unlink(missing_ok=True)


def cached_texts(folder: Path, kind: Kept = "abstractions") -> dict[str, str]:
    """Abstractions of the last build by the digest of their members, or those that models wrote
    by the digest of what they were written from; none if unreadable."""
    try:
        return _TEXTS.validate_json(_cache(folder, kind).read_bytes())
    except (OSError, ValidationError):
        return {}


def keep_texts(folder: Path, texts: Mapping[str, str], kind: Kept = "abstractions") -> None:
    """Keep abstractions for the next build."""
    path = _cache(folder, kind)
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps(texts, ensure_ascii=False), encoding="utf-8")
    partial.replace(path)


def _cache(folder: Path, kind: Kept) -> Path:
    return folder.parent / f"{kind}.json"
