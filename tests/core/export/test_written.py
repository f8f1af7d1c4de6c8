"""What holds for every form of a run's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import jsonl
from core.cli.main import main
from core.errors import BadInput
from core.export import FORMATS, redacted, written
from core.reasoning.llm.redact import masking
from tests.core.export.runs import CASES, of, poisoned

KEY = "sk-" + "Zz09" * 8
OWN = "hunter2 & <friends>"


def as_it_is(text: str) -> str:
    return text


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_the_same_record_gives_the_same_file(form: str, name: str) -> None:
    steps = CASES[name]
    again = jsonl.load(jsonl.dump(steps))
    assert written(again, form, as_it_is) == written(steps, form, as_it_is)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("system", ["beliefrag", "staterag", "ragx"])
def test_what_looks_like_a_key_is_in_no_form_that_is_only_read(
    form: str, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_PROVIDER_API_KEY", OWN)
    steps = poisoned(of(system), f"{KEY} {OWN}")
    text = written(steps, form, masking())
    if FORMATS[form].verbatim:
        assert text == jsonl.dump(steps)
        return
    assert KEY not in text
    assert "hunter2" not in text
    assert "[secret]" in text


def test_redacting_changes_nothing_where_there_is_nothing_to_hide() -> None:
    for steps in CASES.values():
        assert all(redacted(step, masking()) is step for step in steps)


@pytest.mark.parametrize("form", FORMATS)
def test_the_command_writes_each_form(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = of("staterag")
    source, out = tmp_path / "run.jsonl", tmp_path / "out"
    source.write_text(jsonl.dump(steps), encoding="utf-8")
    assert main(("export", str(source), "--format", form, "--out", str(out))) == 0
    assert out.read_text(encoding="utf-8") == written(steps, form, masking())
    assert main(("export", "--help")) == 0
    assert form in capsys.readouterr().out


def test_an_unknown_form_and_a_run_without_a_step_are_refused() -> None:
    with pytest.raises(BadInput, match="Did you mean 'html'"):
        written(of("static"), "htm", as_it_is)
    with pytest.raises(BadInput, match="no step"):
        written([], "html", as_it_is)
