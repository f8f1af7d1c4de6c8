"""The whole path against a real, small model served on this machine (``make test-model``)."""

import pytest

from core.adapters.gateway import LiteLLMGateway
from core.adapters.local_model import local_model
from core.adapters.model_check import check_model, served_models
from core.adapters.tokens import MiniLMTokens
from core.errors import BadInput, ContextTooLong
from core.events import ModelCalled, RunFinished
from core.grounding import ground
from core.reasoning.llm.reasoner import LLMReasoner
from core.tasks import ANSWER, TASKS, VERIFY, Allowance
from tests.core import world
from tests.local_model.fetch_weights import weights
from tests.reasoning.llm.samples import PASSAGES, REQUESTS

pytestmark = pytest.mark.local_model
CONTEXT = 4_096
PATIENT = 900.0


@pytest.fixture(scope="module")
def serving():
    path = weights()
    if path is None:
        pytest.skip("the model weights are not there; make test-model fetches them")
    pytest.importorskip("xllamacpp", reason="requirements-local-model.txt is not installed")
    with local_model(path, 0, context=CONTEXT) as running:
        yield running


@pytest.fixture(scope="module")
def reasoner(serving):
    gateway = LiteLLMGateway(serving.model, api_base=serving.api_base)
    return LLMReasoner(gateway, MiniLMTokens(), timeout=PATIENT)


def test_the_preflight_finds_the_server_and_its_context(serving, reasoner):
    assert check_model(serving.model, api_base=serving.api_base).own
    (served,) = served_models(serving.api_base, timeout=30)
    assert f"openai/{served.id}" == serving.model
    assert reasoner.context_tokens == CONTEXT


@pytest.mark.parametrize("task", sorted(TASKS))
def test_every_task_gets_a_valid_reply_after_at_most_one_retry(reasoner, task):
    done = reasoner.perform(TASKS[task], REQUESTS[task], Allowance())
    assert isinstance(done.value, TASKS[task].reply)
    assert len(done.model_calls) <= 2
    assert all(c.tokens_out <= TASKS[task].max_tokens_out for c in done.model_calls)


def test_the_same_request_gets_the_same_answer(reasoner):
    """Not the same confidence: a prompt that the server has in its cache is computed in other
    batches, and figures that are nearly even may come out otherwise."""
    done = [reasoner.perform(ANSWER, REQUESTS["answer"], Allowance()).value for _ in range(2)]
    assert done[0].answer == done[1].answer
    assert done[0].supports == done[1].supports


def test_what_it_reads_is_cited_where_it_stands(reasoner):
    reading = reasoner.perform(ANSWER, REQUESTS["answer"], Allowance()).value
    citations = ground(reading.answer, PASSAGES, reading.supports)
    texts = {p.id: p.text for p in PASSAGES}
    assert all(c.quote == texts[c.passage_id][c.start : c.end] for c in citations)


def test_a_prompt_past_the_context_is_refused_by_the_server_too(serving):
    blind = LiteLLMGateway(serving.model, api_base=serving.api_base, context_tokens=10**6)
    long = REQUESTS["verify"].model_copy(update={"draft": "word " * (2 * CONTEXT)})
    made = LLMReasoner(blind, MiniLMTokens(), timeout=PATIENT)
    with pytest.raises(ContextTooLong) as raised:
        made.perform(VERIFY, long, Allowance())
    assert len(raised.value.model_calls) == 1


def test_it_serves_as_the_proxy_that_litellm_base_url_names(serving, monkeypatch):
    monkeypatch.setenv("LITELLM_BASE_URL", serving.api_base)
    made = LLMReasoner(LiteLLMGateway("anthropic/some-model"), MiniLMTokens(), timeout=PATIENT)
    steps = world.run("static", world.deps(reasoner=made, tokens=MiniLMTokens()))
    finished = steps[-1].event
    assert isinstance(finished, RunFinished)
    assert finished.terminal in ("answered", "abstained")
    assert any(isinstance(s.event, ModelCalled) for s in steps)


def test_a_second_server_on_the_port_is_refused(serving):
    port = int(serving.api_base.rsplit(":", 1)[1].partition("/")[0])
    with pytest.raises(BadInput, match="--port"), local_model(weights(), port):
        pass
