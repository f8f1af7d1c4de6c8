"""Run: one question answered by one system, step by step, live or recorded."""

from components import frame, guard, session, waiting

frame.head(
    "pages/1_Run.py",
    "One question, answered step by step: what was searched, believed and decided, and why.",
)


def body() -> None:
    """The page below its heading; heavier imports come only now."""
    with waiting.until(
        waiting.RUN if session.param(session.P_RUN) else waiting.ASK, "run", once="run"
    ):
        from components import run_page, workspace

        workspace.bench()
    run_page.draw()
    workspace.warm()


guard.page(body)
