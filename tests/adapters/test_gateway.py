import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.adapters.gateway import LiteLLMGateway
from core.chat import ChatRequest, Message
from core.errors import (
    AuthenticationFailed,
    BadInput,
    ContextTooLong,
    MalformedOutput,
    ModelRefusal,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    ReasonerError,
)
from core.reasoning.llm.reasoner import LLMReasoner
from core.tasks import ANSWER, TASKS, Allowance
from tests.adapters.model_server import KEY, ModelServer
from tests.reasoning.llm.samples import REQUESTS, WordTokens, good_text

ASK = ChatRequest(
    task="answer",
    messages=(Message(role="system", content="Be short."), Message(role="user", content="Hello?")),
    max_tokens=20,
    reply_schema={
        "type": "object",
        "properties": {"answer": {"type": "string", "maxLength": 9}},
        "required": ["answer"],
        "additionalProperties": False,
    },
    seed=3,
    timeout=20.0,
)


@pytest.fixture(scope="module")
def server():
    with ModelServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(server, monkeypatch):
    server.text, server.models, server.listing_status = "{}", [{"id": "ok"}], 200
    server.posts.clear()
    server.keys.clear()
    for name in ("OPENAI_API_KEY", "LITELLM_BASE_URL", "LITELLM_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def gateway(server, model, key=KEY, **options):
    return LiteLLMGateway(f"openai/{model}", key, server.base, **options)


def test_one_request_with_everything_that_was_asked(server):
    server.text = '{"answer": "hi"}'
    reply = gateway(server, "ok").complete(ASK)
    assert (reply.text, reply.finish, reply.schema_used) == (server.text, "stop", True)
    assert (reply.tokens_in, reply.tokens_out, reply.cost) == (11, 7, 0.0)
    (body,) = server.posts
    assert body["messages"] == [m.model_dump() for m in ASK.messages]
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0, 3, 20)
    assert body["response_format"]["json_schema"]["schema"] == ASK.reply_schema
    assert server.keys[-1] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("model", "error", "says"),
    [
        ("401", AuthenticationFailed, "refused the key"),
        ("403", AuthenticationFailed, "refused the key"),
        ("404", ModelRejected, "knows no model"),
        ("429", RateLimited, "limits the rate"),
        ("context", ContextTooLong, "fewer passages"),
        ("llama-context", ContextTooLong, "fewer passages"),
        ("400", ModelRejected, "HTTP 400"),
        ("500", ModelUnavailable, "failed"),
        ("503", ModelUnavailable, "failed"),
        ("html", ModelUnavailable, "failed"),
        ("nothing", ModelUnavailable, "no reply"),
        ("filtered", ModelRefusal, "declined"),
        ("refuses", ModelRefusal, "declined"),
        ("stopped", ModelRefusal, "declined"),
    ],
)
def test_every_failure_is_one_typed_sentence_after_one_request(server, model, error, says):
    with pytest.raises(error, match=says) as raised:
        gateway(server, model).complete(ASK)
    assert type(raised.value) is error
    assert len(server.posts) == 1
    message = raised.value.message
    assert KEY not in message
    assert KEY not in "".join(traceback.format_exception(raised.value))
    assert "\n" not in message
    assert message.endswith(".")


def test_a_rate_limit_carries_the_wait_that_was_asked_for(server):
    with pytest.raises(RateLimited) as raised:
        gateway(server, "429").complete(ASK)
    assert raised.value.retry_after == 7.0


def test_a_server_that_does_not_answer_in_time(server):
    with pytest.raises(ModelTimeout):
        gateway(server, "slow").complete(ASK.model_copy(update={"timeout": 0.2}))
    assert len(server.posts) == 1


def test_a_server_that_is_down():
    with ModelServer() as gone:
        base = gone.base
    down = LiteLLMGateway("openai/ok", KEY, base)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        down.complete(ASK)


