"""``make bench``: every benchmark, or those that are named, one after the other."""

from __future__ import annotations

import importlib
import sys

PARTS = ("steps", "outcomes", "tam", "reader", "app")
"""Modules of this folder with a ``main(arguments) -> exit code``."""


def main(names: list[str]) -> int:
    """Run the benchmarks; the highest of their exit codes."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"No benchmark {unknown[0]!r}; there are {', '.join(PARTS)}.", file=sys.stderr)
        return 2
    return max(importlib.import_module(f"benchmarks.{name}").main([]) for name in names or PARTS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
