"""Vector stores in Chroma: a folder on disk, or a server where ``CHROMA_URL`` names one."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import regex

from core.errors import BadInput, RagError, RetrieverError, StaleIndex
from core.ports import FloatArray

URL_VARIABLE = "CHROMA_URL"
HNSW = {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 32}
_UNSAFE = regex.compile(r"[^a-z0-9]+")


def collection_name(name: str) -> str:
    """A name that Chroma accepts (3 to 512 of ``[a-zA-Z0-9._-]``), different for every name.

    >>> collection_name("film_night")
    'film-night-8ce53bc3c0a8'
    """
    slug = _UNSAFE.sub("-", name.lower()).strip("-")[:40] or "corpus"
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{slug}-{mark}"


class ChromaStore:
    """One collection: our ids, our vectors, cosine; Chroma embeds nothing and knows no text."""

    def __init__(self, client: Any, collection: Any) -> None:
        self._client, self._collection = client, collection

    def upsert(
        self,
        ids: Sequence[str],
        vectors: FloatArray,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Add or replace vectors, shape (len(ids), dimension), in batches within Chroma's limit.

        ``progress`` is told after each batch how many are done; what it raises stops the rest.
        """
        limit = min(int(self._client.get_max_batch_size()), 2_000)
        for start in range(0, len(ids), limit):
            part = slice(start, start + limit)
            with _errors():
                self._collection.upsert(ids=list(ids[part]), embeddings=vectors[part])
            if progress is not None:
                progress(min(start + limit, len(ids)))

    def delete(self, ids: Sequence[str]) -> None:
        """Remove vectors; ids that are not there are left alone."""
        limit = int(self._client.get_max_batch_size())
        for start in range(0, len(ids), limit):
            with _errors():
                self._collection.delete(ids=list(ids[start : start + limit]))

    def count(self) -> int:
        """How many vectors there are."""
        with _errors():
            return int(self._collection.count())

    def nearest(self, vector: FloatArray, n: int) -> list[str]:
        """Ids of about the ``n`` nearest by cosine, nearest first (approximate)."""
        with _errors():
            found = self._collection.query(query_embeddings=[vector], n_results=n, include=[])
        return [str(i) for i in found["ids"][0]]

    def close(self) -> None:
        """Let go of files and connections."""
        self._client.close()


class ChromaStores:
    """Makes and opens the store of an index: in the index's folder, or on the server."""

    def __init__(self, url: str | None = None) -> None:
        """``url``: a Chroma server; by default what ``CHROMA_URL`` says, else none."""
        self.url = os.environ.get(URL_VARIABLE) if url is None else url
        self._lock = threading.Lock()

    @property
    def place(self) -> str:
        """``folder``, or the server's address without credentials."""
        if not self.url:
            return "folder"
        host, port, secure = self._address()
        return f"{'https' if secure else 'http'}://{host}:{port}"

    def holds(self, folder: Path, name: str, count: int) -> bool:
        """Whether the store is there; on a server, also whether it has as many vectors.

        Raises:
            BadInput: the server cannot be reached.
        """
        if count == 0:
            return True
        if not self.url:
            return (folder / "chroma.sqlite3").is_file()
        try:
            store = self.open(folder, name)
        except StaleIndex:
            return False
        try:
            return store.count() == count
        finally:
            store.close()

    def create(self, folder: Path, name: str) -> ChromaStore:
        """A new, empty store; one of the same name is replaced.

        Raises:
            BadInput: the server cannot be reached.
        """
        client = self._client(folder)
        safe = collection_name(name)
        with _errors():
            if safe in _names(client):
                client.delete_collection(safe)
            collection = client.create_collection(
                safe, embedding_function=None, configuration={"hnsw": dict(HNSW)}
            )
        return ChromaStore(client, collection)

    def open(self, folder: Path, name: str) -> ChromaStore:
        """The store that ``create`` made.

        Raises:
            StaleIndex: it is gone.
            BadInput: the server cannot be reached.
        """
        from chromadb.errors import NotFoundError

        if not self.url and not folder.is_dir():
            raise StaleIndex("The index was replaced or deleted; open the corpus again.")
        client = self._client(folder)
        try:
            with _errors():
                collection = client.get_collection(collection_name(name), embedding_function=None)
        except NotFoundError:
            client.close()
            raise StaleIndex("The vectors of this index are gone; re-index the corpus.") from None
        return ChromaStore(client, collection)

    def drop(self, folder: Path, name: str) -> None:
        """Delete a store on the server; on disk, it goes with its folder. None: no error."""
        if not self.url:
            return
        client = self._client(folder)
        safe = collection_name(name)
        try:
            with _errors():
                if safe in _names(client):
                    client.delete_collection(safe)
        finally:
            client.close()

    def _client(self, folder: Path) -> Any:
        os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
        import chromadb
        from chromadb.config import Settings

        with self._lock:  # chromadb's registry of open databases is not guarded by itself
            settings = Settings(anonymized_telemetry=False)
            if not self.url:
                folder.mkdir(parents=True, exist_ok=True)
                return chromadb.PersistentClient(path=str(folder), settings=settings)
            host, port, secure = self._address()
            try:
                return chromadb.HttpClient(host=host, port=port, ssl=secure, settings=settings)
            except Exception as error:
                raise BadInput(
                    f"The Chroma server {self.place} does not answer ({error}); start it, or "
                    f"unset {URL_VARIABLE} to use the built-in store."
                ) from None

    def _address(self) -> tuple[str, int, bool]:
        url = self.url or ""
        try:
            parts = urlsplit(url if "//" in url else f"http://{url}")
            secure = parts.scheme == "https"
            return parts.hostname or "localhost", parts.port or (443 if secure else 8000), secure
        except ValueError:
            raise BadInput(
                f"{URL_VARIABLE} is no address; give one like http://127.0.0.1:8000."
            ) from None


def _names(client: Any) -> set[str]:
    return {collection.name for collection in client.list_collections()}


class _errors:  # noqa: N801
    """Turns what Chroma raises, other than NotFoundError, into a RetrieverError."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        from chromadb.errors import NotFoundError

        if isinstance(error, Exception) and not isinstance(error, (RagError, NotFoundError)):
            raise RetrieverError(f"The vector store failed: {error}") from error
