"""``tam``: the typed abstraction memory of a corpus."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.cli.corpora import Corpus
from core.cli.options import ApiBase, Json, progress_line
from core.errors import ReasonerError
from core.narration import counted, plain

if TYPE_CHECKING:
    from core.systems.staterag.tam import Tam
    from core.systems.staterag.tam_written import Written
    from core.types import Passage


def tam(
    corpus: Corpus,
    check: Annotated[
        bool, typer.Option("--check", help="Prove every invariant and say what was found.")
    ] = False,
    as_json: Json = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Forget what is stored and build it anew.")
    ] = False,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of the graph.")
    ] = 0,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="A language model, as litellm names it, that writes the abstractions."
        ),
    ] = None,
    api_base: ApiBase = None,
) -> None:
    """Build a corpus's typed abstraction memory, or show the one that is stored.

    A model's abstractions replace the extractive ones of topics and relations; nothing else
    changes. Those of an earlier call are taken over, --rebuild forgets them. Where every request
    fails, the graph stays as it is and the exit code is 2.
    """
    from core.systems.staterag.tam_graph import IndexGraph
    from core.wiring import Workbench

    progress = progress_line()
    bench = Workbench()
    index = bench.library.ensure(corpus, progress)
    reasoner = None if model is None else bench.reasoner(index, model, api_base=api_base)
    graph = IndexGraph.of(index) if seed == 0 else IndexGraph(index, seed=seed)
    found = graph.tam(progress, rebuild=rebuild)
    if reasoner is not None:
        written = graph.write(reasoner, progress)
        if written.in_vain:
            raise ReasonerError(_told(written))
        found = graph.tam()
        print(_told(written), file=sys.stderr)
    checks = checked(found, index.passages()) if check else {}
    if as_json:
        shown = as_object(found)
        if check:
            shown["checks"] = checks
        print(json.dumps(shown, ensure_ascii=False))
        return
    kinds = Counter(found.types.tolist())
    nodes = zip((kinds[1], kinds[2], kinds[3]), ("topic", "relation", "passage"), strict=True)
    sizes = [counted(n, noun) for n, noun in (*nodes, (len(found.edges), "edge"))]
    print(f"{plain(index.corpus.id)}: {', '.join(sizes)}, digest {found.digest}")
    for name, value in checks.items():
        print(f"{name.replace('_', ' ')}: {value if not isinstance(value, bool) else 'yes'}")
    if not check:
        _outline(found)


def _told(written: Written) -> str:
    """What came of writing abstractions, the failures first."""
    if written.in_vain:
        of = "what is left" if written.kept else "the abstractions"
        return f"The model wrote none of {of}, and the graph stays as it is: {written.problem}"
    said = f"{written.nodes - written.failed} of {counted(written.nodes, 'abstraction')} written"
    kept = f", {written.kept} of them before" if written.kept else ""
    if not written.failed:
        return f"{said} by the model{kept}."
    return (
        f"{counted(written.failed, 'node')} kept the extractive abstraction, since the model "
        f"failed: {written.problem} {said}{kept}; ask again for the rest."
    )


def as_object(tam: Tam) -> dict[str, Any]:
    """``{root, nodes: [{id, type, text, region?}], edges}``; a region is of the default width
    and begins with its own passage."""
    from core.systems.staterag.tam import EVIDENCE, REGION_WIDTH, type_of

    first = tam.first_evidence
    nodes: list[dict[str, Any]] = []
    for number, (name, text) in enumerate(zip(tam.ids, tam.texts, strict=True)):
        node: dict[str, Any] = {"id": name, "type": type_of(tam, number), "text": text}
        if tam.types[number] == EVIDENCE:
            rows, _ = tam.region(number - first)
            others = [tam.ids[first + row] for row in rows[: REGION_WIDTH - 1]]
            node["region"] = [name, *others]
        nodes.append(node)
    edges = [[tam.ids[parent], tam.ids[child]] for parent, child in tam.edges]
    return {"root": tam.root, "nodes": nodes, "edges": edges}


def checked(tam: Tam, passages: Sequence[Passage]) -> dict[str, bool | int]:
    """Validate a graph; what was proved, and how many nodes have several parents.

    Raises:
        StaleIndex: an invariant is broken; names the first breach.
    """
    import numpy as np

    from core.errors import StaleIndex
    from core.systems.staterag.tam import InvalidTam, validate_tam

    try:
        validate_tam(tam, passages)
    except InvalidTam as breach:
        raise StaleIndex(
            f"The abstraction memory is refused: {breach} Build it anew with --rebuild."
        ) from None
    parents = np.bincount(tam.edges[:, 1], minlength=len(tam.ids)) if len(tam.edges) else [0]
    return {
        "one_root": True,
        "acyclic": True,
        "every_node_reachable": True,
        "admissible_edges_only": True,
        "every_evidence_has_a_region": True,
        "passages_reachable": len(passages),
        "nodes_with_several_parents": int((np.asarray(parents) > 1).sum()),
    }


def _outline(tam: Tam) -> None:
    """The root and its topics, two levels deep."""
    from core.systems.staterag.tam import ROOT, TOPIC

    children: dict[int, list[int]] = {}
    for parent, child in tam.edges.tolist():
        if tam.types[parent] in (ROOT, TOPIC) and tam.types[child] == TOPIC:
            children.setdefault(parent, []).append(child)
    print(plain(tam.texts[0], 300))
    for topic in children.get(0, ()):
        print(f"  {plain(tam.texts[topic], 200)}")
        for lower in children.get(topic, ()):
            print(f"    {plain(tam.texts[lower], 200)}")
