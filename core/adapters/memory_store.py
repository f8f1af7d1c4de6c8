"""The shared memory pool's global store: artifacts by workspace and scope, in the journal's
database, through SQLAlchemy.

Each scope is bounded in entries and bytes; where a bound is reached the longest unused artifacts
go first. ``used`` counts up with every persistence of a scope, so that no clock is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pydantic import ValidationError

from core.errors import JournalError
from core.memory import Artifact, Holding, MemoryScope, Persisted
from core.types import digest

if TYPE_CHECKING:
    from core.adapters.journal_store import JournalStore

MAX_ENTRIES = 300
MAX_BYTES = 512_000

ARTIFACTS = sa.Table(
    "memory_artifacts",
    sa.MetaData(),
    sa.Column("workspace", sa.String, primary_key=True),
    sa.Column("corpus", sa.String, primary_key=True),
    sa.Column("version", sa.String, primary_key=True),
    sa.Column("tenant", sa.String, primary_key=True),
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("json", sa.Text, nullable=False),
    sa.Column("bytes", sa.Integer, nullable=False),
    sa.Column("used", sa.BigInteger, nullable=False),
)


class MemoryPool:
    """The global store of one workspace.

    Raises:
        JournalError: the database cannot be used.
    """

    def __init__(
        self,
        store: JournalStore,
        workspace: str,
        max_entries: int = MAX_ENTRIES,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._store, self.workspace = store, workspace
        self.max_entries, self.max_bytes = max_entries, max_bytes
        with store.transaction() as connection:
            connection.execute(sa.schema.CreateTable(ARTIFACTS, if_not_exists=True))

    def open(self, scope: MemoryScope) -> ScopedMemory:
        """The snapshot of a scope for one run. Where it cannot be read, recalling it says so."""
        try:
            return ScopedMemory(self, scope, tuple(self.artifacts(scope)))
        except JournalError as error:
            return ScopedMemory(self, scope, (), error)

    # --- for the app -------------------------------------------------------------------------

    def holdings(self) -> list[Holding]:
        """Every scope of the workspace that holds something, in order of its key."""
        c = ARTIFACTS.c
        columns = (c.corpus, c.version, c.tenant)
        query = (
            sa.select(*columns, sa.func.count(), sa.func.sum(c.bytes))
            .where(c.workspace == self.workspace)
            .group_by(*columns)
            .order_by(*columns)
        )
        return [
            Holding(
                scope=MemoryScope(corpus=corpus, version=version, tenant=tenant),
                entries=entries,
                bytes=size,
            )
            for corpus, version, tenant, entries, size in self._rows(query)
        ]

    def artifacts(self, scope: MemoryScope) -> list[Artifact]:
        """What a scope holds, in order of id.

        Raises:
            JournalError: an artifact cannot be read; clear the scope.
        """
        c = ARTIFACTS.c
        query = sa.select(c.json).where(self._in(scope)).order_by(c.id)
        try:
            return [Artifact.model_validate_json(text) for (text,) in self._rows(query)]
        except ValidationError:
            raise JournalError(
                f"The shared memory of {scope.corpus!r} holds an artifact that cannot be read; "
                "clear it in the app.",
                code="damaged_memory",
            ) from None

    def clear(self, scope: MemoryScope | None = None) -> int:
        """Forget a scope, or everything of the workspace; how many artifacts went."""
        chosen = ARTIFACTS.c.workspace == self.workspace if scope is None else self._in(scope)
        with self._store.transaction() as connection:
            return int(connection.execute(sa.delete(ARTIFACTS).where(chosen)).rowcount)

    def keep(
        self, scope: MemoryScope, artifacts: Sequence[Artifact], used: Sequence[str]
    ) -> Persisted:
        """Write artifacts, mark which were used, and hold the bounds, in one transaction."""
        c = ARTIFACTS.c
        with self._store.transaction() as connection:
            newest = sa.select(sa.func.coalesce(sa.func.max(c.used), 0)).where(self._in(scope))
            now = int(connection.scalar(newest) or 0) + 1
            ids = [a.id for a in artifacts]
            connection.execute(sa.delete(ARTIFACTS).where(self._in(scope), c.id.in_(ids)))
            if artifacts:
                rows = {a.id: self._row(scope, a, now) for a in artifacts}
                connection.execute(sa.insert(ARTIFACTS), [*rows.values()])
            connection.execute(
                sa.update(ARTIFACTS).where(self._in(scope), c.id.in_([*used])).values(used=now)
            )
            evicted = self._over_bounds(connection, scope)
            connection.execute(sa.delete(ARTIFACTS).where(self._in(scope), c.id.in_(evicted)))
        gone = frozenset(evicted)
        return Persisted(kept=tuple(i for i in ids if i not in gone), evicted=tuple(evicted))

    def _over_bounds(self, connection: sa.Connection, scope: MemoryScope) -> list[str]:
        c = ARTIFACTS.c
        query = sa.select(c.id, c.bytes).where(self._in(scope)).order_by(c.used.desc(), c.id)
        entries = size = 0
        over: list[str] = []
        for artifact, length in connection.execute(query):
            if entries + 1 > self.max_entries or size + length > self.max_bytes:
                over.append(artifact)
            else:
                entries, size = entries + 1, size + length
        return over

    def _row(self, scope: MemoryScope, artifact: Artifact, now: int) -> dict[str, Any]:
        text = artifact.model_dump_json()
        return {
            "workspace": self.workspace,
            **scope.model_dump(),
            "id": artifact.id,
            "json": text,
            "bytes": len(text.encode("utf-8", "surrogatepass")),
            "used": now,
        }

    def _rows(self, query: sa.Select[Any]) -> Sequence[Any]:
        with self._store.transaction() as connection:
            return connection.execute(query).all()

    def _in(self, scope: MemoryScope) -> sa.ColumnElement[bool]:
        c = ARTIFACTS.c
        return sa.and_(
            c.workspace == self.workspace,
            c.corpus == scope.corpus,
            c.version == scope.version,
            c.tenant == scope.tenant,
        )


class ScopedMemory:
    """One scope as it was when a run started; what is persisted goes to the store."""

    def __init__(
        self,
        pool: MemoryPool,
        scope: MemoryScope,
        held: tuple[Artifact, ...],
        problem: JournalError | None = None,
    ) -> None:
        self._pool, self._scope, self._held, self._problem = pool, scope, held, problem
        self.digest = digest([a.id for a in held]) if held else "empty"
        if problem is not None:
            self.digest = "unreadable"

    def open(self, scope: MemoryScope) -> ScopedMemory:
        """The snapshot of a scope."""
        return self._pool.open(scope)

    def entries(self) -> tuple[Artifact, ...]:
        """Every artifact of the snapshot, in order of id.

        Raises:
            JournalError: the scope could not be read when the run started.
        """
        if self._problem is not None:
            raise self._problem
        return self._held

    def persist(self, artifacts: Sequence[Artifact], used: Sequence[str]) -> Persisted:
        """Keep artifacts durably."""
        return self._pool.keep(self._scope, artifacts, used)
