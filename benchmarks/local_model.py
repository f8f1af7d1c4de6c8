"""A real language model on this machine beside the extractive reasoner, end to end.

    python -m benchmarks.local_model [--systems a,b] [--set HotpotQA] [--limit N] [--threads N]

Serves the test weights (`make test-model` fetches them) or `--model-file`, runs each system on the
first questions of a development set with both reasoners, and prints F1, calls, tokens and seconds,
and how many pieces of language work came back valid: at once, after the one strict retry, mended.
Runs stay in DIR, so a call that was stopped goes on.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.outcomes import DATA, FILES
from core.adapters.local_model import local_model
from core.errors import BadInput
from core.evaluation.jobs import Progress
from core.evaluation.report import Table, markdown
from core.evaluation.runner import EXTRACTIVE, evaluate
from core.evaluation.store import Evaluation
from core.events import Called, ModelCalled, Step
from tests.local_model.fetch_weights import weights

OUT = Path(tempfile.gettempdir()) / "rag-inspector-bench" / "local_model"
SYSTEMS = ("static", "iterative", "beliefrag")
VALID_AT_LEAST = 0.99


def works(steps: Sequence[Step]) -> Iterator[str]:
    """How each piece of language work of a run came out: ``first``, ``retry``, ``mended``,
    ``doubtful`` (valid, but asked for once more in vain), ``invalid``, or the failure's code."""
    calls: list[ModelCalled] = []
    for step in steps:
        if isinstance(step.event, ModelCalled):
            calls.append(step.event)
        elif isinstance(step.event, Called) and step.event.port == "reasoner" and calls:
            yield _outcome(step.event, calls)
            calls = []


def _outcome(work: Called, calls: list[ModelCalled]) -> str:
    if work.error is not None:
        code = work.error.partition(":")[0]
        return "invalid" if code == "malformed_output" else code
    invalid = [c for c in calls if (c.error or "").startswith("invalid reply")]
    if not invalid:
        return "first"
    if calls[-1].error is None:
        return "retry"
    return "doubtful" if any("used already" in (c.error or "") for c in invalid) else "mended"


def table(evaluations: dict[str, Evaluation], systems: Sequence[str]) -> Table:
    """Means by system and reasoner."""
    lines = []
    for system in systems:
        for name, evaluation in evaluations.items():
            rows = [r for r in evaluation.rows if r.system == system]
            ends = Counter(r.terminal for r in rows)
            lines.append(
                (
                    system,
                    name,
                    str(len(rows)),
                    *(f"{fmean(getattr(r, c) for r in rows):.2f}" for c in ("f1", "em")),
                    f"{fmean(r.calls for r in rows):.1f}",
                    f"{fmean(r.tokens for r in rows):,.0f}",
                    f"{fmean(r.seconds for r in rows):.1f}",
                    ", ".join(f"{end} {n}" for end, n in ends.most_common()),
                )
            )
    heads = ("system", "reasoner", "n", "F1", "EM", "calls", "tokens", "seconds", "ended")
    return Table(heads, lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 where too few replies are valid, 2 for bad input."""
    parser = argparse.ArgumentParser(prog="benchmarks.local_model", description=__doc__)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--set", default="HotpotQA", choices=FILES)
    parser.add_argument("--limit", type=int, default=8)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--model-file", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args(arguments)
    path = given.model_file or weights()
    if path is None or not DATA.is_dir():
        missing = "the weights are" if path is None else "the development questions are"
        print(f"Local model: skipped, {missing} not there.")
        return 0
    systems = given.systems.split(",")
    questions = DATA / FILES[given.set]
    out = given.out / given.set.lower()
    evaluations = {}
    try:
        with local_model(path, 0, threads=given.threads) as serving:
            os.environ["LITELLM_BASE_URL"] = serving.api_base
            os.environ.setdefault("LITELLM_TIMEOUT", "1800")
            for model in (EXTRACTIVE, serving.model):
                evaluations[model] = evaluate(
                    questions,
                    systems,
                    out / model.replace("/", "_"),
                    model=model,
                    limit=given.limit,
                    settings={"max_seconds": 86_400},
                    progress=_show,
                )
    except BadInput as error:
        print(error.message, file=sys.stderr)
        return 2
    print(f"{given.set}, the first {given.limit} questions\n")
    print(markdown(table(evaluations, systems)), "\n")
    return _validity(evaluations[serving.model], systems)


def _validity(evaluation: Evaluation, systems: Sequence[str]) -> int:
    outcomes = Counter(o for s in systems for _, steps in evaluation.runs(s) for o in works(steps))
    total = sum(outcomes.values())
    valid = sum(outcomes[name] for name in ("first", "retry", "doubtful"))
    print(f"{total} pieces of language work: {dict(outcomes.most_common())}")
    if not total:
        return 1
    verdict = "holds" if valid >= VALID_AT_LEAST * total else "DOES NOT HOLD"
    print(f"Valid at once or after the one retry: {valid / total:.1%} (99% asked for: {verdict})")
    return 0 if verdict == "holds" else 1


def _show(progress: Progress) -> None:
    print(f"\r{progress.done}/{progress.total}", end="\n", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
