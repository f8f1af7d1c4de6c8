"""``ask --model`` with a model that cannot be used, through litellm against a server on loopback.

One plain sentence each: before the run where asking costs nothing, else as the run's end. What a
repeat cannot mend is asked once, and the run's lineage is whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core import jsonl
from core.cli.main import main
from core.events import Called, ModelCalled, RunFinished, Step
from core.journal import Journal
from core.replay import replay
from tests.adapters.model_server import KEY, ModelServer

QUESTION = "Who keeps the lighthouse of Skerry Point?"
TEXTS = {
    "skerry.md": "# Skerry Point\n\nThe lighthouse of Skerry Point is kept by Mara Quill.\n",
    "quill.md": "# Mara Quill\n\nMara Quill was born in Dunmore. She mends clocks.\n",
}
ANSWER = json.dumps(
    {"answer": "Mara Quill", "passages": [1], "quote": "kept by Mara Quill", "confidence": 90}
)
Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(text=ANSWER) as running:
        yield running


@pytest.fixture
def ask(
    corpus: Path,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Ask:
    """Asks the question: exit code, standard output, standard error."""
    monkeypatch.setenv("RAG_INSPECTOR_DATA", str(data))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "LITELLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def call(*more: str, system: str = "static") -> tuple[int, str, str]:
        what = ("ask", "--system", system, "--corpus", str(corpus), "--question", QUESTION)
        code = main((*what, "--journal", str(tmp_path / "runs"), *more))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def posts(server: ModelServer) -> int:
    return len(server.posts)


def test_a_model_that_answers(ask: Ask, server: ModelServer) -> None:
    code, out, _ = ask("--model", "openai/ok", "--api-base", server.base, "--json")
    assert code == 0
    assert json.loads(out)["answer"] == "Mara Quill"
    assert json.loads(out)["usage"]["calls"] == posts(server) == 1


@pytest.mark.parametrize("system", ["static", "beliefrag", "ragx-core"])
@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            "anthropic/claude-sonnet-4-5",
            "The model anthropic/claude-sonnet-4-5 needs a key and ANTHROPIC_API_KEY is not set; "
            "set it, or give a key for this session, or use --model extractive.",
        ),
        (
            "nobody/nothing",
            "No provider is known for the model 'nobody/nothing'. Write provider/model, such as "
            "openai/gpt-4o-mini or ollama/llama3, give the address of your own server, or use "
            "--model extractive.",
        ),
    ],
)
def test_what_is_missing_is_found_before_the_run(
    ask: Ask, tmp_path: Path, system: str, model: str, sentence: str
) -> None:
    code, out, err = ask("--model", model, system=system)
    assert (code, out, err) == (2, "", f"{sentence}\n")
    assert Journal(tmp_path / "runs").count() == 0


def test_a_role_without_a_key_is_found_before_the_run(ask: Ask, tmp_path: Path) -> None:
    code, out, err = ask("--model", "extractive, answer=openai/gpt-4o-mini")
    assert (code, out) == (2, "")
    assert "OPENAI_API_KEY is not set" in err
    assert Journal(tmp_path / "runs").count() == 0


@pytest.mark.parametrize(
    ("change", "model", "sentence"),
    [
        (
            {"listing_status": 401},
            "openai/ok",
            "The provider refused the key for openai/ok; set a valid one or use --model "
            "extractive.",
        ),
        (
            {"listing_status": 503},
            "openai/ok",
            "The model server at {host} is not ready (HTTP 503); wait until it is or use --model "
            "extractive.",
        ),
        (
            {"models": [{"id": "small"}, {"id": "large"}]},
            "openai/smal",
            "The server serves no model 'smal' but, among others, small, large; choose one of them "
            "or use --model extractive.",
        ),
    ],
)
def test_what_the_server_says_is_found_before_the_run(
    ask: Ask, server: ModelServer, tmp_path: Path, change: dict[str, Any], model: str, sentence: str
) -> None:
    for name, value in change.items():
        setattr(server, name, value)
    code, out, err = ask("--model", model, "--api-base", server.base)
    host = server.base.removeprefix("http://").removesuffix("/v1")
    assert (code, out, err) == (2, "", f"{sentence.format(host=host)}\n")
    assert posts(server) == 0
    assert Journal(tmp_path / "runs").count() == 0


def test_a_server_that_is_down_is_found_before_the_run(ask: Ask, tmp_path: Path) -> None:
    with ModelServer() as gone:
        base = gone.base
    code, out, err = ask("--model", "openai/ok", "--api-base", base)
    host = base.removeprefix("http://").removesuffix("/v1")
    assert (code, out, err) == (
        2,
        "",
        f"The model server at {host} does not answer (ConnectError); start it or check its address "
        "and the network, or use --model extractive.\n",
    )
    assert Journal(tmp_path / "runs").count() == 0


@pytest.mark.parametrize("system", ["static", "iterative", "beliefrag"])
@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            "401",
            "The provider refused the key for openai/401; set a valid one or use --model "
            "extractive.",
        ),
        (
            "404",
            "The provider knows no model openai/404; check its name or use --model extractive.",
        ),
        (
            "context",
            "The prompt does not fit the context of openai/context; show it fewer passages or "
            "choose a model with a longer context.",
        ),
        (
            "llama-context",
            "The prompt does not fit the context of openai/llama-context; show it fewer passages "
            "or choose a model with a longer context.",
        ),
    ],
)
def test_what_the_first_call_tells_ends_the_run_with_its_lineage_whole(
    ask: Ask,
    server: ModelServer,
    tmp_path: Path,
    system: str,
    model: str,
    sentence: str,
) -> None:
    server.models = [{"id": model}]
    chosen = ("--model", f"openai/{model}", "--api-base", server.base)
    code, out, err = ask(*chosen, "--jsonl", system=system)
    assert (code, err) == (0, "")
    assert KEY not in out
    steps = [Step.model_validate_json(line) for line in out.splitlines()]
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    assert (end.terminal, end.answer, end.reason) == ("incomplete", None, sentence)
    calls = [s.event for s in steps if isinstance(s.event, ModelCalled)]
    assert len(calls) == posts(server) == 1 == end.usage.calls
    assert all(sentence in (c.error or "") for c in calls)
    work = [s.event for s in steps if isinstance(s.event, Called) and s.event.port == "reasoner"]
    assert [(w.response, sentence in (w.error or "")) for w in work] == [(None, True)]
    assert Journal(tmp_path / "runs").steps(steps[0].run_id) == steps
    (tmp_path / "run.jsonl").write_text(out, encoding="utf-8")
    assert jsonl.load(tmp_path / "run.jsonl") == steps
    assert not replay(steps, {}).diverged


def test_a_prompt_that_the_context_cannot_hold_is_never_sent(ask: Ask, server: ModelServer) -> None:
    server.models = [{"id": "ok", "max_model_len": 500}]
    code, out, _ = ask("--model", "openai/ok", "--api-base", server.base)
    assert code == 0
    assert "tokens and openai/ok holds 500 with its reply; show it fewer passages" in out
    assert posts(server) == 0


def test_a_model_for_one_role(ask: Ask, server: ModelServer) -> None:
    chosen = ("--model", "extractive, answer=openai/ok", "--api-base", server.base)
    code, out, _ = ask(*chosen, "--jsonl", system="beliefrag")
    assert code == 0
    steps = [Step.model_validate_json(line) for line in out.splitlines()]
    assert (steps[0].event.reasoner, steps[0].event.model) == (  # type: ignore[union-attr]
        "mixed",
        "extractive, answer=openai/ok",
    )
    tasks = {s.event.task for s in steps if isinstance(s.event, Called)}
    assert {"verify", "answer"} <= tasks
    asked = {p["response_format"]["json_schema"]["name"] for p in server.posts}
    assert asked == {"answer"}


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_evaluation_asks_the_model_where_it_is_served(
    corpus: Path,
    server: ModelServer,
    ask: Ask,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    workers: str,
) -> None:
    asked = tmp_path / "questions.jsonl"
    lines = [{"id": str(n), "question": QUESTION, "answers": ["Mara Quill"]} for n in range(2)]
    asked.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    out = tmp_path / "out"
    given = ("--questions", str(asked), "--systems", "static", "--corpus", str(corpus))
    chosen = ("--model", "openai/ok", "--api-base", server.base, "--workers", workers)
    assert main(("evaluate", *given, "--out", str(out), *chosen)) == 0, capsys.readouterr().err
    assert posts(server) == 2
    found = json.loads((out / "summary.json").read_text("utf-8"))["static"]
    assert (found["n"], found["em"]) == (2, 1.0)
