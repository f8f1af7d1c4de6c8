import pytest

from core.adapters.reply_cache import CachingGateway
from core.chat import ChatReply
from core.errors import MalformedOutput
from core.reasoning.llm.reasoner import LLMReasoner
from core.tasks import ANSWER, Allowance
from tests.reasoning.llm.samples import REQUESTS, FakeGateway, WordTokens, good_text


def ask(gateway, folder, **options):
    made = LLMReasoner(CachingGateway(gateway, folder), WordTokens(), **options)
    return made.perform(ANSWER, REQUESTS["answer"], Allowance())


def test_a_second_ask_costs_nothing_and_says_so(tmp_path):
    gateway = FakeGateway([good_text("answer")], price=0.5)
    first, second = ask(gateway, tmp_path), ask(gateway, tmp_path)
    assert first.value == second.value
    assert len(gateway.requests) == 1
    assert [(c.cached, c.cost) for c in (*first.model_calls, *second.model_calls)] == [
        (False, 0.5),
        (True, 0.0),
    ]


def test_what_differs_is_asked_again(tmp_path):
    gateway = FakeGateway([good_text("answer")])
    ask(gateway, tmp_path)
    ask(gateway, tmp_path, seed=7)
    ask(FakeGateway([good_text("answer")], model="other/model"), tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 3
    assert len(gateway.requests) == 2


def test_a_malformed_reply_is_never_kept(tmp_path):
    with pytest.raises(MalformedOutput):
        ask(FakeGateway(["prose"]), tmp_path)
    assert not list(tmp_path.iterdir())
    done = ask(FakeGateway(["prose", good_text("answer")]), tmp_path)
    assert len(done.model_calls) == 2
    assert len(list(tmp_path.iterdir())) == 1
    gateway = FakeGateway([good_text("answer")])
    ask(gateway, tmp_path)
    assert len(gateway.requests) == 1


def test_a_damaged_file_counts_as_absent_and_is_written_anew(tmp_path):
    ask(FakeGateway([good_text("answer")]), tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for damaged in (b"", whole[:50], b"\xff\xfe", whole.replace(b"fake/model", b"fake/other")):
        path.write_bytes(damaged)
        gateway = FakeGateway([good_text("answer")])
        ask(gateway, tmp_path)
        assert len(gateway.requests) == 1
        assert path.read_bytes() == whole


def test_a_folder_that_cannot_be_written_loses_no_reply(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert ask(FakeGateway([good_text("answer")]), blocked).value.answer == "Night Ferry"


def test_clearing(tmp_path):
    ask(FakeGateway([ChatReply(text=good_text("answer"))]), tmp_path)
    cache = CachingGateway(FakeGateway([""]), tmp_path)
    assert (cache.clear(), cache.clear()) == (1, 0)
