"""What the extractive verifier and query writer reach, from the committed weights.

    python -m benchmarks.verifier [--only verify,conflict,queries,latency]

``verify``: AUC, Brier and ECE of support, gap and uncertainty, the share of gold passages that
``unhelpful`` keeps, and how often "nothing missing" fires and is right. ``conflict``: copies with
a changed value found, alarms on ordinary sets. ``queries``: where the question's own top 5 lacks
gold, does one written query bring new gold into its top 5? The committed weights were fitted on
these same questions; ``fit_verifier`` and ``fit_bridge`` give the cross-validated figures.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from benchmarks.counterfactuals import altered_sets
from benchmarks.evidence_states import BUNDLED, DATA, FILES, SIZE, BundledSet, DevSet
from benchmarks.fit_verifier import all_rows, report
from core.adapters.tokens import MiniLMTokens
from core.reasoning.extractive.bridge import bridges
from core.reasoning.extractive.case import Case
from core.reasoning.extractive.conflict import conflicts
from core.reasoning.extractive.features import build_scene
from core.reasoning.extractive.logistic import models
from core.reasoning.extractive.queries import covers, write_query
from core.reasoning.extractive.reasoner import ExtractiveReasoner
from core.reasoning.extractive.unhelpful import unhelpful
from core.systems.beliefrag.controller import EXCERPT
from core.systems.excerpts import distil
from core.tasks import VERIFY, Allowance, VerifyRequest
from core.types import Passage

MULTI_HOP = ("hotpotqa", "musique")


def row(*cells: object) -> None:
    print("| " + " | ".join(str(c) for c in cells) + " |")


def case_of(dev: DevSet, question: str, passages) -> Case:
    return Case(build_scene(question, passages, dev.view))


def verify_table() -> None:
    rows = all_rows(refresh=False)
    row("model", "set", "AUC", "AUC own top 5", "Brier", "ECE", "base rate")
    row(*["---"] * 7)
    for name, model in models("verify").items():
        said = np.array([model(r.values) for r in rows])
        for dev, told in report(rows, said, name).items():
            row(name, dev, *told.values())


def kept_table(devs: list[DevSet]) -> None:
    row("set", "gold kept", "others dropped", "nothing missing fires", "all gold where it fires")
    row(*["---"] * 5)
    for dev in devs:
        gold = kept = others = dropped = fires = complete = sets = 0
        for question in dev.questions:
            top = dev.search(question.question, SIZE)
            case = case_of(dev, question.question, top)
            best = case.ranked.best
            answering = {s.passage for s in best.sources} if best else set()
            out = set(unhelpful(case.weave, case.chain, answering))
            for i, passage in enumerate(top):
                is_gold = passage.id in question.gold
                gold, others = gold + is_gold, others + (not is_gold)
                kept += is_gold and i not in out
                dropped += not is_gold and i in out
            sets += 1
            if covers(case):
                fires += 1
                complete += question.gold <= {p.id for p in top}
        row(
            dev.name,
            f"{kept / gold:.3f}",
            f"{dropped / max(others, 1):.3f}",
            f"{fires / sets:.3f}",
            f"{complete / max(fires, 1):.3f}",
        )


def conflict_table(devs: list[DevSet]) -> None:
    """``found``: changed values found in whole passages, and in BeliefRAG's excerpts of them."""
    row("set", "counterfactuals", "found", "in excerpts", "ordinary sets", "alarms")
    row(*["---"] * 6)
    for dev in devs:
        made = altered_sets(dev)
        whole = [_finds(dev, a.question, a.passages) for a in made]
        cut = [
            _finds(dev, a.question, tuple(distil(p, a.question, EXCERPT) for p in a.passages))
            for a in made
        ]
        alarms = [
            bool(conflicts(build_scene(q.question, dev.search(q.question, SIZE), dev.view)))
            for q in dev.questions
            if q.expected_terminal != "conflict"
        ]
        hits = (f"{np.mean(h):.3f}" for h in (whole, cut))
        row(dev.name, len(made), *hits, len(alarms), sum(alarms))


def _finds(dev: DevSet, question: str, passages: tuple[Passage, ...]) -> bool:
    """Whether the last passage is found to contradict another."""
    return any(
        len(passages) - 1 in (c.first.passage, c.second.passage)
        for c in conflicts(build_scene(question, passages, dev.view))
    )


def query_table(devs: list[DevSet]) -> None:
    row("set", "states lacking gold", "written query", "question again (next 5)",
        "entity + all words", "nothing missing")  # fmt: skip
    row(*["---"] * 6)
    for dev in devs:
        written, again, everything, silent = [], [], [], 0
        for question in dev.questions:
            ten = dev.search(question.question, 2 * SIZE)
            top = ten[:SIZE]
            lacking = question.gold - {p.id for p in top}
            if not lacking:
                continue
            case = case_of(dev, question.question, top)
            query = write_query(case, (question.question,))
            silent += query.nothing_missing
            again.append(bool(lacking & {p.id for p in ten[SIZE:]}))
            written.append(bool(lacking & {p.id for p in dev.search(query.query, SIZE)}))
            named = bridges(case)
            full = f"{named[0].name} {question.question}" if named else question.question
            everything.append(bool(lacking & {p.id for p in dev.search(full, SIZE)}))
        row(
            dev.name,
            len(again),
            *(f"{np.mean(x):.3f}" for x in (written, again, everything)),
            silent,
        )


def latency_table(devs: list[DevSet]) -> None:
    row("set", "verify median ms", "p90 ms", "then answer median ms", "write query median ms")
    row(*["---"] * 5)
    for dev in devs:
        times: list[list[float]] = [[], [], []]
        for question in dev.questions[:50]:
            top = tuple(dev.search(question.question, SIZE))
            reasoner = ExtractiveReasoner(dev.view, MiniLMTokens())
            started = time.perf_counter()
            reasoner.perform(
                VERIFY, VerifyRequest(question=question.question, passages=top), Allowance()
            )
            times[0].append(time.perf_counter() - started)
            case = reasoner.case(question.question, top)
            started = time.perf_counter()
            _ = case.ranked
            times[1].append(time.perf_counter() - started)
            started = time.perf_counter()
            write_query(case, (question.question,))
            times[2].append(time.perf_counter() - started)
        ms = [1_000 * np.array(t) for t in times]
        row(
            dev.name,
            f"{np.median(ms[0]):.0f}",
            f"{np.quantile(ms[0], 0.9):.0f}",
            f"{np.median(ms[1]):.1f}",
            f"{np.median(ms[2]):.0f}",
        )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="verify,conflict,queries,latency")
    wanted = parser.parse_args(arguments).only.split(",")
    if not DATA.is_dir():
        print(f"The development questions are not in {DATA.parent.name}/{DATA.name}; nothing run.")
        return 0
    devs = [DevSet(name) for name in FILES]
    if "verify" in wanted:
        verify_table()
        kept_table(devs)
    if "conflict" in wanted:
        conflict_table([*devs, *map(BundledSet, (*BUNDLED, "support_desk"))])
    if "queries" in wanted:
        query_table([d for d in devs if d.name in MULTI_HOP])
    if "latency" in wanted:
        latency_table(devs)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
