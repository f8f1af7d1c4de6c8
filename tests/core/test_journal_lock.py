"""A journal that another connection holds for a moment is waited for, however it is held."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from core.adapters import journal_store
from core.errors import JournalError
from core.journal import Journal

HOLDS = {
    "a file not yet in write-ahead mode is written": ("DELETE", "BEGIN EXCLUSIVE"),
    "a file not yet in write-ahead mode is about to be written": ("DELETE", "BEGIN IMMEDIATE"),
    "a file in write-ahead mode is written": ("WAL", "BEGIN IMMEDIATE"),
}


def held(path: Path, mode: str, begin: str) -> sqlite3.Connection:
    """A connection that holds the file until it rolls back."""
    other = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    other.execute(f"PRAGMA journal_mode={mode}")
    other.execute("CREATE TABLE theirs (n INTEGER)")
    other.execute(begin)
    other.execute("INSERT INTO theirs VALUES (1)")
    return other


@pytest.mark.parametrize(("mode", "begin"), HOLDS.values(), ids=HOLDS)
def test_opening_waits_until_the_other_lets_go(tmp_path: Path, mode: str, begin: str) -> None:
    with closing(held(tmp_path / "journal.db", mode, begin)) as other:
        let_go = threading.Timer(0.3, other.rollback)
        let_go.start()
        with closing(Journal(tmp_path)) as journal:
            assert journal.count() == 0
        let_go.join()


@pytest.mark.parametrize(("mode", "begin"), HOLDS.values(), ids=HOLDS)
def test_one_that_never_lets_go_is_said_in_a_sentence(
    tmp_path: Path, mode: str, begin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_store, "PATIENCE", 0.1)
    with (
        closing(held(tmp_path / "journal.db", mode, begin)),
        pytest.raises(JournalError, match="keeps the journal locked"),
    ):
        Journal(tmp_path)
