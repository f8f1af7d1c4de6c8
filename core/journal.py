"""The journal: where runs are kept.

An appended step is on disk before ``append`` returns and survives the process being killed. A run
belongs to one workspace and, while it is running, to one process; when that process dies the run
is marked interrupted at the next start, and can be opened, replayed, resumed and exported.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter

from core import collecting, jsonl
from core.errors import BadInput, JournalError, Terminal
from core.events import Origin, ParentStep, RunFinished, RunStarted, Step
from core.types import CorpusRef, Count, Frozen, Usage

if TYPE_CHECKING:
    from core.adapters.journal_store import Row, Synchronous
    from core.adapters.memory_store import MemoryPool

Status = Literal["running", "finished", "interrupted"]
Label = Literal["right", "wrong", "unanswerable"]
"""A person's judgement: of the answer, or that the corpus has none and no system should answer."""

MAX_NOTE = 10_000
_STEPS: TypeAdapter[list[Step]] = TypeAdapter(list[Step])


class RunRecord(Frozen):
    """What the journal knows of a run without reading its steps.

    ``terminal``, ``branch``, ``finished``, ``answer``, ``grounded`` and ``usage`` are those of the
    RunFinished step, None before it. ``label`` and ``right_answer`` are a person's judgement.
    """

    run_id: str
    workspace: str
    system: str
    question: str
    corpus: CorpusRef
    reasoner: str
    model: str | None
    seed: int
    origin: Origin
    parent: ParentStep | None
    status: Status
    terminal: Terminal | None
    branch: str | None
    started: datetime
    finished: datetime | None
    steps: Count
    usage: Usage | None
    answer: str | None
    grounded: bool | None
    name: str
    note: str
    label: Label | None
    right_answer: str | None
    deleted_at: datetime | None


class RunFilter(Frozen):
    """Which runs to list; None is any. ``text`` is looked for in question, name, note, answer."""

    system: str | None = None
    corpus_id: str | None = None
    status: Status | None = None
    terminal: Terminal | None = None
    label: Label | None = None
    origin: Origin | None = None
    reasoner: str | None = None
    parent_run: str | None = None
    text: str | None = None
    deleted: bool = False


