"""Tables of an evaluation: means with intervals, slices, paired differences, losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from core.evaluation import metrics
from core.evaluation.bootstrap import Interval, mean_interval, paired_difference, paired_ratio
from core.evaluation.cycle_losses import FACT_LOST, MISJUDGED, CycleLosses
from core.evaluation.losses import LOST_AT, Loss
from core.evaluation.results import Row, column_values
from core.evaluation.store import Evaluation
from core.narration import counted
from core.types import Frozen


class Table(NamedTuple):
    """A heading and its lines, all of one length."""

    heading: tuple[str, ...]
    lines: Sequence[tuple[str, ...]]


WITH_INTERVAL = ("em", "f1", "evidence_f1", "all_gold")
COMPARED = ("em", "f1", "evidence_f1", "all_gold", "tokens", "rounds", "seconds")


# --- means ---------------------------------------------------------------------------------


def averaged(evaluation: Evaluation) -> str:
    """What the means of an evaluation are over, in words."""
    asked = evaluation.manifest.questions
    bare = sum(not q.answers for q in asked)
    parts = [f"Means over {counted(len(asked), 'question')}, with 95% bootstrap intervals."]
    if bare:
        parts.append(
            f"{counted(bare, 'question')} of these without an answer: there F1 and EM are 1 for "
            "giving none, else 0."
        )
    if probed := [n for n in evaluation.manifest.systems if evaluation.probed(n)]:
        parts.append(
            f"The runs of {', '.join(probed)} went on past every stop, to see what each state "
            "would have answered: these are figures of their last state. `sweep` gives those of "
            "where a run would have ended, over the questions with answers alone."
        )
    parts.append("Where fewer questions have a value, n says how many.")
    return " ".join(parts)


def means(rows: Sequence[Row], systems: Sequence[str]) -> Table:
    """A line a system: means over questions, those of scores with 95% bootstrap intervals."""
    heading = (
        *("system", "n", "EM", "F1", "evidence F1", "all gold", "precision", "recall"),
        *("evidence tokens", "tokens", "calls", "rounds", "seconds"),
    )
    lines = []
    for name in systems:
        own = [r for r in rows if r.system == name]
        lines.append(
            (
                name,
                str(len(own)),
                *(_interval(own, c) for c in WITH_INTERVAL),
                *(_mean(own, c, ".3f") for c in ("evidence_precision", "evidence_recall")),
                *(_mean(own, c, ".0f") for c in ("evidence_tokens", "tokens")),
                *(_mean(own, c, ".2f") for c in ("calls", "rounds", "seconds")),
            )
        )
    return Table(heading, lines)


def slices(rows: Sequence[Row], systems: Sequence[str], by: str, column: str = "f1") -> Table:
    """A line for each value of ``hops`` or ``type``: a column's mean, by system."""
    values = sorted({getattr(r, by) for r in rows}, key=lambda v: (v is None, str(v)))
    lines = []
    for value in values:
        sliced = [r for r in rows if getattr(r, by) == value]
        n = len({r.question_id for r in sliced})
        cells = (_interval([r for r in sliced if r.system == s], column) for s in systems)
        lines.append((str(value) if value not in (None, "") else "–", str(n), *cells))
    return Table((by, "n", *systems), lines)


def ends(rows: Sequence[Row], systems: Sequence[str]) -> Table:
    """A line a system: how many questions were lost where, then its terminals."""
    found = sorted({r.terminal for r in rows})
    shown = [name for name in LOST_AT if any(r.lost_at == name for r in rows)]
    lines = []
    for name in systems:
        lost = Counter(r.lost_at for r in rows if r.system == name)
        terminals = Counter(r.terminal for r in rows if r.system == name)
        lines.append((name, *(str(lost[n]) for n in shown), *(str(terminals[t]) for t in found)))
    return Table(("system", *shown, *(f"ended {t}" for t in found)), lines)


def cycles(found: Mapping[str, CycleLosses]) -> Table:
    """A line a set of questions: where its lost gold facts were lost, and which verdicts were
    wrong."""
    lines = [
        (
            name,
            str(c.facts),
            *(str(c.lost[kind]) for kind in FACT_LOST),
            str(c.verdicts),
            *(str(c.misjudged[kind]) for kind in MISJUDGED),
        )
        for name, c in found.items()
    ]
    return Table(("questions", "facts", *FACT_LOST, "verdicts", *MISJUDGED), lines)


# --- pairs ---------------------------------------------------------------------------------


class Difference(Frozen):
    """mean(a) - mean(b) of a column over the questions that both have a value for."""

    column: str
    a: float
    b: float
    difference: Interval


class Pair(Frozen):
    """System a against b; ``tokens_ratio`` is mean tokens of a by those of b."""

    a: str
    b: str
    differences: tuple[Difference, ...]
    tokens_ratio: Interval | None


def pair(rows: Sequence[Row], a: str, b: str) -> Pair:
    """Paired differences with 95% bootstrap intervals, joined by question id."""
    rows_a = {r.question_id: r for r in rows if r.system == a}
    rows_b = {r.question_id: r for r in rows if r.system == b}
    shared = [q for q in rows_a if q in rows_b]
    differences = []
    for column in COMPARED:
        both = [(getattr(rows_a[q], column), getattr(rows_b[q], column)) for q in shared]
        known = [(x, y) for x, y in both if x is not None and y is not None]
        if known:
            xs, ys = [x for x, _ in known], [y for _, y in known]
            differences.append(
                Difference(
                    column=column, a=fmean(xs), b=fmean(ys), difference=paired_difference(xs, ys)
                )
            )
    tokens_a = [float(rows_a[q].tokens) for q in shared]
    tokens_b = [float(rows_b[q].tokens) for q in shared]
    ratio = paired_ratio(tokens_a, tokens_b) if any(tokens_b) else None
    return Pair(a=a, b=b, differences=tuple(differences), tokens_ratio=ratio)


