"""TAMs on disk, in the folder of the index that they were built from, each under its digest.

``tam-DIGEST.npz`` holds arrays and ``tam-DIGEST.json`` names and texts; nothing is pickled. The
digest covers the corpus's version, the settings and the seed, so that graphs of other settings or
another seed lie side by side. Abstractions are kept beside the index folders, for the next build.
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
    words_file, arrays_file = _files(folder, tam.digest)
    mark = os.getpid()
    arrays, text = folder / f"{arrays_file.name}.{mark}", folder / f"{words_file.name}.{mark}"
    with arrays.open("wb") as file:
        np.savez(file, **{name: getattr(tam, name) for name in ARRAYS}, digest=np.array(tam.digest))
    text.write_text(words.model_dump_json(), encoding="utf-8")
    arrays.replace(arrays_file)
    text.replace(words_file)


def load(
    folder: Path, key: str, passages: Sequence[Passage], corpus: str, seed: int = 0
) -> Tam | None:
    """The stored graph of a digest; None where there is none. ``corpus`` and ``seed`` are for
    telling how to build it anew.

    Raises:
        StaleIndex: it is damaged or breaks an invariant; names the first breach.
    """
    words_file, arrays_file = _files(folder, key)
    if not words_file.exists() or not arrays_file.exists():
        return None

    def refused(why: str) -> StaleIndex:
        anew = f"python -m core tam --corpus {corpus} --rebuild{f' --seed {seed}' if seed else ''}"
        return StaleIndex(
            f"The stored abstraction memory of {corpus!r} is refused: {why}. "
            f"Rebuild it with '{anew}'.",
            code="invalid_tam",
        )

    try:
        words = _Words.model_validate_json(words_file.read_bytes())
        with np.load(arrays_file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in ARRAYS}
            of = str(stored["digest"])
    except (OSError, ValueError, KeyError, ValidationError, zipfile.BadZipFile, EOFError) as error:
        raise refused("its files cannot be read") from error
    if words.digest != key or of != key:
        raise refused("its files belong to another one")
    for name, array in arrays.items():
        wanted = {"region_weights": "f", "term_routes": "b"}.get(name, "i")
        if array.dtype.kind != wanted:
            raise refused(f"its {name.replace('_', ' ')} are not of their kind")
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
        raise refused(str(breach).rstrip(".")) from breach
    return tam


def remove(folder: Path, key: str) -> None:
    """Forget the stored graph of a digest, and what earlier builds and models said of nodes."""
    for path in (*_files(folder, key), *(_cache(folder, k) for k in KEPT)):
        path.unlink(missing_ok=True)


def _files(folder: Path, key: str) -> tuple[Path, Path]:
    return folder / f"tam-{key}.json", folder / f"tam-{key}.npz"


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
