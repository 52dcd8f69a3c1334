"""Which scenarios are one statistical unit: twins, and those that name the same cluster. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from evalrepo.records.scenario import Scenario


def clusters(scenarios: Mapping[str, Scenario]) -> dict[str, str]:
    """Scenario id → the smallest id of its cluster. A twin pair is always one cluster, whatever else it names."""
    root = {i: i for i in scenarios}

    def find(i: str) -> str:
        while root[i] != i:
            i = root[i]
        return i

    first: dict[str, str] = {}
    for i, scenario in scenarios.items():
        other = [scenario.twin] if scenario.twin in scenarios else []
        other += [first.setdefault(scenario.cluster, i)] if scenario.cluster else []
        for j in other:
            low, high = sorted((find(i), find(str(j))))
            root[high] = low
    return {i: find(i) for i in scenarios}
