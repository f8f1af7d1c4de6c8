"""Evaluate systems on a question file: every (question, system) is one journaled run.

Run ids derive from all that determines a run, so an evaluation that was killed goes on where it
was: finished runs are read from the journal, and an interrupted one is done again beside what is
left of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import JsonValue

from core import registry
from core.errors import BadInput
from core.evaluation.gold import resolve_gold
from core.evaluation.jobs import Job, OnProgress, World, code_digest, opened, results
from core.evaluation.probe import PROBED_SYSTEMS
from core.evaluation.questions import Question, load_questions, of_corpus
from core.evaluation.store import Evaluation, Manifest, gold_json
from core.evaluation.worlds import prepared
from core.faults import Fault
from core.narration import counted
from core.runs import RunSpec, check_seed
from core.settings import SystemSettings, override, unknown_name

EXTRACTIVE = "extractive"


def evaluate(
    questions_path: Path,
    systems: Sequence[str],
    out: Path,
    corpus: str | None = None,
    model: str = EXTRACTIVE,
    *,
    limit: int | None = None,
    offset: int = 0,
    settings: Mapping[str, JsonValue] | None = None,
    workers: int = 1,
    seed: int = 0,
    fault: str | None = None,
    probe: bool = False,
    api_base: str | None = None,
    progress: OnProgress = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
    world: World | None = None,
) -> Evaluation:
    """Run every system on every question, and write the results into ``out``.

    Without a corpus it is the one that the questions name, else the pool of the file's passages,
    indexed under ``out``; of a given one, the questions that name it are asked, or all where none
    does. ``settings`` go to
    the systems that have such a knob, a question's own likewise and over them. With
    ``probe``, BeliefRAG's runs are probe runs; systems without such a mode run as they are.
    ``api_base`` is where the model is served; it may be another one when an evaluation goes on.
    ``SWEEP_BACKEND`` names joblib's backend for more than one worker. ``world`` replaces the
    corpus and the model.

    Raises:
        BadInput: a file, system, setting, fault or gold passage that cannot be used; nothing ran.
        RunCancelled: ``cancelled`` said so; what was finished is kept.
    """
    given = load_questions(questions_path)
    about, corpus = of_corpus(given.questions, corpus)
    asked = _slice(about, questions_path.name, limit, offset)
    names = _systems(systems, probe)
    chosen = _settings(names, settings or {})
    injected = _fault(fault, names)
    own = {(q.id, n): _own_settings(q, n, chosen[n]) for q in asked for n in names}
    check_seed(seed)
    if workers < 1:
        raise BadInput(f"--workers must be at least 1, not {workers}.")
    with _alone(out):
        world = world or prepared(given, out, corpus, model, api_base, cancelled)
        deps = opened(world)
        for name, own_settings in {(name, s) for (_, name), s in own.items()}:
            preflight = registry.system(name).preflight
            if preflight is not None:
                preflight(deps, own_settings)
        gold = resolve_gold(asked, world.passages())
        jobs = [
            Job(
                question=q,
                gold=gold[q.id],
                system=name,
                settings=own[q.id, name],
                model=model,
                seed=seed,
                fault=injected,
                probe=probe and name in PROBED_SYSTEMS,
                code=code_digest(),
            )
            for q in asked
            for name in names
        ]
        done = results(jobs, world, out, workers, progress, cancelled)
        manifest = Manifest(
            questions_file=questions_path.name,
            corpus=deps.retriever.corpus,
            model=model,
            seed=seed,
            fault=fault,
            probe=probe,
            systems=names,
            settings={n: s.model_dump(mode="json") for n, s in chosen.items()},
            questions=asked,
            left_out=len(given.questions) - len(about),
            gold=gold_json(gold),
        )
        rows = tuple(done[job.key] for job in jobs)
        evaluation = Evaluation(out, manifest, rows)
        evaluation.write()
    return evaluation


def _slice(
    questions: Sequence[Question], name: str, limit: int | None, offset: int
) -> tuple[Question, ...]:
    if offset < 0 or (limit is not None and limit < 1):
        raise BadInput("--offset must be at least 0 and --limit at least 1.")
    asked = tuple(questions[offset:][:limit])
    if not asked:
        raise BadInput(
            f"{name} has {counted(len(questions), 'question')}; --offset {offset} is past them."
        )
    return asked


def _systems(names: Sequence[str], probe: bool) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not chosen:
        raise BadInput(f"Name at least one system: {', '.join(registry.systems())}.")
    for name in chosen:
        registry.system(name)
    if probe and not set(chosen) & set(PROBED_SYSTEMS):
        raise BadInput(f"--probe works on {', '.join(PROBED_SYSTEMS)}; name it among the systems.")
    return chosen


def _fault(text: str | None, names: Sequence[str]) -> Fault | None:
    if text is None:
        return None
    fault = Fault.parse(text)
    for name in names:
        fault.check(registry.system(name))
    return fault


def _settings(names: Sequence[str], values: Mapping[str, JsonValue]) -> dict[str, SystemSettings]:
    kinds = {name: registry.system(name).settings for name in names}
    known = {field for kind in kinds.values() for field in kind.model_fields}
    for name in values:
        if name not in known:
            raise BadInput(unknown_name("setting", name, known))
    return {name: _override(kind(), values) for name, kind in kinds.items()}


def _override(settings: SystemSettings, values: Mapping[str, JsonValue]) -> SystemSettings:
    fields = type(settings).model_fields
    return override(settings, {k: v for k, v in values.items() if k in fields})


def _own_settings(question: Question, name: str, settings: SystemSettings) -> SystemSettings:
    """The settings of this question's run by this system, which could start so."""
    try:
        own = _override(settings, question.settings)
        RunSpec(registry.system(name), question.question, own)
    except BadInput as error:
        raise BadInput(f"Question {question.id!r}: {error.message}") from None
    return own


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """One evaluation at a time in a folder."""
    from filelock import FileLock, Timeout

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"The folder {out.name} cannot be used: {error.strerror}.") from None
    try:
        with FileLock(out / ".evaluate.lock", timeout=0):
            yield
    except Timeout:
        raise BadInput(
            f"Another evaluation is writing into {out.name}; wait for it, or give another --out."
        ) from None
