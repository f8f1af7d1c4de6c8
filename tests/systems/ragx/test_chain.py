"""The slot chain's parts: slots and their validation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decisions import Undetermined
from core.systems.ragx.chain import Chain
from core.systems.ragx.decide import SlotInputs, accept_slots
from core.systems.ragx.settings import RagXSettings


def outcome(*subs, attempt=1, limit=4, **settings):
    inputs = SlotInputs(sub_questions=subs, limit=limit, attempt=attempt)
    return accept_slots(inputs, RagXSettings(**settings))


@pytest.mark.parametrize(
    ("subs", "wrong"),
    [
        (("Who plays Jarvis?", "Who is the spouse of #1?"), None),
        (("Who?", "Where is #1?", "What is #1 to #2?"), None),
        (("One question?",), None),
        ((), "sub questions"),
        (("a?", "b?", "c?", "d?", "e?"), "within limit"),
        (("Who is #1?",), "slots not backwards"),
        (("Who is #2?", "Where is #1?"), "slots not backwards"),
        (("Who?", "Where is #0?"), "slots not backwards"),
        (("Who?", "Where is #7?"), "slots not backwards"),
        (("Who?", "  "), "empty"),
        (("Who is it?", "who is it"), "repeated"),
    ],
)
def test_slots_only_refer_backwards(subs, wrong):
    decision = outcome(*subs)
    if wrong is None:
        assert decision.outcome == "chain"
    else:
        assert decision.outcome == "retry"
        assert wrong in decision.reason
        assert outcome(*subs, attempt=2).outcome == "undecomposed"


def test_another_limit_needs_another_decomposition():
    assert isinstance(outcome("Who?", limit=4, max_hops=2), Undetermined)
    assert outcome("Who?", limit=2, max_hops=2).outcome == "chain"


SUBS = ("Who plays Jarvis in Iron Man?", "Who is the spouse of #1?", "Where was #2, not #1, born?")


def test_answers_fill_later_slots():
    chain = Chain(SUBS, filled=SUBS[:1], answers=("Paul Bettany",))
    assert chain.next_question() == "Who is the spouse of Paul Bettany?"
    chain = Chain(SUBS, ("x?", "y?"), ("Paul Bettany", "Jennifer Connelly"))
    assert chain.next_question() == "Where was Jennifer Connelly, not Paul Bettany, born?"
    assert Chain(SUBS, SUBS, ("a", "b", "c")).next_question() == ""


def test_an_empty_answer_leaves_the_question_text_in_place():
    chain = Chain(SUBS, filled=("Who plays Jarvis in Iron Man?",), answers=("",))
    assert chain.next_question() == "Who is the spouse of Who plays Jarvis in Iron Man?"


def test_an_answer_is_put_in_as_it_is():
    chain = Chain(("a?", "Who is #1?"), ("a?",), (r"\1 #1 \g<0>",))
    assert chain.next_question() == r"Who is \1 #1 \g<0>?"


@given(
    st.lists(st.sampled_from(["Who ", "#0", "#1", "#2", "#3", "#12", "hit?"]), min_size=1),
    st.integers(0, 2),
)
def test_a_number_that_is_no_slot_of_an_earlier_hop_stays_as_written(parts, done):
    subs = (*("a?", "b?")[:done], "".join(parts))
    chain = Chain(subs, subs[:done], ("first", "second")[:done])
    named = {f"#{n + 1}": answer for n, answer in enumerate(chain.answers)}
    expected = "".join(named.get(part, part) for part in parts)
    assert chain.next_question() == expected


def test_a_filled_question_asked_before_is_recognised():
    chain = Chain(("Who sang?", "Who sang #1?"), ("Who sang?",), ("who",))
    assert chain.repeats()
    assert not Chain(SUBS, SUBS[:1], ("Paul Bettany",)).repeats()
