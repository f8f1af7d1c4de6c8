from __future__ import annotations

from hypothesis import settings

# Hypothesis looks for wrong results here, not for slow ones: a busy machine is no failure.
settings.register_profile("any_machine", deadline=None)
settings.load_profile("any_machine")
