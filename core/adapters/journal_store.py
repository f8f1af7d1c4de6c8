"""Rows of the journal in SQLite or PostgreSQL, through SQLAlchemy.

The store knows rows, transactions and whose run is running (``journal_owner``). What the rows mean
is ``core.journal``'s business.
"""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import event

from core.adapters.journal_owner import LOCK_CLASS, owner_of
from core.errors import BadInput, JournalError, JournalFull

Row = dict[str, Any]
Synchronous = Literal["NORMAL", "FULL"]

SCHEMA = 1
PATIENCE = 60.0
"""Seconds for which a lock of another process is waited for."""
_metadata = sa.MetaData()

META = sa.Table("journal_meta", _metadata, sa.Column("schema", sa.Integer, primary_key=True))

RUNS = sa.Table(
    "runs",
    _metadata,
    sa.Column("workspace", sa.String, primary_key=True),
    sa.Column("run_id", sa.String, primary_key=True),
    sa.Column("system", sa.String, nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("corpus_id", sa.String, nullable=False),
    sa.Column("corpus_version", sa.String, nullable=False),
    sa.Column("reasoner", sa.String, nullable=False),
    sa.Column("model", sa.String),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("origin", sa.String, nullable=False),
    sa.Column("parent_run", sa.String),
    sa.Column("parent_seq", sa.Integer),
    sa.Column("status", sa.String, nullable=False),
    sa.Column("terminal", sa.String),
    sa.Column("branch", sa.String),
    sa.Column("started", sa.String, nullable=False),
    sa.Column("finished", sa.String),
    sa.Column("steps", sa.Integer),
    sa.Column("usage", sa.Text),
    sa.Column("answer", sa.Text),
    sa.Column("grounded", sa.Boolean),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("label", sa.String),
    sa.Column("right_answer", sa.Text),
    sa.Column("deleted_at", sa.String),
    sa.Column("owner", sa.String),
    sa.Index("runs_by_start", "workspace", "started"),
    sa.Index("runs_by_status", "status"),
)

STEPS = sa.Table(
    "steps",
    _metadata,
    sa.Column("workspace", sa.String, primary_key=True),
    sa.Column("run_id", sa.String, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("json", sa.Text, nullable=False),
)


class JournalStore:
    """The tables, one engine, and one kept connection for writing.

    SQLite takes one writer at a time anyway, so appends of all threads share the kept
    connection under a lock; readers use the engine's pool and never wait for it.
    """

    def __init__(self, url: str, *, synchronous: Synchronous = "NORMAL") -> None:
        try:
            self.url = sa.make_url(url)
        except sa.exc.ArgumentError:
            raise BadInput("The journal's address is not a database URL or a directory.") from None
        if self.url.drivername in ("postgresql", "postgres"):
            self.url = self.url.set(drivername="postgresql+psycopg")
        self.sqlite = self.url.get_backend_name() == "sqlite"
        if self.sqlite and self.url.database in (None, "", ":memory:"):
            raise BadInput("The journal needs a file; an in-memory database is not durable.")
        self.engine = self._engine(synchronous)
        self._lock = threading.RLock()
        self._writer: sa.Connection | None = None
        insert = sa.insert(STEPS).compile(self.engine, column_keys=STEPS.c.keys())
        self._insert_sql, self._positional = str(insert), bool(insert.positional)
        with self._errors():
            self._create()
        self.owner = owner_of(self.engine)
        self.reap()

    def _engine(self, synchronous: Synchronous) -> sa.Engine:
        if not self.sqlite:
            return sa.create_engine(self.url, pool_pre_ping=True)
        connect_args = {"check_same_thread": False, "timeout": PATIENCE}
        engine = sa.create_engine(self.url, connect_args=connect_args)

        @event.listens_for(engine, "connect")
        def _pragmas(connection: sqlite3.Connection, _record: object) -> None:
            _write_ahead(connection)
            connection.execute(f"PRAGMA synchronous={synchronous}")

        return engine

    def _create(self) -> None:
        with self.engine.begin() as connection:
            if not self.sqlite:  # two processes may create the tables at the same moment
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK_CLASS)))
            else:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            _metadata.create_all(connection)
            found = connection.scalar(sa.select(META.c.schema))
            if found is None:
                connection.execute(sa.insert(META).values(schema=SCHEMA))
            elif found > SCHEMA:
                raise BadInput(
                    f"The journal was written by a newer version of this product (format {found}, "
                    f"this one reads up to {SCHEMA}); update the product to open it."
                )

    def close(self) -> None:
        """Close every connection; the store may be used again and then reconnects."""
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
        self.engine.dispose()

    # --- writing ---------------------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """The writing connection, alone; committed at the end, or nothing of it.

        Raises:
            JournalFull: the disk or the database is full.
            JournalError: the database cannot take the rows.
        """
        with self._lock, self._errors():
            if self._writer is None:
                self._writer = self.engine.connect()
            try:
                yield self._writer
                self._writer.commit()
            except BaseException:
                with contextlib.suppress(sa.exc.SQLAlchemyError):
                    self._writer.rollback()
                raise

    def insert_run(self, connection: sa.Connection, row: Row) -> None:
        """Insert a run's row."""
        connection.execute(sa.insert(RUNS), [row])

    def insert_steps(
        self,
        connection: sa.Connection,
        workspace: str,
        run_id: str,
        rows: Sequence[tuple[int, str]],
    ) -> None:
        """Insert ``(seq, json)`` rows of one run; a seq that exists already is an error."""
        if self._positional:
            values: list[Any] = [(workspace, run_id, seq, text) for seq, text in rows]
        else:
            values = [
                {"workspace": workspace, "run_id": run_id, "seq": seq, "json": text}
                for seq, text in rows
            ]
        connection.exec_driver_sql(self._insert_sql, values)

    def update_run(
        self, connection: sa.Connection, workspace: str, run_id: str, values: Row, **where: Any
    ) -> bool:
        """Change a run's row if it has the values in ``where``; whether there was such a row."""
        statement = sa.update(RUNS).values(**values).where(_is(workspace, run_id))
        for column, value in where.items():
            statement = statement.where(RUNS.c[column] == value)
        return bool(connection.execute(statement).rowcount)

    # --- reading ---------------------------------------------------------------------------

    def step_texts(self, workspace: str, run_id: str, after: int, limit: int | None) -> list[str]:
        """JSON of the steps with ``seq > after``, in order, at most ``limit``."""
        query = (
            sa.select(STEPS.c.json)
            .where(STEPS.c.workspace == workspace, STEPS.c.run_id == run_id, STEPS.c.seq > after)
            .order_by(STEPS.c.seq)
            .limit(limit)
        )
        with self._errors(), self.engine.connect() as connection:
            return list(connection.scalars(query))

    def rows(
        self,
        conditions: Sequence[sa.ColumnElement[bool]],
        *,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Row]:
        """Run rows that meet all conditions, newest first, ``steps`` counted where unfinished."""
        counted = (
            sa.select(sa.func.coalesce(sa.func.max(STEPS.c.seq) + 1, 0))
            .where(STEPS.c.workspace == RUNS.c.workspace, STEPS.c.run_id == RUNS.c.run_id)
            .scalar_subquery()
        )
        columns = [c for c in RUNS.c if c.name != "steps"]
        query = (
            sa.select(*columns, sa.func.coalesce(RUNS.c.steps, counted).label("steps"))
            .where(*conditions)
            .order_by(RUNS.c.started.desc(), RUNS.c.run_id)
            .offset(offset)
            .limit(limit)
        )
        with self._errors(), self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def count(self, conditions: Sequence[sa.ColumnElement[bool]]) -> int:
        """How many runs meet all conditions."""
        query = sa.select(sa.func.count()).select_from(RUNS).where(*conditions)
        with self._errors(), self.engine.connect() as connection:
            return int(connection.scalar(query) or 0)

    def delete(self, workspace: str, conditions: Sequence[sa.ColumnElement[bool]]) -> int:
        """Remove runs of a workspace and their steps for good; how many."""
        chosen = sa.select(RUNS.c.run_id).where(RUNS.c.workspace == workspace, *conditions)
        with self.transaction() as connection:
            ids = list(connection.scalars(chosen))
            for table in (STEPS, RUNS):
                connection.execute(
                    sa.delete(table).where(table.c.workspace == workspace, table.c.run_id.in_(ids))
                )
        return len(ids)

    # --- owners ----------------------------------------------------------------------------

    def reap(self) -> int:
        """Mark the runs of processes that are gone as interrupted; how many."""
        running = sa.select(RUNS.c.owner).where(RUNS.c.status == "running").distinct()
        with self._errors(), self.engine.connect() as connection:
            owners = set(connection.scalars(running)) - {self.owner.token}
        marked = 0
        for token in owners:
            with self.owner.if_gone(token) as gone:
                if not gone:
                    continue
                with self.transaction() as connection:
                    marked += connection.execute(
                        sa.update(RUNS)
                        .where(RUNS.c.status == "running", RUNS.c.owner == token)
                        .values(status="interrupted", owner=None)
                    ).rowcount
        return marked

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sa.exc.IntegrityError as error:
            raise JournalError(
                "The journal already holds a step of that number for this run; "
                "another process wrote it.",
                code="two_writers",
            ) from error
        except (sa.exc.DBAPIError, OSError) as error:
            raise _typed(error) from error
        except sa.exc.SQLAlchemyError as error:
            raise JournalError(f"The journal cannot be used: {error}.") from error


