"""What was decided and done, in plain English: outcomes, reasons, queries, calls, comparisons.

Records name these by short codes, which never change; whatever shows a record to a person takes
its words from here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.measures import Measure
from core.types import Gate

OUTCOMES: Mapping[str, str] = {
    "beliefrag.act verify": "correct the evidence",
    "beliefrag.act rewrite": "reword the query",
    "beliefrag.act retrieve": "search",
    "beliefrag.act answer": "answer",
    "beliefrag.act stop": "stop, and answer from what is held",
    "beliefrag.act abstain": "leave it unanswered",
    "beliefrag.act conflict": "end with the conflict open",
    "retrieve": "search",
    "answer": "answer",
    "abstain": "leave it unanswered",
    "exhausted": "stop for want of budget",
    "staterag.bypass BYPASS": "answer from the first search (BYPASS)",
    "staterag.bypass MARS": "navigate the graph in cycles (MARS)",
    "staterag.reuse reuse": "follow the path of an earlier question",
    "staterag.reuse none": "follow no earlier path",
    "staterag.navigate propose": "propose the best path",
    "staterag.navigate none": "propose no path",
    "staterag.select propose": "propose passages of the region",
    "staterag.select none": "propose no passage",
    "staterag.verdict PASS": "give the verdict PASS",
    "staterag.verdict FAIL": "give the verdict FAIL",
    "staterag.action RELEASE": "release the evidence (RELEASE)",
    "staterag.action REVISE": "go through another cycle (REVISE)",
    "staterag.action FALLBACK": "fall back on the evidence of all cycles (FALLBACK)",
    "staterag.abstain answer": "ask the reader all the same",
    "staterag.abstain abstain": "ask no reader, and leave it unanswered",
    "staterag.admit admit": "choose the evidence that the run ends with",
    "ragx.forage turn": "let the agent take a turn",
    "ragx.forage chain": "end the foraging and go through the sub-questions",
    "ragx.forage compose": "end the foraging and compose the answer",
    "ragx.slots chain": "take the sub-questions as they are",
    "ragx.slots retry": "have the question split once more",
    "ragx.slots undecomposed": "take the question as one",
    "ragx.hop hop": "answer the next sub-question",
    "ragx.hop compose": "end the sub-questions and compose the answer",
    "ragx.pack compose": "compose the answer from what was gathered",
}
"""What was decided to do, by outcome, where need be of one decider; without what was chosen."""

MADE_BY: Mapping[str, str] = {
    "verbatim": "the question as it is",
    "bridge": "written around a name that the evidence brought up",
    "follow_up": "written from what is still missing",
    "rewrite": "the last query in other words",
    "reworded": "the last query in other words",
    "plan": "from the revised plan",
    "hop": "a sub-question, its slots filled",
    "forage": "in the agent's words",
    "line_search": "a search for lines that hold these words",
}
"""How a query came about, by its recorded transformation."""


REASONS: Mapping[str, str] = {
    "The evidence is unreliable: correct it.": "it is unreliable.",
    "The evidence conflicts: correct it.": "it contradicts itself.",
    "Unhelpful passages were flagged: correct before answering.": "some passages are no help.",
    "Not answerable yet and passages were flagged: correct.": (
        "it is not answerable yet, and some passages are no help."
    ),
    "The correction goes on: reformulate the query.": "the correction goes on.",
    "The last retrieval added little: reformulate first.": "the last search added little.",
    "The rewritten query is searched.": "the reworded query is searched.",
    "The verdict is FAIL: once more.": "the verdict is FAIL, and a cycle is left.",
    "transient until the action is chosen": "for this cycle only",
    "of this question only: it was not verified": "it was not verified",
}
"""Recorded reasons that repeat what was decided or speak of the inside, in other words. Records
keep their own: what goes on from a run has to repeat it to the letter."""

WORK: Mapping[str, str] = {
    "retriever.search": "Searching",
    "retriever.read": "Fetching a passage",
    "retriever.rerank": "Reordering the hits",
    "retriever.expand": "Fetching the edges below the nodes",
    "retriever.texts": "Fetching what the nodes are about",
    "retriever.path": "Looking up the path's edges",
    "retriever.spread": "Counting the question's words over the corpus",
    "retriever.region": "Gathering the region",
    "memory.recall": "Recalling what earlier questions left",
    "memory.persist": "Keeping what was verified",
    "reasoner.verify": "Judging the evidence",
    "reasoner.write_query": "Writing the next query",
    "reasoner.rewrite": "Rewording the query",
    "reasoner.answer": "Reading the answer from the evidence",
    "reasoner.compose": "Composing the answer",
    "reasoner.plan": "Planning",
    "reasoner.decompose": "Splitting the question",
    "reasoner.forage_turn": "Choosing the next action",
    "reasoner.hop_answer": "Answering a sub-question",
    "reasoner.grade": "Grading the passages",
    "reasoner.check_claims": "Checking claims",
    "reasoner.route": "Choosing a route",
    "reasoner.extract_facts": "Extracting facts",
    "reasoner.abstract": "Summing up texts",
}
"""Calls of ports, by port and task, as what was done."""

STORES: Mapping[str, str] = {
    "query": "the store of this question",
    "global": "the store for later questions",
    "private": "its own store",
}


def store(scope: str, role: str) -> str:
    """The store of a memory operation, as it stands to the role that asks for it."""
    kind, _, holder = scope.partition(" ")
    if kind == "private" and holder != role:
        return f"the {holder}'s store"
    return STORES.get(kind) or f"the {kind} store"


def outcome(text: str) -> str:
    """An outcome as a short word: without the ids of what was chosen, which say nothing."""
    word, _, chosen = text.partition(" ")
    return word if chosen and " " not in chosen else text.replace("_", " ")


def decided(decider: str, text: str) -> str:
    """What was decided to do, to stand after "decided to"."""
    word = text.partition(" ")[0]
    return OUTCOMES.get(f"{decider} {word}") or OUTCOMES.get(word) or outcome(text)


def reason(decider: str, text: str) -> str:
    """A recorded reason, to stand after what was decided."""
    if decider == "staterag.admit":  # the reader may not be asked after all
        text = text.replace(" go to the reader.", ".")
    if decider == "staterag.action":
        before, _, gate = text.partition(" and no cycle is left (")
        if gate:
            return f"{before}, and there is no other cycle: {NO_CYCLE.get(gate, gate)}."
    if decider == "ragx.pack":  # left out by the cap on extra passages they are not counted here
        text = re.sub(r"^1 passages are", "1 passage is", _TRIMMED.sub(_trimmed, text))
    return REASONS.get(text, text)


_TRIMMED = re.compile(r", (\d+) were cut to fit\.$")


def _trimmed(found: re.Match[str]) -> str:
    return f"; {left_out(0, int(found[1]))}."


def left_out(cap: int, window: int) -> str:
    """How many passages a packing went without: over the cap on extra passages, or trimmed for
    the window of the call."""
    parts = [f"{cap:,} left out by the cap on extra passages"] if cap else []
    return ", ".join([*parts, f"{window or 'none'} trimmed for the window"])


NO_CYCLE: Mapping[str, str] = {
    "stopped).": "one was begun and broke a budget",
    "cycles left).": "the limit on cycles is reached",
    "rounds left).": "the limit on searches is reached",
    "actions left).": "too few actions are left",
    "tokens left).": "too few tokens are left",
}
"""Why StateRAG begins no other cycle, by the end of its recorded reason."""

SIGNS = {">=": "≥", "<=": "≤", "==": "=", ">": ">", "<": "<"}


def value_of(gate: Gate, what: Measure) -> str:
    """The value that was compared: ``yes``, ``3``, or ``0.4242``."""
    return _said(gate.value, gate, what)


def condition(gate: Gate, what: Measure) -> str:
    """When the gate fires: ``yes``, ``≥ 1``, ``≥ 0.5000``."""
    limit = _said(gate.threshold, gate, what)
    return limit if what.kind == "flag" else f"{SIGNS[gate.op]} {limit}"


def margin(gate: Gate, what: Measure) -> str:
    """How far the value is on the firing side, with its sign; nothing where it is yes or no."""
    if what.kind == "flag":
        return ""
    text = _said(gate.margin, gate, what)
    return f"+{text}" if gate.margin > 0 and text.strip("0.,") else text


def compared(gate: Gate, what: Measure) -> str:
    """The comparison, not to be read as a claim: ``0.4242; fires at ≥ 0.5000``."""
    return f"{value_of(gate, what)}; fires at {condition(gate, what)}"


def _said(value: float, gate: Gate, what: Measure) -> str:
    if what.kind == "flag":
        return "yes" if value else "no"
    whole = what.kind == "count" or (
        not what.meaning and float(gate.value).is_integer() and float(gate.threshold).is_integer()
    )
    text = f"{value:,.0f}" if whole else f"{value:.4f}"
    return (text if float(text.replace(",", "")) else text.removeprefix("-")).replace("-", "−")
