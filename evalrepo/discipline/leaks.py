"""Whether a text holds words of the reserve that it should not hold. Pure.

Two rules, on shingles of eight words. What a twin shares with the run-set by design is taken out first; of the rest, a
text leaks that holds 70 % of a passage's shingles, or thirteen of its words in a row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from evalrepo.discipline.shingles import LONG, SHORT, Sieve, longest, shingles, width, words

if TYPE_CHECKING:
    from evalrepo.discipline.passages import Held

SHARE = 0.70
FEWEST = 5
"""Words of a prompt or an expectation that can still be told from chance, when all of it stands elsewhere."""
_BRIEF = frozenset({"a prompt", "an expectation"})


@dataclass(frozen=True, slots=True)
class Guarded:
    """A passage as the numbers of its shingles, in order. `row`: how many of them make `LONG` words in a row."""

    scenario: str
    kind: str
    path: str
    row: int
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Guard:
    """The reserve of a tree, ready to be looked for. `shingles`: as numbers of words of `vocabulary`."""

    vocabulary: tuple[str, ...] = ()
    shingles: tuple[tuple[int, ...], ...] = ()
    passages: tuple[Guarded, ...] = ()
    wires: Mapping[str, tuple[str, ...]] | None = None
    home: tuple[str, ...] = ()
    shared: Mapping[str, tuple[str, ...]] | None = None
    twins: Mapping[str, str] | None = None
    overlap: float = SHARE

    @property
    def empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not self.passages and not self.wires

    @cached_property
    def sieve(self) -> Sieve:
        """Finds the shingles."""
        return Sieve(self.vocabulary, {shingle: number for number, shingle in enumerate(self.shingles)})

    @cached_property
    def digest(self) -> str:
        """Of all that decides what is found in a text, and of nothing else."""
        spelled = "\n".join(
            (*self.vocabulary, *(" ".join(map(str, s)) for s in self.shingles), *sorted(self.wires or ()))
        )
        return sha256(spelled.encode()).hexdigest()

    def spelled(self, numbers: Iterable[int]) -> str:
        """The SHA-256 of these shingles' words: the same in every clone, whatever else the reserve holds."""
        lines = sorted(" ".join(self.vocabulary[word] for word in self.shingles[number]) for number in numbers)
        return sha256("\n".join(lines).encode()).hexdigest()


def guard(held: Held, overlap: float) -> Guard:
    """The shingles of every passage that is long enough to be told from chance. `overlap`: what twins may share."""
    vocabulary: dict[str, int] = {}
    known: dict[tuple[int, ...], int] = {}
    found: dict[Guarded, None] = {}
    for passage in held.passages:
        tokens = words(passage.text)
        wide = width(tokens)
        if len(tokens) < wide * (FEWEST if passage.kind in _BRIEF else SHORT):
            continue
        size = min(SHORT * wide, len(tokens))
        ids = [tuple(vocabulary.setdefault(w, len(vocabulary)) for w in one) for one in shingles(tokens, size)]
        numbers = tuple(known.setdefault(one, len(known)) for one in ids)
        found[Guarded(passage.scenario, passage.kind, passage.path, (LONG - SHORT) * wide + 1, numbers)] = None
    return Guard(
        vocabulary=tuple(vocabulary),
        shingles=tuple(known),
        passages=tuple(found),
        wires=held.wires,
        home=held.home,
        shared=held.shared,
        twins=held.twins,
        overlap=overlap,
    )


@dataclass(frozen=True, slots=True)
class Hits:
    """What of the reserve a text holds: tripwires, and numbers of shingles, whether or not they are its to hold."""

    wires: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.wires or self.numbers)


@dataclass(frozen=True, slots=True)
class Found:
    """Reserve text in one text: of which scenario, what it is, the largest share of a passage, the most words in a row,
    and the shingles that it was found by."""

    scenario: str
    kinds: tuple[str, ...]
    share: float
    row: int
    numbers: frozenset[int]


