"""From the results folder of trees and from run refs to an index of records, and from there to rows and records."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalrepo.formats.scorecard import BY_HAND
from evalrepo.records.row import BadRecord, Head, Row, head
from evalrepo.repository.edges import held
from evalrepo.repository.tree import uncollected
from evalrepo.results.rows import FOLDER, OPEN, RUNS, Cell, Rows, sliced
from evalrepo.results.shelf import Shelf
from evalrepo.results.table import Builder, Table

if TYPE_CHECKING:
    from mmap import mmap

    from evalrepo.records.record import Record
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.runner import Git
    from evalrepo.repository.tree import Tree

RUN_RECORDS = "results"
"""Folder of a run ref's tree that holds its records, as result files."""

_WORD = rb'"([A-Za-z0-9._/:~+-]+)"'
_HEX = rb'"([0-9a-f]{64})"'
_HEAD = re.compile(
    rb'\{"schema": 1,\n"scenario": '
    + _WORD
    + rb',\n"set": [^\n]*\n"title": [^\n]*\n"agent": '
    + _WORD
    + rb',\n"tier": '
    + _WORD
    + rb',\n"subjects": [^\n]*\n"digests": \{"subject": '
    + _HEX
    + rb', "stimulus": '
    + _HEX
    + rb', "instrument": '
    + _HEX
)
_START = re.compile(rb'\n"start": "([0-9TZ:.+-]+)",\n')
_TREE_MODES = frozenset({"040000", "40000"})
_FOLDERS_NAMED = 500
"""Above, all folders are listed: a command line has an end."""


@dataclass(slots=True)
class _Listing:
    """Files that a table is to be of: (path, blob id) in git's order, by source; where the table is kept."""

    prefix: str
    family: str
    key: str
    files: list[tuple[str, str]]
    sources: dict[str, int] = field(default_factory=dict)


Found = Head | tuple[str, str] | None
"""What a blob holds: a record's head, a finding's code and message, no record."""


def rows(repo: Repository, trees: Sequence[Tree], *, refs: bool = True) -> Rows:
    """The union of the results in these trees and, with `refs`, in every run ref at hand. Never fails for bad data."""
    shelf = Shelf(repo.home)
    git = _git_of(repo, trees)
    with uncollected():
        tables: dict[tuple[str, str], Table | _Listing] = {}
        for tree in trees:
            _tree_tables(shelf, tree, tables)
        if refs:
            _run_tables(repo, shelf, tables)
        _read(git, shelf, tables)
        return Rows(
            [(prefix, t) for (prefix, _), t in tables.items() if isinstance(t, Table)],
            git,
            shelf=shelf,
            keep=tuple(trees),
        )


def _git_of(repo: Repository, trees: Sequence[Tree]) -> Git:
    """One that sees every blob: a work tree's has a store of its own beside the repository's."""
    return next((tree.git for tree in trees if tree.commit is None), repo.git)


def _tree_tables(shelf: Shelf, tree: Tree, tables: dict[tuple[str, str], Table | _Listing]) -> None:
    loose: list[tuple[str, str]] = []
    fresh: dict[str, _Listing] = {}
    for name, entry in tree.children(FOLDER).items():
        place = (f"{FOLDER}/{name}/", entry.oid)
        if entry.mode not in _TREE_MODES:
            loose += _usable([(name, entry.oid)] if entry.mode.startswith("100") else [])
        elif place not in tables:
            family = re.sub(r"[^A-Za-z0-9_-]", "_", name) or "_"
            table = shelf.get(family, entry.oid)
            if table is None:
                fresh[name] = _Listing(place[0], family, entry.oid, [])
            tables[place] = table or fresh[name]
    _list(tree, fresh)
    if loose:
        key = _sha256(loose)
        tables[f"{FOLDER}/", key] = shelf.get("loose", key) or _Listing(f"{FOLDER}/", "loose", key, loose)


def _list(tree: Tree, folders: Mapping[str, _Listing]) -> None:
    """Fill the listings of these folders, by one call of git for all of them."""
    if not folders:
        return
    few = len(folders) <= _FOLDERS_NAMED
    roots = [f"{FOLDER}/{name}" for name in folders] if few else [FOLDER]
    start = len(FOLDER) + 1
    into = {name: listing.files for name, listing in folders.items()}
    for path, oid in _usable(tree.regular(*roots, suffix=".md")):
        name, _, inside = path[start:].partition("/")
        if name in into:
            into[name].append((inside, oid))


