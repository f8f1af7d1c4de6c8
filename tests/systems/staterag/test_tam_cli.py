"""``python -m core tam``: what it prints and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core import wiring
from core.cli.main import main
from core.graph import ADMISSIBLE
from core.wiring import Workbench
from tests.retrieval.world import LIGHTHOUSES, HashedWords, MemoryStores, library, write

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def tam(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Runs ``tam``: exit code, standard output, standard error."""
    stores = MemoryStores()
    write(tmp_path / "bundled" / "lights", LIGHTHOUSES)

    class Bench(Workbench):
        def __init__(self) -> None:
            super().__init__(root=tmp_path / "data", embedder=HashedWords())  # type: ignore[arg-type]
            self.library = library(tmp_path, stores=stores)

    monkeypatch.setattr(wiring, "Workbench", Bench)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(("tam", *arguments))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def test_the_graph_is_printed_as_one_object(tam: Command) -> None:
    code, out, err = tam("--corpus", "lights", "--json")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    assert set(found) == {"root", "nodes", "edges"}
    kinds = {node["id"]: node["type"] for node in found["nodes"]}
    assert [i for i, kind in kinds.items() if kind == "ROOT"] == [found["root"]]
    assert {(kinds[a], kinds[b]) for a, b in found["edges"]} <= ADMISSIBLE
    reached, fresh = {found["root"]}, {found["root"]}
    while fresh:
        fresh = {b for a, b in found["edges"] if a in fresh} - reached
        reached |= fresh
    assert reached == set(kinds)
    for node in found["nodes"]:
        assert node["text"]
        assert ("region" in node) == (node["type"] == "EVIDENCE")
        if "region" in node:
            assert node["region"][0] == node["id"]
            assert len(set(node["region"])) == len(node["region"]) <= 8
            assert all(kinds[p] == "EVIDENCE" for p in node["region"])


def test_it_is_the_same_every_time_and_otherwise_for_another_seed(tam: Command) -> None:
    first = tam("--corpus", "lights", "--json")
    assert tam("--corpus", "lights", "--json") == first
    assert tam("--corpus", "lights", "--json", "--rebuild") == first
    other = tam("--corpus", "lights", "--json", "--seed", "3")
    assert other != first
    assert tam("--corpus", "lights", "--json") == first
    assert tam("--corpus", "lights", "--json", "--seed", "3") == other


def test_checking_says_what_was_proved(tam: Command) -> None:
    code, out, err = tam("--corpus", "lights", "--check")
    assert (code, err) == (0, "")
    for proved in ("one root: yes", "acyclic: yes", "admissible edges only: yes"):
        assert proved in out
    code, out, _ = tam("--corpus", "lights", "--check", "--json")
    checks = json.loads(out)["checks"]
    assert checks["passages_reachable"] == 4
    assert all(checks.values())


def test_a_graph_that_breaks_an_invariant_is_one_line_and_exit_2(
    tam: Command, tmp_path: Path
) -> None:
    tam("--corpus", "lights")
    (stored,) = (tmp_path / "data").rglob("tam-*.json")
    words = json.loads(stored.read_text(encoding="utf-8"))
    words["ids"][1] = words["ids"][0]
    stored.write_text(json.dumps(words), encoding="utf-8")
    # The index is opened anew, as another process would.
    from core.retrieval import library as shelf

    shelf._OPEN.clear()
    code, out, err = tam("--corpus", "lights", "--check")
    assert (code, out) == (2, "")
    assert "Two nodes have the id" in err
    assert err.count("\n") == 1
    assert tam("--corpus", "lights", "--check", "--rebuild")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--corpus", "lihgts"), "Unknown corpus 'lihgts'"),
        ((), "--corpus"),
        (("--corpus", "lights", "--seed", "-1"), "--seed"),
    ],
)
def test_bad_input_is_one_line(tam: Command, arguments: tuple[str, ...], says: str) -> None:
    code, out, err = tam(*arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
