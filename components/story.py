"""A run in plain words: the lines of the timeline, and the whole as a numbered story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from components.budget_meters import amount
from components.event_signs import MINOR, sign
from components.markup import icon
from components.palette import inked
from components.safe import esc, plural, visible
from core.events import RunFinished, Step
from core.narration import narrate

PAGE = 200
"""Lines on one page of the timeline."""


def stops(steps: Sequence[Step], every: bool) -> list[Step]:
    """The steps with a line of their own: all, or all but the ports' bookkeeping."""
    return [s for s in steps if every or s.event.kind not in MINOR]


def window(shown: Sequence[Step], cursor: int) -> tuple[int, Sequence[Step]]:
    """The page of lines that holds the cursor, and how many lines come before it."""
    place = max(0, sum(s.seq <= cursor for s in shown) - 1)
    first = place // PAGE * PAGE
    return first, shown[first : first + PAGE]


def lines(
    page: Sequence[Step],
    before: Step | None,
    titles: Mapping[str, str],
    stages: Mapping[str, str],
    unknown_from: int | None = None,
    flags: Mapping[int, str] | None = None,
    *,
    guess: bool = False,
) -> list[dict[str, Any]]:
    """What the timeline shows for each step: words, icon, stage, time and what it cost.

    Time and cost run from the line before, so that nothing falls between lines. Steps from
    ``unknown_from`` on are greyed; ``flags`` are lines above a step; ``guess``: the answer is only
    a best guess.
    """
    found, previous = [], before
    for step in page:
        name, colour = sign(step.event, guess=guess)
        unknown = unknown_from is not None and step.seq >= unknown_from
        found.append(
            {
                "seq": step.seq,
                "icon": name,
                "colour": inked(colour),
                "text": visible(narrate(step, titles)),
                "meta": [stages.get(step.stage, step.stage), *_spent(step, previous)],
                "unknown": unknown,
                "flag": (flags or {}).get(step.seq),
            }
        )
        previous = step
    return found


def _spent(step: Step, before: Step | None) -> list[str]:
    since = before.elapsed_ms if before else 0.0
    parts = [f"+{(step.elapsed_ms - since) / 1000:.2f} s"]
    if before:
        tokens = step.usage.tokens - before.usage.tokens
        cost = step.usage.cost - before.usage.cost
        parts += [f"+{tokens:,} tokens"] * bool(tokens)
        parts += [f"+{amount('cost', cost)}"] * bool(cost)
    return parts


def count(total: int, shown: int, first: int, on_page: int) -> str:
    """How much of the run the timeline holds, in words."""
    steps = plural(total, "step")
    text = steps if shown == total else f"{shown:,} of {steps}"
    if on_page < shown:
        text += f", lines {first + 1:,} to {first + on_page:,}"
    return text


def narration(
    page: Sequence[Step], cursor: int, titles: Mapping[str, str], *, guess: bool = False
) -> str:
    """The story so far as a list; the selected step is marked, or the last line before it.
    ``guess`` as for ``lines``."""
    items = []
    marked = max((step.seq for step in page if step.seq <= cursor), default=None)
    for step in page:
        name, colour = sign(step.event, guess=guess)
        here = ' class="ri-is-current" aria-current="step"' if step.seq == marked else ""
        strong = isinstance(step.event, RunFinished)
        words = esc(narrate(step, titles))
        items.append(
            f"<li{here}><span>{step.seq}</span>{icon(name, colour)}"
            f"<span dir=auto>{f'<b>{words}</b>' if strong else words}</span></li>"
        )
    return f'<ol class="ri-story">{"".join(items)}</ol>'
