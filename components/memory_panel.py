"""The shared memory pool of a run: every operation, what was reused, and who may do what."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components import paging, session
from components.cycles import Lineage
from components.markup import chip, icon, mono, table
from components.notices import done, empty, error
from components.palette import GREEN, GREY, REFUSED, Sign
from components.safe import esc, isolated, plural
from core import wording
from core.errors import JournalError
from core.events import MemoryOp
from core.memory import Artifact, GlobalStore, Holding
from core.systems.staterag.memory import PERMISSIONS

ROWS = 15
ALLOWED = Sign(GREEN, "check_circle", "applied")
SNAPSHOT = (
    "Digest of what the memory held when the run began. With an equal one, the same seed gives the "
    "same run."
)
MODES = {
    "shared": Sign(GREEN, "group", "shared with earlier questions"),
    "isolated": Sign(GREY, "person", "isolated: of this run alone"),
    "off": Sign(GREY, "power_off", "off"),
}


def draw(found: Lineage, mode: str, digest: str) -> None:
    """Show the pool as it stands; ``digest`` is that of the snapshot the run started from."""
    kept = chip(MODES.get(mode, MODES["off"]))
    st.html(
        f'<div class="ri-outcome">{kept}<span class="ri-dim" title="{esc(SNAPSHOT)}">at the start '
        f"{mono(digest)}</span></div>"
    )
    if mode == "off":
        empty("power_off", "Memory is off", "The setting “Memory” turns it on for the next run.")
        return
    operations = found.operations
    if not operations:
        empty("inventory_2", "No operation yet", "Roles write and read typed artifacts here.")
        return
    st.html(_reuse(operations, mode))
    rows = paging.page(
        operations[::-1],
        ROWS,
        key=session.MEMORY_PAGE,
        noun="operation",
        order="newest first",
        always=True,
    )
    st.html(listing(rows))


def reused(operations: Sequence[tuple[int, int, MemoryOp]]) -> list[tuple[int, MemoryOp]]:
    """Reads from the global store that were applied: what earlier questions saved this one."""
    return [
        (seq, op)
        for seq, _, op in operations
        if op.operation == "read" and op.allowed and op.scope.startswith("global")
    ]


def _reuse(operations: Sequence[tuple[int, int, MemoryOp]], mode: str) -> str:
    refused = sum(not op.allowed for _, _, op in operations)
    counts = f"{plural(len(operations), 'operation')}, {refused} refused"
    found = reused(operations)
    if not found:
        why = "" if mode == "shared" else " This pool knows no earlier question."
        return (
            f'<p class="ri-tabular">{counts}. Nothing of an earlier question was reused.{why}</p>'
        )
    items = "".join(
        f"<li>{icon('inventory', GREEN, 1)} <b>{esc(op.artifact.partition(':')[0])}</b> "
        f'{isolated(op.reason)} <span class="ri-num ri-dim">step {seq}</span></li>'
        for seq, op in found
    )
    return (
        f'<p class="ri-tabular">{counts}. <b>{len(found)} reused:</b></p>'
        f'<ul class="ri-reuse">{items}</ul>'
    )


def listing(rows: Sequence[tuple[int, int, MemoryOp]]) -> str:
    """Operations as a table."""
    cells = [
        [
            f'<span class="ri-num">{seq}</span>',
            f"{isolated(op.role)} <b>{isolated(op.operation)}</b> {artifact(op.artifact)}"
            + (f'<br><span class="ri-dim">cycle {cycle}</span>' if cycle else ""),
            f'<span title="{esc(op.scope)}">{isolated(wording.store(op.scope, op.role))}</span>',
            f'{chip(ALLOWED if op.allowed else REFUSED)}<br><span class="ri-dim">'
            f"{isolated(wording.REASONS.get(op.reason, op.reason))}</span>",
        ]
        for seq, cycle, op in rows
    ]
    heads = ["Step", "Operation", "Store", "Verdict and reason"]
    return table("Operations on the memory pool", heads, cells, (0,))


def artifact(key: str) -> str:
    """An artifact's id, its kind and the first characters of its digest shown."""
    kind, _, rest = key.partition(":")
    short = f"{kind}:{rest[:6]}" if rest else kind
    return f'<span title="{esc(key)}">{mono(short)}</span>'


def permissions() -> str:
    """Who may do what, as a table: whatever is not in it is refused."""
    cells = [
        [
            esc(rule.actor),
            esc(rule.operation),
            esc(rule.store),
            "its own" if rule.ownership == "own" else "any role's",
            esc(", ".join(sorted(rule.kinds))) or "none",
        ]
        for rule in PERMISSIONS
    ]
    return table(
        "Permissions of the memory pool", ["Role", "May", "In the store", "Of", "Kinds"], cells
    )


def store(pool: GlobalStore, corpus: str, *, key: str) -> None:
    """What the workspace keeps of earlier questions over a corpus, and a button to forget it."""
    said = session.take(f"{session.POOL_NOTICE}:{key}")
    if said:
        (error if said[0] == "error" else done)(said[1])
    try:
        holdings = [h for h in pool.holdings() if h.scope.corpus == corpus]
    except JournalError as problem:
        error(problem.message)
        return
    if not holdings:
        empty(
            "inventory_2",
            "Nothing is kept",
            "A StateRAG run with memory “shared” that ends in PASS keeps what it found here.",
        )
        return
    for place, holding in enumerate(holdings):
        _holding(pool, holding, f"{key}:{place}", notice=key)


def _holding(pool: GlobalStore, holding: Holding, key: str, *, notice: str) -> None:
    scope = holding.scope
    words, action = st.columns([4, 1], vertical_alignment="center")
    words.html(
        f'<div class="ri-byline ri-tabular"><span>{plural(holding.entries, "artifact")} of '
        f"{pool.max_entries:,}</span><span>{holding.bytes / 1000:.1f} of "
        f"{pool.max_bytes / 1000:,.0f} kB</span><span>version {mono(scope.version[:12])}</span>"
        f"<span>access {mono(scope.tenant)}</span></div>"
    )
    with action, st.popover("Clear", icon=":material/delete:", key=f"pool_clear:{key}"):
        st.caption(
            "Later runs will not find these artifacts. Runs that used them stay as they are."
        )
        st.button(
            "Clear them",
            key=f"pool_clear_yes:{key}",
            type="primary",
            on_click=_clear,
            args=(pool, holding, notice),
        )
    try:
        artifacts = pool.artifacts(scope)
    except JournalError as problem:
        error(problem.message)
        return
    rows = paging.page(artifacts, ROWS, key=f"{session.POOL_PAGE}:{key}", noun="artifact")
    st.html(kept(rows))


def _clear(pool: GlobalStore, holding: Holding, notice: str) -> None:
    try:
        gone = pool.clear(holding.scope)
    except JournalError as problem:
        session.put(f"{session.POOL_NOTICE}:{notice}", ("error", problem.message))
        return
    session.put(f"{session.POOL_NOTICE}:{notice}", ("done", f"{plural(gone, 'artifact')} cleared."))


def kept(rows: Sequence[Artifact]) -> str:
    """Artifacts of the global store as a table."""
    cells = [
        [
            esc(a.payload.kind),
            isolated(a.question),
            f'<span class="ri-num">{a.cycles}</span>',
            f'<span class="ri-num">{a.tokens:,}</span>',
            artifact(a.id),
        ]
        for a in rows
    ]
    heads = ["Kind", "Made for", "Cycle", "Tokens", "Artifact"]
    return table("Artifacts that are kept", heads, cells, (2, 3))
