"""What deciders compare and decide from, in plain English: titles, meanings, ranges, settings.

Records name gates and inputs by short codes, which never change; whatever shows a record to a
person takes its words from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["flag", "count", "score"]


@dataclass(frozen=True, slots=True)
class Measure:
    """What a gate compares: its title, what it is, and the setting of its threshold if any.

    ``kind``: a ``flag`` is 0 or 1 and reads no or yes; a ``count`` is whole, in ``unit``; a
    ``score`` is a number in ``span``.
    """

    title: str
    meaning: str
    kind: Kind = "score"
    setting: str = ""
    unit: str = ""
    span: str = "0 to 1"


def _flag(title: str, meaning: str, setting: str = "") -> Measure:
    return Measure(title, meaning, "flag", setting, span="yes or no")


def _count(title: str, unit: str, meaning: str, setting: str = "") -> Measure:
    return Measure(title, meaning, "count", setting, unit, "whole, 0 and up")


def _left(what: str, setting: str, least: str) -> Measure:
    title = f"{what.capitalize()} left"
    return _count(title, what, f"What the limit on {what} still lets in. {least}", setting)


_ROUNDS = _left("searches", "max_rounds", "Another search takes one.")
_ACTIONS = _left("actions", "max_actions", "The next step and the answer after it must both fit.")
_TOKENS = _count(
    "Tokens left",
    "tokens",
    "The token budget less what was spent. The threshold is an upper estimate of what the next "
    "step takes together with the answer after it.",
    "token_budget",
)
_HELD = _count("Passages held", "passages", "How many passages the evidence holds.")
_STOPPED = _flag(
    "Stopped", "Whether the reasoner, the retriever or a budget stopped this part of the run."
)

_P_ANS = (
    "p(answerable): the estimated chance that a reader answers rightly from what is held now. "
    "A logistic curve over what was measured: support S, gap G, uncertainty U, relevance R, "
    "novelty N and cost K, "
    "fitted on questions with known answers; the profile in force is in Settings."
)

_BELIEF: dict[str, Measure] = {
    "correction_under_way": _flag(
        "Correction under way",
        "Whether a correction or a rewrite that was begun still owes a step. It is finished "
        "before anything else is decided.",
    ),
    "conflict": Measure(
        "Believed conflict",
        "Belief that the evidence contradicts itself or the draft. From its threshold on, the "
        "evidence is corrected and no answer is given.",
        setting="conflict_threshold",
    ),
    "reliability": Measure(
        "Believed reliability",
        "Belief that the evidence can be trusted: relevant, supporting, uncontradicted. Below "
        "its threshold the evidence is corrected.",
        setting="reliability_threshold",
    ),
    "unhelpful": _count(
        "Passages flagged unhelpful",
        "passages",
        "How many held passages the verifier named as no help. One is enough for a correction.",
    ),
    "answer": Measure(
        "p(answerable)",
        f"{_P_ANS} From its threshold on, the run answers.",
        setting="answer_threshold",
    ),
    "retrieval_value": Measure(
        "Retrieval value",
        "p(flip): the estimated chance that one more search makes the question answerable. A "
        "logistic curve over searches made, novelty N and sufficiency; without a fit a fixed "
        "value for each number of searches.",
        setting="flip_threshold",
    ),
    "novelty": Measure(
        "Novelty of the last search",
        "N: 1 less the mean over its new passages of the highest word overlap (Jaccard) with a "
        "passage held before. Below its threshold the query is reworded before searching.",
        setting="novelty_threshold",
    ),
    "actions_for_rewrite": _left(
        "actions", "max_actions", "Rewording, searching and answering take three."
    ),
    "rounds_left": _ROUNDS,
    "actions_left": _ACTIONS,
    "tokens_left": _TOKENS,
    "rounds_for_correction": _left("searches", "max_rounds", "A correction takes one."),
    "actions_for_correction": _left(
        "actions", "max_actions", "A correction checks, rewords and searches; then the answer."
    ),
    "tokens_for_correction": _TOKENS,
    "evidence_held": _HELD,
    "abstain": Measure(
        "p(answerable), at the end",
        f"{_P_ANS} Below its threshold a run that can do no more leaves the question unanswered.",
        setting="abstain_threshold",
    ),
}

GATES: Mapping[str, Mapping[str, Measure]] = {
    "beliefrag.act": _BELIEF,
    "static.next": (
        _SCHEDULE := {
            "rounds_left": _ROUNDS,
            "actions_left": _ACTIONS,
            "tokens_left": _TOKENS,
            "evidence_held": _HELD,
        }
    ),
    "iterative.next": _SCHEDULE,
    "staterag.bypass": {
        "rule_on": _flag(
            "Compact-evidence rule in use",
            "Whether the first search may be answered from at once, without navigating.",
            "bypass_rule",
        ),
        "passages": _count(
            "Passages chosen", "passages", "How many passages of the first search the rule chose."
        ),
        "clauses": _count(
            "Parts of the question",
            "parts",
            "How many facts the question strings together. Each needs a passage of its own.",
        ),
        "names_missing": _count(
            "Names missing", "names", "Names in the question that no chosen passage holds."
        ),
        "coverage": Measure(
            "Words covered",
            "Share of the question's words that the chosen passages hold, rare words counting "
            "more (idf).",
            setting="bypass_coverage",
        ),
        "lead": Measure(
            "Lead over the rest",
            "Likeness to the question of the best chosen passage less that of the best other one.",
            setting="bypass_margin",
            span="-1 to 1",
        ),
    },
    "staterag.reuse": {
        "trails": _count(
            "Earlier paths of these names",
            "paths",
            "Verified paths of earlier questions that hold every name of this question.",
        ),
        "similarity": Measure(
            "Likeness to an earlier question",
            "Jaccard similarity of the two questions' content words.",
            setting="reuse_threshold",
        ),
    },
    "staterag.navigate": {
        "completed_traces": _count(
            "Complete paths", "paths", "Paths of the beam search that end at a passage."
        ),
        "lead": Measure(
            "Score of the best path",
            "Likeness of the query and the path's last node: word overlap and cosine, mixed. The "
            "threshold is the second best path's score.",
            span="-1 to 1",
        ),
    },
    "staterag.select": {
        "region": _count(
            "Passages in the region", "passages", "Passages around the end of the committed path."
        ),
        "proposed": _count(
            "Passages proposed",
            "passages",
            "How many passages of the region are proposed beside those carried over.",
            "release_most",
        ),
        "known": _count(
            "Passages verified before",
            "passages",
            "Passages that the reused path was verified with and that its region still holds.",
        ),
    },
    "staterag.verdict": {
        "support": Measure(
            "Measured support",
            "S: how strongly the evidence supports a complete answer, as the verifier measured it.",
            setting="pass_support",
        ),
        "gap": Measure(
            "Measured gap",
            "G: the share of the question that the evidence leaves open, as the verifier "
            "measured it.",
            setting="pass_gap",
        ),
    },
    "staterag.action": {
        "passed": _flag("Verdict is PASS", "Whether the verifier passed this cycle's evidence."),
        "stopped": _flag("Stopped", "Whether another cycle was begun and broke a budget."),
        "cycles_left": _left("cycles", "max_cycles", "Another cycle takes one."),
        "rounds_left": _ROUNDS,
        "actions_left": _ACTIONS,
        "tokens_left": _TOKENS,
    },
    "staterag.abstain": {
        "least_uncertainty": Measure(
            "Least measured uncertainty of any cycle",
            "U: how unsure the verifier remained, in the cycle where it was least so. Up to the "
            "threshold the reader is asked.",
            setting="abstain_uncertainty",
        ),
    },
    "staterag.admit": {
        "admitted": _count(
            "Passages chosen", "passages", "How many passages the run ends with as its evidence."
        ),
        "reader_budget": _count(
            "Passages for the reader",
            "passages",
            "The same number against the most that the reader is given.",
            "evidence_window",
        ),
    },
    "ragx.forage": {
        "drafted": _flag("Draft given", "Whether the agent ended its search with a draft answer."),
        "halted": _STOPPED,
        "turns_left": _left("turns", "steps", "Each search or reading takes one."),
        "actions_left": _ACTIONS,
        "tokens_left": _TOKENS,
    },
    "ragx.slots": {
        "sub_questions": _count(
            "Sub-questions", "sub-questions", "Into how many the question was split."
        ),
        "within_limit": _count(
            "Sub-questions against the limit",
            "sub-questions",
            "The same number against the most that is asked for.",
            "max_hops",
        ),
        "empty": _count("Empty ones", "sub-questions", "Sub-questions without a word."),
        "repeated": _count(
            "Repeated ones", "sub-questions", "Sub-questions that repeat an earlier one."
        ),
        "slots_not_backwards": _count(
            "Slots that look ahead",
            "slots",
            "Slots (#1, #2, …) that stand for the answer of their own or a later sub-question.",
        ),
        "first_attempt": _count(
            "Attempts", "attempts", "How often the question was split. A second time is the last."
        ),
    },
    "ragx.hop": {
        "hops_left": _count(
            "Sub-questions left", "sub-questions", "Sub-questions that were not asked yet."
        ),
        "halted": _STOPPED,
        "repeated": _flag(
            "Asked before", "Whether the next sub-question, its slots filled, was asked already."
        ),
        "rounds_left": _left(
            "searches", "max_rounds", "The sub-question takes one, and one is kept for the end."
        ),
        "actions_left": _ACTIONS,
        "tokens_left": _TOKENS,
    },
    "ragx.pack": {
        "read": _count(
            "Passages read",
            "passages",
            "Passages that the agent read and that are shown first.",
            "read_cap",
        ),
        "extra": _count(
            "Extra passages",
            "passages",
            "Passages that answered a sub-question or were listed by a search.",
            "extra_cap",
        ),
        "backfill": _count(
            "Backfill",
            "passages",
            "The question's own best hits that nothing else brought.",
            "backfill",
        ),
        "window": _count(
            "Passages in all", "passages", "All passages of the final call.", "evidence_window"
        ),
        "tokens": _count(
            "Tokens of the call",
            "tokens",
            "The final call with its longest reply, against the context window or what the token "
            "budget leaves, whichever is less.",
            "context_window",
        ),
        "passages": _count("Passages in all", "passages", "All passages of the final call."),
    },
}
"""By decider and gate, as both are recorded."""

INPUTS: Mapping[str, tuple[str, str]] = {
    "reasoner": ("Reasoner", "What does the language work: rules, or a language model."),
    "fit": ("Fit in force", "Which fitted figures for p(answerable) and p(flip) were in use."),
    "rounds": ("Searches made", "Searches so far; the limit is the setting “Retrieval rounds”."),
    "actions": ("Actions taken", "Controller actions so far; the limit is the setting “Actions”."),
    "tokens": (
        "Tokens spent",
        "Every text given to or taken from the reasoner so far; the limit is the setting “Token "
        "budget”.",
    ),
    "evidence": ("Passages held", "How many passages the evidence holds."),
    "unhelpful": (
        "Passages flagged unhelpful",
        "Held passages that the verifier named as no help.",
    ),
    "pending": ("Step still owed", "What a correction or a rewrite that was begun has yet to do."),
    "nothing_missing": (
        "Nothing missing",
        "Whether the query writer found nothing left to ask for.",
    ),
    "retriever_down": ("Retriever down", "Whether a search failed for good."),
    "retrieve_tokens": (
        "Tokens for a search",
        "Upper estimate of what another search takes with the answer after it.",
    ),
    "correction_tokens": (
        "Tokens for a correction",
        "Upper estimate of what a whole correction takes with the answer after it.",
    ),
    "next_tokens": (
        "Tokens for the next round",
        "Upper estimate of what writing another query and answering take.",
    ),
    "anchor": ("Path's end", "The passage at the end of the committed path."),
    "root": ("Root", "The node that navigation starts from."),
    "verdict": ("Verdict", "What the verifier said of the cycle's evidence: PASS or FAIL."),
    "cycle": ("Cycle", "The cycle that was just committed, from 1."),
    "cycle_tokens": (
        "Tokens for a cycle",
        "Upper estimate of what another cycle takes with the answer after it.",
    ),
    "stopped": ("Stopped", "Whether another cycle was begun and broke a budget."),
    "support": (
        "Measured support S",
        "How strongly the evidence supports a complete answer; 0 to 1.",
    ),
    "gap": ("Measured gap G", "The share of the question that the evidence leaves open; 0 to 1."),
    "conflict": ("Measured conflict C", "The strongest contradiction inside the evidence; 0 to 1."),
    "uncertainty": (
        "Measured uncertainty U",
        "How unsure a careful reader would remain; 0 to 1.",
    ),
    "clauses": ("Parts of the question", "How many facts the question strings together."),
    "branch": ("Way to the end", "BYPASS, RELEASE or FALLBACK: where the evidence comes from."),
    "steps": ("Turns in all", "How many turns the agent was told of; the setting “Forage turns”."),
    "turns": ("Turns taken", "Searches and readings of the agent so far, errors included."),
    "drafted": ("Draft given", "Whether the agent ended its search with a draft answer."),
    "halted": ("Stopped", "Whether the reasoner, the retriever or a budget stopped this part."),
    "turn_tokens": ("Tokens for a turn", "Upper estimate of what another turn takes."),
    "compose_tokens": (
        "Tokens to compose",
        "What the final call takes over the passages held now; it is kept aside.",
    ),
    "limit": ("Most sub-questions", "Into how many the question may be split."),
    "attempt": ("Attempt", "How often the question was split, from 1."),
    "hop": ("Sub-questions answered", "How many sub-questions were taken so far."),
    "hops": ("Sub-questions in all", "Into how many the question was split."),
    "repeated": ("Asked before", "Whether the next sub-question, slots filled, was asked already."),
    "hop_tokens": ("Tokens for a sub-question", "Upper estimate of what the next one takes."),
    "depth": ("Ranking depth", "How deep the question's own ranking goes, in passages."),
    "overhead": (
        "Tokens without passages",
        "The final call without any passage, its longest reply included.",
    ),
    "spent": ("Tokens spent", "Tokens of the run so far."),
}
"""Title and meaning of the single values that deciders decide from."""


def measure(decider: str, gate: str) -> Measure:
    """The words for a gate of a decider; of an unknown one (an imported run) its name as words."""
    known = GATES.get(decider, {}).get(gate)
    return known or Measure(gate.replace("_", " ").capitalize(), "", span="")
