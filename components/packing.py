"""The packing of the compose call: a segment for each passage, by the route on which it came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from components.ghosts import SIGN as GHOSTED
from components.ghosts import Ghosts
from components.markup import chip, icon, table
from components.notices import empty, notice
from components.palette import BLUE, GREY, OLIVE, SKY, VERMILLION, Sign
from components.safe import esc, isolated, plural
from core import contracts, wording
from core.decisions import Undetermined
from core.events import Composed, Decided, Route, Step, Trimmed
from core.settings import SystemSettings
from core.systems.ragx.packing import PACK, PackInputs, pack
from core.systems.ragx.settings import RagXSettings

ROUTES = {
    "read": Sign(BLUE, "menu_book", "read"),
    "hop": Sign(SKY, "link", "resolved a hop"),
    "surfaced": Sign(OLIVE, "sort", "surfaced"),
    "backfill": Sign(GREY, "playlist_add", "backfill"),
}
OTHER = Sign(GREY, "help", "another route")
MEANING = {
    "read": "The agent read it whole.",
    "hop": "One of the two top passages of a hop.",
    "surfaced": "Listed by a search, not read; ranked against the question.",
    "backfill": "From the question's own top passages.",
}
REASONS = {
    "extra_cap": "over the cap on extra passages",
    "reader_window": "trimmed for the reader window",
    "context_window": "trimmed for the context window",
    "token_budget": "trimmed for the token budget",
}
ROWS = 200
OVERHEAD = "instructions, question, reply"


@dataclass(frozen=True, slots=True)
class Packed:
    """What a compose call holds. ``tokens`` by passage, empty where they were not recorded;
    ``overhead`` are those of the call without passages, ``limit`` what it may hold."""

    seq: int
    passages: tuple[Route, ...]
    trimmed: tuple[Trimmed, ...]
    tokens: Mapping[str, int]
    overhead: int
    limit: int | None
    hint: str = ""

    @property
    def total(self) -> int:
        """Tokens of the whole call."""
        return self.overhead + sum(self.tokens.get(p.id, 0) for p in self.passages)

    def sums(self) -> dict[str, tuple[int, int]]:
        """Passages and tokens by route, in packing order."""
        count = Counter(p.route for p in self.passages)
        tokens: Counter[str] = Counter()
        for p in self.passages:
            tokens[p.route] += self.tokens.get(p.id, 0)
        order = [*ROUTES, *(r for r in count if r not in ROUTES)]
        return {r: (count[r], tokens[r]) for r in order if count[r]}


def packed(steps: Sequence[Step]) -> tuple[Packed, PackInputs | None] | None:
    """The packing in these steps with what it was decided from; None where there is none."""
    composed: tuple[int, Composed] | None = None
    decided: Decided | None = None
    for step in reversed(steps):
        if isinstance(step.event, Composed) and composed is None:
            composed = step.seq, step.event
        elif isinstance(step.event, Decided) and step.event.decider == PACK.name:
            decided = step.event
            break
        elif composed is not None and step.stage != "compose":
            break
    if composed is None:
        return None
    seq, event = composed
    if decided is None:
        return Packed(seq, event.passages, event.trimmed, {}, 0, None, event.hint), None
    inputs = contracts.decision_inputs(decided)
    assert isinstance(inputs, PackInputs)
    limit = next((int(g.threshold) for g in decided.gates if g.name == "tokens"), None)
    found = Packed(
        seq, event.passages, event.trimmed, inputs.tokens, inputs.overhead, limit, event.hint
    )
    return found, inputs


def redecided(inputs: PackInputs, settings: SystemSettings) -> Packed | str:
    """The packing under other settings, or in words why it cannot be told."""
    if not isinstance(settings, RagXSettings):
        return "These settings are of another system."
    decision = PACK.decide(inputs, settings)
    if isinstance(decision, Undetermined):
        return f"Undetermined under the settings now: it needs {decision.missing}."
    new = pack(inputs, settings)
    limit = next(int(g.threshold) for g in decision.gates if g.name == "tokens")
    return Packed(-1, new.passages, new.trimmed, inputs.tokens, inputs.overhead, limit)


def draw(
    steps: Sequence[Step],
    titles: Mapping[str, str],
    ghost: Ghosts,
    settings: SystemSettings,
    cited: frozenset[str],
) -> None:
    """Show the packing that these steps hold; with changed settings the re-decided one under it."""
    found = packed(steps)
    if found is None:
        empty("inventory_2", "Nothing is composed yet", "One call over both routes ends the run.")
        return
    now, inputs = found
    st.html(bar(now, titles, "Packing of the compose call"))
    if ghost.report is not None and inputs is not None:
        other = redecided(inputs, settings)
        if isinstance(other, str):
            notice(other, GHOSTED)
        elif (other.passages, other.trimmed) != (now.passages, now.trimmed):
            st.html(
                f'<div class="ri-ghosted-box">{chip(GHOSTED, "packed under the settings now")}'
                f"{bar(other, titles, 'Packing under the settings now')}</div>"
            )
    hint = f'<p class="ri-dim">Hint of its kind: {isolated(now.hint)}</p>' if now.hint else ""
    st.html(f"{hint}{_cut(now, titles)}{_held(now, titles, cited)}")


def bar(now: Packed, titles: Mapping[str, str], label: str) -> str:
    """One segment a passage, as wide as its tokens; then the legend with counts and shares."""
    total = now.total or max(1, len(now.passages))
    pieces = []
    for place, p in enumerate(now.passages, 1):
        size = now.tokens.get(p.id, 0) if now.tokens else 1
        sign = ROUTES.get(p.route, OTHER)
        tip = f"{place}. {titles.get(p.id, p.id)}: {sign.word}, {size:,} tokens"
        pieces.append(
            f'<i class="ri-route-{esc(p.route)}" style="flex:{size} 1 0;--c:{sign.colour}" '
            f'title="{esc(tip)}"></i>'
        )
    if now.overhead:
        tip = f"{OVERHEAD}: {now.overhead:,} tokens"
        pieces.append(
            f'<i class="ri-route-overhead" style="flex:{now.overhead} 1 0" title="{esc(tip)}"></i>'
        )
    sums = now.sums()
    words = [f"{sums[r][0]} {ROUTES.get(r, OTHER).word}" for r in sums]
    alt = f"{label}: {', '.join(words) or 'nothing'}; {now.total:,} tokens"
    legend = "".join(
        f'<span title="{esc(MEANING.get(r, ""))}"><i class="ri-key ri-route-{esc(r)}" '
        f'style="--c:{ROUTES.get(r, OTHER).colour}"></i><b>{count}</b> '
        f"{esc(ROUTES[r].word if r in ROUTES else r)}"
        + (f", {tokens:,} tokens, {tokens / total:.0%}" if now.tokens else "")
        + "</span>"
        for r, (count, tokens) in sums.items()
    )
    if now.overhead:
        legend += (
            f'<span><i class="ri-key ri-route-overhead"></i>{OVERHEAD}, {now.overhead:,} tokens, '
            f"{now.overhead / total:.0%}</span>"
        )
    return (
        f'<div class="ri-packing" role="img" aria-label="{esc(alt)}">{"".join(pieces)}</div>'
        f'<div class="ri-legend ri-tabular">{legend}</div>{_room(now)}'
    )


def _room(now: Packed) -> str:
    """How full the call is, and how much it went without."""
    parts = [f"<b>{plural(len(now.passages), 'passage')}</b>"]
    if now.tokens:
        of = f" of {now.limit:,} ({now.total / now.limit:.0%})" if now.limit else ""
        parts.append(f"{now.total:,}{of} tokens")
    cap = sum(t.reason == "extra_cap" for t in now.trimmed)
    parts.append(
        f"{icon('content_cut', VERMILLION, 1)} {wording.left_out(cap, len(now.trimmed) - cap)}"
        if now.trimmed
        else "none left out"
    )
    return f'<p class="ri-tabular">{" · ".join(parts)}</p>'


def _cut(now: Packed, titles: Mapping[str, str]) -> str:
    if not now.trimmed:
        return ""
    rows = [
        [
            isolated(titles.get(t.id, t.id)),
            chip(ROUTES.get(t.route, OTHER), None if t.route in ROUTES else t.route),
            _tokens(now, t.id),
            esc(REASONS.get(t.reason, t.reason.replace("_", " "))),
        ]
        for t in now.trimmed
    ]
    heads = ["Left out", "Route", "Tokens", "Why"]
    return table("Passages that were left out", heads, rows[:ROWS], (2,)) + _more(len(rows))


def _held(now: Packed, titles: Mapping[str, str], cited: frozenset[str]) -> str:
    total = now.total or 1
    rows = [
        [
            str(place),
            isolated(titles.get(p.id, p.id))
            + (' <span class="ri-mark">cited</span>' if p.id in cited else ""),
            chip(ROUTES.get(p.route, OTHER), None if p.route in ROUTES else p.route),
            _tokens(now, p.id),
            f'<span class="ri-num">{now.tokens[p.id] / total:.1%}</span>'
            if p.id in now.tokens
            else "–",
        ]
        for place, p in enumerate(now.passages, 1)
    ]
    heads = ["#", "Passage", "Route", "Tokens", "Share"]
    return table("Composed passages in order", heads, rows[:ROWS], (0, 3, 4)) + _more(len(rows))


def _tokens(now: Packed, key: str) -> str:
    return f'<span class="ri-num">{now.tokens[key]:,}</span>' if key in now.tokens else "–"


def _more(rows: int) -> str:
    return f'<p class="ri-dim">The first {ROWS} of {rows:,}.</p>' if rows > ROWS else ""
