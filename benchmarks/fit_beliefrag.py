"""Fit BeliefRAG's p(answerable) and retrieval value for the extractive reasoner.

    python -m benchmarks.fit_beliefrag [--out DIR] [--profile FILE] [--limit N] [--workers N]

Makes probe runs over the development questions, fits both models on all of them together, writes
the profile (default: the bundled one), and prints how good the cross-fitted probabilities are, over
all questions and on each set, which gates are inert, and what stopping at each answer threshold
comes to. Probe runs stay in DIR; a second call only makes what is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.outcomes import DATA, FILES, OUT, show_progress
from core.errors import BadInput
from core.evaluation.calibration import TARGETS, Calibration, fit_profile
from core.evaluation.reachability import reachability
from core.evaluation.report import Table, markdown
from core.evaluation.runner import evaluate
from core.evaluation.selection import Selection
from core.evaluation.store import Evaluation
from core.evaluation.sweep import parse_range, sweep
from core.systems.beliefrag import profiles

BUNDLED = Path(profiles.__file__).parent / "fitted" / f"{profiles.NEWEST}.json"
RANGE = "answer_threshold=0.3:0.8:0.05"


def quality(calibration: Calibration) -> Table:
    """Base rate, AUC, Brier and ECE, over all states and by question file."""
    found = {"all": calibration.quality, **calibration.by_file}
    heading = (calibration.fit.target, "states", "base rate", "AUC", "Brier", "ECE")
    return Table(heading, [_line(name, selection) for name, selection in found.items()])


def _line(name: str, found: Selection) -> tuple[str, ...]:
    auc = "–" if found.auc is None else f"{found.auc:.3f}"
    return (
        name,
        str(found.n),
        f"{found.base_rate:.3f}",
        auc,
        f"{found.brier:.3f}",
        f"{found.ece:.3f}",
    )


def gates(evaluations: Sequence[Evaluation]) -> Table:
    """The share of visited states in which each gate's condition holds."""
    runs = (steps for e in evaluations for _, steps in e.runs("beliefrag"))
    lines = [
        (r.gate, str(r.states), f"{r.share:.3f}", "inert" if r.inert else "")
        for r in reachability(runs)
    ]
    return Table(("gate", "states", "holds", ""), lines)


def thresholds(evaluation: Evaluation) -> Table:
    """F1 and tokens at each answer threshold, with the profile in force."""
    name, values = parse_range(RANGE)
    lines = [
        (
            f"{p.value:g}",
            f"{p.f1:.3f}",
            f"{p.tokens:.0f}",
            f"{p.rounds:.2f}",
            "yes" if p.front else "",
        )
        for p in sweep(evaluation, name, values)
    ]
    return Table((name, "F1", "tokens", "rounds", "on the front"), lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Probe, fit and report; 2 for bad input."""
    parser = argparse.ArgumentParser(prog="benchmarks.fit_beliefrag", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT.parent / "probes")
    parser.add_argument("--profile", type=Path, default=BUNDLED)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--limit", type=int)
    given = parser.parse_args(arguments)
    if not DATA.is_dir():
        print("Fit: skipped, the development questions are not beside the project.")
        return 0
    today = datetime.now(UTC).date().isoformat()
    evaluations = []
    try:
        for name, file in FILES.items():
            evaluations.append(
                evaluate(
                    DATA / file,
                    ["beliefrag"],
                    given.out / name.lower(),
                    limit=given.limit,
                    workers=given.workers,
                    probe=True,
                    progress=show_progress,
                )
            )
        folders = [e.out for e in evaluations]
        for target in TARGETS:
            _, calibration = fit_profile(folders, target, given.profile, today)
            print(f"\n{calibration.coefficients}\n\n{markdown(quality(calibration))}")
    except BadInput as error:
        print(error.message, file=sys.stderr)
        return 2
    profiles.profile.cache_clear()
    print(f"\nGates\n\n{markdown(gates(evaluations))}")
    for evaluation in evaluations:
        print(f"\n{evaluation.manifest.questions_file}\n\n{markdown(thresholds(evaluation))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
