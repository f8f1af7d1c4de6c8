"""Tests against a real model run only where they are asked for by their mark."""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "local_model" in config.option.markexpr:
        return
    skip = pytest.mark.skip(reason="needs a real model; run by make test-model")
    for item in items:
        if item.get_closest_marker("local_model"):
            item.add_marker(skip)
