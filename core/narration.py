"""Every step in one line of plain words.

The lines quote documents, questions and model output; ``plain`` makes them safe to print as text,
which is not the same as safe to render as markup.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core import events as e
from core import wording
from core.passage_names import brief
from core.registry import systems
from core.types import Frozen, Usage

MAX_QUOTE = 80
Titles = Mapping[str, str]


def plain(text: str, limit: int = MAX_QUOTE) -> str:
    """One line of at most ``limit`` characters, without control, direction and invisible ones."""
    head = text[: 4 * limit]
    line = " ".join("".join(_VISIBLE.get(unicodedata.category(c), c) for c in head).split())
    if len(line) <= limit and len(text) <= len(head):
        return line
    return line[: limit - 1].rstrip() + "…"


_VISIBLE = {"Cc": " ", "Zl": " ", "Zp": " ", "Cf": "", "Cs": "\ufffd", "Co": "\ufffd"}
"""What stands for a character of these Unicode categories."""


def narrate(step: e.Step, titles: Titles | None = None) -> str:
    """What happened in this step, in one line; ``titles`` names passages by their id."""
    event = step.event
    if isinstance(event, e.Committed) and (step.stage, event.field) == ("planner", "verdict"):
        return "A new cycle begins: the verdict is set back to PENDING."
    return _TELL[type(event)](event, titles or {})


def _quoted(text: str) -> str:
    return f"“{plain(text)}”"


def counted(n: int, noun: str) -> str:
    """A count with its noun: ``1 passage``, ``1,200 passages``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _article(noun: str) -> str:
    return "an" if noun[:1].lower() in {*"aeiou"} else "a"


def _name(name: str) -> str:
    return brief(plain(name, 400), 40)


def _named(ids: Sequence[str], titles: Titles) -> str:
    """Up to three passages by title, and how many more."""
    names = [_name(titles.get(i, i)) for i in ids[:3]]
    more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
    return ", ".join(names) + more


def spent(usage: Usage) -> str:
    """What a run has spent, in words."""
    parts = [
        counted(usage.calls, "call"),
        counted(usage.tokens, "token"),
        counted(usage.rounds, "round"),
        counted(usage.actions, "action"),
    ]
    cost = f", {usage.cost:.4f} USD" if usage.cost else ""
    return ", ".join(parts) + cost


def _started(x: e.RunStarted, _: Titles) -> str:
    how = "" if x.origin == "live" else f" ({x.origin})"
    reader = x.model or f"the {x.reasoner} reasoner"
    system = systems().get(x.system)
    faults = f" Faults are injected: {plain(', '.join(x.faults), 200)}." if x.faults else ""
    return (
        f"{system.title if system else plain(x.system)} starts on {_quoted(x.question)} over "
        f"{plain(x.corpus.id)} with {plain(reader)}{how}.{faults}"
    )


def _proposed(x: e.Proposed, titles: Titles) -> str:
    return f"The {plain(x.role)} proposes {_gist(x, titles)}."


def _gist(x: e.Proposed, titles: Titles) -> str:
    """What was proposed, where the value has one of the forms that roles propose."""
    value = x.value if isinstance(x.value, dict) else {}
    objective, verdict = value.get("objective"), value.get("verdict")
    nodes, items = value.get("nodes"), value.get("items")
    if isinstance(objective, str):
        return f"a plan, {_quoted(objective)}"
    if isinstance(nodes, list):
        return f"a path of {counted(len(nodes), 'node')}"
    if isinstance(items, list):
        ids = [str(i.get("id")) for i in items if isinstance(i, dict)]
        return f"{counted(len(ids), 'passage')} as evidence: {_named(ids, titles)}"
    if isinstance(verdict, str):
        why = str(value.get("justification") or "").rstrip(".")
        return f"the verdict {plain(verdict)}" + (f", {_quoted(why)}" if why else "")
    return f"a value for {plain(x.field)}"


def _validated(x: e.Validated, _: Titles) -> str:
    verdict = {"accept": "accepted", "reject": "refused", "not_run": "not run"}[x.verdict]
    why = f", {plain(x.reason, 160)}" if x.reason else ""
    return f"Check of the {plain(x.validator)}: {verdict}{why}."


