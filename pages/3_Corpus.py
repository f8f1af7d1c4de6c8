"""Corpus: the documents that questions are asked over."""

from components import frame, guard, waiting

frame.head(
    "pages/3_Corpus.py",
    "The documents behind the answers: add them, look at their passages, search both channels.",
)


def body() -> None:
    """The page below its heading; heavier imports come only now."""
    with waiting.until(waiting.CORPUS, "corpus", once="corpus"):
        from components import corpus_view, workspace

        work = workspace.bench()
    corpus_view.draw(work.library, work.journal)
    workspace.warm()


guard.page(body)
