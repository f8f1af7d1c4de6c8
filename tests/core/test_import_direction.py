"""Dependencies point inward, heavy libraries stay in the adapters, and the core stays quick."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core"
HEAVY = {"chromadb", "sentence_transformers", "litellm", "torch", "transformers"}

LAYERS: dict[str, set[str]] = {
    "core.types": set(),
    "core.errors": set(),
    "core.events": {"core.types", "core.errors"},
    "core.memory": {"core.types", "core.errors"},
    "core.settings": {"core.types", "core.errors", "core.memory"},
    "core.budget": {"core.types", "core.errors"},
    "core.decisions": {"core.types", "core.errors", "core.settings"},
    "core.graph": {"core.types", "core.errors"},
    "core.tasks": {"core.types"},
    "core.ports": {
        "core.types",
        "core.errors",
        "core.events",
        "core.budget",
        "core.graph",
        "core.memory",
        "core.tasks",
    },
    "core.responses": {
        "core.types",
        "core.errors",
        "core.events",
        "core.graph",
        "core.memory",
        "core.tasks",
    },
    "core.steps": {
        "core.types",
        "core.errors",
        "core.events",
        "core.budget",
        "core.settings",
        "core.decisions",
        "core.graph",
        "core.tasks",
        "core.ports",
        "core.responses",
    },
}
"""What each of the inner modules may import of the project; settings and errors are level."""

OUTER = (
    "core.evaluation",
    "core.export",
    "core.cli",
    "core.wiring",
    "core.live",
    "core.playback",
    "core.rerun",
)
"""Nothing that a run is made of may know these."""

INNER_PACKAGES = (
    "core.systems",
    "core.retrieval",
    "core.reasoning",
    "core.registry",
    "core.contracts",
    "core.faults",
    "core.injection",
    "core.runs",
)


UNSEEN_BY_ADAPTERS = (
    "core.systems",
    "core.events",
    "core.steps",
    "core.decisions",
    "core.registry",
    "core.contracts",
    "core.runs",
    "core.journal",
    "core.trace",
    "core.replay",
    "core.evaluation",
    "core.wiring",
    "core.playback",
    "core.rerun",
    "core.live",
)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, *, at_the_top: bool = False) -> Iterator[str]:
    """Absolute names of imported modules, each ``from a import b`` as both ``a`` and ``a.b``.

    ``at_the_top``: only what importing the module imports, so neither what functions import nor
    what only type checkers see.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = module_name(path)
    if path.name != "__init__.py":
        package = package.rpartition(".")[0]
    nodes = list(_executed(tree)) if at_the_top else list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = package.split(".")
                base = ".".join([*up[: len(up) - node.level + 1], *([base] if base else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from _executed(child)


def sources(*folders: str) -> list[Path]:
    return sorted(
        p
        for folder in folders
        for p in (ROOT / folder).rglob("*.py")
        if "__pycache__" not in p.parts
    )


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def breaches(
    paths: list[Path], forbidden: Callable[[str, str], bool], *, at_the_top: bool = False
) -> list[str]:
    """``file imports name`` for every import that ``forbidden(module, name)`` says is one."""
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in paths
        for name in imports(path, at_the_top=at_the_top)
        if forbidden(module_name(path), name)
    ]


def any_within(name: str, packages: Iterable[str]) -> bool:
    return any(within(name, package) for package in packages)


CORE_FILES = sources("core")
ADAPTER_FILES = sources("core/adapters")
FRONT_FILES = [p for p in (*sources("components", "pages"), ROOT / "app.py") if p.exists()]


def is_heavy(_: str, name: str) -> bool:
    return name.split(".")[0] in HEAVY


def test_the_core_never_imports_the_front_or_streamlit() -> None:
    front = ("streamlit", "components", "pages", "app")
    assert breaches(CORE_FILES, lambda _, name: any_within(name, front)) == []


def test_heavy_libraries_are_imported_in_adapters_only_and_there_late() -> None:
    others = [p for p in CORE_FILES if p not in ADAPTER_FILES]
    assert breaches(others + FRONT_FILES, is_heavy) == []
    assert breaches(ADAPTER_FILES, is_heavy, at_the_top=True) == []


def test_inner_modules_import_only_what_lies_further_in() -> None:
    paths = [ROOT / (module.replace(".", "/") + ".py") for module in LAYERS]

    def outward(module: str, name: str) -> bool:
        return within(name, "core") and name != "core" and not any_within(name, LAYERS[module])

    assert breaches(paths, outward) == []


def test_what_a_run_is_made_of_knows_nothing_outside_of_it() -> None:
    inner = [p for p in CORE_FILES if any_within(module_name(p), (*LAYERS, *INNER_PACKAGES))]
    assert len(inner) > len(LAYERS)
    assert breaches(inner, lambda _, name: any_within(name, OUTER)) == []


def test_adapters_are_imported_where_things_are_wired_up() -> None:
    others = [p for p in CORE_FILES if p not in ADAPTER_FILES and p.name != "wiring.py"]

    def adapter(_: str, name: str) -> bool:
        return within(name, "core.adapters")

    assert breaches(others + FRONT_FILES, adapter, at_the_top=True) == []


def test_adapters_see_neither_systems_nor_events_nor_what_drives_runs() -> None:
    assert breaches(ADAPTER_FILES, lambda _, name: any_within(name, UNSEEN_BY_ADAPTERS)) == []


@pytest.mark.parametrize(
    "module", ["core.registry", "core.runs", "core.trace", "core.replay", "core.cli.main"]
)
def test_importing_it_loads_nothing_heavy(module: str) -> None:
    banned = sorted({*HEAVY, "streamlit", "sklearn", "pandas", "scipy", "networkx"})
    code = f"import sys, {module}; print([m for m in {banned!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_module_that_a_rule_names_is_there() -> None:
    named = {*LAYERS, *OUTER, *INNER_PACKAGES, *UNSEEN_BY_ADAPTERS}.union(*LAYERS.values())
    there = {module_name(path) for path in CORE_FILES}
    assert named - there == set()


def test_the_scanner_sees_what_it_should(tmp_path: Path) -> None:
    """The rules above are only as good as the list of imports they look at."""
    folder = ROOT / "core" / "cli"
    found = set(imports(folder / "ask.py"))
    assert {"core.wiring", "core.wiring.Workbench", "core.runs.execute", "typer"} <= found
    assert "core.wiring" not in set(imports(folder / "ask.py", at_the_top=True))
    assert "core.journal" not in set(imports(folder / "options.py", at_the_top=True))
    assert "core.journal" in set(imports(folder / "options.py"))