def _committed(x: e.Committed, _: Titles) -> str:
    changed = "" if x.before != x.after else ", as it was already"
    return f"Committed to the state: {plain(x.field)}{changed}."


def _query(x: e.QueryIssued, _: Titles) -> str:
    made = wording.MADE_BY.get(x.transformation) or f"by {plain(x.transformation)}"
    lost = "" if x.constraints_kept else ", with a constraint lost"
    return f"Query {_quoted(x.query)}, {made}{lost}."


def _called(x: e.Called, _: Titles) -> str:
    name = f"{x.port}.{plain(x.task)}"
    what = wording.WORK.get(name, name)
    if x.error is not None:
        return f"{what} failed: {plain(x.error, 160)}"
    tries = f" at attempt {x.attempt}" if x.attempt > 1 else ""
    kept = ", from the cache" if x.cached else ""
    tokens = f", {x.tokens_in} tokens in and {x.tokens_out} out" if x.port == "reasoner" else ""
    return f"{what} took {x.ms:.0f} ms{tries}{tokens}{kept}."


def _model(x: e.ModelCalled, _: Titles) -> str:
    if x.error is not None:
        return f"{plain(x.model)} failed at {plain(x.task)}: {plain(x.error, 160)}"
    return f"{plain(x.model)} was asked to {plain(x.task)}: {_quoted(x.reply)}"


def _shown(x: e.PassagesShown, titles: Titles) -> str:
    names = {p.id: titles.get(p.id, p.title) for p in x.passages}
    count = counted(len(x.passages), "passage")
    return f"{count} seen for the first time: {_named(list(names), names)}."


def _retrieved(x: e.Retrieved, titles: Titles) -> str:
    if not x.passages:
        return f"The {x.channel} search for {_quoted(x.query)} found nothing."
    first = x.passages[0]
    best = _name(titles.get(first.id, first.title))
    found = counted(len(x.passages), "passage")
    return f"The {x.channel} search for {_quoted(x.query)} found {found}, {best} first."


def _evidence(x: e.EvidenceChanged, titles: Titles) -> str:
    parts = []
    if x.added:
        parts.append(f"takes in {_named(x.added, titles)}")
    if x.removed:
        parts.append(f"drops {_named(x.removed, titles)}")
    only_banned = [i for i in x.banned if i not in x.removed]
    if only_banned:
        parts.append(f"bans {_named(only_banned, titles)}")
    return f"The evidence {' and '.join(parts) or 'stays as it is'}: {plain(x.reason)}."


def _diagnostics(x: e.DiagnosticsMeasured, _: Titles) -> str:
    named = {n: v for n, v in x if isinstance(v, float)} | dict(x.signals)
    signals = ", ".join(f"{plain(n)} {v:.2f}" for n, v in named.items())
    return f"Measured {signals}." if signals else "Nothing was measured."


def _belief(x: e.BeliefUpdated, _: Titles) -> str:
    moved = {n: after - getattr(x.before, n) for n, after in x.after if n != "cost"}
    most = max(moved, key=lambda n: abs(moved[n]))
    way = "rises" if moved[most] > 0 else "falls"
    at = f"{way} to {getattr(x.after, most):.2f}"
    return (
        f"The believed {most} {at}. Chance that it is answerable {x.p_ans:.2f}, that another "
        f"search makes it so {x.p_flip:.2f}."
    )


def _decided(x: e.Decided, _: Titles) -> str:
    what = plain(wording.decided(x.decider, x.outcome))
    return f"Decided to {what}: {plain(wording.reason(x.decider, x.reason), 160)}"


def _explored(x: e.PathExplored, _: Titles) -> str:
    admitted = sum(t.admissible for t in x.transitions)
    refused = len(x.transitions) - admitted
    more = f", {x.dropped_count} not listed" if x.dropped_count else ""
    return (
        f"Navigation, round {x.round}: from {counted(len(x.frontier), 'node')} "
        f"{counted(admitted, 'transition')} of an allowed type, {refused} refused{more}."
    )


def _path(x: e.PathCommitted, _: Titles) -> str:
    region = counted(len(x.region), "passage")
    return f"A path of {counted(len(x.path), 'node')} is committed; its region holds {region}."


