"""What a person types → scenario ids: ids, aliases, sets, globs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.store.loading import Loaded

GLOB = frozenset("*?[")

OF_RESERVE = "it is in the reserve: evalrepo run --reserve --why REASON looks at all of it; selftest proves it"


def stem(id_: str) -> str:
    """The file's part of a scenario id."""
    return id_.partition("/")[0]


def alias(id_: str) -> str:
    """The text of the file's part before its first `-`; the same as `stem` when there is none."""
    return stem(id_).partition("-")[0]


def aliases(ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Alias → the file stems that have it; it is an alias in use only where there is one."""
    found: dict[str, dict[str, None]] = {}
    for id_ in ids:
        found.setdefault(alias(id_), {})[stem(id_)] = None
    return {name: tuple(stems) for name, stems in found.items()}


def match(pattern: str, ids: Sequence[str]) -> list[str]:
    """The ids that a pattern names, [] when it names none; raises UsageError for an alias of several files.

    A pattern with `/` is held against whole ids, one without against the file's part: `S*` is every scenario and
    every case of every set whose file begins with S.
    """
    if pattern in ids:
        return [pattern]
    if GLOB & set(pattern):
        return [i for i in ids if fnmatchcase(i if "/" in pattern else stem(i), pattern)]
    whole = [i for i in ids if stem(i) == pattern]
    if whole or "/" in pattern:
        return whole
    stems = aliases(ids).get(pattern, ())
    if len(stems) > 1:
        names = ", ".join(stems[:6]) + (" …" if len(stems) > 6 else "")
        raise UsageError(f'"{pattern}" could be {names}', hint="write the whole id, or a glob")
    return [i for i in ids if stem(i) in stems]


def pick(ids: Sequence[str], patterns: Iterable[str], *, where: str, others: Sequence[str] = ()) -> list[str]:
    """The ids that the patterns name, in the order of `ids`; raises UsageError for a pattern that names none.

    `others`: ids of the other set, only for what the error says.
    """
    chosen: set[str] = set()
    for pattern in patterns:
        found = match(pattern, ids)
        if not found:
            raise _unknown(pattern, ids, where, others)
        chosen.update(found)
    return [i for i in ids if i in chosen]


def _unknown(pattern: str, ids: Sequence[str], where: str, others: Sequence[str]) -> UsageError:
    known = [*ids, *dict.fromkeys(map(stem, ids)), *aliases(ids)]
    close = list(dict.fromkeys(get_close_matches(pattern, known, 3)))
    if pattern in others or pattern in map(stem, others):
        hint = OF_RESERVE if where == "run-set" else "it is in the run-set"
    elif close:
        hint = "did you mean " + " or ".join(close) + "?"
    else:
        hint = "evalrepo list scenarios shows what there is"
    return UsageError(f'no scenario of the {where} is called or matches "{pattern}"', hint=hint)


def select_ids(loaded: Loaded | Mapping[str, str], patterns: Iterable[str], *, reserve: bool = False) -> list[str]:
    """The ids of the run-set (or the reserve) that the patterns name; all of it for no pattern.

    `loaded`: a `Loaded`, or a mapping id → "run-set" | "reserve". Raises UsageError with the nearest names.
    """
    sets = loaded if isinstance(loaded, Mapping) else {i: s.set for i, s in loaded.scenarios.items()}
    where = "reserve" if reserve else "run-set"
    ids = [i for i, which in sets.items() if which == where]
    others = [i for i, which in sets.items() if which != where]
    wanted = list(patterns)
    return pick(ids, wanted, where=where, others=others) if wanted else ids
