"""Home: what this is, ask a question, go on with a recent run."""

from components import frame, guard, waiting

frame.head(
    "app.py",
    "See adaptive RAG think: ask a question over your documents and watch every search, belief and "
    "decision as it happens. Then move the thresholds and see where the decisions flip.",
    heading="RAG Inspector",
)


def body() -> None:
    """The page below its heading; heavier imports come only now."""
    with waiting.until(waiting.ASK, "home", once="home"):
        from components import home, workspace

        workspace.bench()
    home.draw()
    workspace.warm()


guard.page(body)
