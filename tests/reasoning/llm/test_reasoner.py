import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from core.chat import ChatReply
from core.errors import (
    AuthenticationFailed,
    BadInput,
    BudgetExhausted,
    ContextTooLong,
    MalformedOutput,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    TaskUnsupported,
)
from core.reasoning.llm.reasoner import LLMReasoner
from core.reasoning.llm.redact import withhold
from core.tasks import ANSWER, TASKS, Allowance, Reply, Request, Task
from tests.reasoning.llm.mutations import mutated
from tests.reasoning.llm.samples import (
    GOOD,
    PASSAGES,
    QUESTION,
    REQUESTS,
    FakeGateway,
    WordTokens,
    good_text,
)

ALL = sorted(TASKS)


def reasoner(*script, **options):
    gateway = FakeGateway(list(script), **options.pop("gateway", {}))
    waits: list[float] = []
    made = LLMReasoner(gateway, WordTokens(), wait=waits.append, **options)
    return made, gateway, waits


def perform(made, task, allowance=None):
    return made.perform(TASKS[task], REQUESTS[task], allowance or Allowance())


@pytest.mark.parametrize("task", ALL)
def test_a_good_reply_is_one_call_and_a_value_of_the_task(task):
    made, gateway, _ = reasoner(good_text(task))
    done = perform(made, task)
    assert isinstance(done.value, TASKS[task].reply)
    (call,) = done.model_calls
    assert call.tokens_in == made.tokens_in(TASKS[task], REQUESTS[task])
    assert call.reply == good_text(task)
    assert call.error is None
    assert call.tokens_out <= TASKS[task].max_tokens_out
    assert len(gateway.kept) == 1
    assert gateway.requests[0].max_tokens == TASKS[task].max_tokens_out


@pytest.mark.parametrize("task", [t for t in ALL if t != "abstract"])
def test_the_question_is_always_in_the_prompt(task):
    made, gateway, _ = reasoner(good_text(task))
    (call,) = perform(made, task).model_calls
    assert REQUESTS[task].question in gateway.requests[0].messages[-1].content
    assert REQUESTS[task].question in call.prompt


@pytest.mark.parametrize("task", ALL)
def test_the_prompt_holds_everything_that_was_asked(task):
    prompt = reasoner(good_text(task))[0].prompt(TASKS[task], REQUESTS[task]).text()
    assert [text for text in REQUESTS[task].texts() if text not in prompt] == []


@pytest.mark.parametrize("task", [t for t in ALL if t != "forage_turn"])
def test_prose_twice_is_a_typed_failure_that_tells_what_was_spent(task):
    made, gateway, _ = reasoner("The answer is clear from the passages.")
    with pytest.raises(MalformedOutput) as raised:
        perform(made, task)
    assert [c.attempt for c in raised.value.model_calls] == [1, 2]
    assert all("no JSON object" in c.error for c in raised.value.model_calls)
    assert not gateway.kept


def test_the_strict_retry_names_the_error_and_keeps_the_prompt():
    bad = json.dumps({**GOOD["answer"], "confidence": "high"})
    made, gateway, _ = reasoner(bad, good_text("answer"))
    done = perform(made, "answer")
    assert done.value.answer == "Night Ferry"
    first, second = (r.messages for r in gateway.requests)
    assert second[: len(first)] == first
    assert second[-2].content == bad
    assert "confidence" in second[-1].content
    assert "integer" in second[-1].content
    assert [c.error is None for c in done.model_calls] == [False, True]
    assert [r.text for r in gateway.kept] == [good_text("answer")]


def test_an_empty_reply_is_asked_again_without_an_empty_turn():
    made, gateway, _ = reasoner("", good_text("answer"))
    perform(made, "answer")
    roles = [m.role for m in gateway.requests[1].messages]
    assert roles == ["system", "user"]
    assert "it is empty" in gateway.requests[1].messages[-1].content


def test_no_retry_that_is_not_affordable():
    for allowance in (Allowance(calls=0), Allowance(tokens=10), Allowance(cost=0.15)):
        made, gateway, _ = reasoner("prose", good_text("answer"), gateway={"price": 0.1})
        with pytest.raises(MalformedOutput) as raised:
            perform(made, "answer", allowance)
        assert len(gateway.requests) == len(raised.value.model_calls) == 1


def test_no_retry_past_the_time_limit():
    now = iter([0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 2.0])
    made, gateway, _ = reasoner("prose", good_text("answer"), monotonic=lambda: next(now))
    with pytest.raises(MalformedOutput):
        perform(made, "answer", Allowance(seconds=1.0))
    assert len(gateway.requests) == 1
    assert gateway.requests[0].timeout == 1.0


