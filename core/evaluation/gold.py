"""Which passages of a corpus are gold for a question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from core.errors import BadInput
from core.evaluation.metrics import Gold
from core.evaluation.questions import GoldQuote, Question
from core.types import Passage


def resolve_gold(questions: Iterable[Question], passages: Sequence[Passage]) -> dict[str, Gold]:
    """The gold facts of each question, by question id.

    An id of ``Question.gold`` is a fact of its own. A quote is one fact, borne out by every
    passage of its document that holds it (white space aside); one that a chunk boundary cuts
    is as many facts as the chunks that share it.

    Raises:
        BadInput: an id or a quote that the corpus does not hold; names the question.
    """
    known = {p.id for p in passages}
    documents: Mapping[str, list[Passage]] = _by_document(passages)
    found: dict[str, Gold] = {}
    for question in questions:
        for passage_id in sorted(question.gold - known):
            raise BadInput(
                f"Question {question.id!r} has the gold passage {passage_id!r}, which this corpus "
                "does not hold; evaluate on the corpus that the question file belongs to."
            )
        facts = [frozenset({i}) for i in sorted(question.gold)]
        for quote in question.gold_quotes:
            facts.extend(_facts(question.id, quote, documents))
        found[question.id] = tuple(dict.fromkeys(facts))
    return found


def _by_document(passages: Sequence[Passage]) -> dict[str, list[Passage]]:
    documents: defaultdict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        documents[passage.document].append(passage)
    return {name: sorted(ps, key=lambda p: p.start) for name, ps in documents.items()}


def _facts(
    question_id: str, quote: GoldQuote, documents: Mapping[str, list[Passage]]
) -> list[frozenset[str]]:
    name = _document(quote.document, documents)
    if name is None:
        raise BadInput(
            f"Question {question_id!r} has gold in the document {quote.document!r}, "
            "which this corpus does not hold; index it, or correct the question file."
        )
    passages = documents[name]
    wanted = _plain(quote.quote)
    holders = frozenset(p.id for p in passages if wanted in _plain(p.text))
    if wanted and holders:
        return [holders]
    for size in range(2, len(passages) + 1):
        for first in range(len(passages) - size + 1):
            run = passages[first : first + size]
            if wanted and wanted in _plain(" ".join(p.text for p in run)):
                return [frozenset({p.id}) for p in run]
    raise BadInput(
        f"Question {question_id!r} has a gold quote that {quote.document!r} does not hold: "
        f"{quote.quote[:80]!r}; correct the question file."
    )


def _document(name: str, documents: Mapping[str, list[Passage]]) -> str | None:
    if name in documents:
        return name
    near = [d for d in documents if d.endswith("/" + name) or name.endswith("/" + d)]
    return near[0] if len(near) == 1 else None


def _plain(text: str) -> str:
    return " ".join(text.split())
