"""``evaluate``, ``sweep`` and ``fit``: systems over a question file, and what follows from it."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.cli.options import FAULT_HELP, ApiBase, Json, Model, Seed, Settings
from core.narration import counted, plain
from core.settings import parse_assignments

if TYPE_CHECKING:
    from core.evaluation.bootstrap import Interval
    from core.evaluation.jobs import OnProgress, Progress

Questions = Annotated[
    Path, typer.Option("--questions", metavar="FILE", help="HotpotQA, MuSiQue, NQ or our own form.")
]
SystemNames = Annotated[str, typer.Option("--systems", metavar="A,B", help="See `systems`.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Results, summary and runs.")]
Corpus = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        help="A corpus by name, or a folder; else the one the questions name, or their passages.",
    ),
]
Limit = Annotated[int | None, typer.Option("--limit", help="At most this many questions.")]
Offset = Annotated[int, typer.Option("--offset", help="Leave out this many questions first.")]
Probe = Annotated[
    bool, typer.Option("--probe", help="Go on past every stop; record what would be answered.")
]
Workers = Annotated[int, typer.Option("--workers", help="Processes; see also SWEEP_BACKEND.")]
FaultName = Annotated[str | None, typer.Option("--fault", metavar="KIND[@STAGE]", help=FAULT_HELP)]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The --out of `evaluate --probe`.")]
Knob = Annotated[str, typer.Option("--knob", metavar="NAME=FIRST:LAST:STEP", help="Ends included.")]
Profile = Annotated[
    Path | None, typer.Option("--out", metavar="PROFILE", help="Default: DIR/profile.json.")
]


def evaluate(
    questions: Questions,
    systems: SystemNames,
    out: Out,
    corpus: Corpus = None,
    model: Model = "extractive",
    limit: Limit = None,
    offset: Offset = 0,
    settings: Settings = None,
    probe: Probe = False,
    workers: Workers = 1,
    seed: Seed = 0,
    fault: FaultName = None,
    api_base: ApiBase = None,
) -> None:
    """Run systems on a question file. Started again after a kill, it goes on where it was."""
    from core.evaluation.report import averaged, markdown, means
    from core.evaluation.runner import evaluate as run

    evaluation = run(
        questions,
        systems.split(","),
        out,
        corpus,
        model,
        limit=limit,
        offset=offset,
        settings=parse_assignments(settings or []),
        workers=workers,
        seed=seed,
        fault=fault,
        probe=probe,
        api_base=api_base,
        progress=_progress(),
    )
    names = evaluation.manifest.systems
    if probe and (apart := [name for name in names if not evaluation.probed(name)]):
        print(f"Run as they are, without probes: {', '.join(apart)}.", file=sys.stderr)
    if left_out := evaluation.manifest.left_out:
        print(f"Left out, about other corpora: {counted(left_out, 'question')}.", file=sys.stderr)
    print(f"{averaged(evaluation)}\n\n{markdown(means(evaluation.rows, names))}")


def sweep(folder: Folder, knob: Knob, as_json: Json = False) -> None:
    """F1 and tokens at each value of a stopping threshold, from probe runs, without new calls."""
    from core.evaluation.report import Table, markdown
    from core.evaluation.store import Evaluation
    from core.evaluation.sweep import parse_range
    from core.evaluation.sweep import sweep as walk

    name, values = parse_range(knob)
    evaluation = Evaluation.open(folder)
    points = walk(evaluation, name, values)
    n = points[0].f1.n
    apart = len(evaluation.questions) - n
    if as_json:
        found = [p.model_dump(exclude={"f1"}) | _flat("f1", p.f1) for p in points]
        print(json.dumps({"knob": name, "questions": n, "left_out": apart, "points": found}))
        return
    without = f"; {counted(apart, 'question')} without an answer left out" if apart else ""
    print(
        f"Means over {counted(n, 'question')}{without}. Each run ends where this value of {name} "
        "would have ended it.\n"
    )
    heading = (name, "F1", "tokens", "rounds", "answered", "on the front")
    lines = [
        (
            f"{p.value:g}",
            f"{p.f1:.3f}",
            f"{p.tokens:.0f}",
            f"{p.rounds:.2f}",
            f"{p.answered:.2f}",
            "yes" if p.front else "",
        )
        for p in points
    ]
    print(markdown(Table(heading, lines)))


def fit(
    folder: Folder,
    target: Annotated[Literal["answerability", "retrieval-value"], typer.Option("--target")],
    out: Profile = None,
) -> None:
    """Fit p(answerable) or the value of a retrieval on probe runs; write it into a profile."""
    from core.evaluation.calibration import fit_profile

    path = out or folder / "profile.json"
    _, calibration = fit_profile([folder], target, path, datetime.now(UTC).date().isoformat())
    found = calibration.fit.model_dump(mode="json") | {"coefficients": calibration.coefficients}
    print(json.dumps({"profile": str(path), **found}, indent=2))


def _flat(name: str, interval: Interval) -> dict[str, float | None]:
    return {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}


def _progress() -> OnProgress:
    """Shows progress on one line of the terminal; nothing where there is no terminal."""

    def show(progress: Progress) -> None:
        left = progress.seconds_left
        remaining = "" if left is None else f", {left:.0f} s left"
        row = progress.newest
        newest = plain(f"{row.system}: {row.terminal}, F1 {row.f1:.2f}", 80)
        end = "\n" if progress.done == progress.total else ""
        line = (
            f"\r{progress.done:,} of {counted(progress.total, 'run')}{remaining} ({newest})\x1b[K"
        )
        print(line, end=end, file=sys.stderr, flush=True)

    return show if sys.stderr.isatty() else lambda _: None
