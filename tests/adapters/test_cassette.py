import pytest

from core.adapters.cassette import Cassette, CassetteMiss, RecordingGateway
from core.errors import BadInput, ModelTimeout
from core.reasoning.llm.reasoner import LLMReasoner
from core.tasks import ANSWER, TASKS, Allowance
from tests.reasoning.llm.samples import REQUESTS, FakeGateway, WordTokens, good_text


def perform(gateway, task="answer", **change):
    made = LLMReasoner(gateway, WordTokens(), wait=lambda _: None)
    request = REQUESTS[task].model_copy(update=change)
    return made.perform(TASKS[task], request, Allowance())


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "tape.jsonl"
    for task in ("answer", "verify"):
        perform(RecordingGateway(FakeGateway([ModelTimeout("late"), good_text(task)]), path), task)
    return path


def test_a_run_is_played_back_with_its_failures_and_without_a_model(recorded):
    tape = Cassette(recorded)
    done = perform(tape)
    assert done.value.answer == "Night Ferry"
    assert [c.error for c in done.model_calls] == ["model_timeout: late", None]
    assert perform(tape).model_calls[0].error is None
    assert perform(tape, "verify").value.support == 0.9
    assert tape.model == "fake/model"


def test_a_miss_says_where_the_nearest_request_differs(recorded):
    with pytest.raises(CassetteMiss, match=r"differs first in line .*another question"):
        perform(Cassette(recorded), question="another question?")
    with pytest.raises(CassetteMiss, match="nor for any other of the task"):
        perform(Cassette(recorded), "plan")
    with pytest.raises(CassetteMiss, match="in its parameters"):
        LLMReasoner(Cassette(recorded), WordTokens(), seed=9).perform(
            ANSWER, REQUESTS["answer"], Allowance()
        )


def test_a_broken_cassette_is_refused_with_its_line(recorded, tmp_path):
    lines = recorded.read_text(encoding="utf-8").splitlines()
    for bad in ("{", "[]", '{"model": "x"}', lines[0].replace('"failure"', '"outcome"')):
        recorded.write_text("\n".join([lines[0], bad]), encoding="utf-8")
        with pytest.raises(BadInput, match="Line 2"):
            Cassette(recorded)
    recorded.write_text("")
    with pytest.raises(BadInput, match="empty"):
        Cassette(recorded)
    with pytest.raises(BadInput, match="no cassette"):
        Cassette(tmp_path / "absent.jsonl")
