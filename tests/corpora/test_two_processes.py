"""A run is the same in every process, whatever order its sets and dictionaries hash to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from core import jsonl, registry, trace
from core.events import Step

ROOT = Path(__file__).resolve().parents[2]
ASKED = "Which band did the drummer of the first signing of Kestrel Records found?"
ASK = """
import sys
from pathlib import Path
from dataclasses import replace
from core import registry
from core.runs import RunSpec, execute
from core.settings import override
from core.types import Access
from tests.core.world import Kept, WordReranker
from tests.corpora.worlds import passages, world

question, folder = sys.argv[1], Path(sys.argv[2])
held = world(folder / "index", passages("music_labels"))
for system in registry.systems().values():
    isolated = {"memory": "isolated"} if "memory" in system.settings.model_fields else {}
    settings = override(system.settings(), isolated)
    spec = RunSpec(system, question, settings, run_id="same", seed=7)
    deps = replace(held.deps(Access()), reranker=WordReranker())
    with (folder / f"{system.name}.jsonl").open("w", encoding="utf-8") as file:
        for step in execute(spec, deps, Kept()):
            print(step.model_dump_json(), file=file)
"""


def runs(folder: Path, hash_seed: str) -> dict[str, list[Step]]:
    """The run of every system, made in a process of its own."""
    folder.mkdir()
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", ASK, ASKED, str(folder)]
    subprocess.run(command, env=environment, cwd=ROOT, check=True)
    return {n: jsonl.load(folder / f"{n}.jsonl") for n in registry.systems()}


def test_another_process_with_another_hash_seed_makes_the_same_runs(tmp_path: Path) -> None:
    one, two = runs(tmp_path / "one", "1"), runs(tmp_path / "two", "4242")
    for name in registry.systems():
        assert len(one[name]) > 5
        assert trace.diff(one[name], two[name]) is None, name
