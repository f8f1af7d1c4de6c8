"""The real clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Wall time in UTC and a monotonic timer."""

    def now(self) -> datetime:
        """The current time, with its zone."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds from an arbitrary start."""
        return time.monotonic()
