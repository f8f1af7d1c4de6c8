"""The command line in this process: what it prints, where, and its exit codes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core import jsonl, registry, wiring
from core.cli.main import main
from core.events import Step
from core.journal import Journal
from core.replay import replay
from tests.core.bench import Bench
from tests.core.world import QUESTION, WordRetriever, deps, run


@pytest.fixture(autouse=True)
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Bench, "default", tmp_path / "data", raising=False)
    monkeypatch.setattr(wiring, "Workbench", Bench)


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command: exit code, standard output, standard error."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def asking(*more: str, system: str = "static") -> tuple[str, ...]:
    return ("ask", "--system", system, "--corpus", "world", "--question", QUESTION, *more)


def test_systems_are_listed_with_their_settings(ask: Any) -> None:
    code, out, err = ask("systems", "--json")
    assert (code, err) == (0, "")
    listed = json.loads(out)
    assert [s["name"] for s in listed] == list(registry.systems())
    for system in listed:
        assert set(system) == {"name", "title", "kind", "settings"}
        assert "token_budget" in system["settings"]["properties"]
    code, out, _ = ask("systems")
    assert code == 0
    assert all(name in out for name in registry.systems())


def test_without_a_command_the_help_and_what_to_do_first_are_shown(ask: Any) -> None:
    code, out, err = ask()
    assert (code, out) == (2, "")
    helped = ask("--help")
    assert helped[0] == 0
    *shown, first = err.rstrip("\n").split("\n")
    assert "\n".join(shown).strip() == helped[1].strip()
    assert first.startswith("To begin: python -m core ask ")
    _, *words = shlex.split(first.removeprefix("To begin: "))
    command = [word if word != "film_night" else "world" for word in words[2:]]
    assert ask(*command)[0] == 0


def test_ask_streams_steps_that_are_all_in_the_journal(ask: Any, tmp_path: Path) -> None:
    code, out, err = ask(*asking("--jsonl", "--journal", str(tmp_path / "j"), "--seed", "5"))
    assert (code, err) == (0, "")
    steps = [Step.model_validate_json(line) for line in out.splitlines()]
    assert Journal(tmp_path / "j").steps(steps[0].run_id) == steps
    assert steps[0].event.seed == 5
    assert jsonl.load(out) == steps


def test_ask_prints_one_object(ask: Any) -> None:
    code, out, err = ask(*asking("--json", system="beliefrag"))
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert list(found) == [
        "run_id",
        "system",
        "terminal",
        "branch",
        "answer",
        "grounded",
        "citations",
        "evidence",
        "usage",
    ]
    assert (found["terminal"], found["answer"], found["grounded"]) == ("answered", "Low Tide", True)
    for citation in found["citations"]:
        assert set(citation) == {"passage_id", "title", "document", "start", "end", "quote"}
        assert citation["passage_id"] in found["evidence"]
    assert set(found["usage"]) == {"calls", "tokens", "rounds", "actions", "seconds", "cost"}


def test_ask_tells_a_person_what_happened(ask: Any) -> None:
    code, out, _ = ask(*asking())
    assert code == 0
    assert "Answer: Low Tide" in out
    assert "answered (schedule)" in out
    assert len(out.splitlines()) > len(run("static"))


def test_settings_reach_the_run_as_json_or_words(ask: Any) -> None:
    more = ("--set", "answer_threshold=0.9", "--set", "profile=paper", "--jsonl")
    _, out, _ = ask(*asking(*more, system="beliefrag"))
    settings = json.loads(out.splitlines()[0])["event"]["settings"]
    assert (settings["answer_threshold"], settings["profile"]) == (0.9, "paper")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--system", "statik"), "Did you mean 'static'"),
        (("--corpus", "nowhere"), "Unknown corpus"),
        (("--question", "  "), "question is empty"),
        (("--question", "x" * 5_000), "at most 4000"),
        (("--question", "a \udcff"), "no text"),
        (("--set", "top_kk=3"), "Did you mean 'top_k'"),
        (("--set", "top_k=0"), "top_k"),
        (("--set", "top_k"), "key=value"),
        (("--set", "top_k=3", "--set", "top_k=4"), "twice"),
        (("--set", 'top_k="three"'), "top_k"),
        (("--fault", "retriever-timout"), "Did you mean 'retriever-timeout'"),
        (("--fault", "retriever-timeout@nowhere"), "Known: answer, decide, retrieve"),
        (("--fault", "retriever-timeout@"), "names no stage"),
        (("--fault", "evidence-outside-region"), "no retrieval region"),
        (("--memory", "some"), "--memory"),
        (("--seed", "one"), "--seed"),
        (("--json", "--jsonl"), "not both"),
        (("--model", "openai/none"), "No key is set"),
        (("--journal", os.devnull), "cannot be used"),
        (("--no-such-option",), "--no-such-option"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    ask: Any, more: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    code, out, err = ask(*asking(*more))
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    if "--journal" not in more:
        assert Journal(tmp_path / "data").count() == 0


@pytest.mark.parametrize("arguments", [("bogus",), ("ask",), ("replay",), ("export", "x")])
def test_wrong_usage_is_one_line_and_exit_2(ask: Any, arguments: tuple[str, ...]) -> None:
    code, out, err = ask(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("faults", "terminal"),
    [
        (("retriever-timeout",), "failed"),
        (("model-refusal",), "incomplete"),
        (("budget-exhausted",), "budget_exhausted"),
        (("budget-exhausted@decide",), "budget_exhausted"),
        (("disk-full@retrieve",), "failed"),
        (("empty-shard",), "abstained"),
    ],
)
def test_every_defined_terminal_is_exit_0(ask: Any, faults: tuple[str, ...], terminal: str) -> None:
    more = [part for fault in faults for part in ("--fault", fault)]
    code, out, err = ask(*asking("--json", *more))
    assert (code, err) == (0, "")
    assert json.loads(out)["terminal"] == terminal


def test_an_internal_error_is_told_without_a_traceback(
    ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(WordRetriever):
        def search(self, *_: Any) -> Any:
            raise ZeroDivisionError("by zero\nand more")

    monkeypatch.setattr(Bench, "world", staticmethod(lambda: deps(retriever=Broken())))
    code, out, err = ask(*asking("--json"))
    assert json.loads(out)["terminal"] == "failed"
    assert (code, err.count("\n")) == (0, 1)
    assert "ZeroDivisionError" in err


def test_an_interrupt_stops_the_run_after_its_step(
    ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupting(WordRetriever):
        def search(self, *arguments: Any) -> Any:
            if self.searches:  # the first one is made to load what the run will use
                os.kill(os.getpid(), signal.SIGINT)
            return super().search(*arguments)

    monkeypatch.setattr(Bench, "world", staticmethod(lambda: deps(retriever=Interrupting())))
    before = signal.getsignal(signal.SIGINT)
    code, out, _ = ask(*asking("--json", system="iterative"))
    assert code == 0
    assert json.loads(out)["terminal"] == "cancelled"
    assert signal.getsignal(signal.SIGINT) is before


def test_replay_of_a_file_and_of_an_id_is_the_report(ask: Any, tmp_path: Path) -> None:
    steps = run("beliefrag", answer_threshold=0.9, max_actions=12)
    file = tmp_path / "run.jsonl"
    file.write_text(jsonl.dump(steps), encoding="utf-8")
    assert ask("import", str(file))[0] == 0
    for name in (str(file), steps[0].run_id):
        code, out, err = ask("replay", name, "--json", "--set", "answer_threshold=0.45")
        assert (code, err) == (0, "")
        assert json.loads(out) == replay(steps, {"answer_threshold": 0.45}).as_json()
    code, out, _ = ask("replay", str(file))
    assert code == 0
    assert "none comes out otherwise" in out
    code, out, _ = ask("replay", str(file), "--set", "top_k=2")
    assert "Unknown under these settings from step" in out


@pytest.mark.parametrize(
    ("name", "says"),
    [("nothing", "no run"), ("missing.jsonl", "cannot be read"), ("broken.jsonl", "Line 1")],
)
def test_a_run_that_cannot_be_read_is_exit_2(
    ask: Any, name: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.jsonl").write_text("{", encoding="utf-8")
    run_name = str(tmp_path / name) if name.endswith("jsonl") else name
    for command in (("replay", run_name), ("export", run_name, "--out", str(tmp_path / "o"))):
        code, out, err = ask(*command)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert says in err
    assert not (tmp_path / "o").exists()


def test_export_follows_a_link_and_never_replaces_what_is_no_file(ask: Any, tmp_path: Path) -> None:
    _, out, _ = ask(*asking("--jsonl"))
    run = tmp_path / "run.jsonl"
    run.write_text(out, encoding="utf-8")
    target, link, pipe = (tmp_path / n for n in ("target.jsonl", "link", "pipe"))
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    assert ask("export", str(run), "--out", str(link))[0] == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == out
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    assert ask("export", str(run), "--out", str(pipe))[0] == 0
    reader.join()
    assert pipe.is_fifo()
    assert heard == [out]


def test_export_and_import_carry_a_run_over(ask: Any, tmp_path: Path) -> None:
    _, out, _ = ask(*asking("--jsonl"))
    run_id = json.loads(out.splitlines()[0])["run_id"]
    file = tmp_path / "out.jsonl"
    assert ask("export", run_id, "--format", "jsonl", "--out", str(file))[0] == 0
    assert file.read_text(encoding="utf-8") == out
    assert list(tmp_path.glob(".*.part")) == []
    code, told, _ = ask("import", str(file), "--journal", str(tmp_path / "other"))
    assert code == 0
    assert run_id in told
    assert jsonl.dump(Journal(tmp_path / "other").steps(run_id)) == out
    code, _, err = ask("export", run_id, "--format", "pdf", "--out", str(file))
    assert (code, "Known: " in err) == (2, True)
    code, _, err = ask("export", run_id, "--out", str(tmp_path / "no" / "x"))
    assert (code, "cannot be written" in err) == (2, True)


def test_a_refused_import_changes_nothing(ask: Any, tmp_path: Path) -> None:
    lines = jsonl.dump(run("static")).splitlines()
    file = tmp_path / "run.jsonl"
    file.write_text("\n".join([*lines[:4], "prose", *lines[4:]]), encoding="utf-8")
    code, out, err = ask("import", str(file))
    assert (code, out) == (2, "")
    assert "Line 5" in err
    assert Journal(tmp_path / "data").count() == 0


@pytest.mark.parametrize(
    "wrong",
    [
        ("--set", "top_k=" + "[" * 100_000),
        ("--set", "top_k=" + "9" * 5_000),
        ("--set", "top_k=NaN"),
        ("--seed", "9" * 30),
        ("--seed", "-" + "9" * 30),
    ],
    ids=lambda wrong: f"{wrong[0]} {wrong[1][:12]}",
)
def test_a_value_of_any_size_is_refused_in_one_line(ask: Any, wrong: tuple[str, str]) -> None:
    code, out, err = ask(*asking(*wrong))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "Internal error" not in err


def test_runs_are_listed_with_their_count(ask: Any) -> None:
    ids = []
    for _ in range(3):
        _, out, _ = ask(*asking("--json"))
        ids.append(json.loads(out)["run_id"])
    code, out, _ = ask("runs", "--limit", "2")
    assert code == 0
    listed = [line.split()[0] for line in out.splitlines()[:-1]]
    assert len(listed) == len(set(listed)) == 2
    assert set(listed) < set(ids)
    assert out.splitlines()[-1] == "2 of 3 runs"
    _, out, _ = ask("runs", "--json")
    assert sorted(r["run_id"] for r in json.loads(out)["runs"]) == sorted(ids)


def test_a_listed_run_is_one_line_of_plain_text(ask: Any) -> None:
    command = list(asking("--json"))
    command[command.index("--question") + 1] = "Who\x1b[31m is\nthe \u202espouse?"
    ask(*command)
    _, out, _ = ask("runs")
    assert len(out.splitlines()) == 2
    assert all(c.isprintable() for c in out.splitlines()[0])
