"""Run: one question answered by one system, step by step, live or recorded."""

from components import frame, guard

frame.head(
    "pages/1_Run.py",
    "One question, answered step by step: what was searched, believed and decided, and why.",
)


def body() -> None:
    """The page below its heading; heavier imports come only now."""
    from components import run_page, workspace

    run_page.draw()
    workspace.warm()


guard.page(body)
