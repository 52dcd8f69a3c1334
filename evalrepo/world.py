"""What enters at `cli.py` and is handed down: directory, environment, clock, random numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True)
class World:
    """The surroundings of one command. `now` is aware and UTC; `random(n)` gives n random bytes."""

    cwd: Path
    environ: Mapping[str, str]
    now: Callable[[], datetime]
    random: Callable[[int], bytes]

    def timestamp(self) -> str:
        """The time, RFC 3339, UTC, whole seconds: `2026-11-29T21:53:48Z`."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%SZ")