TROUBLE = {
    "malformed": "the reply holds no action",
    "empty_argument": "the action has no argument",
    "disallowed": "this action is not available here",
    "unknown_passage": "no listed passage has this name",
    "ambiguous_passage": "the name fits several passages",
    "repeated_query": "this was asked before",
    "repeated_read": "it was read before",
}
"""What can be wrong with an action of a forage turn, by its code."""


def _forage(x: e.ForageTurn, _: Titles) -> str:
    done = f"{plain(x.action)} {_quoted(x.argument)}" if x.argument else plain(x.action)
    if not x.error:
        return f"Turn {x.turn}: {done}."
    wrong = TROUBLE.get(x.error, f"it failed ({plain(x.error.replace('_', ' '))})")
    return f"Turn {x.turn}: {done}{': ' if done else ''}{wrong}."


def _hop(x: e.HopResolved, _: Titles) -> str:
    said = f"is {_quoted(x.answer)}" if x.answer else "has no answer"
    return f"Hop {x.hop}, {_quoted(x.filled)}, {said}."


def _composed(x: e.Composed, _: Titles) -> str:
    cap = sum(t.reason == "extra_cap" for t in x.trimmed)
    without = wording.left_out(cap, len(x.trimmed) - cap)
    return f"The final call shows {counted(len(x.passages), 'passage')}; {without}."


def _grounded(x: e.Grounded, titles: Titles) -> str:
    if not x.grounded:
        return "The answer is not found in the sources."
    ids = list(dict.fromkeys(c.passage_id for c in x.citations))
    return f"The answer's words stand in: {_named(ids, titles) or 'the evidence used'}."


def _memory(x: e.MemoryOp, _: Titles) -> str:
    kind = plain(x.artifact.partition(":")[0] or "artifact", 40)
    what = "what is available" if x.artifact == "*" else f"{_article(kind)} {kind}"
    where = plain(wording.store(x.scope, x.role), 60)
    if not x.allowed:
        wish = f"{plain(x.operation)} {what} in {where}"
        return f"The {plain(x.role)} may not {wish}: {plain(x.reason, 160)}."
    did = _OPERATIONS.get(x.operation) or f"does {plain(x.operation)} on"
    why = wording.REASONS.get(x.reason, x.reason)
    return f"The {plain(x.role)} {did} {what} in {where}: {plain(why, 160)}."


_OPERATIONS = {
    "read": "reads",
    "write": "writes",
    "persist": "keeps",
    "list": "lists",
    "evict": "drops",
}


def _probed(x: e.Probed, _: Titles) -> str:
    return f"Asked at step {x.at_seq}, the answer would be {_quoted(x.answer) or 'none'}."


def _fault(x: e.FaultInjected, _: Titles) -> str:
    return f"Fault injected, {plain(x.fault)} at {plain(x.where)}: {plain(x.effect)}."


def _warned(x: e.Warned, _: Titles) -> str:
    return f"Warning, {plain(x.fault)} at {plain(x.where)}: {plain(x.effect, 160)}"


def _finished(x: e.RunFinished, _: Titles) -> str:
    end = x.terminal.replace("_", " ")
    if x.answer is not None:
        found = "its words stand in the sources" if x.grounded else "not found in the sources"
        return f"Finished, {end}: {_quoted(x.answer)}, {found}; {spent(x.usage)}."
    return f"Finished, {end}: {plain(x.reason, 160) or x.branch} ({spent(x.usage)})"


_TELL: dict[type[Frozen], Callable[[Any, Titles], str]] = {
    e.RunStarted: _started,
    e.Proposed: _proposed,
    e.Validated: _validated,
    e.Committed: _committed,
    e.QueryIssued: _query,
    e.Called: _called,
    e.ModelCalled: _model,
    e.PassagesShown: _shown,
    e.Retrieved: _retrieved,
    e.EvidenceChanged: _evidence,
    e.DiagnosticsMeasured: _diagnostics,
    e.BeliefUpdated: _belief,
    e.Decided: _decided,
    e.PathExplored: _explored,
    e.PathCommitted: _path,
    e.ForageTurn: _forage,
    e.HopResolved: _hop,
    e.Composed: _composed,
    e.Grounded: _grounded,
    e.MemoryOp: _memory,
    e.Probed: _probed,
    e.FaultInjected: _fault,
    e.Warned: _warned,
    e.RunFinished: _finished,
}
