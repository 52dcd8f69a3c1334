"""Pairs of twins: the same shape, in other words."""

from __future__ import annotations

from collections.abc import Iterator

from evalrepo.discipline.parity import differences, overlap
from evalrepo.errors import Finding
from evalrepo.linting.ground import Ground
from evalrepo.store.loading import LoadedScenario


def pairs(ground: Ground) -> Iterator[tuple[LoadedScenario, LoadedScenario]]:
    """Every reserve scenario with the run-set scenario that it names, when that names it too."""
    for one in ground.loaded.of_set("reserve").values():
        other = ground.loaded.scenarios.get(one.scenario.twin or "")
        if other is not None and other.set == "run-set" and other.scenario.twin == one.id:
            yield one, other


def same_shape(ground: Ground) -> Iterator[Finding]:
    """A twin asks the same questions of the same kind of task, so that the two scores mean the same."""
    warning = ground.config.discipline.twins == "warning"
    for one, other in pairs(ground):
        for difference in differences(one.scenario, other.scenario):
            hint = f"make the two alike: compare {one.path} with {other.path}"
            message = f"differs from its twin {other.id} in {difference}"
            yield Finding(ground.of(one, "twin"), "SCN134", message, hint, warning)


def other_words(ground: Ground) -> Iterator[Finding]:
    """A twin asks in other words, so that what was tuned on its sibling was not tuned on it."""
    warning = ground.config.discipline.twins == "warning"
    allowed = ground.config.reserve.overlap
    for one, other in pairs(ground):
        found = overlap(one.scenario, other.scenario)
        if found >= allowed:
            shared = f"{found:.0%} of its prompts' eight-word runs stand in its twin {other.id}"
            message = f"{shared}, and less than {allowed:.0%} may"
            hint = "ask for the same thing in other words; the reserve's files want evalrepo thaw first"
            yield Finding(ground.of(one, "turns"), "SCN135", message, hint, warning)


RULES = (same_shape, other_words)
