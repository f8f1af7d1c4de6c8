"""Hypothesis looks for wrong results here, not for slow ones: a busy machine is no failure."""

from hypothesis import settings

settings.register_profile("retrieval", deadline=None)
settings.load_profile("retrieval")
