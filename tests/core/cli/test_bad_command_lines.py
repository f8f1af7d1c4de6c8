"""Command lines that cannot work: exit 2, one clear line, nothing printed, nothing left behind."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core import jsonl, wiring
from core.cli.main import main
from core.evaluation import runner
from tests.core.bench import Bench
from tests.core.world import QUESTION, run
from tests.evaluation.small_world import SmallWorld, question_file

LONG, DEEP, HUGE = "x" * 5_000, "[" * 100_000, "9" * 5_000
WHOLE = jsonl.dump(run("static"))
ASK = ("ask", "--system", "static", "--corpus", "world")
SET = (*ASK, "--question", QUESTION, "--set")
ASKED = (*ASK, "--question", QUESTION)
EVALUATE = ("evaluate", "--systems", "static", "--out", "out", "--questions")
EXPORT = ("export", "run.jsonl", "--format", "jsonl", "--out")
THERE: dict[str, bytes] = {
    "run.jsonl": WHOLE.encode(),
    "cut.jsonl": WHOLE.encode()[: len(WHOLE) // 2],
    "empty.jsonl": b"",
    "binary.jsonl": bytes(range(256)) * 8,
    "gzip.jsonl": gzip.compress(WHOLE.encode(), mtime=0),
    "zeros.jsonl": bytes(100),
    "list.jsonl": b"[1, 2]\n",
    "deep.jsonl": DEEP.encode(),
    "wrong.jsonl": b'{"id": 1}\n',
    "twice.jsonl": b'{"id": "1", "question": "a?", "answers": ["b"]}\n' * 2,
}
NO_RUN = ["cut.jsonl", "empty.jsonl", "binary.jsonl", "gzip.jsonl", "zeros.jsonl", "list.jsonl"]
NO_RUN += ["deep.jsonl", "folder.jsonl", "folder", "nothing.jsonl", "nothing", "", LONG, "a\x00b"]
LINES: list[tuple[str, ...]] = [
    *((command, file) for command in ("replay", "import") for file in NO_RUN),
    *(("export", file, "--out", "o.jsonl") for file in NO_RUN),
    *((*EVALUATE, file) for file in NO_RUN if file),
    *((*EVALUATE, file) for file in ("wrong.jsonl", "twice.jsonl")),
    *((*ASK, "--question", text) for text in ("", " \n", "x" * 1_000_000)),
    *(("ask", "--system", name, "--corpus", "world", "--question", "?") for name in ("", "statc")),
    *((*SET, f"top_k={v}") for v in ("NaN", "Infinity", "1e999", "-1", "{", "null", "[1]")),
    *((*SET, f"top_k={v}") for v in (DEEP, HUGE, "9" * 30, "")),
    *((*SET, pair) for pair in ("top_k", "=5", "topk=3", "a\nb=1", LONG, "max_seconds=NaN")),
    (*SET, "top_k=1", "--set", "top_k=2"),
    *((*ASKED, "--seed", seed) for seed in (HUGE[:30], f"-{HUGE[:30]}", "x", "1.5", "")),
    *((*ASKED, "--fault", name) for name in ("", "@", "nope", "verifier-error@nope")),
    *((*ASKED, "--memory", mode) for mode in ("shared", "x")),
    (*ASKED, "--json", "--jsonl"),
    *((*ASKED, "--journal", place) for place in ("run.jsonl", "a\x00b")),
    ("systems", "beliefrg"),
    *((*EXPORT, place) for place in ("folder", "no/such/o.jsonl", "", LONG, "a\x00b")),
    ("export", "run.jsonl", "--format", "htm", "--out", "o.html"),
    *(("runs", "--limit", n) for n in ("0", "-1", HUGE[:30], "x")),
    ("runs", "--journal", "run.jsonl"),
    *((*EVALUATE[:1], "--systems", names, *EVALUATE[3:], "q.jsonl") for names in ("", ",,")),
    (*EVALUATE[:1], "--systems", "static,stati", *EVALUATE[3:], "q.jsonl"),
    *((*EVALUATE, "q.jsonl", "--workers", n) for n in ("0", "-3")),
    *((*EVALUATE, "q.jsonl", "--limit", n) for n in ("0", "-1")),
    *((*EVALUATE, "q.jsonl", "--offset", n) for n in ("-1", "99")),
    (*EVALUATE, "q.jsonl", "--seed", HUGE[:30]),
    (*EVALUATE, "q.jsonl", "--probe"),
    (*EVALUATE, "q.jsonl", "--out", "run.jsonl"),
    *(("sweep", place, "--knob", "answer_threshold=0:1:.1") for place in ("no", "run.jsonl")),
    *(("sweep", "folder", "--knob", f"answer_threshold={r}") for r in ("x", "0:nan:1", "1:0:1")),
    *(
        ("sweep", "folder", "--knob", f"answer_threshold={r}")
        for r in ("0:1:1e-9", "0:1e308:1e-300")
    ),
    *(("fit", place, "--target", "answerability") for place in ("no", "run.jsonl", "folder")),
    ("fit", "folder", "--target", "x"),
    *(("serve-model", file) for file in ("nothing.gguf", "folder", "run.jsonl")),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files that are no run or no questions, in which commands are given."""
    folder = tmp_path / "here"
    for name in ("folder", "folder.jsonl"):
        (folder / name).mkdir(parents=True)
    for name, content in THERE.items():
        (folder / name).write_bytes(content)
    question_file(folder).rename(folder / "q.jsonl")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(Bench, "default", tmp_path / "data", raising=False)
    monkeypatch.setattr(wiring, "Workbench", Bench)
    monkeypatch.setattr(runner, "prepared", lambda *_: SmallWorld())
    return folder


def told(arguments: tuple[str, ...]) -> str:
    return " ".join(json.dumps(a if len(a) < 60 else f"{a[:20]} and so on") for a in arguments)


@pytest.mark.parametrize("arguments", LINES, ids=told)
def test_what_cannot_work_is_told_in_one_line_and_leaves_nothing(
    here: Path, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    before = {p: p.read_bytes() if p.is_file() else b"" for p in here.rglob("*")}
    code = main(arguments)
    printed = capsys.readouterr()
    assert (code, printed.out) == (2, ""), printed.err
    assert printed.err.count("\n") == 1
    assert 10 < len(printed.err) < 500
    assert printed.err.strip().isprintable()
    for word in ("Traceback", "Internal error", "Error("):
        assert word not in printed.err
    assert {p: p.read_bytes() if p.is_file() else b"" for p in here.rglob("*")} == before


def test_a_file_that_may_not_be_read_is_told(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., object] = Path.open

    def refuse(path: Path, *arguments: object, **options: object) -> object:
        if path.name == "run.jsonl":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    for command in ("replay", "import"):
        assert main((command, "run.jsonl")) == 2
        assert capsys.readouterr().err == "The run file cannot be read: Permission denied.\n"
