"""How many reps run at once."""

from __future__ import annotations

import os
from pathlib import Path

GIB = 1 << 30


def default_jobs(*, model_free: bool, need: int = GIB) -> int:
    """Reps at a time: cores that this process may use (twice for agents that wait for a model, at most four), and
    what memory allows. `need` is bytes a rep; 2 GiB stay free. See facts on limits: start-up CPU binds first.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    by_cores = cores if model_free else min(4, 2 * cores)
    return max(1, min(by_cores, (available() - 2 * GIB) // need))


def available(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Bytes of memory that are free for us; 8 GiB where the system does not say. Respects a cgroup's limit."""
    try:
        rows = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        free = int(rows["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        free = 8 * GIB
    return min([free, *_cgroup_limits()])


def _cgroup_limits() -> list[int]:
    limits = []
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path(name).read_text()))
        except (OSError, ValueError):
            continue
    return limits
