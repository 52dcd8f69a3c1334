"""What a diff or a gate asks: the cells of the grid with their identities. Remembered by the content of both sides.

To work it out, YAML, models and digests are needed; to remember it, none of them. The cache changes no answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from evalrepo.comparing.cells import Planned, compare_cell, unexplained
from evalrepo.comparing.pool import Cell, Identity
from evalrepo.records.inference import Background, Looked, MovedGoal, Waiver
from evalrepo.records.verdict import CellResult, Policy, Side

if TYPE_CHECKING:
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.results import Rows

VERSION = 7
"""Of what is remembered and of how it is worked out."""

Parts = Mapping[str, Mapping[str, str]]
"""Digest name → part → value."""


@dataclass(frozen=True)
class Question:
    """Sides, policy, and every cell; `parts`: the candidate's parts of each cell, in the order of `cells`.

    `background`: what the ledger says; what depends on the day or on results is added when it is asked.
    """

    before: Side
    after: Side
    policy: Policy
    cells: Sequence[Planned]
    parts: Callable[[], Sequence[Parts]]
    background: Background = field(default_factory=Background)


def remembered(
    repo: Repository, rows: Rows, trees: Sequence[Tree], asked: Any, make: Callable[[], Question]
) -> Question:
    """The question for these trees and this command line (JSON-able), from the cache or made.

    Which cells have records is part of what it depends on.
    """
    from evalrepo.repository.tree import uncollected
    from evalrepo.store.cache import Cache

    key = sha256(json.dumps([[content(t) for t in trees], asked, rows.cells()]).encode()).hexdigest()
    cache = Cache(repo.home, "questions", VERSION)
    found = _read(cache, key)
    if found is not None:
        return found
    with uncollected():
        made = make()
        parts = made.parts()
    cache.put({key: _dump(made), f"{key}.parts": json.dumps(parts)})
    return made


def content(tree: Tree) -> str:
    """What a side's grid and identities rest on: a commit, or every file of the work tree that is no result."""
    if tree.commit is not None:
        return tree.commit
    lines = (f"{e.mode} {e.oid} {path}\0" for path, e in tree.entries().items() if not path.startswith("AgentsReport/"))
    return sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _dump(made: Question) -> str:
    from evalrepo.render.json import plain

    sides = (made.before, made.after)
    data = {"sides": sides, "policy": made.policy, "background": made.background, "cells": made.cells}
    return json.dumps(plain(data))


def _read(cache: Any, key: str) -> Question | None:
    body = cache.get([key]).get(key)
    if body is None:
        return None
    try:
        data = json.loads(body)
        before, after = (Side(**side) for side in data["sides"])
        policy = data["policy"]
        for name in ("suites", "golden"):
            policy[name] = tuple(policy[name])
        cells = [_planned(cell) for cell in data["cells"]]
        background = _background(data["background"])
        return Question(before, after, Policy(**policy), cells, lambda: _parts(cache, key, len(cells)), background)
    except (ValueError, TypeError, KeyError):
        return None


def _background(data: dict[str, Any]) -> Background:
    return Background(
        looks=tuple(_looked(one) for one in data["looks"]),
        versions=data["versions"],
        waivers=tuple(Waiver(**waiver) for waiver in data["waivers"]),
        moved=tuple(MovedGoal(one["subject"], one["ball"], tuple(one["goals"])) for one in data["moved"]),
    )


def _looked(data: dict[str, Any]) -> Looked:
    return Looked(**{**data, **{name: tuple(data[name]) for name in ("scenarios", "opened", "remarks")}})


def _planned(data: dict[str, Any]) -> Planned:
    for side in ("before", "after"):
        if data[side] is not None:
            data[side] = Identity(**data[side])
    data["bar"] = tuple(data["bar"])
    data["thaws"] = tuple((at, said) for at, said in data["thaws"])
    return Planned(**data)


def _parts(cache: Any, key: str, count: int) -> Sequence[Parts]:
    body = cache.get([f"{key}.parts"]).get(f"{key}.parts")
    found: Sequence[Parts] = json.loads(body) if body is not None else ()
    return found if len(found) == count else [{}] * count


def compared(rows: Rows, asked: Question, again: Mapping[Cell, Sequence[Row]] | None = None) -> list[CellResult]:
    """The scores of both sides of every cell, with what differs where they cannot be compared. `again`: rows beside
    the recorded ones, of reps that were judged again."""
    from evalrepo.results import parts

    wanted = {p.cell: [i.subject for i in (p.before, p.after) if i is not None] for p in asked.cells}
    held = _with(rows.select(wanted, others=False), again)
    found = [compare_cell(p, held[p.cell]) for p in asked.cells]
    unclear = [n for n, result in enumerate(found) if not result.comparable]
    if not unclear:
        return found
    more = _with(rows.select({asked.cells[n].cell: wanted[asked.cells[n].cell] for n in unclear}), again)
    known = parts(rows.git, [row for n in unclear for row in unexplained(asked.cells[n], more[asked.cells[n].cell])])
    expected = asked.parts()
    for n in unclear:
        cell = asked.cells[n]
        found[n] = compare_cell(cell, more[cell.cell], expected[n], known)
    return found


def _with(held: dict[Cell, list[Row]], again: Mapping[Cell, Sequence[Row]] | None) -> dict[Cell, list[Row]]:
    """Rows of each cell with those that were judged again, the first first."""
    if not again:
        return held
    from evalrepo.results.rows import order

    return {cell: sorted([*rows, *again.get(cell, ())], key=order) for cell, rows in held.items()}
