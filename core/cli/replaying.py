"""``replay``: re-decide a recorded run under other settings."""

from __future__ import annotations

import json

from core.cli.options import JournalDir, Json, Run, Settings, steps_of
from core.narration import counted, plain
from core.replay import replay as redecide
from core.settings import parse_assignments


def replay(
    run: Run, settings: Settings = None, as_json: Json = False, journal: JournalDir = None
) -> None:
    """Re-decide a run under other settings, without any model call."""
    overrides = parse_assignments(settings or [])
    report = redecide(steps_of(run, journal), overrides)
    if as_json:
        print(json.dumps(report.as_json(), ensure_ascii=False))
        return
    for decision in report.decisions:
        now = decision.replayed or "undetermined"
        changed = decision.recorded if now == decision.recorded else f"{decision.recorded} -> {now}"
        line = plain(f"{decision.decider}: {changed}", 120)
        print(f"{decision.seq:>4}  {decision.certainty:<12}  {line}")
    print()
    first = report.first_divergence
    if first is None:
        print(f"{counted(len(report.decisions), 'decision')}, none comes out otherwise.")
    else:
        print(f"First divergence at step {first.seq}: {first.replayed}, not {first.recorded}.")
    if report.unknown_from is not None:
        why = plain(report.unknown_because, 300)
        print(f"Unknown under these settings from step {report.unknown_from} on: {why}.")