def test_broken_syntax_is_mended_only_after_the_retry():
    broken = "{answer: 'Night Ferry', passages: [], quote: '', confidence: 70,}"
    made, gateway, _ = reasoner(broken)
    done = perform(made, "answer")
    assert done.value.answer == "Night Ferry"
    assert len(done.model_calls) == 2
    assert not gateway.kept


@pytest.mark.parametrize("task", ["decompose", "hop_answer", "grade", "extract_facts", "plan"])
def test_a_reply_that_was_cut_off_is_never_filled_in(task):
    whole = good_text(task)
    for cut in range(1, len(whole)):
        made, _, _ = reasoner(whole[:cut])
        with pytest.raises(MalformedOutput):
            perform(made, task)


def test_a_cut_off_reply_with_closed_brackets_is_not_mended():
    text = "{'answer': 'Night Fer'}"
    assert perform(reasoner(text)[0], "hop_answer").value.answer == "Night Fer"
    made, _, _ = reasoner(ChatReply(text=text, finish="length"))
    with pytest.raises(MalformedOutput):
        perform(made, "hop_answer")


def test_a_reply_of_a_megabyte_is_cut_to_the_tokens_allowed():
    huge = json.dumps({**GOOD["answer"], "reasoning": "so " * 350_000})
    made, _, _ = reasoner(huge)
    with pytest.raises(MalformedOutput) as raised:
        perform(made, "answer")
    assert all(c.tokens_out <= ANSWER.max_tokens_out for c in raised.value.model_calls)
    assert all(len(c.reply) < 2_000 for c in raised.value.model_calls)


def test_prose_before_the_object_is_tolerated_and_two_objects_are_not():
    one = f"Here it is:\n```json\n{good_text('answer')}\n```"
    assert len(perform(reasoner(one)[0], "answer").model_calls) == 1
    two = f"{good_text('answer')} or {good_text('answer')}"
    with pytest.raises(MalformedOutput):
        perform(reasoner(two)[0], "answer")


def test_thinking_is_not_read_and_counts_where_the_task_allows_it():
    said = good_text("answer")
    thought = '<think>{"answer": "no"}' + " hm" * 9_000 + "</think>"
    made, gateway, _ = reasoner(thought + said)
    done = perform(made, "answer")
    assert done.value.answer == "Night Ferry"
    assert done.model_calls[0].tokens_out == WordTokens().count(said)
    thinking = replace(ANSWER, thinking_tokens=800)
    for line, counted in (
        (thought + said, 800),
        ("<think>hm</think>" + said, WordTokens().count("<think>hm</think>")),
        (ChatReply(text=said, thinking=500), 500),
        (ChatReply(text=said, thinking=5_000), 800),
    ):
        made, gateway, _ = reasoner(line)
        (call,) = made.perform(thinking, REQUESTS["answer"], Allowance()).model_calls
        assert call.tokens_out == WordTokens().count(said) + counted
        assert gateway.requests[0].thinking_tokens == 800
        assert gateway.requests[0].max_tokens == ANSWER.max_tokens_out


@pytest.mark.parametrize(
    ("task", "change"),
    [
        ("verify", {"unhelpful": [4]}),
        ("verify", {"support": 101}),
        ("verify", {"support": 0.5}),
        ("verify", {"support": True}),
        ("answer", {"passages": [9]}),
        ("answer", {"passages": [0]}),
        ("grade", {"grades": GOOD["grade"]["grades"][:2]}),
        ("grade", {"grades": GOOD["grade"]["grades"][:2] * 2}),
        ("grade", {"covered": [3]}),
        ("check_claims", {"verdicts": GOOD["check_claims"]["verdicts"][:1]}),
        (
            "check_claims",
            {"verdicts": [{**v, "passages": []} for v in GOOD["check_claims"]["verdicts"]]},
        ),
        ("route", {"source": 3}),
        ("decompose", {"sub_questions": ["Which band did #1 found?"]}),
        ("decompose", {"sub_questions": ["a", "b", "c", "d", "e"]}),
        ("decompose", {"sub_questions": ["a", " "]}),
        ("plan", {"required_facts": []}),
        ("write_query", {"query": "  "}),
        ("extract_facts", {"facts": [{**GOOD["extract_facts"]["facts"][0], "passage": 7}]}),
    ],
)
def test_what_is_not_there_or_left_out_is_malformed(task, change):
    made, gateway, _ = reasoner(json.dumps({**GOOD[task], **change}))
    with pytest.raises(MalformedOutput):
        perform(made, task)
    assert len(gateway.requests) == 2


