"""The sample corpora are consistent with their questions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import snowballstemmer
import yaml

ROOT = Path(__file__).resolve().parents[2] / "sample_corpora"
CORPORA = sorted(path.parent for path in ROOT.glob("*/questions.jsonl"))
FIELDS = {"id", "question", "answers", "gold", "type", "hops", "expected_terminal"}
TERMINALS = {"answered", "abstained", "conflict", "needs_clarification", "budget_exhausted"}
WRITTEN_ARTICLES = ("film_night", "music_labels")
STOP_WORDS = {"who", "is", "the", "of", "in"}

_stemmer = snowballstemmer.stemmer("english")


def split_document(path: Path) -> tuple[dict, str]:
    """Front matter and body of a Markdown document."""
    text = path.read_text(encoding="utf-8")
    match = re.match(r"---\n(.*?)\n---\n(.*)\Z", text, flags=re.DOTALL)
    if not match:
        return {}, text
    return yaml.safe_load(match.group(1)) or {}, match.group(2)


def load_questions(corpus: Path) -> list[dict]:
    lines = (corpus / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def load_documents(corpus: Path) -> dict[str, tuple[dict, str]]:
    return {
        path.relative_to(corpus).as_posix(): split_document(path)
        for path in sorted((corpus / "docs").rglob("*.md"))
    }


def sections(body: str) -> list[str]:
    """The body cut at its headings, each heading with the text under it."""
    return [part for part in re.split(r"(?m)^(?=#{1,6} )", body) if part.strip()]


def stems(text: str) -> set[str]:
    words = re.findall(r"[^\W_]+", text.lower())
    return {_stemmer.stemWord(word) for word in words if word not in STOP_WORDS}


def mentions(text: str, phrase: str) -> bool:
    """Whether the phrase occurs in the text as whole words, in any case."""
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, flags=re.IGNORECASE) is not None


def test_there_are_corpora():
    assert {corpus.name for corpus in CORPORA} >= set(WRITTEN_ARTICLES)


@pytest.fixture(params=CORPORA, ids=lambda corpus: corpus.name)
def corpus(request) -> Path:
    return request.param


def test_ids_are_unique_and_fields_complete(corpus):
    questions = load_questions(corpus)
    ids = [question["id"] for question in questions]
    assert len(ids) == len(set(ids))
    texts = [
        (
            question["question"],
            question.get("tenant"),
            question.get("jurisdiction"),
            json.dumps(question.get("settings", {}), sort_keys=True),
        )
        for question in questions
    ]
    assert len(texts) == len(set(texts))
    for question in questions:
        assert question.keys() >= FIELDS, question["id"]
        assert question["expected_terminal"] in TERMINALS, question["id"]
        assert question["question"].strip() == question["question"] != "", question["id"]


def test_gold_quotes_are_in_their_documents(corpus):
    documents = load_documents(corpus)
    for question in load_questions(corpus):
        for gold in question["gold"]:
            assert gold["document"] in documents, (question["id"], gold["document"])
            assert gold["quote"], question["id"]
            assert gold["quote"] in documents[gold["document"]][1], (question["id"], gold["quote"])


def test_answered_questions_have_answers_and_gold(corpus):
    for question in load_questions(corpus):
        if question["expected_terminal"] == "answered":
            assert question["answers"], question["id"]
            assert all(answer.strip() for answer in question["answers"]), question["id"]
            assert question["gold"], question["id"]
        elif question["expected_terminal"] == "abstained":
            assert question["answers"] == [], question["id"]


def test_an_answer_occurs_in_some_document(corpus):
    bodies = [body.lower() for _, body in load_documents(corpus).values()]
    for question in load_questions(corpus):
        if not question["answers"] or question["type"] == "yesno":
            continue
        if {answer.lower() for answer in question["answers"]} <= {"yes", "no"}:
            continue
        found = any(answer.lower() in body for answer in question["answers"] for body in bodies)
        assert found, (question["id"], question["answers"])


def test_documents_have_a_title(corpus):
    documents = load_documents(corpus)
    assert documents
    for name, (front, body) in documents.items():
        assert str(front.get("title") or "").strip(), name
        assert body.strip(), name


@pytest.mark.parametrize("name", WRITTEN_ARTICLES)
def test_articles_keep_their_form(name):
    titles = []
    for document, (front, body) in load_documents(ROOT / name).items():
        assert front["source_tier"] in {"reference", "press", "community"}, document
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", str(front["date"])), document
        assert 90 <= len(body.split()) <= 260, (document, len(body.split()))
        titles.append(front["title"])
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize("name", WRITTEN_ARTICLES)
def test_an_answer_is_in_the_gold_documents(name):
    documents = load_documents(ROOT / name)
    for question in load_questions(ROOT / name):
        if question["type"] in {"yesno", "unanswerable"}:
            continue
        text = " ".join(
            f"{documents[gold['document']][0]['title']} {documents[gold['document']][1]}"
            for gold in question["gold"]
        )
        assert any(mentions(text, answer) for answer in question["answers"]), question["id"]


@pytest.mark.parametrize("name", WRITTEN_ARTICLES)
def test_multi_hop_questions_hide_the_answer(name):
    for question in load_questions(ROOT / name):
        if question["type"] == "bridge":
            assert question["hops"] >= 2, question["id"]
            assert len(question["gold"]) >= question["hops"], question["id"]
            assert not any(
                mentions(question["question"], answer) for answer in question["answers"]
            ), question["id"]


def test_jarvis_answer_passage_shares_no_stem_with_the_question():
    corpus = ROOT / "film_night"
    first = load_questions(corpus)[0]
    assert first["id"] == "film-01"
    assert first["question"] == "Who is the spouse of the actor who plays Jarvis in Iron Man?"
    question_stems = stems(first["question"])
    assert question_stems == {"spous", "actor", "play", "jarvi", "iron", "man"}

    answer_gold = [gold for gold in first["gold"] if gold["document"] == "docs/Paul_Bettany.md"]
    assert len(answer_gold) == 1
    front, body = split_document(corpus / answer_gold[0]["document"])
    holding = [part for part in sections(body) if answer_gold[0]["quote"] in part]
    assert len(holding) == 1
    passage = holding[0]
    assert passage.startswith("## ")
    assert len(passage.split()) <= 120
    assert "Jennifer Connelly" in passage
    assert not question_stems & stems(f"{front['title']} {passage}")
    assert "who" not in re.findall(r"\w+", passage.lower())


def test_jarvis_marriage_is_not_told_in_the_words_of_the_question():
    """No other section that names both partners and a marriage gives a shortcut to the answer."""
    corpus = ROOT / "film_night"
    question_stems = stems(load_questions(corpus)[0]["question"])
    marriage = stems("wed wedding marry married marriage wife husband spouse")
    for document, (front, body) in load_documents(corpus).items():
        for part in sections(body):
            text = f"{front['title']} {part}"
            if mentions(text, "Bettany") and mentions(text, "Connelly") and marriage & stems(text):
                shared = question_stems & stems(text)
                assert not shared, (document, shared)


def test_jarvis_bridge_is_stated_in_the_film_article():
    _, body = split_document(ROOT / "film_night" / "docs" / "Iron_Man.md")
    assert "Paul Bettany plays Jarvis" in body
    assert "Connelly" not in body


def test_private_music_article_names_the_drummer_and_not_the_band():
    documents = load_documents(ROOT / "music_labels")
    first = load_questions(ROOT / "music_labels")[0]
    assert first["id"] == "music-01"
    assert [gold["document"] for gold in first["gold"]] == [
        "docs/Private_Music.md",
        "docs/Ringo_Starr.md",
    ]
    label = documents["docs/Private_Music.md"][1]
    assert "Ringo Starr" in label
    assert not mentions(label, "Beatles")
    assert mentions(documents["docs/Ringo_Starr.md"][1], "Beatles")
