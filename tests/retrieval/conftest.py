from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from tests.retrieval.world import LIGHTHOUSES, write

# Hypothesis looks for wrong results here, not for slow ones: a busy machine is no failure.
settings.register_profile("retrieval", deadline=None)
settings.load_profile("retrieval")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three documents."""
    return write(tmp_path / "lighthouses", LIGHTHOUSES)