def test_missing_grades_are_named_in_the_retry():
    partial = json.dumps({**GOOD["grade"], "grades": GOOD["grade"]["grades"][:1]})
    made, gateway, _ = reasoner(partial, good_text("grade"))
    done = perform(made, "grade")
    assert "passage [2], [3]" in gateway.requests[1].messages[-1].content
    assert [g.passage_id for g in done.value.passages] == [p.id for p in PASSAGES]


def test_a_repeated_query_is_asked_for_once_more_and_then_taken():
    repeat = json.dumps({**GOOD["write_query"], "query": QUESTION.upper()})
    made, _, _ = reasoner(repeat, good_text("write_query"))
    assert perform(made, "write_query").value.query == "Ida Berg band founded"
    made, gateway, _ = reasoner(repeat)
    assert perform(made, "write_query").value.query == QUESTION.upper()
    assert len(gateway.requests) == 2
    made, _, _ = reasoner(repeat, "prose")
    assert perform(made, "write_query").value.query == QUESTION.upper()


def test_handles_become_passage_ids_and_quotes_become_spans():
    value = perform(reasoner(good_text("verify"))[0], "verify").value
    assert value.unhelpful == (PASSAGES[2].id,)
    quoted, named = read_places()
    assert quoted == (PASSAGES[1].id, "founded the band Night Ferry")
    assert named == (PASSAGES[1].id, "Night Ferry")


def read_places(**change):
    text = json.dumps({**GOOD["answer"], **change})
    places = perform(reasoner(text)[0], "answer").value.supports
    texts = {p.id: p.text for p in PASSAGES}
    return [(s.passage_id, texts[s.passage_id][s.start : s.end]) for s in places]


def test_a_quotation_counts_where_it_stands_whatever_passage_was_named():
    assert read_places(passages=[1]) == [(PASSAGES[1].id, "founded the band Night Ferry")]
    changed = "“Ida Berg founded a band, Night Ferry, in 1974”"
    sentence = "Ida Berg founded the band Night Ferry in 1974."
    assert read_places(passages=[], quote=changed) == [(PASSAGES[1].id, sentence)]


def test_a_quotation_that_is_nowhere_cites_nothing():
    assert read_places(passages=[3], quote="Berg founded it in Bergen with friends") == []


def test_yes_and_no_cite_the_quotation_or_the_sentence_nearest_to_the_question():
    assert read_places(answer="yes", passages=[], quote="Its drummer is Ida Berg") == [
        (PASSAGES[0].id, "Its drummer is Ida Berg")
    ]
    nearest = "Ida Berg founded the band Night Ferry in 1974."
    assert read_places(answer="No", passages=[2, 3], quote="") == [(PASSAGES[1].id, nearest)]


def test_an_answer_that_says_there_is_none_is_empty():
    text = json.dumps({**GOOD["answer"], "answer": "Not stated."})
    reading = perform(reasoner(text)[0], "answer").value
    assert (reading.answer, reading.supports, reading.confidence) == ("", (), 0.0)


def test_invisible_characters_of_a_reply_are_not_taken_over():
    text = json.dumps({**GOOD["hop_answer"], "answer": "Ida\u202e\u200b Berg\x00\x1b[31m\n"})
    assert perform(reasoner(text)[0], "hop_answer").value.answer == "Ida Berg"


# --- failures on the way ---------------------------------------------------------------------


@pytest.mark.parametrize("error", [AuthenticationFailed, ContextTooLong, MalformedOutput])
def test_what_a_repeat_cannot_mend_is_not_repeated(error):
    made, gateway, waits = reasoner(error("no"))
    with pytest.raises(error) as raised:
        perform(made, "answer")
    assert len(gateway.requests) == len(raised.value.model_calls) == 1
    assert raised.value.model_calls[0].error.startswith(error.code)
    assert not waits


def test_passing_failures_are_repeated_in_one_layer_and_each_counted():
    made, gateway, waits = reasoner(ModelUnavailable("a"), ModelTimeout("b"), good_text("answer"))
    done = perform(made, "answer")
    assert [c.attempt for c in done.model_calls] == [1, 2, 3]
    assert waits == [1.0, 2.0]
    made, gateway, _ = reasoner(ModelTimeout("b"))
    with pytest.raises(ModelTimeout) as raised:
        perform(made, "answer")
    assert len(gateway.requests) == len(raised.value.model_calls) == 3
    made, gateway, _ = reasoner(ModelTimeout("b"))
    with pytest.raises(ModelTimeout):
        perform(made, "answer", Allowance(calls=1))
    assert len(gateway.requests) == 2


