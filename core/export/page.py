"""A run as one page that stands alone: no script, nothing fetched, every text literal.

Made for whoever gets it by mail: the question and how it ended, the evidence with the cited
places marked, what happened in plain words, every decision with its gates, settings and usage.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from core import contracts, endings, registry, trace, wording
from core.events import (
    Decided,
    EvidenceChanged,
    FaultInjected,
    ModelCalled,
    PassagesShown,
    RunFinished,
    RunStarted,
    Step,
    Warned,
)
from core.literal import esc, isolated, marked
from core.measures import measure
from core.narration import counted, narrate
from core.settings import SystemSettings
from core.types import Budgets, Citation, Gate, Passage

STYLE = Path(__file__).with_name("page.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
MOST_GATES_OPEN = 12
"""A decision of more gates is folded until it is opened or printed."""
_TONES = {
    "answered": "good",
    "failed": "bad",
    "conflict": "bad",
    "abstained": "plain",
    "cancelled": "plain",
}
_UNITS = {"seconds": "s", "cost": "USD"}


def dump(steps: Sequence[Step]) -> str:
    """The page of a run, finished or not.

    Raises:
        ValueError: the steps do not begin with RunStarted.
    """
    run = _Run(steps)
    sections = [
        ("timeline", "What happened", _timeline(run)),
        ("evidence", "Evidence", _evidence(run)),
        ("decisions", "Decisions", _decisions(run)),
        ("prompts", "Prompts and replies", _prompts(run)),
        ("settings", "Settings", _settings(run)),
        ("usage", "Usage", _usage(run)),
    ]
    drawn = [(name, title, body) for name, title, body in sections if body]
    links = "".join(f'<a href="#{name}">{title}</a>' for name, title, _ in drawn)
    blocks = "".join(
        f'<section id="{name}"><h2>{title}</h2>{body}</section>' for name, title, body in drawn
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{esc(run.started.question)}</title>\n"
        f"<style>\n{STYLE.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n<main>\n"
        f"{_head(run)}\n<nav>{links}</nav>\n{blocks}\n</main>\n</body>\n</html>\n"
    )


@dataclass
class _Run:
    """The folds that several sections read."""

    steps: Sequence[Step]
    started: RunStarted = field(init=False)

    def __post_init__(self) -> None:
        self.started = trace.start(self.steps)

    @cached_property
    def passages(self) -> dict[str, Passage]:
        return trace.passages(self.steps)

    @cached_property
    def titles(self) -> dict[str, str]:
        return trace.titles(self.steps)

    @cached_property
    def end(self) -> trace.RunState:
        return trace.state_at(self.steps, len(self.steps) - 1)

    @cached_property
    def finished(self) -> RunFinished | None:
        return self.end.finished

    @cached_property
    def system(self) -> registry.System:
        return registry.system(self.started.system)

    @cached_property
    def settings(self) -> SystemSettings:
        return contracts.run_settings(self.started)

    @cached_property
    def numbered(self) -> dict[str, int]:
        """Passages of the evidence and cited ones by id, with the number each has here."""
        cited = (c.passage_id for c in self.end.citations)
        ids = dict.fromkeys((*self.end.evidence, *cited))
        return {i: n for n, i in enumerate((i for i in ids if i in self.passages), 1)}


def _head(run: _Run) -> str:
    started, finished = run.started, run.finished
    if finished is None:
        state, tone, reason = "not finished", "warn", "The record ends before the run did."
    else:
        state = finished.terminal.replace("_", " ")
        tone, reason = _TONES.get(finished.terminal, "warn"), finished.reason
    why = endings.guess_of(run.steps)
    if why:
        tone, reason = "warn", f"{reason} {why.removesuffix(endings.UNGROUNDED)}"
    parts = [f"<p>{_chip('⚠ Best guess' if why else state.capitalize(), tone)}"]
    if finished and finished.answer is not None:
        found = finished.grounded
        if found and why:
            parts.append(_chip("Its words stand in the sources", "plain"))
            reason = f"{reason} {endings.STANDS}"
        else:
            parts.append(_chip("Found in the sources", "good") if found else "")
            parts.append("" if found else _chip("Not found in the sources", "bad"))
    parts.append(f" <span class=dim>{isolated(reason)}</span></p>")
    if finished and finished.answer is not None:
        parts.append(f'<p class="answer" dir="auto">{isolated(finished.answer)}</p>')
    parts.append(_citations(run))
    origin = "" if started.origin == "live" else f" ({started.origin})"
    facts = [
        ("System", f"{esc(run.system.title)}{origin}"),
        ("Corpus", isolated(started.corpus.id)),
        ("Reasoner", isolated(started.model or started.reasoner)),
        ("Faults", isolated(", ".join(started.faults)) if started.faults else ""),
        ("Ended", esc(f"{state.capitalize()}, by {finished.branch}") if finished else ""),
        ("Started", f"{run.steps[0].at:%Y-%m-%d %H:%M:%S} UTC"),
        ("Took", f"{run.end.elapsed_ms / 1000:,.1f} s"),
        ("Run", f"<code>{esc(run.steps[0].run_id)}</code>"),
    ]
    listed = "".join(
        f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts if value
    )
    return (
        f'<header><h1 dir="auto">{isolated(started.question)}</h1>{"".join(parts)}'
        f"<dl>{listed}</dl></header>"
    )


def _citations(run: _Run) -> str:
    rows = []
    for cited in run.end.citations:
        number = run.numbered.get(cited.passage_id)
        name = run.titles.get(cited.passage_id)
        title = isolated(name) if name else f"<code>{esc(cited.passage_id)}</code>"
        link = f'<a href="#p{number}">{title}</a>' if number else title
        rows.append(f"<li>{link}: <q>{isolated(cited.quote)}</q></li>")
    return f"<ol class=cited>{''.join(rows)}</ol>" if rows else ""


def _evidence(run: _Run) -> str:
    came, went, seen = _moves(run.steps)
    cards = []
    for id_, number in run.numbered.items():
        passage = run.passages[id_]
        how = came.get(id_, "cited, and not among the evidence at the end")
        cards.append(
            f'<article id="p{number}"><h3><span class=num>{number}</span> '
            f"{isolated(run.titles[id_])}</h3>"
            f"<p class=dim>{isolated(passage.document)}, {_lines(passage)}, "
            f"<code>{esc(id_)}</code>; {how}</p>"
            f'<div class="text" dir="auto">{_marked(passage, run.end.citations)}</div></article>'
        )
    left = [
        [
            isolated(run.titles[id_]),
            isolated(passage.document),
            f"step {seen[id_]}",
            went.get(id_, "not taken in"),
        ]
        for id_, passage in run.passages.items()
        if id_ not in run.numbered
    ]
    others = ""
    if left:
        table = _table(("Passage", "Document", "Seen", "What became of it"), left)
        others = f"<h3>Seen, and not in the evidence</h3>{table}"
    return ("".join(cards) or "<p>No passage was held at the end.</p>") + others


def _moves(steps: Iterable[Step]) -> tuple[dict[str, str], dict[str, str], dict[str, int]]:
    """By passage: how it came into the evidence, how it went, and at which step it was first
    seen."""
    came: dict[str, str] = {}
    went: dict[str, str] = {}
    seen: dict[str, int] = {}
    for step in steps:
        event = step.event
        if isinstance(event, PassagesShown):
            for passage in event.passages:
                seen.setdefault(passage.id, step.seq)
        elif isinstance(event, EvidenceChanged):
            why = f"at step {step.seq}: {isolated(event.reason)}"
            came |= dict.fromkeys(event.added, f"taken in {why}")
            went |= dict.fromkeys((*event.removed, *event.banned), f"left out {why}")
    return came, went, seen


def _lines(passage: Passage) -> str:
    first, last = passage.line_start, passage.line_end
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _marked(passage: Passage, citations: Iterable[Citation]) -> str:
    """The passage with its cited places marked; a place that moved is looked for by its words."""
    spans = []
    for cited in citations:
        if cited.passage_id != passage.id:
            continue
        start = cited.start
        if passage.text[start : cited.end] != cited.quote:
            start = passage.text.find(cited.quote)
        if start >= 0:
            spans.append((start, start + len(cited.quote)))
    return marked(passage.text, spans)


def _timeline(run: _Run) -> str:
    rows = []
    for step in run.steps:
        kind = _row_class(step)
        branch = "" if step.branch == "main" else f" ({esc(step.branch)})"
        rows.append(
            f"<tr{kind}><td class=num>{step.seq}</td>"
            f"<td class=num>{step.elapsed_ms / 1000:,.2f} s</td>"
            f"<td class=stage>{esc(step.stage)}{branch}</td>"
            f'<td dir="auto">{isolated(narrate(step, run.titles))}</td></tr>'
        )
    heads = (
        "<th scope=col class=num>Step</th><th scope=col class=num>At</th>"
        "<th scope=col>Stage</th><th scope=col>What happened</th>"
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _row_class(step: Step) -> str:
    if isinstance(step.event, (Warned, FaultInjected)):
        return " class=warned"
    if isinstance(step.event, (Decided, RunFinished)):
        return " class=decided"
    return " class=called" if step.event.kind in ("Called", "ModelCalled", "PassagesShown") else ""


def _decisions(run: _Run) -> str:
    blocks = []
    for step in run.steps:
        event = step.event
        if not isinstance(event, Decided):
            continue
        head = (
            f"<b>Step {step.seq}: {esc(wording.decided(event.decider, event.outcome))}</b> "
            f"<span class=dim>{isolated(wording.reason(event.decider, event.reason))}</span>"
        )
        if not event.gates:
            blocks.append(f"<p class=decision>{head}</p>")
            continue
        rows = [_row(event.decider, gate) for gate in event.gates]
        table = _table(("Gate", "Value", "Fires at", "Margin", "Fired"), rows, right=(1, 2, 3))
        opened = " open" if len(event.gates) <= MOST_GATES_OPEN else ""
        more = f" ({counted(len(event.gates), 'gate')})" if not opened else ""
        blocks.append(f"<details{opened}><summary>{head}{more}</summary>{table}</details>")
    return "".join(blocks)


def _row(decider: str, gate: Gate) -> list[str]:
    what = measure(decider, gate.name)
    said = (say(gate, what) for say in (wording.value_of, wording.condition, wording.margin))
    return [esc(what.title), *(esc(text) for text in said), _fired(gate)]


def _fired(gate: Gate) -> str:
    return _chip("⚡ fired", "fired") if gate.fired else _chip("not fired", "plain")


def _prompts(run: _Run) -> str:
    blocks = []
    for step in run.steps:
        event = step.event
        if not isinstance(event, ModelCalled):
            continue
        said = f"failed: {event.error}" if event.error is not None else event.reply
        blocks.append(
            f"<details><summary><b>Step {step.seq}: {esc(event.task)}</b> <span class=dim>"
            f"{isolated(event.model)}, {event.tokens_in:,} tokens in and {event.tokens_out:,} out"
            f"</span></summary><h3>Prompt</h3><pre>{esc(event.prompt)}</pre>"
            f"<h3>Reply</h3><pre>{esc(said)}</pre></details>"
        )
    return "".join(blocks)


def _settings(run: _Run) -> str:
    usual = run.system.settings()
    rows = []
    for name, knob in type(run.settings).model_fields.items():
        value, default = getattr(run.settings, name), getattr(usual, name)
        changed = _chip(f"default {_value(default)}", "warn") if value != default else ""
        rows.append(
            [esc(knob.title or name), f"<code>{esc(name)}</code>", esc(_value(value)), changed]
        )
    seed = ["Seed", "<code>seed</code>", str(run.started.seed), ""]
    return _table(("Setting", "Name", "Value", "Changed"), [*rows, seed])


def _value(value: object) -> str:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return f"{value}"
    dumped = value.model_dump(mode="json") if hasattr(value, "model_dump") else value
    return json.dumps(dumped, ensure_ascii=False, default=str)


def _usage(run: _Run) -> str:
    limits = run.started.budgets
    rows = []
    for name in Budgets.model_fields:
        spent, limit = getattr(run.end.usage, name), getattr(limits, name)
        allowed = "no limit" if limit is None else _amount(name, limit)
        rows.append([name.capitalize(), _amount(name, spent), allowed])
    return _table(("Resource", "Spent", "Limit"), rows, right=(1, 2))


def _amount(name: str, amount: float) -> str:
    unit = f" {_UNITS[name]}" if name in _UNITS else ""
    return f"{amount:,}{unit}" if isinstance(amount, int) else f"{amount:,.4g}{unit}"


def _chip(text: str, tone: str) -> str:
    return f'<span class="chip {tone}">{esc(text)}</span>'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A table of cells that are escaped already; the columns of ``right`` hold numbers."""
    align = [" class=num" if n in right else "" for n in range(len(heads))]
    head = "".join(f"<th scope=col{a}>{h}</th>" for h, a in zip(heads, align, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{a}>{c}</td>" for c, a in zip(row, align, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
