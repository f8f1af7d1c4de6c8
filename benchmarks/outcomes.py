"""The outcome table: every system on every development question, with intervals.

    python -m benchmarks.outcomes [--systems a,b] [--out DIR] [--workers N] [--limit N]

Prints a table for each set of questions, one for all of them pooled, BeliefRAG against fixed
iterative retrieval, whether the outcomes asked for came out, and where BeliefRAG loses. Results and
runs stay in DIR, so that a second call only makes what is missing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from core.errors import BadInput
from core.evaluation.cycle_losses import cycle_losses
from core.evaluation.jobs import Progress
from core.evaluation.losses import losses
from core.evaluation.report import (
    Table,
    cycles,
    differences,
    ends,
    losing,
    markdown,
    means,
    pair,
    slices,
    trajectories,
)
from core.evaluation.results import Row
from core.evaluation.runner import evaluate
from core.evaluation.store import Evaluation
from core.registry import systems

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
OUT = Path(tempfile.gettempdir()) / "rag-inspector-bench" / "outcomes"
FILES = {
    "HotpotQA": "hotpotqa_dev50.json",
    "MuSiQue": "musique_dev50.json",
    "NQ": "nq_dev300.jsonl",
}
MULTI_HOP = ("HotpotQA", "MuSiQue")

TOKENS_AT_MOST = 0.65
F1_LOWER_BOUND = -0.02
SHOWN_LOSSES = 25


@dataclass(frozen=True, slots=True)
class Check:
    """One outcome that is asked for, what came out, and whether that is it."""

    asked: str
    found: str
    holds: bool


def beliefrag_checks(sets: dict[str, Sequence[Row]]) -> list[Check]:
    """BeliefRAG against iterative: tokens, F1 pooled, and mean F1 on the multi-hop sets."""
    pooled = [row for rows in sets.values() for row in rows]
    found = pair(pooled, "beliefrag", "iterative")
    f1 = next(d.difference for d in found.differences if d.column == "f1")
    checks = []
    if found.tokens_ratio is not None:
        ratio = found.tokens_ratio
        asked = f"tokens at most {TOKENS_AT_MOST} of iterative's"
        checks.append(Check(asked, f"{ratio:.3f}", ratio.value <= TOKENS_AT_MOST))
    low = f1.low if f1.low is not None else f1.value
    asked = f"F1 difference with a lower bound of at least {F1_LOWER_BOUND}"
    checks.append(Check(asked, f"{f1:+.3f}", low >= F1_LOWER_BOUND))
    multi = [sets[name] for name in MULTI_HOP if name in sets]
    if multi:
        ours, theirs = (
            fmean(fmean(r.f1 for r in rows if r.system == s) for rows in multi)
            for s in ("beliefrag", "iterative")
        )
        asked = f"higher mean F1 over {' and '.join(MULTI_HOP)}"
        checks.append(Check(asked, f"{ours:.3f} against {theirs:.3f}", ours > theirs))
    return checks


def lost_to_iterative(evaluations: dict[str, Evaluation]) -> str:
    """Where BeliefRAG loses, and the questions on which it loses most."""
    found = [loss for e in evaluations.values() for loss in losses(e, "beliefrag", "iterative")]
    counts = Counter(loss.lost_at for loss in found)
    total = ", ".join(f"{name} {n}" for name, n in counts.most_common()) or "nowhere"
    found.sort(key=lambda loss: loss.f1_a - loss.f1_b)
    shown = min(SHOWN_LOSSES, len(found))
    return (
        f"BeliefRAG is below iterative on {len(found)} questions: {total}.\n"
        f"The {shown} greatest losses:\n\n{markdown(losing(found[:SHOWN_LOSSES]))}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 whatever came out, 2 for bad input."""
    parser = argparse.ArgumentParser(prog="benchmarks.outcomes", description=__doc__)
    parser.add_argument("--systems", default=",".join(systems()))
    parser.add_argument("--sets", default=",".join(FILES))
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--limit", type=int)
    given = parser.parse_args(arguments)
    if not DATA.is_dir():
        print("Outcomes: skipped, the development questions are not beside the project.")
        return 0
    names = given.systems.split(",")
    evaluations = {}
    try:
        for name in given.sets.split(","):
            evaluations[name] = evaluate(
                DATA / FILES[name],
                names,
                given.out / name.lower(),
                workers=given.workers,
                limit=given.limit,
                progress=show_progress,
            )
    except BadInput as error:
        print(error.message, file=sys.stderr)
        return 2
    for name, evaluation in evaluations.items():
        _print(name, means(evaluation.rows, names))
        _print(f"{name}: trajectories", trajectories(evaluation, names))
        if name == "MuSiQue":
            _print(f"{name}: F1 by hops", slices(evaluation.rows, names, "hops"))
    sets = {name: e.rows for name, e in evaluations.items()}
    pooled = [row for rows in sets.values() for row in rows]
    _print("All questions pooled", means(pooled, names))
    _print("Where questions were lost, and how runs ended", ends(pooled, names))
    if "staterag" in names:
        by_set = {name: cycle_losses(e, "staterag") for name, e in evaluations.items()}
        _print("Where StateRAG's cycles lost gold facts", cycles(by_set))
    if {"beliefrag", "iterative"} <= set(names):
        _print("BeliefRAG against iterative", differences(pair(pooled, "beliefrag", "iterative")))
        checks = beliefrag_checks(sets)
        lines = [(c.asked, c.found, "yes" if c.holds else "NO") for c in checks]
        _print("What must come out", Table(("BeliefRAG", "found", "holds"), lines))
        print(lost_to_iterative(evaluations))
    return 0


def _print(title: str, table: Table) -> None:
    print(f"{title}\n\n{markdown(table)}\n", flush=True)


def show_progress(progress: Progress) -> None:
    """How many runs are done, on one line of a terminal."""
    if sys.stderr.isatty():
        left = progress.seconds_left
        remaining = "" if left is None else f", {left:.0f} s left"
        print(
            f"\r{progress.done} of {progress.total} runs{remaining}\x1b[K", end="", file=sys.stderr
        )


if __name__ == "__main__":
    sys.exit(main())
