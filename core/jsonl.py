"""A run as JSON lines: one step a line, validated as strictly as live events on the way in.

An imported file is untrusted. It is refused as a whole, with the number of the first line that
is wrong; nothing of it is used before all of it was checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core import contracts
from core.errors import BadInput
from core.events import SCHEMA_VERSION, RunFinished, RunStarted, Step

MAX_LINE = 8 * 1024 * 1024
"""Most bytes of one line."""
MAX_STEPS = 200_000
"""Most steps of one run."""
MAX_BYTES = 512 * 1024 * 1024
"""Most bytes of one file."""

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def dump(steps: Iterable[Step]) -> str:
    """The steps as JSON lines, each ended by a newline."""
    return "".join(step.model_dump_json() + "\n" for step in steps)


def load(source: str | Path) -> list[Step]:
    """The run in a text or in a file.

    Raises:
        BadInput: names the first line that is broken, out of order, or of a newer version.
    """
    steps: list[Step] = []
    for number, line in enumerate(_lines(source), start=1):
        try:
            if len(steps) >= MAX_STEPS:
                raise BadInput(f"a run has at most {MAX_STEPS} steps")
            step = _step(line)
            _in_place(step, steps)
        except BadInput as error:
            raise BadInput(
                f"Line {number} of the run is refused: {error.message.rstrip('.')}. "
                "Nothing was imported."
            ) from None
        steps.append(step)
    if not steps:
        raise BadInput("The run file is empty; nothing was imported.")
    return steps


def _lines(source: str | Path) -> Iterator[bytes]:
    if isinstance(source, str):
        if len(source) > MAX_BYTES:
            raise BadInput(f"The run has more than {MAX_BYTES} bytes; nothing was imported.")
        yield from _capped(iter(source.encode("utf-8", "surrogatepass").splitlines(keepends=True)))
        return
    try:
        if source.stat().st_size > MAX_BYTES:
            raise BadInput(f"The run file has more than {MAX_BYTES} bytes; nothing was imported.")
        with source.open("rb") as file:
            yield from _capped(iter(lambda: file.readline(MAX_LINE + 2), b""))
    except OSError as error:
        raise BadInput(f"The run file cannot be read: {error.strerror}.") from None


def _capped(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Each line without its end; a line past the limit is cut and fails as one that is not JSON."""
    for number, line in enumerate(lines):
        if number == 0:
            line = line.removeprefix(b"\xef\xbb\xbf")
        yield line.rstrip(b"\r\n")


def _step(line: bytes) -> Step:
    if len(line) > MAX_LINE:
        raise BadInput(f"it has more than {MAX_LINE} bytes")
    try:
        plain = json.loads(
            line.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_no_duplicates
        )
    except UnicodeDecodeError:
        raise BadInput("it is not UTF-8 text") from None
    except RecursionError:
        raise BadInput("it is nested too deeply") from None
    except ValueError as error:
        raise BadInput(f"it is not JSON ({str(error).partition(':')[0]})") from None
    _version(plain)
    try:
        step = Step.model_validate_json(line, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:60] for part in first["loc"]) or "the top"
        raise BadInput(f"it is no step; at {where}: {first['msg']}") from None
    contracts.check(step)
    return step


def _version(plain: Any) -> None:
    """Say that a run is newer before saying that it has fields which are not known."""
    event = plain.get("event") if isinstance(plain, dict) else None
    version = event.get("schema_version") if isinstance(event, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise BadInput(
            f"the run has schema version {version} and this product reads up to "
            f"{SCHEMA_VERSION}; update the product to open it"
        )


def _in_place(step: Step, before: list[Step]) -> None:
    if not _RUN_ID.fullmatch(step.run_id):
        raise BadInput("the run id must be 1 to 64 letters, digits, '-' or '_'")
    if step.seq != len(before):
        raise BadInput(f"step {len(before)} is expected here, not step {step.seq}")
    if isinstance(step.event, RunStarted) != (not before):
        raise BadInput("a run starts with RunStarted, and only once")
    if before and step.run_id != before[0].run_id:
        raise BadInput("it belongs to another run")
    if before and isinstance(before[-1].event, RunFinished):
        raise BadInput("it comes after the end of the run")
    if step.parent_seq is None and before:
        raise BadInput("only the first step has no parent step")
    if step.parent_seq is not None and step.parent_seq >= step.seq:
        raise BadInput("a step comes after its parent step")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found
