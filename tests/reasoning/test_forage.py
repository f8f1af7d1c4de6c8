"""The forager by rules: what it does next, from nothing but the transcript."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.fencing import fence
from core.observations import ACTIONS, Listed, write_passage, write_ranking
from core.reasoning.extractive import forage
from core.reasoning.extractive.case import CaseBook
from core.reasoning.extractive.forage import forage_turn
from core.tasks import ForageEntry, ForageRequest
from tests.reasoning.bag_view import passage, view_of

TEXTS = {
    "Iron Man": "Iron Man is a film of 2008. Paul Bettany plays Jarvis, a computer. "
    "It opened in May 2008 and is an American production.",
    "Paul Bettany": "Bettany wed Jennifer Connelly in 2003. He was born in London.",
    "The Iron Giant": "The Iron Giant is a cartoon of 1999 about a robot.",
    "Jon Favreau": "Favreau grew up in Queens.",
}
QUESTION = "Who is the spouse of the actor who plays Jarvis in Iron Man?"


BOOK = CaseBook(view_of(*(passage(title, text) for title, text in TEXTS.items())))


def ranked(action: str, *titles: str) -> ForageEntry:
    rows = [Listed(f"{t}:1", t) for t in titles]
    return ForageEntry(action=action, observation=fence(write_ranking(rows), ACTIONS))


def read(title: str) -> ForageEntry:
    body = write_passage(f"{title}:1", title, TEXTS[title], 1)
    return ForageEntry(action=f"READ: {title}:1", observation=fence(body, ACTIONS))


def told(action: str, message: str = "No listed passage has this name.") -> ForageEntry:
    return ForageEntry(action=action, observation=fence(message, ACTIONS))


def next_action(*entries: ForageEntry, left: int = 6, **changes: Any) -> str:
    values: dict[str, Any] = {
        "question": QUESTION,
        "transcript": entries,
        "tools": ("RANK", "READ"),
        "turns_left": left,
    }
    return forage_turn(ForageRequest(**{**values, **changes}), BOOK).text


FIRST = ranked(f"RANK: {QUESTION}", "The Iron Giant", "Iron Man", "Jon Favreau")


def test_it_begins_by_ranking_the_question() -> None:
    assert next_action() == f"RANK: {QUESTION}"


def test_it_reads_what_the_question_names_before_what_ranks_higher() -> None:
    assert next_action(FIRST) == "READ: Iron Man:1"


def test_then_it_ranks_the_entity_that_it_read_of_beside_the_residual_words() -> None:
    query = next_action(FIRST, read("Iron Man"), read("The Iron Giant"))
    assert query.startswith("RANK: Paul Bettany")
    assert "spouse" in query
    assert "Jarvis" not in query
    assert "May" not in query.split()
    assert "American" not in query


def test_it_reads_the_entity_that_it_ranked() -> None:
    second = ranked("RANK: Paul Bettany spouse actor", "Jon Favreau", "Paul Bettany")
    assert next_action(FIRST, read("Iron Man"), read("The Iron Giant"), second) == (
        "READ: Paul Bettany:1"
    )


def test_it_ranks_a_name_of_the_question_that_nothing_read_holds() -> None:
    asked = "Who is the spouse of the Nugegoda actor in Iron Man?"
    entries = (ranked(f"RANK: {asked}", "Iron Man", "The Iron Giant"), read("Iron Man"))
    assert next_action(*entries, read("The Iron Giant"), question=asked) == "RANK: Nugegoda"


def test_the_last_turns_are_spent_reading() -> None:
    entries = (FIRST, read("Iron Man"), read("The Iron Giant"))
    assert next_action(*entries, left=2).startswith("READ: ")


def test_no_query_and_no_read_comes_twice() -> None:
    entries: list[ForageEntry] = []
    seen: set[str] = set()
    for left in range(10, 0, -1):
        action = next_action(*entries, left=left)
        assert action not in seen
        seen.add(action)
        if action.startswith("READ: "):
            entries.append(read(action[len("READ: ") : -2]))
        elif action.startswith("RANK: "):
            entries.append(ranked(action, *TEXTS))
        else:
            assert action.startswith("ANSWER: ")
            break
    assert action.startswith("ANSWER: ")
    assert "READ: Iron Man:1" in seen


def test_it_answers_where_a_search_for_further_names_lists_nothing_new() -> None:
    entries = (FIRST, read("Iron Man"), read("The Iron Giant"))
    same = ranked("RANK: Paul Bettany spouse actor", "Jon Favreau", "Iron Man")
    other = ranked("RANK: Paul Bettany spouse actor", "Jon Favreau", "Paul Bettany")
    assert next_action(*entries, same).startswith("ANSWER: ")
    assert next_action(*entries, other) == "READ: Paul Bettany:1"
    assert next_action(FIRST).startswith("READ: "), "of one search everything is new"
    refused = told("RANK: Paul Bettany spouse actor", "It failed: Too slow; try again later.")
    assert next_action(*entries, refused).startswith("READ: "), "a failure is no dry search"


@pytest.mark.parametrize(("share", "word"), [(0.0, "ANSWER"), (1.01, "READ")])
def test_it_answers_once_what_it_read_is_judged_to_be_enough(
    share: float, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forage, "ENOUGH", share)
    second = ranked("RANK: Paul Bettany spouse actor", "Jon Favreau", "Paul Bettany")
    action = next_action(FIRST, read("Iron Man"), second)
    assert action.startswith(f"{word}: ")


def test_its_draft_is_what_the_reader_finds_in_what_it_read() -> None:
    texts = ("Iron Man", "Paul Bettany")
    second = ranked("RANK: Paul Bettany spouse actor", "Iron Man", "The Iron Giant")
    action = next_action(FIRST, *(read(t) for t in texts), second)
    assert action.startswith("ANSWER: ")
    assert any(action[len("ANSWER: ") :] in TEXTS[t] for t in texts)


def test_a_handle_that_was_refused_is_not_tried_again() -> None:
    entries = (FIRST, told("READ: Iron Man:1"))
    assert next_action(*entries) != "READ: Iron Man:1"


@pytest.mark.parametrize("message", ["Nothing was found.", "It failed: Too slow; try again later."])
def test_where_nothing_is_found_it_asks_for_the_names_alone_and_then_answers_so(
    message: str,
) -> None:
    first = told(f"RANK: {QUESTION}", message)
    assert next_action(first) == "RANK: Jarvis Iron Man"
    assert next_action(first, told("RANK: Jarvis Iron Man", message)).startswith("ANSWER: ")


def test_an_unfenced_transcript_is_read_as_well() -> None:
    rows = write_ranking([Listed("Iron Man:1", "Iron Man")])
    bare = ForageEntry(action=f"RANK: {QUESTION}", observation=rows)
    assert next_action(bare) == "READ: Iron Man:1"


def test_it_takes_the_same_turn_again() -> None:
    entries = (FIRST, read("Iron Man"), read("The Iron Giant"))
    assert len({next_action(*entries) for _ in range(3)}) == 1


@given(
    st.lists(st.tuples(st.text(max_size=40), st.text(max_size=120)), max_size=4),
    st.text(min_size=1, max_size=80),
    st.integers(0, 10),
)
def test_no_transcript_breaks_it(entries: Any, question: str, left: int) -> None:
    transcript = tuple(ForageEntry(action=a, observation=o) for a, o in entries)
    text = next_action(*transcript, FIRST, question=question, left=left)
    assert text.split(":")[0] in ("RANK", "READ", "ANSWER")
    assert "\n" not in text
