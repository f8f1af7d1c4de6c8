"""Runs: the journal of this workspace."""

from components import frame, guard, waiting

frame.head(
    "pages/2_Runs.py",
    "Every run that was made here: find, open, judge, export, import and delete.",
)


def body() -> None:
    """The page below its heading; heavier imports come only now."""
    with waiting.until(waiting.LIST, "runs", once="runs"):
        from components import runs_exchange, runs_list, workspace

        work = workspace.bench()
    runs_list.undo(work.journal)
    runs_list.said()
    runs_exchange.draw(work.journal)
    runs_list.draw(work.journal, work.library.list())


guard.page(body)
