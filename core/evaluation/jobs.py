"""The runs of an evaluation: one job each, over one process or many, joined by id."""

from __future__ import annotations

import importlib
import logging
import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol

from core import registry
from core.errors import (
    AuthenticationFailed,
    BadInput,
    JournalFull,
    ModelTimeout,
    RagError,
    RateLimited,
    RetrieverTimeout,
    RunCancelled,
)
from core.evaluation.losses import lost_at
from core.evaluation.metrics import (
    Gold,
    evidence_scores,
    evidence_tokens,
    exact_match,
    final_evidence,
    finished,
    token_f1,
)
from core.evaluation.probe import probing
from core.evaluation.questions import Question
from core.evaluation.results import Row
from core.events import RunFinished, Step
from core.faults import Fault
from core.journal import Journal
from core.ports import Deps, TokenCounter
from core.runs import RunSpec, execute
from core.settings import SystemSettings
from core.types import Access, Frozen, Passage, digest

log = logging.getLogger(__name__)

BACKENDS = ("loky", "ray", "dask")
CODE = frozenset({".py", ".json", ".toml", ".txt", ".md"})
TRANSIENT = frozenset(
    error.code
    for error in (RetrieverTimeout, ModelTimeout, RateLimited, AuthenticationFailed, JournalFull)
) | {"internal_error"}
"""Branches of runs that are made again when the evaluation is started again."""
_BATCH = 8


class World(Protocol):
    """What the questions are asked of: pickled to each worker, and opened once in each."""

    def __hash__(self) -> int:
        """Equal worlds are opened once."""

    def open(self) -> Deps:
        """The ports of a run."""

    def passages(self) -> Sequence[Passage]:
        """Every passage of the corpus, to find the gold among them."""


class Progress(Frozen):
    """How far an evaluation is; ``seconds_left`` is absent until a run was made."""

    done: int
    total: int
    seconds_left: float | None
    newest: Row


OnProgress = Callable[[Progress], None]
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Job:
    """One question for one system."""

    question: Question
    gold: Gold
    system: str
    settings: SystemSettings
    model: str
    seed: int
    fault: Fault | None
    probe: bool
    code: str

    @property
    def key(self) -> Key:
        """What results are joined by: question id and system."""
        return self.question.id, self.system

    def run_id(self, deps: Deps, attempt: int) -> str:
        """The same for the same run over the same corpus and graph; another one for each attempt
        at it."""
        corpus, graph = deps.retriever.corpus, registry.system(self.system).graph_digest(deps)
        return "e" + digest(
            [
                [self.question.id, self.question.question, self.question.tenant],
                [self.system, self.settings.model_dump(mode="json")],
                [corpus.id, corpus.version, graph, self.model],
                [self.seed, self.probe, self.code, attempt],
                self.fault and [self.fault.name, self.fault.stage],
            ]
        )


def results(
    jobs: Sequence[Job],
    world: World,
    out: Path,
    workers: int,
    progress: OnProgress,
    cancelled: Callable[[], bool],
) -> dict[Key, Row]:
    """Do every job whose run is not finished in the journal of ``out``; the rows of all.

    Raises:
        BadInput: ``SWEEP_BACKEND`` names no backend that can be used.
        JournalError: a run could not be kept.
        RagError: a worker process died; finished runs are in the journal.
        RunCancelled: ``cancelled`` said so; finished runs are in the journal.
    """
    done: dict[Key, Row] = {}
    started, made = time.monotonic(), 0
    with closing(_outcomes(jobs, world, out, workers, cancelled)) as outcomes:
        for key, row, fresh in outcomes:
            done[key] = row
            made += fresh
            pace = (time.monotonic() - started) / made if made else None
            left = None if pace is None else pace * (len(jobs) - len(done))
            progress(Progress(done=len(done), total=len(jobs), seconds_left=left, newest=row))
            if cancelled() and len(done) < len(jobs):
                raise RunCancelled("The evaluation was stopped; start it again to go on.")
    missing = {job.key for job in jobs} - done.keys()
    if missing:
        raise RuntimeError(f"no result came for {sorted(missing)[:3]}")
    return done


def _outcomes(
    jobs: Sequence[Job], world: World, out: Path, workers: int, cancelled: Callable[[], bool]
) -> Generator[tuple[Key, Row, bool], None, None]:
    if workers == 1:
        for job in jobs:
            yield _perform(world, out, job, cancelled)
        return
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    backend = os.environ.get("SWEEP_BACKEND") or "loky"
    calls = [delayed(_perform)(world, out, job) for job in jobs]
    with _backend(backend, workers), parallel_config(backend=backend, n_jobs=workers):
        if backend == "ray":  # its joblib backend gives back lists only
            for first in range(0, len(calls), _BATCH * workers):
                yield from Parallel(batch_size=1)(calls[first : first + _BATCH * workers])
            return
        outcomes: Any = Parallel(batch_size=1, return_as="generator_unordered")(calls)
        try:
            yield from outcomes
        except TerminatedWorkerError:
            raise RagError(
                "A worker process died, perhaps for want of memory; start the evaluation again to "
                "go on, with fewer workers.",
                code="worker_died",
            ) from None
        finally:
            outcomes.close()


