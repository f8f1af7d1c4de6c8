"""A run on the page: question and outcome, timeline, the system's picture, the selected step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components import (
    belief_view,
    cursor,
    evidence,
    ghosts,
    launch,
    paging,
    player,
    prompts,
    run_head,
    session,
    settings_panel,
    stages,
    step_detail,
    story,
    suspense,
    system_views,
    timeline,
)
from components.budget_meters import meters, refused
from components.gates import ledger, outcome
from components.ghosts import Ghosts
from components.notices import empty, notice
from components.run_store import store
from components.safe import esc
from core import contracts, endings, registry, trace
from core.errors import BadInput
from core.events import BeliefUpdated, Decided, ModelCalled, RunStarted, Step
from core.journal import Journal, RunRecord
from core.registry import System
from core.settings import SystemSettings

EVERY = 0.2
"""Seconds between two looks at what a running run has written."""
TICK = 1.0
"""Seconds after which a running run is drawn again though it wrote nothing: its clock goes on."""
QUICK = 10.0
"""A run of fewer seconds is offered to be watched from its start."""
GATES = 20
"""Decisions on one page of the gate ledger."""
HEIGHT = 400
"""Least height of a panel; the style sheet lets panels fill the window."""


@dataclass(frozen=True, slots=True)
class Shown:
    """All that the panels of a run need: read once a rerun."""

    steps: Sequence[Step]
    """The whole run; while its end is hidden, no more than ``upto``."""
    kinds: frozenset[type]
    upto: Sequence[Step]
    cursor: int
    system: System
    started: RunStarted
    recorded: SystemSettings
    settings: SystemSettings
    ghost: Ghosts
    titles: dict[str, str]
    secret: bool = False
    """Whether the end is hidden."""


def draw(journal: Journal, run_id: str) -> None:
    """Show a run of this workspace; a running one is watched until it ends.

    Raises:
        BadInput: there is no such run here.
    """
    live = journal.run(run_id).status == "running"
    st.fragment(_body)(journal, run_id, live)
    if live:
        st.fragment(_watch, run_every=EVERY)(journal, run_id)


def _watch(journal: Journal, run_id: str) -> None:
    """Draw the page again once it has something to show: further steps, another state, or a second
    gone by. Until then what is on it is left alone."""
    drawn, when = session.get(session.DRAWN, (0, 0.0))
    steps, record = _read(journal, run_id)
    if (
        _gone_on(journal, record, live=True)
        or len(steps) != drawn
        or time.monotonic() - when >= TICK
    ):
        st.rerun(scope="app")


def _read(journal: Journal, run_id: str) -> tuple[list[Step], RunRecord]:
    """The run as it is. Where it was deleted for good while it was open, the page is drawn anew
    and says so."""
    try:
        return store().steps(journal, run_id), journal.run(run_id)
    except BadInput:
        st.rerun(scope="app")


def _body(journal: Journal, run_id: str, live: bool) -> None:
    steps, record = _read(journal, run_id)
    if _gone_on(journal, record, live):
        st.rerun(scope="app")
    session.put(session.DRAWN, (len(steps), time.monotonic()))
    started = trace.start(steps)
    system, recorded = registry.system(started.system), contracts.run_settings(started)
    settings_panel.follow_run(system, run_id, recorded)
    last = steps[-1].seq
    at = cursor.place(run_id, last)
    settings = settings_panel.current(system)
    secret = suspense.holds(at, last, live)
    upto = steps[: at + 1]
    shown = Shown(
        steps=upto if secret else steps,
        kinds=frozenset(type(s.event) for s in steps),
        upto=upto,
        cursor=at,
        system=system,
        started=started,
        recorded=recorded,
        settings=settings,
        ghost=ghosts.NONE if live else ghosts.redecide(journal, run_id, steps, recorded, settings),
        titles=trace.titles(steps),
        secret=secret,
    )
    run_head.draw(journal, record, steps, settings, secret=secret)
    hidden = session.hidden()
    if not {"meters", "stages"} <= hidden:
        _strip(shown, hidden)
    stops = story.stops(steps, bool(session.get(session.EVERY_STEP)))
    numbers = [s.seq for s in stops]
    place = cursor.bar(numbers, last, live)
    _divergence(journal, record, shown)
    with st.container(key="ri_bench"):
        widths = {"timeline": 1.02, "picture": 1.72, "rail": 0.95}
        if {"settings", "detail"} <= hidden:
            widths.pop("rail")
        if "timeline" in hidden:
            widths.pop("timeline")
        columns = dict(zip(widths, st.columns(list(widths.values()), gap="medium"), strict=True))
    if "timeline" in columns:
        with columns["timeline"], st.container(key="ri_timeline"):
            _timeline(shown, [s for s in stops if not secret or s.seq <= at])
    if "rail" in columns:
        with columns["rail"]:
            _rail(shown, hidden)
    with columns["picture"]:  # its charts take longest
        _picture(shown)
    if not live:  # last: the player goes on once all of a step is on the page
        with place:
            player.draw(numbers, at, on_pick=lambda: suspense.played(numbers[0], at))


def _gone_on(journal: Journal, record: RunRecord, live: bool) -> bool:
    """Whether the page as a whole has something else to show than this run as it was: another run
    is in the URL, this one is prepared to go on, or it started or ended meanwhile."""
    return (
        session.param(session.P_RUN) != record.run_id
        or launch.launcher().get(journal.workspace, record.run_id) is not None
        or (record.status == "running") != live
    )


def _strip(shown: Shown, hidden: frozenset[str]) -> None:
    with st.container(key="ri_strip"):
        left, right = st.columns([1, 2.6], gap="medium", vertical_alignment="center")
    if "meters" not in hidden:
        with left:
            budgets = shown.started.budgets
            over = refused(shown.upto, shown.system, budgets)
            st.html(meters(trace.usage_at(shown.steps, shown.cursor), budgets, over))
    if "stages" not in hidden:
        with right, st.container(key="ri_stages"):
            stages.draw(
                shown.system,
                shown.upto,
                key=session.STAGES,
                on_pick=lambda: cursor.picked(session.STAGES),
            )


def _divergence(journal: Journal, record: RunRecord, shown: Shown) -> None:
    """What the settings now change. Its place is kept where nothing is changed yet, and of one
    height: a slider that is being moved keeps its focus and stays under the pointer."""
    ghost = shown.ghost
    with st.container(key="ri_turn"):
        if shown.secret:
            suspense.draw()
            return
        if ghost.report is None:
            _rest(shown, live=record.status == "running")
            return
        titles = [str(type(shown.settings).model_fields[n].title) for n in ghost.changed]
        what = ", ".join(titles[:3]) + (f" and {len(titles) - 3} more" if len(titles) > 3 else "")
        text = f"Under the settings now ({what} changed): {ghost.summary()}"
        words, action = st.columns([2.5, 1.2], vertical_alignment="center")
        with words:
            notice(" ".join([text, *ghost.notes]), ghosts.SIGN)
        turn = ghost.turn(shown.steps)
        if turn is None:
            return
        with action, st.container(horizontal=True, gap="small", horizontal_alignment="right"):
            st.button(
                f"Show step {turn}",
                icon=":material/my_location:",
                key="run_turn",
                on_click=cursor.move,
                args=(turn,),
                help="Select the first step that comes out otherwise, or may.",
            )
            st.button(
                f"Go on from step {turn}",
                icon=":material/fork_right:",
                key="run_fork",
                on_click=launch.fork,
                args=(journal.workspace, record, shown.steps, turn - 1, shown.settings),
                help=f"A new run: up to step {turn - 1} as recorded, from step {turn} on live "
                "under the settings now.",
            )


def _rest(shown: Shown, *, live: bool) -> None:
    """Under the settings as recorded: how to change them; and of a run that was over before one
    could look, how to see it go."""
    words = ghosts.LIVE if live else ghosts.REST
    last = shown.steps[-1]
    quick = last.elapsed_ms < QUICK * 1000 and len(shown.steps) > 1
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        if quick and not live and shown.cursor == last.seq:
            st.button(
                "Watch it from the start",
                icon=":material/slideshow:",
                key="run_watch",
                on_click=_watch_it,
                help=f"It took {last.elapsed_ms / 1000:.1f} s. Step by step, at the speed beside "
                "Play.",
            )
        st.html(f'<div class="ri-turn-rest">{esc(words)}</div>')


def _watch_it() -> None:
    cursor.move(0)
    session.hide_end(True)
    player.begin()


def _timeline(shown: Shown, stops: Sequence[Step]) -> None:
    first, page = story.window(stops, shown.cursor)
    ghost, flags = shown.ghost, {}
    for seq, words in (
        (ghost.greyed_from, "Unknown under the settings now"),
        (ghost.diverges, "First divergence under the settings now"),
    ):
        line = next((s.seq for s in stops if seq is not None and s.seq >= seq), None)
        if line is not None:
            ends = ghost.report is not None and ghost.report.ends_as is not None
            flags[line] = (
                "Would not happen under the settings now"
                if ends and seq != ghost.diverges
                else words
            )
    timeline.draw(
        story.lines(
            page,
            stops[first - 1] if first else None,
            shown.titles,
            {s.name: s.title for s in shown.system.stages},
            ghost.greyed_from,
            flags,
            guess=bool(endings.guess_of(shown.steps)),
        ),
        max((s.seq for s in page if s.seq <= shown.cursor), default=page[0].seq),
        count=story.count(len(shown.steps), len(stops), first, len(page)),
        key=session.TIMELINE,
        on_pick=lambda: cursor.picked(session.TIMELINE),
    )


VIEWS = {
    "belief": ("Belief", "psychology"),
    **{name: (view.title, view.icon) for name, view in system_views.VIEWS.items()},
    "gates": ("Gates", "bolt"),
    "evidence": ("Evidence", "article"),
    "answer": ("Answer", "verified"),
    "story": ("Story", "format_list_numbered"),
    "prompts": ("Prompts", "forum"),
}


def _views(shown: Shown) -> list[str]:
    needs = {"belief": BeliefUpdated, "gates": Decided, "prompts": ModelCalled}
    own = system_views.of(shown.system)
    return [
        v
        for v in VIEWS
        if (v in own if v in system_views.VIEWS else v not in needs or needs[v] in shown.kinds)
    ]


def _picture(shown: Shown) -> None:
    views = _views(shown)
    if session.get(session.VIEW) not in views:
        given = session.param(session.P_VIEW)
        session.put(session.VIEW, given if given in views else views[0])
    view = st.segmented_control(
        "View",
        views,
        key=session.VIEW,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
        format_func=lambda name: (
            f":material/{VIEWS[name][1]}: {VIEWS[name][0]}" if len(views) < 7 else VIEWS[name][0]
        ),
    )
    session.show(**{session.P_VIEW: None if view == views[0] else view})
    with st.container(height=HEIGHT, border=False, key=f"ri_picture_{view}"):
        if view == "belief":
            belief_view.draw(
                shown.steps,
                shown.cursor,
                shown.ghost.readings,
                key="belief",
                on_point=lambda: cursor.pointed(session.HISTORY),
                settings=shown.settings if shown.ghost.changed else None,
            )
        elif view == "gates":
            _gates(shown)
        elif view == "evidence":
            evidence.draw(shown.upto, key=session.EVIDENCE_PAGE)
        elif view in system_views.VIEWS:
            system_views.VIEWS[view].draw(shown)
        elif view == "answer":
            system_views.answered(shown)
        elif view == "prompts":
            prompts.draw(shown.upto, key=session.PROMPTS_PAGE)
        else:
            stops = story.stops(shown.upto, bool(session.get(session.EVERY_STEP)))
            first, page = story.window(stops, shown.cursor)
            if len(page) < len(stops):
                st.caption(story.count(shown.cursor + 1, len(stops), first, len(page)))
            guess = bool(endings.guess_of(shown.steps))
            st.html(story.narration(page, shown.cursor, shown.titles, guess=guess))


def _gates(shown: Shown) -> None:
    decided = [s for s in shown.upto if isinstance(s.event, Decided)]
    if not decided:
        empty("bolt", "No decision yet", "Gates appear with the first decision.")
        return
    shown_now = paging.page(
        decided[::-1], GATES, key=session.GATES_PAGE, noun="decision", order="newest first"
    )
    for step in shown_now:
        ghost = shown.ghost.decisions.get(step.seq)
        st.html(f'<div class="ri-decision">{outcome(step, ghost)}</div>{ledger(step, ghost)}')


def _rail(shown: Shown, hidden: frozenset[str]) -> None:
    choices = [c for c in ("detail", "settings") if c not in hidden]
    session.first(session.RAIL, choices[0])
    titles = {"detail": ":material/info: Step", "settings": ":material/tune: Settings"}
    rail = st.segmented_control(
        "Beside it",
        choices,
        key=session.RAIL,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
        format_func=lambda name: titles[name],
    )
    with st.container(height=HEIGHT, border=False, key=f"ri_rail_{rail}"):
        if rail == "settings":
            settings_panel.draw(shown.system, shown.recorded)
        else:
            stage_titles = {s.name: s.title for s in shown.system.stages}
            step_detail.draw(
                shown.steps[shown.cursor],
                shown.titles,
                stage_titles,
                guess=endings.guess_of(shown.steps),
            )
