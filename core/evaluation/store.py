"""What an evaluation leaves in its folder, and reading it back.

``results.csv`` and ``summary.json`` are for everyone; ``evaluation.json`` (questions, gold,
settings) and ``journal.db`` (the runs) are what ``fit``, ``sweep`` and the report go on from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.errors import BadInput
from core.evaluation.metrics import Gold
from core.evaluation.probe import PROBED_SYSTEMS
from core.evaluation.questions import Question
from core.evaluation.results import Row, read_rows, summarise, write_json, write_rows
from core.events import Step
from core.journal import Journal
from core.types import CorpusRef, Frozen, JsonObject

RESULTS = "results.csv"
SUMMARY = "summary.json"
MANIFEST = "evaluation.json"


class Manifest(Frozen):
    """What was asked of which systems. ``gold`` is by question id, ``settings`` by system;
    ``left_out`` counts the file's questions about other corpora."""

    questions_file: str
    corpus: CorpusRef
    model: str
    seed: int
    fault: str | None
    probe: bool
    systems: tuple[str, ...]
    settings: dict[str, JsonObject]
    questions: tuple[Question, ...]
    left_out: int = 0
    gold: dict[str, tuple[tuple[str, ...], ...]]


@dataclass(frozen=True)
class Evaluation:
    """An evaluation in its folder."""

    out: Path
    manifest: Manifest
    rows: tuple[Row, ...]

    @classmethod
    def open(cls, out: Path) -> Evaluation:
        """Read an evaluation back.

        Raises:
            BadInput: the folder holds none, or one that is broken.
        """
        try:
            manifest = Manifest.model_validate_json((out / MANIFEST).read_bytes())
        except FileNotFoundError:
            raise BadInput(
                f"{out.name} holds no evaluation; run `evaluate --out {out.name}` first."
            ) from None
        except (OSError, ValidationError) as error:
            raise BadInput(f"{MANIFEST} in {out.name} cannot be read: {error}.") from None
        return cls(out, manifest, tuple(read_rows(out / RESULTS)))

    def write(self) -> None:
        """Write the three files, each whole or not at all."""
        write_json(self.out / MANIFEST, self.manifest.model_dump(mode="json"))
        write_rows(self.out / RESULTS, self.rows)
        write_json(self.out / SUMMARY, self.summary())

    def summary(self) -> JsonObject:
        """The content of ``summary.json``."""
        return summarise(self.rows, self.manifest.systems)

    @cached_property
    def questions(self) -> dict[str, Question]:
        """The questions by id."""
        return {q.id: q for q in self.manifest.questions}

    def gold(self, question_id: str) -> Gold:
        """The gold facts of a question."""
        return tuple(frozenset(fact) for fact in self.manifest.gold[question_id])

    def probed(self, system: str) -> bool:
        """Whether the system's runs are probe runs."""
        return self.manifest.probe and system in PROBED_SYSTEMS

    @cached_property
    def journal(self) -> Journal:
        """The runs."""
        return Journal(self.out)

    def runs(self, system: str) -> Iterator[tuple[Row, list[Step]]]:
        """Each row of a system with its run's steps, in the order of the file."""
        for row in self.rows:
            if row.system == system:
                yield row, self.journal.steps(row.run_id)

    def by_question(self, system: str) -> dict[str, Row]:
        """The rows of a system by question id.

        Raises:
            BadInput: the system was not evaluated.
        """
        if system not in self.manifest.systems:
            known = ", ".join(self.manifest.systems)
            raise BadInput(f"{system!r} was not evaluated here; evaluated: {known}.")
        return {row.question_id: row for row in self.rows if row.system == system}


def gold_json(gold: dict[str, Gold]) -> dict[str, Any]:
    """Gold in the manifest's form, sorted."""
    return {q: tuple(tuple(sorted(fact)) for fact in facts) for q, facts in gold.items()}
