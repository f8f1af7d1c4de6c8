"""The staged state: what each role proposed, how it was judged, what was committed; by cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from components import cursor, session, strip
from components.cycles import CycleState, Lineage, RoleState
from components.markup import chip, icon, mono, number, table
from components.notices import empty
from components.palette import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PASSED,
    PENDING,
    REFUSED,
    VERMILLION,
    WARNING,
    Sign,
    inked,
)
from components.safe import esc, isolated, shorten, visible
from components.tam_graph import GLYPHS
from components.tam_labels import Names
from core import wording
from core.events import Decided
from core.passage_names import brief

VERDICTS = {
    "accept": Sign(GREEN, "check_circle", "accepted"),
    "reject": Sign(VERMILLION, "cancel", "refused"),
    "not_run": Sign(GREY, "block", "not run"),
    "": PENDING,
}
ROLES = {
    "planner": ("Planner", "edit_note", "p"),
    "navigator": ("Navigator", "route", "π"),
    "retriever": ("Retriever", "article", "E"),
    "verifier": ("Verifier", "fact_check", "z"),
}
ACTIONS = {
    "RELEASE": Sign(GREEN, "output", "release"),
    "REVISE": Sign(ORANGE, "replay", "revise"),
    "FALLBACK": Sign(ORANGE, "merge", "fall back"),
    "BYPASS": Sign(BLUE, "fast_forward", "bypass"),
}
READ = Sign(GREEN, "chrome_reader_mode", "the reader is asked")
UNREAD = Sign(GREY, "do_not_disturb_on", "no reader is asked")
CHOSEN = Sign(GREEN, "output", "evidence at the end")
LETTERS = {
    "p": "The plan in the state: objective, facts that are required, names.",
    "π": "The typed path in the state: from the root of the graph down to a passage.",
    "E": "The candidate evidence in the state, from the region of the path.",
    "z": "The verification record in the state: the verdict, open until it is given, and why.",
}
DIGESTS = "Digest of the whole state, before and after."
ITEMS = 8


def draw(found: Lineage, whole: Lineage, titles: Mapping[str, str], names: Names) -> None:
    """Show the state at the cursor. ``found`` is the run up to there, ``whole`` all of it."""
    if not found.cycles:
        _before(found)
        return
    _strip(found, whole)
    now = found.cycles[-1]
    st.html(
        '<div class="ri-roles">'
        + "".join(_role(state, now, titles, names) for state in now.roles.values())
        + f'</div><div class="ri-after">{_after(found, now)}</div>'
    )
    if len(found.cycles) > 1:
        st.html(f"<h4>Cycles side by side</h4>{side_by_side(found.cycles, titles, names)}")


def _before(found: Lineage) -> None:
    if found.bypass is None:
        empty("pending", "No cycle yet", "First one retrieval, and whether it is compact enough.")
        return
    seq, event = found.bypass
    taken = event.outcome.startswith("BYPASS")
    sign = ACTIONS["BYPASS"] if taken else Sign(GREY, "arrow_forward", "no bypass: the cycles")
    st.html(
        f'<p>{chip(sign)} <span class="ri-num ri-dim">step {seq}</span></p>'
        f"<p>{esc(event.reason)}</p>"
    )
    if taken:
        empty("fast_forward", "No cycle was needed", "The initial evidence answers by itself.")


def _strip(found: Lineage, whole: Lineage) -> None:
    now = found.cycles[-1].number
    stops = [
        strip.Stop(
            seq=c.seq,
            icon=_outcome(c).icon,
            colour=inked(_outcome(c).colour),
            text=f"Cycle {c.number}",
            tip=visible(f"Cycle {c.number}, steps {c.first} to {c.seq}: {_outcome(c).word}"),
            state="now" if c.number == now else "done" if c.number < now else "later",
        )
        for c in whole.cycles
    ]
    strip.draw(
        stops,
        label=f"Cycles, {len(whole.cycles)} in all",
        key=session.CYCLES,
        on_pick=lambda: cursor.picked(session.CYCLES),
    )


def _outcome(cycle: CycleState) -> Sign:
    """How a cycle came out."""
    if cycle.refused is not None:
        return Sign(VERMILLION, "cancel", f"refused at the {cycle.refused.role}")
    if cycle.action is not None:
        return ACTIONS.get(cycle.action[1].outcome, PENDING)
    return Sign(GREY, "pending", "under way")


def _role(state: RoleState, cycle: CycleState, titles: Mapping[str, str], names: Names) -> str:
    title, symbol, letter = ROLES[state.role]
    verdict = VERDICTS.get(state.verdict, PENDING)
    judged = "under way" if state.proposal is not None and not state.verdict else None
    why = f' <span class="ri-dim">{isolated(state.reason)}</span>' if state.reason else ""
    if state.committed:
        foot = (
            f'<span title="{DIGESTS}">{icon("commit", GREEN, 1)} committed '
            f"{mono(state.before[:8])} → {mono(state.after[:8])}</span>"
        )
        if state.before == state.after:
            foot += ' <span class="ri-dim">as before</span>'
    elif state.verdict == "not_run":
        foot = "the staged state is as it was"
    elif state.verdict == "reject":
        foot = "nothing is committed; the cycle ends here"
    else:
        foot = ""
    reused = (
        f'<div class="ri-reused">{icon("inventory", GREEN, 1)} {isolated(state.reused)}</div>'
        if state.reused
        else ""
    )
    seq = f'<span class="ri-num ri-dim">step {state.seq}</span>' if state.seq >= 0 else ""
    field = f'<i title="{esc(LETTERS[letter])}">{letter}</i>'
    return (
        f'<section class="ri-role"><header>{icon(symbol)} <b>{title}</b> {field}'
        f"{chip(verdict, judged)}{seq}</header>{why}{reused}"
        f"{_proposal(state, cycle, titles, names)}"
        f'<footer class="ri-dim">{foot}</footer></section>'
    )


def _proposal(state: RoleState, cycle: CycleState, titles: Mapping[str, str], names: Names) -> str:
    value = state.proposal
    if value is None:
        return ""
    if state.role == "planner":
        facts = "".join(f"<li>{isolated(f)}</li>" for f in _texts(value.get("required_facts")))
        named = _texts(value.get("entities"))
        entities = " · ".join(f"<b>{isolated(e)}</b>" for e in named)
        note = str(value.get("note") or "")
        said = f'<div class="ri-dim">Revised for: {isolated(note)}</div>' if note else ""
        goal = isolated(value.get("objective") or "–")
        return f"<div>{goal}</div><ol>{facts}</ol><div>{entities}</div>{said}"
    if state.role == "navigator":
        return f"<div>{path_line(cycle, names)}</div>"
    if state.role == "retriever":
        ids = _ids(value)
        listed = "".join(f"<li>{isolated(titles.get(i, i))}</li>" for i in ids[:ITEMS])
        more = f"<li>and {len(ids) - ITEMS} more</li>" if len(ids) > ITEMS else ""
        region = len(cycle.path.region) if cycle.path else 0
        within = f'<div class="ri-dim">of the path\'s region of {region}</div>' if region else ""
        return f"<ul>{listed}{more}</ul>{within}"
    return _verdict(value, cycle)


def _verdict(value: Mapping[str, object], cycle: CycleState) -> str:
    word = str(value.get("verdict") or "–")
    sign = {"PASS": PASSED, "FAIL": REFUSED}.get(word, WARNING)
    measured = cycle.measured
    signals = ""
    if measured is not None:
        signals = " · ".join(
            f"{name} {number(getattr(measured, name), 2)}"
            for name in ("support", "gap", "conflict", "uncertainty")
            if getattr(measured, name) is not None
        )
    return (
        f"<div>{chip(sign, word)} {isolated(value.get('justification') or '')}</div>"
        f'<div class="ri-dim">{signals}</div>'
    )


def _texts(value: object) -> list[str]:
    return [str(v) for v in value[:ITEMS]] if isinstance(value, list) else []


def _ids(value: Mapping[str, object]) -> list[str]:
    items = value.get("items")
    if not isinstance(items, list):
        return []
    return [str(i.get("id")) for i in items if isinstance(i, dict)]


def path_line(cycle: CycleState, names: Names, limit: int = 200) -> str:
    """The proposed path in one line."""
    nodes = cycle.proposed
    kinds = dict(zip(nodes, cycle.types, strict=False))
    return " → ".join(
        f"{GLYPHS.get(kinds.get(n, ''), '')} "
        f"{isolated(brief(names.label(n, kinds.get(n, 'node')), limit))}"
        for n in nodes
    )


def _after(found: Lineage, now: CycleState) -> str:
    def line(sign: str, taken: tuple[int, Decided]) -> str:
        seq, event = taken
        said = esc(wording.reason(event.decider, event.reason))
        return f'<p>{sign} {said} <span class="ri-num ri-dim">step {seq}</span></p>'

    parts = []
    if now.action is not None:
        sign = ACTIONS.get(now.action[1].outcome, PENDING)
        parts.append(line(chip(sign, strong=True), now.action))
    if found.weighed is not None:
        sign = READ if found.weighed[1].outcome == "answer" else UNREAD
        parts.append(line(chip(sign), found.weighed))
    if found.admitted is not None:
        parts.append(line(chip(CHOSEN), found.admitted))
    return "".join(parts)


def side_by_side(cycles: Sequence[CycleState], titles: Mapping[str, str], names: Names) -> str:
    """A column for each cycle, a row for each part of the state; what a cycle changed is marked."""

    def cells(name: str, of: list[str]) -> list[str]:
        marked = [
            text if n == 0 or text == of[n - 1] else f'<div class="ri-changed">{text}</div>'
            for n, text in enumerate(of)
        ]
        return [f"<b>{esc(name)}</b>", *marked]

    rows = [
        cells("Outcome", [chip(_outcome(c)) for c in cycles]),
        cells("Asked", [isolated(shorten(c.query, 90)) or "the question" for c in cycles]),
        cells("Plan", [_plan(c) for c in cycles]),
        cells("Path", [path_line(c, names, 28) or "–" for c in cycles]),
        cells("Evidence", [_evidence(c, titles) for c in cycles]),
        cells("Verdict", [_judged(c) for c in cycles]),
    ]
    heads = ["", *(f"Cycle {c.number}" for c in cycles)]
    return f'<div class="ri-cycles">{table("Cycles side by side", heads, rows)}</div>'


def _plan(cycle: CycleState) -> str:
    facts = _texts((cycle.roles["planner"].proposal or {}).get("required_facts"))
    return "<br>".join(isolated(shorten(f, 90)) for f in facts) or "–"


def _evidence(cycle: CycleState, titles: Mapping[str, str]) -> str:
    ids = _ids(cycle.roles["retriever"].proposal or {})
    return "<br>".join(isolated(titles.get(i, i)) for i in ids[:ITEMS]) or "–"


def _judged(cycle: CycleState) -> str:
    state = cycle.roles["verifier"]
    if state.proposal is None:
        return esc(VERDICTS.get(state.verdict, PENDING).word)
    word = str(state.proposal.get("verdict") or "–")
    gap = cycle.measured
    figures = (
        f"<br>support {number(gap.support, 2)}, gap {number(gap.gap, 2)}" if gap is not None else ""
    )
    return f"{esc(word)}{figures}"