def test_a_rate_limit_is_waited_for_as_asked_unless_too_long():
    limited = RateLimited("slow down")
    limited.retry_after = 7.0
    made, _, waits = reasoner(limited, good_text("answer"))
    perform(made, "answer")
    assert waits == [7.0]
    limited.retry_after = 60.0
    made, gateway, waits = reasoner(limited, good_text("answer"))
    with pytest.raises(RateLimited):
        perform(made, "answer")
    assert (len(gateway.requests), waits) == (1, [])


def test_a_prompt_that_does_not_fit_is_never_sent():
    made, gateway, _ = reasoner(good_text("answer"), gateway={"context_tokens": 300})
    with pytest.raises(ContextTooLong, match="holds 300"):
        perform(made, "answer")
    assert not gateway.requests


def test_a_call_that_could_pass_the_cost_limit_is_never_made():
    made, gateway, _ = reasoner(good_text("answer"), gateway={"price": 0.02})
    with pytest.raises(BudgetExhausted, match="cost"):
        perform(made, "answer", Allowance(cost=0.01))
    assert not gateway.requests
    assert perform(made, "answer", Allowance(cost=0.02)).model_calls[0].cost == 0.02


def test_cached_replies_say_so():
    made, _, _ = reasoner(ChatReply(text=good_text("answer"), cached=True))
    assert perform(made, "answer").model_calls[0].cached


def test_the_log_can_be_withheld():
    made, _, _ = reasoner(good_text("answer"), redact=withhold)
    (call,) = perform(made, "answer").model_calls
    assert "Swan Lake" not in call.prompt + call.reply
    assert call.prompt.startswith("[withheld: ")


def test_the_timeout_of_a_request_can_be_set_from_outside(monkeypatch):
    def made():
        return LLMReasoner.for_model("openai/x", WordTokens())

    assert made().timeout == 180.0
    monkeypatch.setenv("LITELLM_TIMEOUT", "900")
    assert made().timeout == 900.0
    for bad in ("soon", "-1", "0", "nan", "inf"):
        monkeypatch.setenv("LITELLM_TIMEOUT", bad)
        with pytest.raises(BadInput, match="LITELLM_TIMEOUT"):
            made()


def test_an_unknown_task_is_unsupported():
    made, _, _ = reasoner("x")
    with pytest.raises(TaskUnsupported):
        made.tokens_in(Task("dance", Request, Reply, 10), REQUESTS["plan"])


# --- fuzz --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stages():
    """How the replies of the fuzz came out, over all tasks."""
    found = Counter()
    yield found
    if set(found) >= {f"{task} done" for task in ALL}:
        assert all(found[name] for name in ("first", "retry", "mended", "failed")), found
        assert found["replies"] >= 1_000


@pytest.mark.parametrize("task", ALL)
def test_fuzz_a_valid_value_or_a_typed_failure_and_nothing_else(task, stages):
    rng = random.Random(f"fuzz {task}")
    outcomes = {"valid": 0, "failed": 0}
    ids = {p.id for p in PASSAGES}
    for _ in range(80):
        texts = [mutated(task, rng), mutated(task, rng)]
        made, gateway, _ = reasoner(*texts)
        try:
            done = perform(made, task)
        except MalformedOutput as error:
            outcomes["failed"] += 1
            stages["failed"] += 1
            kept, calls = gateway.kept, error.model_calls
            if kept:
                pytest.fail("a reply that failed validation was accepted")
        else:
            outcomes["valid"] += 1
            calls = done.model_calls
            stages["mended" if calls[-1].error else ("first", "retry")[len(calls) - 1]] += 1
            round_trip = TASKS[task].reply.model_validate_json(done.value.model_dump_json())
            assert round_trip == done.value
            cited = set(json.loads(done.value.model_dump_json()).get("unhelpful", []))
            assert cited <= ids
            assert all(reply.text in texts for reply in gateway.kept)
        assert 1 <= len(calls) <= 2
        stages["replies"] += len(calls)
        assert sum(c.tokens_out for c in calls) <= 2 * TASKS[task].max_tokens_out
    assert outcomes["valid"]
    assert outcomes["failed"] or task == "forage_turn"
    stages[f"{task} done"] += 1