def _usable(files: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Files that may hold a record: markdown that is no note."""
    return [(path, oid) for path, oid in files if path.endswith(".md") and not path.endswith(".notes.md")]


def _sha256(pairs: Iterable[tuple[str, str]]) -> str:
    return hashlib.sha256("".join(f"{a}\0{b}\0" for a, b in pairs).encode("utf-8", "surrogateescape")).hexdigest()


def _run_tables(repo: Repository, shelf: Shelf, tables: dict[tuple[str, str], Table | _Listing]) -> None:
    """One table for all run refs; of refs that the last one knew, the listing is taken from there."""
    refs = repo.refs(RUNS)
    if not refs:
        return
    key = _sha256(refs.items())
    found = shelf.get("runs", key)
    tables["", key] = found or _listed_runs(repo, refs, key, shelf.newest("runs"))


def _listed_runs(repo: Repository, refs: Mapping[str, str], key: str, before: Table | None) -> _Listing:
    known = before.by_source() if before is not None else {}
    listing = _Listing("", "runs", key, [])
    fresh = dict(held(repo.git, [c for ref, c in refs.items() if f"{ref} {c}" not in known], [RUN_RECORDS]))
    for ref, commit in refs.items():
        source = f"{ref} {commit}"
        if before is not None and source in known:
            files = [(before.path[n], before.oid[n]) for n in known[source]]
        else:
            regular = [(path, side.oid) for path, side in fresh[commit].items() if side.mode.startswith("100")]
            files = [(f"{ref}:{path}", oid) for path, oid in _usable(regular)]
        listing.files += files
        listing.sources[source] = len(files)
    return listing


def _read(git: Git, shelf: Shelf, tables: dict[tuple[str, str], Table | _Listing]) -> None:
    """Replace every listing by its table. Heads that some table knows by blob id are taken from there."""
    listings = [(place, t) for place, t in tables.items() if isinstance(t, _Listing)]
    if not listings:
        return
    known: dict[str, Found] = {}
    seeds = [shelf.newest(family) for family in dict.fromkeys(listing.family for _, listing in listings)]
    for table in (*tables.values(), *seeds):
        if isinstance(table, Table):
            known |= {oid: table.head(i) for i, oid in enumerate(table.oid)}
    fresh = dict.fromkeys(oid for _, listing in listings for _, oid in listing.files if oid not in known)
    known |= _heads(git, fresh)
    for place, listing in listings:
        table = _table(listing, known)
        tables[place] = table
        shelf.put(listing.family, listing.key, table)


def _table(listing: _Listing, known: Mapping[str, Found]) -> Table:
    builder = Builder()
    for path, oid in listing.files:
        found = known[oid]
        if isinstance(found, Head):
            builder.add(found, oid, path)
        elif found is not None:
            builder.table.bad.append((path, oid, *found))
        elif BY_HAND.fullmatch(path.rpartition("/")[2]):
            builder.table.hand.append(path)
        else:
            builder.table.bad.append((path, oid, "RES001", "there is no record in this file"))
    builder.table.sources = dict(_complete(listing, known))
    return builder.table


def _complete(listing: _Listing, known: Mapping[str, Found]) -> Iterator[tuple[str, int]]:
    """Source → number of its records; a source with a broken file is marked, so that it is looked at again."""
    at = 0
    for source, count in listing.sources.items():
        good = sum(isinstance(known[oid], Head) for _, oid in listing.files[at : at + count])
        yield (source if good == count else f"broken {source}"), good
        at += count


def _heads(git: Git, oids: Iterable[str]) -> dict[str, Found]:
    """Blob id → what it holds."""
    from evalrepo.repository.contents import contents

    out: dict[str, Found] = {}
    pairs: dict[bytes, tuple[Cell, Cell]] = {}
    for data, spans in contents(git, oids):
        for oid, start, end in spans:
            head = _by_lines(data, start, end, pairs)
            out[oid] = head if head is not None else _found(data[start:end])
    return out


def _by_lines(data: bytes | mmap, start: int, end: int, pairs: dict[bytes, tuple[Cell, Cell]]) -> Head | None:
    """The head of a record by the lines that `formats.result.dump` writes, where they are exactly these.

    A JSON string holds no line feed, so a line that begins with a key is that key. What else is wrong with such a
    record is said when it is read for its reps, and by lint. `pairs` remembers cell and key by the lines themselves.
    """
    at = data.rfind(OPEN, start, end)
    lines = _HEAD.match(data, at + len(OPEN), end) if at >= 0 else None
    if lines is None:
        return None
    line = data.find(b'\n"start": "', lines.end(), end)
    began = _START.match(data, line, end) if line >= 0 else None
    if began is None or data.find(b"\n`", lines.end(), line) >= 0:
        return None
    same = data[at : lines.end()]
    pair = pairs.get(same)
    if pair is None:
        words = b"\n".join(lines.group(1, 2, 3, 4, 5, 6)).decode("ascii").split("\n")
        pair = pairs[same] = ((words[0], words[1], words[2]), (words[3], words[4], words[5]))
    return Head(*pair, began[1].decode("ascii"))


def _found(data: bytes) -> Found:
    """By reading all of the record's JSON."""
    try:
        return head(json.loads(sliced(data)))
    except LookupError:
        return None
    except BadRecord as wrong:
        return ("RES004", str(wrong))
    except (ValueError, RecursionError):
        return ("RES002", "the record is not JSON")


def parts(git: Git, wanted: Iterable[Row]) -> dict[str, dict[str, dict[str, str]]]:
    """Blob id → the parts of a record's digests (digest name → part → value), for the rows asked for."""
    oids = list(dict.fromkeys(row.oid for row in wanted if row.oid))
    out: dict[str, dict[str, dict[str, str]]] = {}
    for oid, data in git.blobs(oids) if oids else ():
        record: Any = json.loads(sliced(data))
        out[oid] = record["digests"].get("parts", {})
    return out


def records(git: Git, wanted: Iterable[Row]) -> list[Record]:
    """The whole records of rows, strictly validated, in the order given. DataError for a broken one."""
    from evalrepo.formats.result import load

    asked = list(wanted)
    data = dict(git.blobs(list(dict.fromkeys(row.oid for row in asked)))) if asked else {}
    return [load(data[row.oid], row.path) for row in asked]
