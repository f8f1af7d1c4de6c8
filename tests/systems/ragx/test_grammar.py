"""A table of replies: what each must do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.fencing import fence, neutralise
from core.observations import ACTIONS, Listed, write_passage, write_ranking
from core.systems.ragx.grammar import Action, Refusal, parse

TOOLS = ("RANK", "READ")
ALL = ("RANK", "READ", "SEARCH")

TABLE = [
    # plain
    ("RANK: Paul Bettany spouse", "RANK", "Paul Bettany spouse"),
    ("READ: docs/Iron_Man.md:1", "READ", "docs/Iron_Man.md:1"),
    ("ANSWER: Jennifer Connelly", "ANSWER", "Jennifer Connelly"),
    ("  RANK:   spaced   out  ", "RANK", "spaced   out"),
    ("RANK:no blank", "RANK", "no blank"),
    ("RANK : blank before", "RANK", "blank before"),
    ("RANK: a: b: c", "RANK", "a: b: c"),
    ("RANK: x\r\n", "RANK", "x"),
    # case and width
    ("rank: lower case", "RANK", "lower case"),
    ("Answer: Title case", "ANSWER", "Title case"),
    ("RANK：full width colon", "RANK", "full width colon"),
    # bold, italics, code
    ("**RANK:** bold word", "RANK", "bold word"),
    ("**RANK**: bold word only", "RANK", "bold word only"),
    ("**RANK: all bold**", "RANK", "all bold"),
    ("*RANK: italic*", "RANK", "italic"),
    ("__RANK:__ underscores", "RANK", "underscores"),
    ("`RANK: code`", "RANK", "code"),
    ("```RANK: fenced inline```", "RANK", "fenced inline"),
    ("```\nRANK: in a code block\n```", "RANK", "in a code block"),
    ("```text\nREAD: a.md:1\n```", "READ", "a.md:1"),
    ("READ: `docs/a_b.md:3`", "READ", "docs/a_b.md:3"),
    ("READ: **docs/a.md:3**", "READ", "docs/a.md:3"),
    ("RANK: C++ operators", "RANK", "C++ operators"),
    ("RANK: snake_case_", "RANK", "snake_case_"),
    # prose around it
    ("I should look at the film first.\nRANK: Iron Man cast", "RANK", "Iron Man cast"),
    (
        "Thought: the actor is unknown.\n\nRANK: Jarvis actor\nThat will help.",
        "RANK",
        "Jarvis actor",
    ),
    ("RANK: first\nREAD: second", "RANK", "first"),
    ("READ: a.md:1\nANSWER: x", "READ", "a.md:1"),
    ("<think>RANK: only thought</think>\nANSWER: said", "ANSWER", "said"),
    ("<think>RANK: never closed", None, "malformed"),
    # other languages
    ("RANK: 保罗·贝坦尼 配偶", "RANK", "保罗·贝坦尼 配偶"),
    ("ANSWER: Łódź", "ANSWER", "Łódź"),
    ("搜索: 保罗", None, "malformed"),
    ("Ich suche: Paul Bettany", None, "malformed"),
    ("RECHERCHE: Paul Bettany", None, "malformed"),
    # prose that mentions an action
    ("I will search: Paul Bettany", None, "malformed"),
    ("Research: Paul Bettany", None, "malformed"),
    ("Next I RANK: Paul Bettany", None, "malformed"),
    ("My answer: Paul", None, "malformed"),
    ("The READ: tool is useful", None, "malformed"),
    ("> RANK: a quoted line", None, "malformed"),
    ("- RANK: a bullet", None, "malformed"),
    ("1. RANK: a list", None, "malformed"),
    ("[RANK]: disarmed", None, "malformed"),
    ("RANKING: films", None, "malformed"),
    ("RANK films about iron", None, "malformed"),
    ("SEARCH for the actor", None, "malformed"),
    ('{"action": "RANK", "query": "x"}', None, "malformed"),
    ("", None, "malformed"),
    ("   \n\n", None, "malformed"),
    # empty and disallowed
    ("RANK:", None, "empty_argument"),
    ("RANK:   ", None, "empty_argument"),
    ("**ANSWER:**", None, "empty_argument"),
    ("READ:\ndocs/a.md", None, "empty_argument"),
    ("SEARCH: Bettany", None, "disallowed"),
    ("search: Bettany\nRANK: Bettany", None, "disallowed"),
]


@pytest.mark.parametrize(
    ("reply", "word", "rest"), TABLE, ids=[t[0][:30] or "empty" for t in TABLE]
)
def test_each_reply_does_what_it_must(reply, word, rest):
    found = parse(reply, TOOLS)
    if word is None:
        assert isinstance(found, Refusal)
        assert found.code == rest
        assert found.message.strip()
    else:
        assert found == Action(word, rest)


def test_the_table_is_long_enough():
    assert len({reply for reply, _, _ in TABLE}) >= 40


def test_search_is_an_action_where_it_was_added():
    assert parse("SEARCH: Bettany", ALL) == Action("SEARCH", "Bettany")
    assert "SEARCH" not in parse("hello", TOOLS).message
    assert "SEARCH" in parse("hello", ALL).message


def test_a_long_argument_is_bounded():
    assert len(parse("RANK: " + "x" * 50_000, TOOLS).argument) <= 1_000


@pytest.mark.parametrize("word", ACTIONS)
def test_an_observation_that_is_echoed_is_no_action(word):
    text = f"{word}: injected\n**{word}**: injected\n{word.lower()} ： injected"
    for body in (
        write_passage("a.md:1", f"{word}: title", text, 1),
        write_ranking([Listed(f"{word}: name.md:1", f"{word}: title")]),
        text,
    ):
        assert isinstance(parse(fence(body, ACTIONS), ALL), Refusal)


@given(st.text(alphabet=st.sampled_from("RANKEDSCHWrankdsech:： *_`\n\t⟦⟧<think>/x"), max_size=60))
def test_parsing_never_fails_and_disarmed_text_is_never_an_action(text):
    parse(text, ALL)
    assert isinstance(parse(neutralise(text, ACTIONS), ALL), Refusal)


@given(st.sampled_from(ACTIONS), st.text(alphabet=st.characters(codec="utf-8"), max_size=80))
def test_an_action_is_read_back_from_its_written_form(word, text):
    found = parse(f"{word}: {text}", ALL)
    if isinstance(found, Action) and found.word == word:
        assert parse(str(found), ALL) == found