def differences(found: Pair) -> Table:
    """A line a column: both means and their paired difference."""
    lines = []
    for d in found.differences:
        spec = ".0f" if d.column == "tokens" else ".3f"
        both, n = (format(d.a, spec), format(d.b, spec)), str(d.difference.n)
        lines.append((d.column, n, *both, f"{d.difference:+{spec}}"))
    if found.tokens_ratio is not None:
        n = str(found.tokens_ratio.n)
        lines.append(("tokens, ratio", n, "", "", f"{found.tokens_ratio:.3f}"))
    return Table(("", "n", found.a, found.b, "difference"), lines)


def losing(found: Iterable[Loss]) -> Table:
    """A line a lost question: where, at which step, and what the other system found."""
    lines = []
    for loss in found:
        others = "; ".join(
            f"{f.title} (step {f.step}{'' if f.query is None else f', by {f.query!r}'})"
            for f in loss.found
        )
        lines.append(
            (
                loss.question_id,
                f"{loss.f1_a:.2f}",
                f"{loss.f1_b:.2f}",
                loss.lost_at,
                f"{loss.step} {loss.event}",
                others,
            )
        )
    heading = ("question", "F1", "F1 of the other", "lost at", "step", "the other found")
    return Table(heading, lines)


# --- trajectories --------------------------------------------------------------------------


def trajectories(evaluation: Evaluation, systems: Sequence[str]) -> Table:
    """A line a system: means of the trajectory metrics over the runs that have a value."""
    heading = ("system", "n", *_TRAJECTORY)
    lines = []
    for name in systems:
        found: dict[str, list[float]] = {metric: [] for metric in _TRAJECTORY}
        for row, steps in evaluation.runs(name):
            question, gold = evaluation.questions[row.question_id], evaluation.gold(row.question_id)
            for metric, measure in _TRAJECTORY.items():
                value = measure(steps, question, gold)
                if value is not None:
                    found[metric].append(value)
        count = sum(r.system == name for r in evaluation.rows)
        lines.append((name, str(count), *(_of(vs, count, ".3f") for vs in found.values())))
    return Table(heading, lines)


_TRAJECTORY: dict[str, Callable[..., float | None]] = {
    "task success": lambda s, q, g: metrics.task_success(s, q),
    "terminal accuracy": lambda s, q, g: metrics.terminal_accuracy(s, q),
    "evidence coverage": lambda s, q, g: metrics.evidence_coverage(s, g),
    "unnecessary retrievals": lambda s, q, g: metrics.unnecessary_retrieval_rate(s, g),
    "branch utility": lambda s, q, g: metrics.branch_utility(s, g),
    "duplicate queries": lambda s, q, g: metrics.duplicate_query_rate(s),
    "correction success": lambda s, q, g: metrics.correction_success(s, g),
    "verifier reversals": lambda s, q, g: metrics.verifier_reversals(s),
    "policy violations": lambda s, q, g: float(metrics.policy_violations(s)),
}


# --- text ----------------------------------------------------------------------------------


def markdown(table: Table) -> str:
    """A table in Markdown, its columns aligned so that it also reads as plain text."""
    heading, lines = table
    cells = [heading, *([cell.replace("|", "\\|") for cell in line] for line in lines)]
    widths = [max(3, *(len(line[i]) for line in cells)) for i in range(len(heading))]
    rule = ["-" * width for width in widths]
    texts = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |"
        for line in (heading, rule, *cells[1:])
    ]
    return "\n".join(texts)


def report(evaluation: Evaluation) -> str:
    """All tables of an evaluation."""
    rows, systems = evaluation.rows, evaluation.manifest.systems
    parts = [
        (averaged(evaluation), means(rows, systems)),
        ("Where questions were lost, and how runs ended", ends(rows, systems)),
        ("F1 by hops", slices(rows, systems, "hops")),
        ("F1 by type", slices(rows, systems, "type")),
        ("Trajectories, means over the runs that have a value", trajectories(evaluation, systems)),
    ]
    parts += [
        (f"{a} against {b}, paired by question", differences(pair(rows, a, b)))
        for i, a in enumerate(systems)
        for b in systems[i + 1 :]
    ]
    return "\n\n".join(f"{title}\n\n{markdown(table)}" for title, table in parts) + "\n"


def _interval(rows: Sequence[Row], column: str) -> str:
    values = column_values(rows, column)
    if not values:
        return "–"
    return f"{mean_interval(values):.3f}{_fewer(values, len(rows))}"


def _mean(rows: Sequence[Row], column: str, spec: str) -> str:
    return _of(column_values(rows, column), len(rows), spec)


def _of(values: Sequence[float], count: int, spec: str) -> str:
    return f"{fmean(values):{spec}}{_fewer(values, count)}" if values else "–"


def _fewer(values: Sequence[float], count: int) -> str:
    return "" if len(values) == count else f" (n={len(values)})"
