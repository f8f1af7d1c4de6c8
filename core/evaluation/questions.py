"""Question files: HotpotQA and MuSiQue JSON, NQ-oracle JSON lines, and our own JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.errors import BadInput, Terminal
from core.narration import plain
from core.types import Frozen, Passage, digest


class GoldQuote(Frozen):
    """A passage is gold if it is of this document and holds the quote."""

    document: str
    quote: str


class Question(Frozen):
    """A question with what a right run of it looks like.

    ``gold`` are passage ids where the file brings its passages; ``gold_quotes`` name documents
    of a corpus otherwise. None of these ever reaches a reasoner or the memory pool. ``corpus`` is
    the one that the question is about, where the file says so.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    gold: frozenset[str] = frozenset()
    gold_quotes: tuple[GoldQuote, ...] = ()
    type: str = ""
    hops: int | None = None
    expected_terminal: Terminal | None = None
    tenant: str | None = None
    corpus: str | None = None
    settings: dict[str, Any] = {}  # noqa: RUF012


class QuestionSet(Frozen):
    """The questions of a file and the pool of its passages (empty: a corpus is needed)."""

    questions: tuple[Question, ...]
    passages: tuple[Passage, ...] = ()


def of_corpus(
    questions: Sequence[Question], corpus: str | None
) -> tuple[tuple[Question, ...], str | None]:
    """The questions that are asked over a corpus, and the corpus that they are asked over.

    With ``corpus``, those that name it; all where none does. Without, all questions over the one
    corpus that each names; None where none names any.

    Raises:
        BadInput: no corpus is given, and they name several, or only some name one.
    """
    named = dict.fromkeys(q.corpus for q in questions)
    if corpus is not None:
        return tuple(q for q in questions if corpus not in named or q.corpus == corpus), corpus
    if len(named) > 1:
        known = ", ".join(name for name in named if name is not None)
        some = "some of the questions name no corpus, others " if None in named else ""
        raise BadInput(
            f"The questions are about several corpora ({some}{known}); give one of them with "
            "--corpus, and those about it are asked."
        )
    return tuple(questions), next(iter(named), None)


def pooled_passage(title: str, text: str) -> Passage:
    """A passage of a question file; its id derives from title and text, so duplicates merge."""
    key = digest([title, text])
    return Passage(
        id=key,
        document=title,
        title=title,
        text=text,
        start=0,
        end=len(text),
        digest=key,
        line_end=text.count("\n") + 1,
    )


def load_questions(path: Path) -> QuestionSet:
    """Read a question file; its format is told from its content.

    Raises:
        BadInput: no such file, or a line or item that is none of the formats; names it.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadInput(f"The question file {plain(path.name, 80)} cannot be read: {why}.") from None
    items = _items(text, path.name)
    if not items:
        raise BadInput(f"The question file {path.name} holds no question.")
    pool: dict[str, Passage] = {}
    questions = []
    for number, item in enumerate(items, 1):
        try:
            questions.append(_question(item, number, pool))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            why = _why(error)
            raise BadInput(
                f"Item {number} of {path.name} is none of the known question formats ({why})."
            ) from None
    ids = [q.id for q in questions]
    if len(set(ids)) != len(ids):
        twice = next(i for i in ids if ids.count(i) > 1)
        raise BadInput(f"The question file {path.name} has the id {twice!r} twice.")
    return QuestionSet(questions=tuple(questions), passages=tuple(pool.values()))


def _why(error: Exception) -> str:
    """What is wrong with an item, in one line."""
    if isinstance(error, KeyError):
        return f"there is no {error}"
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return plain(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", 200)
    return plain(str(error), 200)


def _items(text: str, name: str) -> list[dict[str, Any]]:
    if text.lstrip().startswith("["):
        try:
            items = json.loads(text)
        except RecursionError:
            raise BadInput(f"The question file {name} is nested too deeply.") from None
        except ValueError as error:
            raise BadInput(f"The question file {name} is not valid JSON: {error}.") from None
    else:
        items = []
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                items.append(json.loads(line))
            except RecursionError:
                raise BadInput(f"Line {number} of {name} is nested too deeply.") from None
            except ValueError as error:
                raise BadInput(f"Line {number} of {name} is not valid JSON: {error}.") from None
    for number, item in enumerate(items, 1):
        if not isinstance(item, dict):
            raise BadInput(f"Item {number} of {name} is not an object.")
    return list(items)


def _question(item: dict[str, Any], number: int, pool: dict[str, Passage]) -> Question:
    if "supporting_facts" in item:
        return _hotpotqa(item, pool)
    if "paragraphs" in item:
        return _musique(item, pool)
    if "ctxs" in item:
        return _nq(item, number, pool)
    return Question(
        id=str(item["id"]),
        question=str(item["question"]),
        answers=_answers(item.get("answers", ())),
        gold_quotes=tuple(GoldQuote.model_validate(g) for g in item.get("gold", ())),
        type=str(item.get("type", "")),
        hops=item.get("hops"),
        expected_terminal=item.get("expected_terminal"),
        tenant=item.get("tenant"),
        corpus=item.get("corpus"),
        settings=item.get("settings", {}),
    )


def _answers(told: Any) -> tuple[str, ...]:
    """A list of answers; a text alone is none, or each of its letters would be one."""
    if not isinstance(told, (list, tuple)):
        raise ValueError("answers are a list")
    return tuple(str(a) for a in told)


def _hotpotqa(item: dict[str, Any], pool: dict[str, Passage]) -> Question:
    named = {title for title, _ in item["supporting_facts"]}
    gold = set()
    for title, sentences in item["context"]:
        passage = _pool(pool, title, "".join(sentences))
        if title in named:
            gold.add(passage.id)
    return Question(
        id=str(item["_id"]),
        question=item["question"],
        answers=(item["answer"],),
        gold=frozenset(gold),
        type=item.get("type", ""),
        hops=2,
    )


def _musique(item: dict[str, Any], pool: dict[str, Passage]) -> Question:
    gold = set()
    for paragraph in item["paragraphs"]:
        passage = _pool(pool, paragraph["title"], paragraph["paragraph_text"])
        if paragraph["is_supporting"]:
            gold.add(passage.id)
    hops = len(item.get("question_decomposition", ())) or None
    return Question(
        id=str(item["id"]),
        question=item["question"],
        answers=_unique([item["answer"], *_answers(item.get("answer_aliases", ()))]),
        gold=frozenset(gold),
        type=str(item["id"]).split("__")[0],
        hops=hops,
    )


def _nq(item: dict[str, Any], number: int, pool: dict[str, Passage]) -> Question:
    gold = set()
    for ctx in item["ctxs"]:
        passage = _pool(pool, ctx["title"], ctx["text"])
        if ctx["isgold"]:
            gold.add(passage.id)
    return Question(
        id=str(item.get("id") or f"nq-{digest(item['question'])}-{number}"),
        question=item["question"],
        answers=_unique(_answers(item["answers"])),
        gold=frozenset(gold),
        type="single",
        hops=1,
    )


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _pool(pool: dict[str, Passage], title: str, text: str) -> Passage:
    passage = pooled_passage(title, text)
    return pool.setdefault(passage.id, passage)
