"""From what a person types (a path, a run, a scenario) to the records it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.comparing.pool import Cell
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows


def at_hand(repo: Repository) -> Rows:
    """Every record of HEAD, of the work tree and of the run refs."""
    from evalrepo.results import rows

    trees = ([repo.tree("HEAD")] if repo.head() else []) + [repo.tree("WORKTREE")]
    return rows(repo, trees)


def named(rows: Rows, words: Sequence[str]) -> list[Row]:
    """Rows that every word fits: a file's path or name, a run, a scenario id or alias. By scenario alone: the newest
    of each cell. UsageError when there is none.
    """
    found = every(rows, words)
    return found if any(_is_file_or_run(row, words) for row in found) else _newest(found)


def every(rows: Rows, words: Sequence[str]) -> list[Row]:
    """The same, by scenario alone every record of it."""
    places: Mapping[str, Cell] = rows.paths()
    paths = set(places)
    for word in words:
        paths &= _fitting(places, word)
    if not paths:
        _by_hand(rows.by_hand, words)
        together = "several words together mean what all of them fit; " if len(words) > 1 else ""
        raise UsageError(
            f"no record is called {' '.join(words)}",
            hint=f"{together}name a scenario, a run or a result file; evalrepo status shows what there is",
        )
    held = rows.select(dict.fromkeys({places[path] for path in paths}))
    return [row for cell in sorted(held) for row in held[cell] if row.path in paths]


def _by_hand(files: Sequence[str], words: Sequence[str]) -> None:
    """UsageError when a word means a scenario of which there is nothing but what a person wrote."""
    for path in files:
        name = path.rpartition("/")[2]
        scenario = name.removesuffix(".md").partition("_scenario-")[2]
        if any(word in (path, name, scenario) for word in words):
            raise UsageError(
                f"no run measured {scenario}; {path} was scored by a person, by hand",
                hint=f"evalrepo show {quote(path)}",
            )


def superseded(rows: Rows, found: Sequence[Row]) -> dict[str, str]:
    """Blob id of each of these rows → the run whose record supersedes it, "" for none."""
    held = rows.select(dict.fromkeys({row.cell for row in found}))
    by = {(one.cell, one.supersedes): one.run for some in held.values() for one in some if one.supersedes}
    return {row.oid: by.get((row.cell, row.run), "") for row in found}


def declared_bad(rows: Rows, found: Sequence[Row]) -> dict[str, dict[int, str]]:
    """Blob id of each of these rows → its reps that are no ERROR in it and were declared bad in another record of them,
    with that record's run."""
    from evalrepo.comparing.pool import declared_bad as declared

    held = rows.select(dict.fromkeys({row.cell for row in found}))
    bad = {cell: declared(some) for cell, some in held.items()}
    out: dict[str, dict[int, str]] = {}
    for row in found:
        for number, tries in row.attempts().items():
            by = bad[row.cell].get((row.executed, number))
            if by is not None and tries[-1].verdict != "ERROR":
                out.setdefault(row.oid, {})[number] = by[0]
    return out


def _fitting(places: Mapping[str, Cell], word: str) -> set[str]:
    files = {p for p in places if word in (p, p.rpartition("/")[2]) or p.endswith(f"_{word}.md")}
    if files:
        return files
    ids = {cell[0] for cell in places.values()}
    chosen = {word} & ids or {i for i in ids if i.partition("/")[0] == word} or {i for i in ids if _alias(i) == word}
    return {p for p, cell in places.items() if cell[0] in chosen}


def _alias(scenario: str) -> str:
    return scenario.partition("/")[0].partition("-")[0]


def _is_file_or_run(row: Row, words: Sequence[str]) -> bool:
    return any(word in (row.run, row.path, row.path.rpartition("/")[2]) for word in words)


def _newest(rows: Sequence[Row]) -> list[Row]:
    """The last of each cell, or what supersedes it."""
    from evalrepo.comparing.pool import newest

    return [newest(last, rows) for last in {row.cell: row for row in rows}.values()]