def judged(guard: Guard, hits: Hits, shared: Mapping[str, Collection[int]], twins: Collection[str] = ()) -> list[Found]:
    """One `Found` for each reserve scenario that the text leaks. `shared`: scenario → shingles that are not its alone.

    `twins`: scenarios whose run-set twin the text is. Checks and scripts of a pair may be alike at any time.
    """
    there = frozenset(hits.numbers)
    by_scenario: dict[str, list[tuple[Guarded, float, int, frozenset[int]]]] = {}
    for passage in guard.passages if there else ():
        if there.isdisjoint(passage.numbers) or (passage.scenario in twins and passage.kind not in _BRIEF):
            continue
        known = frozenset(shared.get(passage.scenario, ()))
        measured = _measured(passage, there, known)
        if measured is not None:
            by_scenario.setdefault(passage.scenario, []).append((passage, *measured))
    return [_found(guard, scenario, parts) for scenario, parts in sorted(by_scenario.items())]


def _measured(
    passage: Guarded, there: frozenset[int], known: frozenset[int]
) -> tuple[float, int, frozenset[int]] | None:
    """Share and longest run of a passage's own shingles, None when neither is a leak."""
    own = frozenset(passage.numbers) - known
    found = own & there
    if not found:
        return None
    share, run = len(found) / len(own), longest(passage.numbers, found)
    whole = not known.intersection(passage.numbers)
    if run >= passage.row or (share >= SHARE and (whole or len(found) >= 3)):
        return share, run, found
    return None


def _found(guard: Guard, scenario: str, parts: Sequence[tuple[Guarded, float, int, frozenset[int]]]) -> Found:
    numbers = frozenset(number for *_, own in parts for number in own)
    row = max(in_a_row(guard, passage, run) for passage, _, run, _ in parts)
    kinds = tuple(dict.fromkeys(passage.kind for passage, *_ in parts))
    return Found(scenario, kinds, max(share for _, share, *_ in parts), row, numbers)


def in_a_row(guard: Guard, passage: Guarded, run: int) -> int:
    """How many words `run` shingles of the passage in a row are."""
    wide = (passage.row - 1) // (LONG - SHORT)
    return (run + len(guard.shingles[passage.numbers[0]]) - 1) // wide


def too_near(guard: Guard, hits: Hits, scenario: str) -> Found | None:
    """What a twin's file holds of the reserve's prompts, when that is more than twins may share."""
    there = frozenset(hits.numbers)
    prompts = [p for p in guard.passages if p.scenario == scenario and p.kind == "a prompt"]
    mine = frozenset(number for p in prompts for number in p.numbers)
    found = mine & there
    if not mine or len(found) / len(mine) < guard.overlap:
        return None
    row = max(in_a_row(guard, p, longest(p.numbers, found)) for p in prompts)
    return Found(scenario, ("a prompt",), len(found) / len(mine), row, found)


def pack(guard: Guard) -> dict[str, Any]:
    """The guard as JSON-able data; `unpack` is its inverse."""
    return {
        "vocabulary": guard.vocabulary,
        "shingles": guard.shingles,
        "passages": [[p.scenario, p.kind, p.path, p.row, p.numbers] for p in guard.passages],
        "wires": guard.wires,
        "home": guard.home,
        "shared": guard.shared,
        "twins": guard.twins,
        "overlap": guard.overlap,
    }


def unpack(data: Mapping[str, Any]) -> Guard:
    """The guard of what `pack` made. Raises KeyError, TypeError or ValueError for anything else."""
    return Guard(
        vocabulary=tuple(data["vocabulary"]),
        shingles=tuple(tuple(one) for one in data["shingles"]),
        passages=tuple(Guarded(s, kind, path, row, tuple(n)) for s, kind, path, row, n in data["passages"]),
        wires={wire: tuple(paths) for wire, paths in data["wires"].items()},
        home=tuple(data["home"]),
        shared={id_: tuple(paths) for id_, paths in data["shared"].items()},
        twins=dict(data["twins"]),
        overlap=float(data["overlap"]),
    )
