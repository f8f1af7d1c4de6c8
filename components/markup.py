"""Small pieces of escaped HTML that every page is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from components.palette import Sign, inked
from components.safe import esc, isolated, marked

_HEADING = re.compile(r"^(#{1,6} )((?:[^<\n]|<mark>[^<\n]*</mark>)+)$", re.MULTILINE)


def icon(name: str, colour: str = "currentColor", size: float = 1.15) -> str:
    """A Material Symbols icon; it is decoration, the word stands beside it."""
    look = f"color:{inked(colour)};font-size:{size}rem"
    return f'<span class="ri-icon" aria-hidden="true" style="{look}">{esc(name)}</span>'


def chip(sign: Sign, text: str | None = None, *, strong: bool = False) -> str:
    """Icon and word in the colour of a meaning."""
    kind = "ri-chip ri-strong" if strong else "ri-chip"
    return (
        f'<span class="{kind}" style="--c:{sign.colour}">{icon(sign.icon, sign.colour)}'
        f"<span>{esc(sign.word if text is None else text)}</span></span>"
    )


def number(value: float | None, digits: int = 3) -> str:
    """A number in tabular figures, with a true minus sign; a dash where there is none."""
    if value is None:
        return '<span class="ri-num ri-dim">–</span>'
    return f'<span class="ri-num">{figure(value, digits)}</span>'


def figure(value: float, digits: int = 3) -> str:
    """The same as plain text."""
    text = f"{value:.{digits}f}" if isinstance(value, float) else str(value)
    return text.replace("-", "−")


def mono(text: object) -> str:
    """An id or a query in monospace."""
    return f'<code class="ri-mono">{isolated(text)}</code>'


def passage(text: str, spans: Iterable[tuple[int, int]] = ()) -> str:
    """A passage in the reading face, its spans marked; a heading stands out from its marks."""
    shown = _HEADING.sub(r'<span class="ri-hash">\1</span><b>\2</b>', marked(text, spans))
    return f'<div class="ri-passage" dir="auto">{shown}</div>'


def table(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Iterable[int] = ()
) -> str:
    """A table of cells that are HTML already; ``numeric`` columns are set to the right.

    A row of one cell more than there are heads has that cell below it, over the whole width.
    ``caption`` describes the table for screen readers and is not shown.
    """
    right, width = frozenset(numeric), len(heads)

    def row(tag: str, cells: Sequence[str]) -> str:
        inner = "".join(
            f"<{tag}{' class=ri-right' if i in right else ''}>{c}</{tag}>"
            for i, c in enumerate(cells[:width])
        )
        under = "".join(
            '<tr><td class="ri-under"></td>'
            f'<td class="ri-under" colspan="{width - 1}">{c}</td></tr>'
            for c in cells[width:]
        )
        return f"<tr>{inner}</tr>{under}"

    body = "".join(row("td", cells) for cells in rows)
    head = row("th", [_head(h) for h in heads])
    return (
        f'<div class="ri-scroll" tabindex="0"><table class="ri-table">'
        f'<caption class="ri-sr">{esc(caption)}</caption>'
        f"<thead>{head}</thead><tbody>{body}</tbody></table></div>"
    )


TIPS = {
    "Rank": "Place in the newest search that found it, from 1.",
    "Calibrated": "sigmoid((score - location) / scale) with the channel's own fitted location and "
    "scale: 0.5 is a typical good match in this corpus.",
    "BM25": "Sum over shared terms of rarity times saturating frequency; 0 and up, k1 0.9, b 0.4.",
    "Dense": "Cosine of the query's and the passage's vectors, -1 to 1.",
    "Score": "In the channel's own scale; fused: sum of 1/(60 + rank) over both channels.",
    "Round": "How many edges below the root, from 1.",
    "From": "The node that the beam held.",
    "To": "The node below it. Only ROOT to TOPIC, TOPIC to TOPIC or RELATION, RELATION to RELATION "
    "or EVIDENCE may be followed.",
    "Words": "Share of the query's words that the node's text holds, rare ones counting more; "
    "0 to 1.",
    "Mixed": "What the beam ranks by: words and cosine, mixed by the setting “Dense share of the "
    "scorer”; 0 to 1.",
    "Margin": "How far the value is on the firing side of the threshold, in the value's unit; "
    "negative: how far it is from firing.",
    "Value": "What was compared, as it was recorded; point at the gate's name for what it is.",
    "Fires at": "The values at which the gate fires: its threshold and the side of it.",
    "Fired": "Whether the value was on the firing side when the decision was taken; “decided”: "
    "this gate chose the outcome.",
    "Measured now": "What the measured values say by themselves, put together into this "
    "dimension; the belief moves from before part of the way to it.",
    "Came": "The step that took it into the evidence, and why.",
    "Went": "The step that took it out, and why; a pruned passage never comes back.",
}
"""What the columns of tables mean, shown when a head is pointed at."""


def _head(name: str) -> str:
    return tipped(name, TIPS.get(name, ""))


def which(label: str, what: str) -> str:
    """A button's label with ``what`` it is of, which is heard and not seen: the row shows it. It is
    Markdown, so nothing of a document or a question may be in it."""
    return f"{label} :small[{what}]"


def tipped(name: str, tip: str) -> str:
    """A name that explains itself when it is pointed at; plain where there is nothing to say."""
    return f'<abbr title="{esc(tip)}">{esc(name)}</abbr>' if tip else esc(name)


def facts(pairs: Iterable[tuple[str, str] | tuple[str, str, str]]) -> str:
    """A definition list; values are HTML already. A third part explains the name."""
    inner = "".join(
        f"<dt>{tipped(name, ''.join(tip))}</dt><dd>{value}</dd>" for name, value, *tip in pairs
    )
    return f'<dl class="ri-facts">{inner}</dl>'
