import pytest

from core.errors import BadInput, TaskUnsupported
from core.ports import CallContext
from core.reasoning.by_role import RoleReasoner, parse_choice
from core.reasoning.llm.reasoner import LLMReasoner
from core.reasoning.scripted import ScriptedReasoner
from core.tasks import ANSWER, VERIFY, Allowance
from tests.reasoning.llm.samples import REQUESTS, FakeGateway, WordTokens, good_text

TOKENS = WordTokens()


def model(task):
    return LLMReasoner(FakeGateway([good_text(task)], model=f"fake/{task}"), TOKENS)


def test_each_task_goes_to_its_reasoner():
    made = RoleReasoner({"verify": model("verify")}, model("answer"))
    verified = made.perform(VERIFY, REQUESTS["verify"], Allowance())
    answered = made.perform(ANSWER, REQUESTS["answer"], Allowance())
    assert verified.model_calls[0].model == "fake/verify"
    assert answered.model_calls[0].model == "fake/answer"
    assert made.tokens_in(VERIFY, REQUESTS["verify"]) == model("verify").tokens_in(
        VERIFY, REQUESTS["verify"]
    )


def test_names_and_models():
    silent = ScriptedReasoner({}, TOKENS)
    assert RoleReasoner({}, silent).name == "scripted"
    assert RoleReasoner({}, silent).model is None
    mixed = RoleReasoner({"answer": model("answer"), "verify": model("verify")}, silent)
    assert mixed.name == "mixed"
    assert mixed.model == "scripted, answer=fake/answer, verify=fake/verify"
    default, by_task = parse_choice(mixed.model)
    assert default == "scripted"
    assert by_task == {"answer": "fake/answer", "verify": "fake/verify"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("extractive, verfy=openai/x", "verify"),
        ("verify=openai/x", "one reasoner for all tasks"),
        ("extractive, openai/x", "one reasoner for all tasks"),
        ("extractive, verify=a, verify=b", "verify is given to two"),
    ],
)
def test_a_choice_that_cannot_be_read_is_bad_input(text, says):
    with pytest.raises(BadInput, match=says):
        parse_choice(text)


def test_an_unknown_task_is_bad_input():
    with pytest.raises(BadInput, match="verify"):
        RoleReasoner({"verfy": model("verify")}, model("answer"))


def test_binding_makes_every_reasoner_fresh_for_a_run():
    script = ScriptedReasoner({"answer": [good_reading()]}, TOKENS)
    made = RoleReasoner({}, script)
    for _ in range(2):
        run = made.bind(CallContext())
        assert run.perform(ANSWER, REQUESTS["answer"], Allowance()).value.answer == "x"
        with pytest.raises(TaskUnsupported):
            run.perform(ANSWER, REQUESTS["answer"], Allowance())


def good_reading():
    return ANSWER.reply(answer="x")
