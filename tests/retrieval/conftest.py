from __future__ import annotations

from pathlib import Path

import pytest

from tests.retrieval.world import LIGHTHOUSES, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three documents."""
    return write(tmp_path / "lighthouses", LIGHTHOUSES)
