"""What is to be frozen: the reserve, and by closure all that it names. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from evalrepo.discipline.places import RESERVE, covered, outermost
from evalrepo.records.names import named
from evalrepo.records.scenario import Scenario

WILD = frozenset("*?[")


def closure(
    reserve: Mapping[str, Scenario], also: Iterable[str], match: Callable[[str], Iterable[str]]
) -> dict[str, str]:
    """Roots, sorted → why: the reserve's folder, what its scenarios name, and `frozen.also` (`dir/**` is `dir`).

    `match` resolves other globs to the files of today.
    """
    wanted = {RESERVE: "the reserve"}
    for id_, scenario in reserve.items():
        for path in named(scenario).paths:
            wanted.setdefault(path, f"{id_} names it")
    for glob in also:
        literal = glob.removesuffix("/**")
        for path in {literal} if not WILD & set(literal) else match(glob):
            wanted.setdefault(path, f"`frozen.also` has {glob}")
    return {root: wanted[root] for root in outermost(frozenset(wanted))}


def unlocked(roots: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Roots of the closure that the lock's roots do not cover."""
    known = frozenset(roots)
    return tuple(root for root in wanted if not covered(known, root))
