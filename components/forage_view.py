"""The forage transcript: turn by turn what the agent did, what it saw, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from components import cursor, session, strip
from components.markup import chip, icon, mono, number, table
from components.notices import empty
from components.palette import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PENDING,
    REFUSED,
    VERMILLION,
    WARNING,
    Sign,
    inked,
)
from components.safe import esc, isolated, plural, shorten, visible
from core.events import Called, EvidenceChanged, ForageTurn, Hit, Retrieved, Step, Warned
from core.fencing import OPEN, unfence
from core.narration import TROUBLE
from core.observations import Listed, read_observation
from core.systems.ragx.handles import displayed
from core.types import Passage

PAGE = 40
"""Turns shown at once, the newest ones up to the cursor."""
ROWS = 60
"""Listed rows shown of a turn."""
CHANNELS = (("reranked", "Cross-encoder", 2), ("lexical", "BM25", 2), ("dense", "Dense", 3))
"""Scores of a listed passage, those it may have been put in order by first, and their digits."""

ACTIONS = {
    "RANK": Sign(BLUE, "sort", "Rank"),
    "READ": Sign(GREEN, "menu_book", "Read"),
    "SEARCH": Sign(BLUE, "manage_search", "Search lines"),
    "ANSWER": Sign(GREEN, "edit_note", "Draft"),
}
NO_ACTION = Sign(VERMILLION, "help", "No action")
UNDER_WAY = Sign(GREY, "hourglass_top", "Under way")
STOPPED = Sign(ORANGE, "stop_circle", "Not finished")
REPEATED = Sign(ORANGE, "repeat", "repeated: the turn is used, nothing is listed again")
_AS_WRITTEN = frozenset({"malformed", "empty_argument", "disallowed"})


@dataclass(slots=True)
class Turn:
    """One turn: from ``first``, its first step, to ``seq``, its last one so far.

    ``event`` is None while it is under way, and for good where the loop was stopped in it.
    ``wrote`` is the agent's reply; ``hits`` what its search returned; ``read`` the passage it got.
    """

    number: int
    first: int
    seq: int
    event: ForageTurn | None = None
    wrote: str = ""
    query: str = ""
    hits: tuple[Hit, ...] = ()
    read: str = ""
    tokens: int = 0
    ms: float = 0.0
    warning: str = ""

    @property
    def sign(self) -> Sign:
        """Icon and word of the action."""
        if self.event is None:
            return STOPPED if self.warning else UNDER_WAY
        return ACTIONS.get(self.event.action, NO_ACTION)

    @property
    def repeated(self) -> bool:
        """Whether it asked for what it had asked for before."""
        return self.event is not None and (self.event.error or "").startswith("repeated")


def turns(steps: Iterable[Step]) -> list[Turn]:
    """The turns in these steps, the last one perhaps under way."""
    found: list[Turn] = []
    now: Turn | None = None
    for step in steps:
        event = step.event
        if isinstance(event, Called) and event.task == "forage_turn":
            if now is None:
                now = Turn(number=len(found) + 1, first=step.seq, seq=step.seq)
                found.append(now)
            now.wrote = _reply(event)
            now.tokens += event.tokens_in + event.tokens_out
        if now is None or step.stage != "forage":
            continue
        now.seq = step.seq
        if isinstance(event, Called):
            now.ms += event.ms
        elif isinstance(event, Retrieved):
            now.query, now.hits = event.query, event.passages
        elif isinstance(event, EvidenceChanged) and event.added:
            now.read = event.added[-1]
        elif isinstance(event, Warned):
            now.warning = event.effect
        elif isinstance(event, ForageTurn):
            now.event, now.number = event, event.turn
            now = None
    return found


def _reply(event: Called) -> str:
    text = event.response.get("text") if isinstance(event.response, dict) else None
    return text if isinstance(text, str) else event.error or ""


def at(found: Sequence[Turn], seq: int) -> int:
    """The place of the turn that a step belongs to: the last one that has begun; -1 before all."""
    return max((n for n, t in enumerate(found) if t.first <= seq), default=-1)


def draw(steps: Sequence[Step], seq: int, known: Mapping[str, Passage], limit: int) -> None:
    """Show the transcript as it stood at step ``seq`` of all ``steps``.

    ``known`` are the passages shown up to there, ``limit`` the turns allowed.
    """
    everything = turns(steps)
    here = at(everything, seq)
    if here < 0:
        empty("steps", "No turn yet", f"The agent has {plural(limit, 'turn')}, one action each.")
        return
    past = turns(steps[: seq + 1])
    first = max(0, here + 1 - PAGE)
    _strip(everything, here, first, limit)
    if first:
        st.caption(f"Turns {first + 1:,} to {here + 1:,} of {len(everything):,}")
    before = _first_listed(past)
    cards = [_card(turn, known, before, opened=turn is past[-1]) for turn in reversed(past[first:])]
    st.html("".join(cards))


def _strip(everything: Sequence[Turn], here: int, first: int, limit: int) -> None:
    stops = []
    for place, turn in list(enumerate(everything))[first : first + PAGE]:
        wrong = turn.event is not None and turn.event.error is not None
        sign = REPEATED if turn.repeated else turn.sign
        done = turn.event.argument if turn.event else turn.wrote
        stops.append(
            strip.Stop(
                seq=turn.seq,
                icon="error" if wrong and not turn.repeated else sign.icon,
                colour=inked(VERMILLION if wrong and not turn.repeated else sign.colour),
                text=str(turn.number),
                tip=visible(f"Turn {turn.number}, {turn.sign.word.lower()}: {shorten(done, 90)}"),
                state="now" if place == here else "done" if place < here else "later",
            )
        )
    strip.draw(
        stops,
        label=f"Forage turns, {len(everything)} taken of {limit}",
        key=session.FORAGE,
        on_pick=lambda: cursor.picked(session.FORAGE),
    )


def _first_listed(found: Iterable[Turn]) -> dict[str, tuple[int, int | None]]:
    """By handle, the turn that first listed it, and the one that read it."""
    seen: dict[str, tuple[int, int | None]] = {}
    for turn in found:
        if turn.event is None:
            continue
        shown = read_observation(turn.event.observation)
        for row in (*shown.ranked, *shown.matched):
            seen.setdefault(row.handle, (turn.number, None))
        if shown.printed is not None:
            listed = seen.get(shown.printed.handle, (turn.number, None))[0]
            seen[shown.printed.handle] = (listed, turn.number)
    return seen


def _card(
    turn: Turn,
    known: Mapping[str, Passage],
    listed: Mapping[str, tuple[int, int | None]],
    *,
    opened: bool,
) -> str:
    event = turn.event
    sign = turn.sign
    argument = event.argument if event else turn.query
    head = (
        f'<summary><b class="ri-num">Turn {turn.number}</b>{chip(sign)}'
        f"{mono(argument) if argument else ''}{_trouble(turn)}</summary>"
    )
    meta = f"steps {turn.first} to {turn.seq} · {turn.ms:.0f} ms · {turn.tokens:,} tokens"
    body = _body(turn, known, listed)
    here = " ri-is-now" if opened else ""
    return (
        f'<details class="ri-turn{here}"{" open" if opened else ""}>{head}'
        f'<div class="ri-byline ri-tabular"><span>{meta}</span>{_fenced(event)}</div>{body}'
        "</details>"
    )


def _trouble(turn: Turn) -> str:
    if turn.event is None or turn.event.error is None:
        return ""
    if turn.repeated:
        return chip(REPEATED, "repeated")
    return chip(REFUSED, TROUBLE.get(turn.event.error, turn.event.error.replace("_", " ")))


def _fenced(event: ForageTurn | None) -> str:
    if event is None:
        return ""
    if event.observation.startswith(OPEN):
        return f"<span>{icon('shield', size=1)} given to the agent as untrusted data</span>"
    return f"<span>{icon('remove_moderator', ORANGE, 1)} not fenced</span>"


def _body(
    turn: Turn, known: Mapping[str, Passage], listed: Mapping[str, tuple[int, int | None]]
) -> str:
    event = turn.event
    if event is None:
        if turn.warning:
            return f"<p>{chip(WARNING)} {isolated(turn.warning)}</p>"
        what = f"It searches for {mono(turn.query)}" if turn.query else "The agent has been asked"
        return f"<p>{chip(PENDING, 'under way')} {what}.</p>"
    shown = read_observation(event.observation)
    parts = []
    if event.error in _AS_WRITTEN and turn.wrote:
        parts.append(
            f'<h4>What the agent wrote</h4><div class="ri-raw">{isolated(turn.wrote)}</div>'
        )
    if turn.repeated:
        parts.append(f"<p>{chip(REPEATED)}</p>")
    if shown.ranked:
        parts.append(_ranking(turn, shown.ranked, known, listed))
    elif shown.matched:
        parts.append(_matches(shown.matched))
    elif shown.printed is not None:
        parts.append(_printed(unfence(event.observation)))
    elif event.action == "ANSWER" and event.error is None:
        parts.append(f'<div class="ri-answer" dir="auto">{isolated(event.argument)}</div>')
    else:
        parts.append(f'<p class="ri-dim">Told: {isolated(shown.message)}</p>')
    return "".join(parts)


def _ranking(
    turn: Turn,
    rows: Sequence[Listed],
    known: Mapping[str, Passage],
    listed: Mapping[str, tuple[int, int | None]],
) -> str:
    scores = _scores(turn.hits, rows, known)
    channels = [
        (name, head, digits)
        for name, head, digits in CHANNELS
        if any(getattr(hit, name) is not None for hit in scores.values())
    ]
    cells = []
    for rank, row in enumerate(rows[:ROWS], 1):
        hit = scores.get(row.handle)
        first, read = listed.get(row.handle, (turn.number, None))
        news = "new" if first == turn.number else f"listed in turn {first}"
        was = f" · read in turn {read}" if read is not None else ""
        cells.append(
            [
                str(rank),
                f"{isolated(row.label)} {mono(row.handle)}",
                *(number(getattr(hit, n) if hit else None, digits) for n, _, digits in channels),
                f'<span class="ri-dim">{news}{was}</span>',
            ]
        )
    heads = ["#", "Passage", *(head for _, head, _ in channels), "Before"]
    right = (0, *range(2, 2 + len(channels)))
    return table(f"Ranking of turn {turn.number}", heads, cells, right) + _cut(rows)


def _scores(
    hits: Sequence[Hit], rows: Sequence[Listed], known: Mapping[str, Passage]
) -> dict[str, Hit]:
    """The hits by the handle under which they were listed: path and line, and where two share
    them, in the order in which they came."""
    named: dict[str, list[Hit]] = {}
    for hit in hits:
        passage = known.get(hit.id)
        if passage is not None:
            base = f"{displayed(passage.document)}:{passage.line_start}"
            named.setdefault(base, []).append(hit)
    found = {}
    for row in rows:
        base, mark, digits = row.handle.rpartition("#")
        if row.handle in named:
            base = row.handle
        elif not (mark and digits.isdecimal()):
            continue
        if named.get(base):
            found[row.handle] = named[base].pop(0)
    return found


def _matches(rows: Sequence[Listed]) -> str:
    cells = [[mono(r.handle), f'<span class="ri-line">{isolated(r.label)}</span>'] for r in rows]
    return table("Lines found", ["Passage", "Line"], cells[:ROWS]) + _cut(rows)


def _cut(rows: Sequence[Listed]) -> str:
    return f'<p class="ri-dim">The first {ROWS} of {len(rows):,}.</p>' if len(rows) > ROWS else ""


def _printed(observation: str) -> str:
    """A passage as it was printed: every line beside its number in the document."""
    _, named, *lines = observation.split("\n")
    handle, _, title = named.partition("\t")
    rows = []
    for line in lines:
        count, _, text = line.partition(": ")
        rows.append(
            f"<li><span>{esc(count.rstrip(':'))}</span><div dir=auto>{esc(text)}</div></li>"
        )
    return (
        f'<div class="ri-title">{isolated(title)} {mono(handle)}</div>'
        f'<ol class="ri-lines" tabindex="0">{"".join(rows)}</ol>'
    )
