"""A run of any length, made by repeating the middle of a recorded one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from core.events import PassagesShown, Step


def lengthened(steps: Sequence[Step], count: int, run_id: str) -> list[Step]:
    """``count`` steps: the first, the middle over and over, the last.

    Every repetition has passages of its own, so that a view of the evidence grows as it would.
    """
    middle = list(islice(_repeated(steps[1:-1], run_id), count - 2))
    first, last = (_placed(s, run_id, 0, 0.0) for s in (steps[0], steps[-1]))
    end = _placed(last, run_id, count - 1, middle[-1].elapsed_ms + 1)
    return [first, *middle, end]


def _repeated(cycle: Sequence[Step], run_id: str) -> Iterator[Step]:
    ids = {p.id for s in cycle if isinstance(s.event, PassagesShown) for p in s.event.passages}
    texts = [s.model_dump_json() for s in cycle]
    seq = lap = 0
    while True:
        for text in texts:
            for known in ids:
                text = text.replace(known, f"{known}-{lap}")
            seq += 1
            yield _placed(Step.model_validate_json(text), run_id, seq, 40.0 * seq)
        lap += 1


def _placed(step: Step, run_id: str, seq: int, elapsed: float) -> Step:
    place = {"run_id": run_id, "seq": seq, "parent_seq": seq - 1 if seq else None}
    return step.model_copy(update={**place, "elapsed_ms": elapsed})
