"""Why, how to, how and what it means are answered by the clause that says so."""

import pytest

from core.reasoning.extractive.question import analyse
from core.reasoning.extractive.reading import answer
from core.reasoning.extractive.statements import MOST_WORDS, WHOLE, statement_asked, trimmed
from core.tasks import AnswerRequest
from tests.reasoning.bag_view import passage, view_of

KILN = passage(
    "Kiln 7",
    "# Kiln 7\n\n## Symptoms\n\nThe kiln stopped at night and the glaze of many cups cracked.\n\n"
    "## Cause\n\nA worn seal let cold air into the chamber.\n\n"
    "## Remedy\n\nReplace the seal of the door before the next firing.",
)
WORN = "A worn seal let cold air into the chamber"
RENEW = "Replace the seal of the door before the next firing"
FERRY = passage(
    "Ash ferry",
    "The Ash ferry was withdrawn because its boiler had burst. The Ash ferry was painted white so "
    "that it could be seen in fog. The crossing was renamed due to a request of the county. "
    "The crew was paid late, so nobody came to work on Monday. A ticket is bought from the driver.",
)
GATE = passage(
    "Gate unit",
    "The alarm of the gate unit can be silenced with the brass key. To open the gate, turn the "
    "wheel twice to the left. The gate unit must be greased every spring. It grew popular by "
    "selling spare parts cheaply.",
)
CODES = passage(
    "Signal list",
    "- Q-17: the drum has run dry.\n- Q-18: the belt has slipped off its wheel.\n\n"
    "The letters TBR stand for the belt reader. TBM stands for turning belt motor.",
)
EVERYTHING = (KILN, FERRY, GATE, CODES)


def ask(question, *passages):
    return answer(AnswerRequest(question=question, passages=passages), view_of(*EVERYTHING))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Why was the Ash ferry withdrawn?", "its boiler had burst"),
        ("Why was the Ash ferry painted white?", "it could be seen in fog"),
        ("What was the reason why the crossing was renamed?", "a request of the county"),
        ("Nobody came to work on Monday. Why?", "The crew was paid late"),
        ("The glaze cracks and the kiln stops. What is behind it?", WORN),
        ("What is the cause when a kiln stops at night?", WORN),
        ("How do we fix a kiln that stops at night?", RENEW),
        ("How can I silence the alarm of the gate unit?", "the brass key"),
        ("How do I open the gate?", "turn the wheel twice to the left"),
        ("How to open the gate", "turn the wheel twice to the left"),
        ("How did it become popular?", "by selling spare parts cheaply"),
        ("What is the meaning of code Q-17?", "the drum has run dry"),
        ("What does Q-18 mean?", "the belt has slipped off its wheel"),
        ("What does TBM stand for?", "turning belt motor"),
    ],
)  # fmt: skip
def test_the_clause_that_says_so_answers(question, expected):
    assert ask(question, *EVERYTHING).answer == expected


def test_a_clause_stands_where_it_was_read():
    reading = ask("Why was the Ash ferry withdrawn?", FERRY, GATE)
    (support,) = reading.supports
    assert support.passage_id == FERRY.id
    assert FERRY.text[support.start : support.end] == reading.answer


def test_a_sentence_for_want_of_a_clause_claims_little():
    plain = passage("Moth", "The moth left the lamp at dawn.")
    reading = answer(
        AnswerRequest(question="Why did the moth leave?", passages=(plain,)), view_of(plain)
    )
    assert reading.answer == "The moth left the lamp at dawn"
    assert reading.confidence == WHOLE


def test_nothing_but_headings_states_no_cause():
    bare = passage("", "# Causes of trouble\n\n## Trouble")
    reading = answer(
        AnswerRequest(question="Why is there trouble?", passages=(bare,)), view_of(bare)
    )
    assert (reading.answer, reading.confidence) == ("", 0.0)


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Why is it wet?", "why"),
        ("It is wet. What causes this?", "why"),
        ("What makes the road so wet?", "why"),
        ("What caused the fall of the town?", None),
        ("How do you dry it?", "how_to"),
        ("What should we do when it is wet?", "how_to"),
        ("How did the town fall?", "how"),
        ("How many towns fell?", None),
        ("How long did it take?", None),
        ("How to Row, printed in which year, is a book by Una Pell", None),
        ("Who sang Why Is It Wet?", None),
        ("Which command dries it?", None),
        ("Is it wet?", None),
    ],
)
def test_which_clause_a_question_asks_for(question, asks):
    assert statement_asked(question, analyse(question)) == asks


@pytest.mark.parametrize("words", [5, 29, 30, 31, 90])
@pytest.mark.parametrize("every", [4, 12, 200])
def test_an_answer_is_short_and_ends_at_a_clause(words, every):
    text = " ".join(f"word{',' if i % every == every - 1 else ''}" for i in range(words)) + "."
    start, end = trimmed(text, 0, len(text))
    kept = text[start:end]
    assert len(kept.split()) == min(words, MOST_WORDS) or text[end] == ","
    assert len(kept.split()) <= MOST_WORDS
    assert kept[-1] not in ".,"
