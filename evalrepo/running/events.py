"""What a run says while it works. `running` prints nothing; commands render these."""

from __future__ import annotations

from dataclasses import dataclass

from evalrepo.records.record import Rep


@dataclass(frozen=True, slots=True)
class Begun:
    """A round begins: names of its cells, and reps that each needs."""

    cells: tuple[str, ...]
    reps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Started:
    """A rep begins: number of the cell in its round, rep and attempt from 1."""

    cell: int
    rep: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Finished:
    """A rep ended, whatever its verdict."""

    cell: int
    rep: Rep


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another run measures these cells; this one waits for it."""

    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence for the person."""

    text: str


Event = Begun | Started | Finished | Waiting | Note
