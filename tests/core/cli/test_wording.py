"""What the commands say: counts with their nouns, and help that names what can be given."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import typer.main

from core import registry
from core.cli.main import app, main
from core.faults import FAULTS
from core.narration import counted

ROOT = Path(__file__).resolve().parents[3]
SPEAKING = [
    *sorted((ROOT / "core" / "cli").glob("*.py")),
    *(ROOT / "core" / "evaluation" / f"{name}.py" for name in ("runner", "calibration")),
]
VERBS = {"holds", "has", "is", "was", "needs"}
CONSTANTS = re.compile(r"[A-Z_]+")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def bare_counts(source: str) -> Iterator[str]:
    """Values in formatted strings that a plural noun follows, whatever the value is."""
    for node in ast.walk(ast.parse(source)):
        parts = node.values if isinstance(node, ast.JoinedStr) else []
        for value, text in pairwise(parts):
            if not isinstance(value, ast.FormattedValue) or not isinstance(text, ast.Constant):
                continue
            shown = ast.unparse(value.value)
            word = re.match(r" ([a-z]{3,}s)\b", str(text.value))
            if word and word[1] not in VERBS and not CONSTANTS.fullmatch(shown):
                yield f"{{{shown}}} {word[1]}"


def test_a_count_agrees_with_its_noun() -> None:
    assert [counted(n, "passage") for n in (0, 1, 2, 1_200)] == [
        *("0 passages", "1 passage", "2 passages", "1,200 passages")
    ]


def test_bare_counts_are_found() -> None:
    assert list(bare_counts('f"{n} passages, {x} of {MOST} steps, {corpus} has it"')) == [
        "{n} passages"
    ]


@pytest.mark.parametrize("path", SPEAKING, ids=lambda path: path.name)
def test_no_command_puts_a_plural_behind_a_number_by_itself(path: Path) -> None:
    assert list(bare_counts(path.read_text(encoding="utf-8"))) == []


def plurals_of_one(said: str) -> list[str]:
    """Nouns in the plural behind a 1; a measured time of 1 ms is no such noun."""
    return re.findall(r"\b1 (?!ms\b)[a-z]+s\b", said)


def test_plurals_of_one_are_found_whatever_a_run_took() -> None:
    assert plurals_of_one("1 ms, 1 s, 21 ms, 1 step, 11 passages") == []
    assert plurals_of_one("1 passages in 1 ms") == ["1 passages"]


def test_a_corpus_of_one_passage_is_told_of_in_the_singular(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAG_INSPECTOR_DATA", str(tmp_path / "data"))
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "skerry.md").write_text("# Skerry\n\nThe lighthouse is kept by Mara Quill.\n")
    file = str(tmp_path / "run.jsonl")
    asking = ("--corpus", str(folder), "--question", "Who keeps the lighthouse?")
    said = ""
    for command in (
        ("index", "--corpus", str(folder)),
        ("tam", "--corpus", str(folder), "--check"),
        ("ask", "--system", "static", *asking),
        ("runs",),
    ):
        assert main(command) == 0
        said += capsys.readouterr().out
    run_id = re.findall(r"^Run (\w+)$", said, re.MULTILINE)[0]
    assert main(("export", run_id, "--out", file)) == 0
    assert main(("replay", file)) == 0
    said += capsys.readouterr().out
    assert "1 document, 1 passage, version" in said
    assert "1 passage, " in said
    assert "1 of 1 run\n" in said
    assert plurals_of_one(said) == []


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_names_what_can_be_given(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = {option for p in COMMANDS[name].params for option in p.opts}
    assert ("--model" in options) == ("--api-base" in options)
    assert main((name, "--help")) == 0
    said = re.sub(r"\s+", "", capsys.readouterr().out)
    wanted = [*FAULTS] if "--fault" in options else []
    wanted += ["systemsNAME", "token_budget"] if "--set" in options else []
    assert [text for text in wanted if text not in said] == []


def test_models_faults_and_settings_are_given_somewhere() -> None:
    options = [option for c in COMMANDS.values() for p in c.params for option in p.opts]
    assert all(options.count(o) >= 2 for o in ("--model", "--api-base", "--fault", "--set"))


@pytest.mark.parametrize("name", registry.systems())
def test_a_system_tells_its_settings_and_stages(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("systems", name)) == 0
    said = capsys.readouterr().out
    system = registry.system(name)
    for field, knob in system.settings.model_fields.items():
        assert f"\n  {field} = " in said
        assert (knob.description or "no description") in said
    assert f"Stages: {', '.join(s.name for s in system.stages)}\n" in said