def test_a_server_without_schemas_is_asked_without_from_then_on(server):
    server.text = good_text("answer")
    made = LLMReasoner(gateway(server, "no-schema"), WordTokens(), wait=lambda _: None)
    done = made.perform(ANSWER, REQUESTS["answer"], Allowance())
    assert done.value.answer == "Night Ferry"
    assert [c.error is None for c in done.model_calls] == [False, True]
    made.perform(ANSWER, REQUESTS["answer"], Allowance())
    assert ["response_format" in p for p in server.posts] == [True, False, False]


def test_no_key_of_the_environment_goes_to_an_address_that_was_given(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    gateway(server, "ok", key=None).complete(ASK)
    LiteLLMGateway("deepseek/ok", None, server.base).complete(ASK)
    LiteLLMGateway("a-model-of-mine", None, server.base).complete(ASK)
    assert len(server.posts) == 3
    assert not any(KEY in (key or "") for key in server.keys)


def test_a_proxy_serves_every_model_by_its_own_name_and_key(server, monkeypatch):
    monkeypatch.setenv("LITELLM_BASE_URL", server.base)
    monkeypatch.setenv("LITELLM_API_KEY", "proxy-key-1234")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for model in ("anthropic/claude-x", "openai/gpt-x", "gpt-y"):
        LiteLLMGateway(model).complete(ASK)
    assert [p["model"] for p in server.posts] == ["anthropic/claude-x", "gpt-x", "gpt-y"]
    assert set(server.keys[-3:]) == {"Bearer proxy-key-1234"}


def test_keys_show_up_nowhere(server):
    made = gateway(server, "ok")
    assert KEY not in repr(made)
    assert KEY not in repr(LLMReasoner.for_model("openai/ok", WordTokens(), KEY, server.base))


def test_a_key_in_a_prompt_is_masked_in_the_log(server):
    server.text = good_text("answer")
    made = LLMReasoner.for_model("openai/ok", WordTokens(), KEY, server.base)
    request = REQUESTS["answer"].model_copy(update={"question": f"What is {KEY}?"})
    (call,) = made.perform(ANSWER, request, Allowance()).model_calls
    assert KEY not in call.prompt
    assert "[secret]" in call.prompt


def test_the_context_is_the_setting_or_what_the_server_says(server):
    server.models = [{"id": "ok", "max_model_len": 2_048}]
    assert gateway(server, "ok").context_tokens == 2_048
    assert gateway(server, "ok", context_tokens=99).context_tokens == 99
    server.models = [{"id": "any.gguf", "owned_by": "llamacpp", "meta": {"n_ctx": 4_096}}]
    assert gateway(server, "ok").context_tokens == 4_096
    assert gateway(server, "else", context_tokens=None).context_tokens == 4_096
    assert LiteLLMGateway("openai/gpt-4o-mini", KEY).context_tokens == 128_000


def test_prices_bound_what_a_call_may_cost():
    priced = LiteLLMGateway("openai/gpt-4o-mini", KEY)
    assert 0 < priced.worst_cost(1_000, 100) < priced.worst_cost(10_000, 100) < 0.01
    assert LiteLLMGateway("openai/mine", KEY, "http://127.0.0.1:9").worst_cost(1_000, 100) == 0


def test_models_that_think_unasked_get_room_for_it(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.base)
    for model, thinking in (("gpt-5-mini", 0), ("gpt-5-mini", 8_192), ("gpt-4o-mini", 0)):
        asked = ASK.model_copy(update={"thinking_tokens": thinking})
        LiteLLMGateway(f"openai/{model}", KEY).complete(asked)
    limits = [p.get("max_completion_tokens", p.get("max_tokens")) for p in server.posts]
    assert limits == [20 + 4_096, 20 + 8_192, 20]
    assert [p.get("reasoning_effort") for p in server.posts] == ["low", "medium", None]
    assert "temperature" not in server.posts[0]


def test_an_own_model_that_turns_out_to_think_gets_room_from_then_on(server):
    made = gateway(server, "ok")
    server.text = "<think>so many words that the reply is cut"
    made.complete(ASK)
    server.text = "{}"
    made.complete(ASK)
    assert [p["max_tokens"] for p in server.posts] == [20, 20 + 4_096]
    assert not any("reasoning_effort" in p for p in server.posts)


def test_requests_at_once_are_bounded(server, monkeypatch):
    monkeypatch.setenv("LITELLM_CONCURRENCY", "2")
    with ModelServer() as slow, ThreadPoolExecutor(5) as pool:
        made = LiteLLMGateway("openai/slow", KEY, slow.base)
        calls = [pool.submit(made.complete, ASK) for _ in range(4)]
        while len(slow.posts) < 2:
            threading.Event().wait(0.01)
        waiting = pool.submit(made.complete, ASK.model_copy(update={"timeout": 0.1}))
        with pytest.raises(ModelTimeout, match="waiting"):
            waiting.result()
        assert len(slow.posts) == 2
        slow.release.set()
        assert all(call.result().text == "{}" for call in calls)


@pytest.mark.parametrize("task", sorted(TASKS))
def test_every_task_over_the_wire(server, task):
    server.text = good_text(task)
    made = LLMReasoner(gateway(server, "ok"), WordTokens())
    done = made.perform(TASKS[task], REQUESTS[task], Allowance())
    assert isinstance(done.value, TASKS[task].reply)
    assert ("response_format" in server.posts[-1]) == (task != "forage_turn")


@pytest.mark.parametrize(
    "text",
    [
        "Certainly, the answer is clear.",
        good_text("answer")[:40],
        '{"answer": 7, "passages": "none", "quote": 1, "confidence": []}',
        '{"answer": "x", "passages": [], "quote": "", "confidence": NaN}',
        '{"answer": "x", "passages": [], "quote": "", "confidence": 10, "tool": "none"}',
        "",
        '{"answer": "' + "so " * 350_000 + '"}',
    ],
)
def test_a_malformed_reply_over_the_wire_is_a_typed_failure(server, text):
    server.text = text
    made = LLMReasoner(gateway(server, "ok"), WordTokens())
    with pytest.raises(MalformedOutput) as raised:
        made.perform(ANSWER, REQUESTS["answer"], Allowance())
    assert len(server.posts) == len(raised.value.model_calls) == 2


def test_half_a_character_over_the_wire_is_replaced(server):
    server.text = good_text("hop_answer").replace("Ida", "Ida \ud83d")
    made = LLMReasoner(gateway(server, "ok"), WordTokens())
    done = made.perform(TASKS["hop_answer"], REQUESTS["hop_answer"], Allowance())
    assert done.value.answer == "Ida ? Berg"


def test_prose_around_the_object_and_a_cut_reply_over_the_wire(server):
    server.text = f"Here you are: {good_text('answer')} Good luck."
    made = LLMReasoner(gateway(server, "ok"), WordTokens())
    assert made.perform(ANSWER, REQUESTS["answer"], Allowance()).value.answer == "Night Ferry"
    server.text = "{'answer': 'Night', 'passages': [], 'quote': '', 'confidence': 9}"
    made = LLMReasoner(gateway(server, "cut"), WordTokens())
    with pytest.raises(MalformedOutput):
        made.perform(ANSWER, REQUESTS["answer"], Allowance())


@pytest.mark.parametrize(
    ("model", "requests"), [("401", 1), ("context", 1), ("429", 3), ("500", 3)]
)
def test_the_reasoner_is_the_only_layer_that_repeats(server, model, requests):
    waits = []
    made = LLMReasoner(gateway(server, model), WordTokens(), wait=waits.append)
    with pytest.raises(ReasonerError) as raised:
        made.perform(ANSWER, REQUESTS["answer"], Allowance())
    assert len(server.posts) == len(raised.value.model_calls) == requests
    assert len(waits) == requests - 1
    assert KEY not in repr(raised.value.model_calls)


def test_an_unknown_model_string_is_bad_input():
    with pytest.raises(BadInput, match="No provider"):
        LiteLLMGateway("nobody/nothing", KEY).complete(ASK)