class Journal:
    """The runs of one workspace in a database.

    ``where`` is a directory, which holds ``journal.db`` (SQLite), or a database URL. With
    ``synchronous="FULL"`` a SQLite journal also survives a power failure at any moment; the default
    ``NORMAL`` survives the death of the process.

    Raises:
        JournalError: the database cannot be opened.
        BadInput: it was written by a newer version of the product.
    """

    def __init__(
        self,
        where: str | Path,
        workspace: str = "shared",
        *,
        synchronous: Synchronous = "NORMAL",
    ) -> None:
        from core.adapters import journal_store

        text = str(where)
        if "://" not in text:
            directory = Path(where).expanduser()
            try:
                directory.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise JournalError(
                    f"The journal's directory {directory} cannot be used: {error.strerror}."
                ) from error
            text = f"sqlite:///{directory.resolve() / 'journal.db'}"
        self.workspace = workspace
        self._store = journal_store.JournalStore(text, synchronous=synchronous)
        self._conditions = journal_store.run_conditions
        self._next: dict[str, int] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the database connections."""
        self._store.close()

    def memory(self) -> MemoryPool:
        """The shared memory pool of this workspace, in the same database."""
        from core.adapters.memory_store import MemoryPool

        return MemoryPool(self._store, self.workspace)

    # --- writing ---------------------------------------------------------------------------

    def append(self, steps: list[Step]) -> None:
        """Keep the next steps of one run, all or none; they are durable when this returns.

        A run begins with its RunStarted step and belongs from then on to this journal object,
        until it is finished; ``claim`` takes an interrupted one over.

        Raises:
            JournalFull: the disk is full; nothing of ``steps`` was kept.
            JournalError: the steps are not the next ones of a run of this journal, or cannot be
                written; nothing of ``steps`` was kept.
        """
        if not steps:
            return
        first, last = steps[0], steps[-1]
        run_id, end = first.run_id, last.seq + 1
        with self._lock:
            expected = 0 if isinstance(first.event, RunStarted) else self._next.get(run_id)
        if expected is None:
            raise JournalError("The run does not belong to this process; resume it first.")
        if any(s.seq != n or s.run_id != run_id for n, s in enumerate(steps, expected)):
            raise JournalError(f"The run goes on at step {expected}; other steps were given.")
        rows = [(step.seq, step.model_dump_json()) for step in steps]
        with self._store.transaction() as connection:
            if isinstance(first.event, RunStarted):
                self._store.insert_run(connection, self._started(first))
            self._store.insert_steps(connection, self.workspace, run_id, rows)
            if isinstance(last.event, RunFinished):
                owned = {"status": "running", "owner": self._store.owner.token}
                values = _finished(last, last.event)
                if not self._store.update_run(connection, self.workspace, run_id, values, **owned):
                    raise JournalError("The run was taken over by another process.")
        with self._lock:
            if isinstance(last.event, RunFinished):
                self._next.pop(run_id, None)
            else:
                self._next[run_id] = end

    def claim(self, run_id: str) -> list[Step]:
        """Take an interrupted run over, to go on with it; its steps so far.

        Raises:
            BadInput: there is no such run, it is finished, or a process is still running it.
        """
        self._store.reap()
        values = {"status": "running", "owner": self._store.owner.token}
        with self._store.transaction() as connection:
            claimed = self._store.update_run(
                connection, self.workspace, run_id, values, status="interrupted", deleted_at=None
            )
        if not claimed:
            status = self.run(run_id).status
            why = "is still running" if status == "running" else "is finished or deleted"
            raise BadInput(f"Run {run_id} {why}; only an interrupted run can be resumed.")
        steps = self.steps(run_id)
        with self._lock:
            self._next[run_id] = len(steps)
        return steps

    def abandon(self, run_id: str) -> None:
        """Mark a run that this process can write no further as interrupted; others are left."""
        owned = {"status": "running", "owner": self._store.owner.token}
        values = {"status": "interrupted", "owner": None}
        with self._store.transaction() as connection:
            self._store.update_run(connection, self.workspace, run_id, values, **owned)
        with self._lock:
            self._next.pop(run_id, None)

    def recover(self) -> int:
        """Mark the running runs of dead processes as interrupted; how many. Done at every start."""
        return self._store.reap()

    # --- reading ---------------------------------------------------------------------------

    def steps(self, run_id: str, after: int = -1, limit: int | None = None) -> list[Step]:
        """The steps of a run with ``seq > after``, in order, at most ``limit``.

        Raises:
            BadInput: this workspace has no such run.
        """
        texts = self._store.step_texts(self.workspace, run_id, after, limit)
        if not texts:
            self.run(run_id)
        with collecting.paused():
            return _STEPS.validate_json(f"[{','.join(texts)}]")

    def run(self, run_id: str) -> RunRecord:
        """What is known of a run, deleted ones included.

        Raises:
            BadInput: this workspace has no such run.
        """
        rows = self._store.rows(self._conditions(self.workspace, {"run_id": run_id}))
        if not rows:
            raise BadInput(
                f"There is no run {run_id[:80]!r} here; the Runs page and `python -m core runs` "
                "list those that are."
            )
        return _record(rows[0])

    def runs(
        self, chosen: RunFilter | None = None, *, offset: int = 0, limit: int | None = 50
    ) -> list[RunRecord]:
        """Runs of this workspace, newest first."""
        rows = self._store.rows(self._where(chosen), offset=offset, limit=limit)
        return [_record(row) for row in rows]

    def count(self, chosen: RunFilter | None = None) -> int:
        """How many runs ``runs`` would list without a limit."""
        return self._store.count(self._where(chosen))

    # --- a person's notes --------------------------------------------------------------------

    def rename(self, run_id: str, name: str) -> None:
        """Give a run a name of at most 200 characters; empty takes it away."""
        self._set(run_id, name=name.strip()[:200])

    def note(self, run_id: str, note: str) -> None:
        """Keep a note of at most 10,000 characters with a run.

        Raises:
            BadInput: the note is longer.
        """
        if len(note) > MAX_NOTE:
            raise BadInput(f"The note has {len(note)} characters; at most {MAX_NOTE} are kept.")
        self._set(run_id, note=note)

    def label(self, run_id: str, label: Label | None, right_answer: str | None = None) -> None:
        """Judge a run; a right answer that is given is kept, else the one that is kept stays."""
        values: dict[str, Any] = {"label": label}
        if right_answer is not None:
            values["right_answer"] = right_answer
        self._set(run_id, **values)

    def correct(self, run_id: str, right_answer: str | None) -> None:
        """Keep the right answer of a run's question, or that none is known."""
        self._set(run_id, right_answer=right_answer)

    def delete(self, run_id: str) -> None:
        """Take a run out of the list; ``restore`` undoes it.

        Raises:
            BadInput: the run is still running.
        """
        if self.run(run_id).status == "running":
            raise BadInput("The run is still running; stop it before deleting it.")
        self._set(run_id, deleted_at=_utc(datetime.now(UTC)))

    def restore(self, run_id: str) -> None:
        """Undo a deletion."""
        self._set(run_id, deleted_at=None)

    def purge(self, *, corpus_id: str | None = None, deleted_before: datetime | None = None) -> int:
        """Remove runs and their steps for good, running ones left; how many were removed.

        Either every run of a corpus, or the runs deleted before a time.
        """
        if corpus_id is None and deleted_before is None:
            raise BadInput("Say which runs to purge: those of a corpus, or those deleted before.")
        removed = 0
        for status in ("finished", "interrupted"):
            filters: dict[str, Any] = {"status": status, "corpus_id": corpus_id}
            if deleted_before is not None:
                filters["deleted_before"] = _utc(deleted_before)
            removed += self._store.delete(self.workspace, self._conditions(self.workspace, filters))
        return removed

    # --- JSONL -----------------------------------------------------------------------------

    def export_jsonl(self, run_id: str) -> str:
        """A run as JSON lines, one step a line."""
        return jsonl.dump(self.steps(run_id))

    def import_jsonl(self, source: str | Path) -> RunRecord:
        """Take in a run from a text or a file; the same run twice is the same as once.

        A run without its last step is kept as interrupted.

        Raises:
            BadInput: the file is refused, with the line; or another run has the same id. Nothing
                was imported.
        """
        steps = jsonl.load(source)
        run_id, last = steps[0].run_id, steps[-1]
        known = self._store.rows(self._conditions(self.workspace, {"run_id": run_id}))
        if known:
            if jsonl.dump(steps) != self.export_jsonl(run_id):
                raise BadInput(f"Another run has the id {run_id}; nothing was imported.")
            self.restore(run_id)
            return self.run(run_id)
        row = self._started(steps[0]) | {"status": "interrupted", "owner": None}
        if isinstance(last.event, RunFinished):
            row |= _finished(last, last.event)
        with self._store.transaction() as connection:
            self._store.insert_run(connection, row)
            rows = [(step.seq, step.model_dump_json()) for step in steps]
            self._store.insert_steps(connection, self.workspace, run_id, rows)
        return self.run(run_id)

    # -----------------------------------------------------------------------------------------

    def _where(self, chosen: RunFilter | None) -> Any:
        return self._conditions(self.workspace, (chosen or RunFilter()).model_dump())

    def _set(self, run_id: str, **values: Any) -> None:
        with self._store.transaction() as connection:
            if not self._store.update_run(connection, self.workspace, run_id, values):
                raise BadInput(f"There is no run {run_id[:80]!r} here.")

    def _started(self, step: Step) -> Row:
        event = step.event
        assert isinstance(event, RunStarted)
        return {
            "workspace": self.workspace,
            "run_id": step.run_id,
            "system": event.system,
            "question": _text(event.question),
            "corpus_id": event.corpus.id,
            "corpus_version": event.corpus.version,
            "reasoner": event.reasoner,
            "model": event.model,
            "seed": event.seed,
            "origin": event.origin,
            "parent_run": event.parent and event.parent.run_id,
            "parent_seq": event.parent and event.parent.seq,
            "status": "running",
            "started": _utc(step.at),
            "owner": self._store.owner.token,
            "name": "",
            "note": "",
        }


def _finished(step: Step, event: RunFinished) -> Row:
    return {
        "status": "finished",
        "terminal": event.terminal,
        "branch": event.branch,
        "finished": _utc(step.at),
        "steps": step.seq + 1,
        "usage": event.usage.model_dump_json(),
        "answer": None if event.answer is None else _text(event.answer),
        "grounded": event.grounded,
        "owner": None,
    }


def _record(row: Row) -> RunRecord:
    parent = None
    if row["parent_run"] is not None:
        parent = ParentStep(run_id=row["parent_run"], seq=row["parent_seq"])
    usage = row["usage"]
    same = {k: row[k] for k in RunRecord.model_fields if k in row}
    return RunRecord.model_validate(
        same
        | {
            "corpus": CorpusRef(id=row["corpus_id"], version=row["corpus_version"]),
            "parent": parent,
            "usage": None if usage is None else Usage.model_validate_json(usage),
        }
    )


def _utc(time: datetime) -> str:
    """ISO 8601 with microseconds, so that the order of texts is the order of times."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def _text(text: str) -> str:
    """Without NUL, which PostgreSQL does not store in a text column; the step keeps it."""
    return text.replace("\x00", "\ufffd")
