"""Fixtures of the comparing tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from comparing_rows import NEW, OLD, make_row

from evalrepo.comparing.cells import Planned
from evalrepo.records.row import Row


@pytest.fixture
def row() -> Callable[..., Row]:
    return make_row


@pytest.fixture
def planned() -> Callable[..., Planned]:
    def make(**changes: Any) -> Planned:
        return Planned(
            **({"scenario": "S1", "agent": "claude", "tier": "haiku", "before": OLD, "after": NEW} | changes)
        )

    return make
