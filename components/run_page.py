"""The run page: a run if the URL names one, else the box to start one."""

from __future__ import annotations

import streamlit as st

from components import composer, launch, run_view, session, settings_panel, waiting, warm
from components.frame import RUN
from components.jobs import phase_text
from components.markup import chip
from components.notices import empty, error
from components.palette import TERMINALS
from components.run_store import store
from components.safe import isolated, shorten, visible
from components.workspace import bench
from core import registry
from core.errors import BadInput
from core.wiring import Workbench

SOON = 0.4
"""Seconds in which a run over a warm corpus is ready: its first step is shown at once."""
AT_ONCE = 0.25
"""Seconds within which a run that is over is shown whole, rather than twice."""
EVERY = 0.3
"""Seconds between two looks at a run that is being prepared."""


def draw() -> None:
    """Show what the URL asks for."""
    work, run_id = bench(), session.param(session.P_RUN)
    if not run_id:
        _new(work)
        return
    preparing = launch.launcher().get(work.workspace, run_id)
    if preparing is not None:
        waits = not preparing.done.wait(SOON)
        if waits or (preparing.problem and not _recorded(work, run_id)):
            st.fragment(_preparing, run_every=None if preparing.problem else EVERY)(preparing)
            return
        launch.launcher().forget(run_id)
        if preparing.problem:  # it could not go on; what it did before is there
            error(preparing.problem)
        else:
            launch.launcher().pool.wait(run_id, AT_ONCE)
    try:
        work.journal.run(run_id)
        with waiting.until(waiting.RUN, "steps", once=run_id):
            store().steps(work.journal, run_id)
    except BadInput:
        error(
            f"There is no run “{visible(shorten(run_id, 40))}” here: it belongs to another "
            "workspace or was deleted for good. The Runs page lists those that are here; or ask "
            "anew below."
        )
        _new(work)
        return
    run_view.draw(work.journal, run_id)


def _recorded(work: Workbench, run_id: str) -> bool:
    try:
        work.journal.run(run_id)
    except BadInput:
        return False
    return True


def _new(work: Workbench) -> None:
    corpora = work.library.list()
    composer.prepare(corpora)
    system = registry.system(session.get(session.SYSTEM))
    settings_panel.follow_url(system)
    with st.container(key="ri_new"):
        left, right = st.columns([1.7, 1], gap="large")
    with left:
        _box(work, "new")
        empty(
            "play_circle",
            "No run on this page yet",
            "Ask, and watch each step: what was searched, believed, decided, and why.",
        )
    with right:
        st.subheader("Settings", anchor=False)
        settings_panel.draw(registry.system(session.get(session.SYSTEM)))
    session.show(
        **{
            session.P_CORPUS: session.get(session.CORPUS),
            session.P_SYSTEM: session.get(session.SYSTEM),
            session.P_QUESTION: session.get(session.QUESTION) or None,
        }
    )
    warm.draw()


def _box(work: Workbench, key: str) -> None:
    if composer.draw(work.library, work.journal, key=key):
        system = registry.system(session.get(session.SYSTEM))
        start(work, system.name)


def start(work: Workbench, system: str) -> None:
    """Begin the run that the box describes, and open it."""
    chosen = settings_panel.current(registry.system(system))
    try:
        run_id = launch.launcher().start(
            work,
            session.get(session.CORPUS),
            system,
            session.get(session.QUESTION, ""),
            chosen,
            composer.reader(),
        )
    except BadInput as problem:
        error(problem.message)
        return
    launch.go_to(run_id)


def _preparing(preparing: launch.Launch) -> None:
    """Before the first step: what is being prepared, and how long it may take."""
    if preparing.done.is_set() and not preparing.problem:
        st.rerun()
    left, right = st.columns([2, 1], gap="medium")
    byline = "" if preparing.progress else "The first run after a start takes a few seconds longer."
    sign = "" if preparing.problem else chip(TERMINALS["running"], preparing.what, strong=True)
    left.html(
        f'<div class="ri-question" dir="auto">{isolated(preparing.question)}</div>'
        f'<div class="ri-outcome">{sign}</div><div class="ri-byline">{byline if sign else ""}</div>'
    )
    if preparing.problem:
        error(preparing.problem)
        st.page_link(RUN, label="Ask again", icon=":material/replay:", query_params=session.link())
        return
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            "Stopping" if preparing.stopping else "Stop run",
            icon=":material/stop:",
            key="prepare_stop",
            type="primary",
            shortcut="Alt+S",
            disabled=preparing.stopping,
            on_click=launch.stop,
            args=(preparing.run_id,),
        )
    if preparing.progress is not None:
        share, text = phase_text(preparing.progress)
        st.progress(share, text=text)
    waiting.draw(waiting.BELOW_HEAD, "prepare")
