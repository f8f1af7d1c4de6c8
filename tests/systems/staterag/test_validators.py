"""A proposal is committed exactly where it lies in its field's domain."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.graph import ADMISSIBLE, NodeType, PathFacts
from core.systems.staterag.state import (
    EvidenceItem,
    EvidenceValue,
    PathValue,
    PlanValue,
    VerdictValue,
)
from core.systems.staterag.validators import (
    Refusal,
    validate_evidence,
    validate_path,
    validate_plan,
    validate_verdict,
)
from core.types import Passage
from tests.core.world import PASSAGES, passage

TYPES: tuple[NodeType, ...] = ("ROOT", "TOPIC", "RELATION", "EVIDENCE")
PLAN = PlanValue(objective="Find it", required_facts=("a",), entities=("b",))


class Graph:
    """Typed nodes ``0..n-1``, the first the root, and any edges at all."""

    def __init__(self, types: list[NodeType], edges: set[tuple[int, int]]) -> None:
        self.types = {f"n{i}": kind for i, kind in enumerate(types)}
        self.edges = {(f"n{a}", f"n{b}") for a, b in edges}

    def facts(self, path: tuple[str, ...]) -> PathFacts:
        return PathFacts(
            root="n0",
            types=tuple(self.types.get(node) for node in path),
            edges=tuple(pair in self.edges for pair in pairwise(path)),
        )

    def completed(self, longest: int) -> Iterator[tuple[str, ...]]:
        """Every completed typed path of at most ``longest`` nodes, by walking."""
        walks = [("n0",)]
        for _ in range(longest):
            yield from (w for w in walks if self.types[w[-1]] == "EVIDENCE")
            walks = [
                (*walk, b)
                for walk in walks
                for a, b in sorted(self.edges)
                if a == walk[-1] and (self.types[a], self.types[b]) in ADMISSIBLE
            ]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    count = draw(st.integers(2, 6))
    types: list[NodeType] = ["ROOT", *draw(st.lists(st.sampled_from(TYPES), min_size=count - 1,
                                                    max_size=count - 1))]  # fmt: skip
    node = st.integers(0, count - 1)
    return Graph(types, draw(st.sets(st.tuples(node, node), max_size=14)))


@settings(max_examples=300)
@given(graphs(), st.data())
def test_a_path_is_accepted_exactly_where_walking_the_graph_finds_it(
    graph: Graph, data: st.DataObject
) -> None:
    found = set(graph.completed(5))
    nodes = st.sampled_from([*graph.types, "elsewhere"])
    drawn = data.draw(st.lists(nodes, min_size=0, max_size=5).map(tuple))
    for path in {drawn, *list(found)[:5]}:
        refused = validate_path(PathValue(nodes=path), graph.facts(path))
        assert (refused is None) == (path in found)


LINE: tuple[NodeType, ...] = ("ROOT", "TOPIC", "TOPIC", "RELATION", "RELATION", "EVIDENCE")


def forged_path(chance: random.Random) -> tuple[tuple[str, ...], PathFacts, str]:
    """A good path with one thing wrong, and the reason to be given."""
    types: list[NodeType | None] = [*LINE]
    path = [f"n{i}" for i in range(len(LINE))]
    edges = [True] * (len(LINE) - 1)
    inner = chance.randrange(1, len(LINE))
    wrong = chance.choice(["root", "unknown", "edge", "types", "end", "empty", "facts"])
    if wrong == "root":
        path[0] = f"n{inner}"
        return tuple(path), PathFacts(root="n0", types=(*types,), edges=(*edges,)), "not_from_root"
    if wrong == "unknown":
        types[inner] = None
        code = "unknown_node"
    elif wrong == "edge":
        edges[inner - 1] = False
        code = "no_edge"
    elif wrong == "types":
        inner = chance.randrange(1, len(LINE) - 1)
        kind: NodeType = chance.choice(("ROOT", "EVIDENCE"))
        types[inner] = kind
        code = "inadmissible"
    elif wrong == "end":
        cut = chance.randrange(1, len(LINE))
        path, types, edges = path[:cut], types[:cut], edges[: cut - 1]
        code = "not_completed"
    elif wrong == "empty":
        path, types, edges = [], [], []
        code = "empty_path"
    else:
        types = types[:-1]
        code = "wrong_facts"
    return tuple(path), PathFacts(root="n0", types=(*types,), edges=(*edges,)), code


def test_a_thousand_forged_paths_are_refused_for_what_is_wrong_with_them() -> None:
    chance = random.Random(3)
    good = tuple(f"n{i}" for i in range(len(LINE)))
    facts = PathFacts(root="n0", types=LINE, edges=(True,) * (len(LINE) - 1))
    assert validate_path(PathValue(nodes=good), facts) is None
    seen = set()
    for _ in range(1_000):
        path, facts, code = forged_path(chance)
        refused = validate_path(PathValue(nodes=path), facts)
        assert refused is not None
        assert refused.code == code
        seen.add(code)
    assert len(seen) == 7


REGION = {p.id: p for p in PASSAGES[:4]}


def forged_evidence(chance: random.Random) -> tuple[EvidenceValue, str]:
    items = [EvidenceItem.of(p) for p in chance.sample(list(REGION.values()), 3)]
    at = chance.randrange(len(items))
    wrong = chance.choice(["outside", "unknown", "digest", "no_digest", "span", "document",
                           "twice", "none"])  # fmt: skip
    change: dict[str, object] = {}
    if wrong == "outside":
        items[at] = EvidenceItem.of(chance.choice(PASSAGES[4:]))
        return EvidenceValue(items=tuple(items)), "outside_region"
    if wrong == "twice":
        return EvidenceValue(items=(*items, items[at])), "repeated"
    if wrong == "none":
        return EvidenceValue(), "no_evidence"
    code = {
        "unknown": "outside_region",
        "digest": "wrong_digest",
        "no_digest": "wrong_digest",
        "span": "wrong_span",
        "document": "wrong_document",
    }[wrong]
    if wrong == "unknown":
        change = {"id": f"made-up-{chance.random()}"}
    elif wrong == "span":
        change = {chance.choice(("start", "end")): items[at].end + chance.randrange(1, 99)}
    elif wrong == "document":
        change = {"document": "another.md"}
    else:
        change = {"digest": "" if wrong == "no_digest" else f"{chance.getrandbits(64):016x}"}
    items[at] = items[at].model_copy(update=change)
    return EvidenceValue(items=tuple(items)), code


def test_a_thousand_forged_evidence_sets_are_refused_for_what_is_wrong_with_them() -> None:
    chance = random.Random(4)
    assert validate_evidence(
        EvidenceValue(items=tuple(EvidenceItem.of(p) for p in REGION.values())), REGION
    ) is None  # fmt: skip
    seen = set()
    for _ in range(1_000):
        value, code = forged_evidence(chance)
        refused = validate_evidence(value, REGION)
        assert refused is not None
        assert refused.code == code
        seen.add(code)
    assert len(seen) == 6


def test_evidence_of_a_passage_whose_text_was_changed_is_refused() -> None:
    real = PASSAGES[0]
    changed: Passage = passage(real.title, f"{real.text} And more.").model_copy(
        update={"id": real.id}
    )
    refused = validate_evidence(EvidenceValue(items=(EvidenceItem.of(changed),)), REGION)
    assert refused is not None
    assert refused.code == "wrong_span"


@pytest.mark.parametrize(
    ("change", "note", "code"),
    [
        ({}, "", None),
        ({"note": "x"}, "x", None),
        ({"entities": ()}, "", None),
        ({"objective": " "}, "", "no_objective"),
        ({"required_facts": ()}, "", "no_facts"),
        ({"required_facts": ("a", "\n")}, "", "blank"),
        ({"entities": ("",)}, "", "blank"),
        ({"required_facts": ("a",) * 21}, "", "overlong"),
        ({"entities": ("a",) * 21}, "", "overlong"),
        ({"objective": "a" * 4_001}, "", "overlong"),
        ({"note": "another"}, "what was missing", "wrong_note"),
        ({}, "what was missing", "wrong_note"),
    ],
)
def test_plans(change: dict[str, object], note: str, code: str | None) -> None:
    assert _code(validate_plan(PLAN.model_copy(update=change), note)) == code


@pytest.mark.parametrize(
    ("verdict", "said", "code"),
    [
        ("PASS", "", None),
        ("FAIL", "the birthplace", None),
        ("PENDING", "", "pending"),
        ("pass", "", "unknown_verdict"),
        ("", "", "unknown_verdict"),
        ("FAIL", "  ", "no_justification"),
        ("FAIL", "x" * 4_001, "overlong"),
    ],
)
def test_verdicts(verdict: str, said: str, code: str | None) -> None:
    assert _code(validate_verdict(VerdictValue(verdict=verdict, justification=said))) == code


def _code(refused: Refusal | None) -> str | None:
    return refused.code if refused else None
