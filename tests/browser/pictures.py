"""A picture of 3,000 nodes, and how to tell that a browser has drawn it."""

from __future__ import annotations

from components import tam_layout

DRAWN = """() => new Promise((done) => {
  network.once("afterDrawing", done);
  network.redraw();
})"""
"""In the picture's page: waits until the network is on the canvas."""


def large_drawing() -> tam_layout.Drawing:
    """A graph of 3,000 nodes and 7,900 edges, laid out."""
    kinds = {"root": "ROOT"} | {f"t{n}": "TOPIC" for n in range(50)}
    kinds |= {f"r{n}": "RELATION" for n in range(949)} | {f"e{n}": "EVIDENCE" for n in range(2_000)}
    pairs = [("root", f"t{n}") for n in range(50)]
    pairs += [(f"t{(n + k) % 50}", f"r{n}") for n in range(949) for k in (0, 7)]
    pairs += [(f"r{(n * 7 + k) % 949}", f"e{n}") for n in range(2_000) for k in (0, 1, 2)]
    return tam_layout.whole(kinds, pairs, {}, {n: "words " * 40 for n in kinds})