def _is(workspace: str, run_id: str) -> sa.ColumnElement[bool]:
    return sa.and_(RUNS.c.workspace == workspace, RUNS.c.run_id == run_id)


def run_conditions(workspace: str, filters: Mapping[str, Any]) -> list[sa.ColumnElement[bool]]:
    """Conditions for runs of a workspace.

    ``filters`` maps a column to the value it must have; ``text`` to words to find in question,
    name, note or answer; ``deleted`` to whether deleted runs are meant instead of the others.
    """
    found = [RUNS.c.workspace == workspace]
    for name, value in filters.items():
        if name == "deleted":
            found.append(RUNS.c.deleted_at.is_not(None) if value else RUNS.c.deleted_at.is_(None))
        elif value is None:
            continue
        elif name == "text":
            columns = (RUNS.c.question, RUNS.c.name, RUNS.c.note, RUNS.c.answer)
            found.append(sa.or_(*(c.icontains(value, autoescape=True) for c in columns)))
        elif name == "deleted_before":
            found.append(RUNS.c.deleted_at < value)
        else:
            found.append(RUNS.c[name] == value)
    return found


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn write-ahead logging on. SQLite does not wait for this lock by itself, and another
    process that opens the same file, or died with it open, holds it for a moment."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as busy:
            if busy.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.02)


def _typed(error: sa.exc.DBAPIError | OSError) -> JournalError:
    original = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    code = getattr(original, "sqlite_errorcode", 0) & 0xFF
    state = getattr(original, "sqlstate", None)
    full = code == sqlite3.SQLITE_FULL or state == "53100"
    if full or getattr(original, "errno", None) == errno.ENOSPC:
        return JournalFull("The disk is full; free space and resume the run.")
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return JournalError("The journal file is damaged; restore it from a copy.")
    if code == sqlite3.SQLITE_BUSY:
        return JournalError("Another process keeps the journal locked; end it and try again.")
    return JournalError(f"The journal cannot be used: {original}.")