@contextmanager
def _backend(name: str, workers: int) -> Iterator[None]:
    """A joblib backend made ready: one process for each worker, or the cluster that is set up
    (``RAY_ADDRESS``, ``DASK_SCHEDULER_ADDRESS``)."""
    if name not in BACKENDS:
        raise BadInput(f"SWEEP_BACKEND is {name!r}; it can be {', '.join(BACKENDS)}.")
    if name == "ray":
        _imported("ray.util.joblib", "ray").register_ray()
    elif name == "dask":
        distributed = _imported("distributed", "distributed")
        there = _imported("dask", "dask").config.get("scheduler-address", None)
        own = {} if there else {"n_workers": workers, "threads_per_worker": 1}
        with distributed.Client(**own):
            yield
        return
    yield


def _imported(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise BadInput(
            f"This SWEEP_BACKEND needs the package {package}; install it, or leave it unset."
        ) from None


@lru_cache(maxsize=2)
def opened(world: World) -> Deps:
    """The world's ports, opened once a process, with what they load at their first use loaded, so
    that it is no part of the first run's seconds."""
    deps = world.open()
    deps.retriever.search("warm up", 1, "fused", deps.access)
    return deps


@cache
def code_digest() -> str:
    """Digest of the code that a run is made by, and of what is fitted and written beside it.

    A finished run of other code is no result of this one.
    """
    root = Path(__file__).resolve().parents[1]
    apart = {root / "evaluation", root / "cli", root / "export"}
    files = [
        path
        for path in sorted(root.rglob("*"))
        if path.suffix in CODE and (path.name == "probe.py" or not apart & set(path.parents))
    ]
    return digest([[str(p.relative_to(root)), digest(p.read_text("utf-8"))] for p in files])


@lru_cache(maxsize=2)
def _journal(out: Path) -> Journal:
    return Journal(out)


def _perform(
    world: World, out: Path, job: Job, cancelled: Callable[[], bool] = lambda: False
) -> tuple[Key, Row, bool]:
    """The job's row and whether its run was made now."""
    deps, journal = opened(world), _journal(out)
    attempt = 0
    while True:
        run_id = job.run_id(deps, attempt)
        steps = _kept(journal, run_id)
        if steps is None:
            break
        if _is_result(steps, job):
            return job.key, measure(steps, job, deps.tokens), False
        attempt += 1
    steps = _run(job, deps, journal, run_id, cancelled)
    return job.key, measure(steps, job, deps.tokens), True


def _kept(journal: Journal, run_id: str) -> list[Step] | None:
    try:
        return journal.steps(run_id)
    except BadInput:
        return None


def _is_result(steps: Sequence[Step], job: Job) -> bool:
    end = steps[-1].event
    if not isinstance(end, RunFinished) or end.terminal == "cancelled":
        return False
    return job.fault is not None or end.branch not in TRANSIENT


def _run(
    job: Job, deps: Deps, journal: Journal, run_id: str, cancelled: Callable[[], bool]
) -> list[Step]:
    system = registry.system(job.system)
    if job.probe:
        system = probing(system)
    if job.question.tenant is not None:
        deps = replace(deps, access=Access(tenants=frozenset({job.question.tenant})))
    spec = RunSpec(
        system=system,
        question=job.question.question,
        settings=job.settings,
        run_id=run_id,
        seed=job.seed,
        origin="probe" if job.probe else "live",
        faults=() if job.fault is None else (job.fault,),
    )
    steps: list[Step] = []
    try:
        steps.extend(execute(spec, deps, journal, cancelled))
    except RagError:
        raise
    except Exception as error:
        # ``execute`` journals a fault of ours as a failed run before it raises it.
        kept = _kept(journal, run_id)
        if kept is None or not isinstance(kept[-1].event, RunFinished):
            raise
        steps = kept
        _tell(error, run_id, job.key)
    return steps


_told: set[str] = set()


def _tell(error: Exception, run_id: str, key: Key) -> None:
    """Log an internal error, and where it came from the first time."""
    what = f"{type(error).__name__}: {error}"
    trace = error if what not in _told else None
    _told.add(what)
    log.error("Run %s of %s ended in an internal error: %s", run_id, key, what, exc_info=trace)


def measure(steps: Sequence[Step], job: Job, tokens: TokenCounter) -> Row:
    """The row of a finished run."""
    end = finished(steps)
    assert end is not None
    question, gold = job.question, job.gold
    scores = evidence_scores(final_evidence(steps), gold)
    return Row(
        question_id=question.id,
        system=job.system,
        terminal=end.terminal,
        branch=end.branch,
        answer=end.answer,
        em=exact_match(end.answer, question.answers),
        f1=token_f1(end.answer, question.answers),
        evidence_precision=None if scores is None else scores.precision,
        evidence_recall=None if scores is None else scores.recall,
        evidence_f1=None if scores is None else scores.f1,
        all_gold=None if scores is None else float(scores.all_gold),
        evidence_tokens=evidence_tokens(steps, tokens),
        tokens=end.usage.tokens,
        calls=end.usage.calls,
        rounds=end.usage.rounds,
        seconds=end.usage.seconds,
        lost_at=lost_at(steps, question, gold),
        run_id=steps[0].run_id,
        hops=question.hops,
        type=question.type,
    )
