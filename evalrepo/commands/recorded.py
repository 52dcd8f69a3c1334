"""What an audit of results reads: the place of every record in its clone's count, and what the runs' refs hold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from evalrepo.discipline.numbering import Fact, Given, Kept
from evalrepo.errors import DataError
from evalrepo.repository import edges
from evalrepo.results import RUNS
from evalrepo.running.tombstones import TOMBSTONE

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.runner import Git
    from evalrepo.results import Rows

VERSION = 5
"""Of what is remembered of a record, and of a ref."""
FOLDERS = 4
"""Parts of the folder of a rep's files: transcripts, scenario, agent and tier, rep and attempt."""
JUDGE = "judge"
"""The folder in it of what judges read and said: in the reference of another run when they were asked later."""
_PARTS = ("results", "transcripts", TOMBSTONE)


def facts(repo: Repository, rows: Rows) -> list[Fact]:
    """Of every record of these rows; read once and remembered by blob. A record that cannot be read is left out."""
    return list(facts_of(repo, rows.git, rows.blobs()))


def facts_of(repo: Repository, git: Git, places: Mapping[str, str]) -> Iterator[Fact]:
    """The same of blobs (id → path)."""
    from evalrepo.formats.fence import load_json
    from evalrepo.store.cache import Cache

    cache = Cache(repo.home, "numbers", VERSION)
    known: dict[str, list[Any]] = {oid: json.loads(body) for oid, body in cache.get(places).items()}
    fresh: dict[str, str] = {}
    for oid, data in git.blobs([oid for oid in places if oid not in known]):
        try:
            known[oid] = _fact(load_json(data, places[oid]), data)
        except (DataError, KeyError, TypeError):
            continue
        fresh[oid] = json.dumps(known[oid])
    cache.put(fresh)
    for oid, path in places.items():
        if oid in known:
            clone, sequence, previous, digest, run, executed, folders, start = known[oid]
            yield Fact(path, oid, clone, sequence, previous, digest, run, executed, tuple(folders), start)


def _fact(record: Mapping[str, Any], data: bytes) -> list[Any]:
    cell = f"transcripts/{record['scenario'].replace('/', '~')}/{record['agent']}-{record['tier'].replace(':', '+')}"
    executed = record.get("rescored_from") or record["run"]
    return [
        record["clone"],
        record["sequence"],
        record["previous"],
        sha256(data).hexdigest(),
        record["run"],
        executed,
        [f"{cell}/{rep['rep']}-{rep['attempt']}" for rep in record["reps"]],
        record["start"],
    ]


def refs(repo: Repository) -> dict[str, Kept]:
    """Run → what its ref holds; read by one process and remembered by commit."""
    from evalrepo.store.cache import Cache

    at = {ref.removeprefix(RUNS): commit for ref, commit in repo.refs(RUNS).items()}
    cache = Cache(repo.home, "run-refs", VERSION)
    known = cache.get(at.values())
    fresh = {c: json.dumps(found) for c, found in _listed(repo.git, [c for c in at.values() if c not in known])}
    cache.put(fresh)
    return {run: _kept(json.loads((known | fresh)[commit])) for run, commit in at.items() if commit in known | fresh}


def _kept(data: Mapping[str, Any]) -> Kept:
    return Kept(data["records"], frozenset(data["folders"]), data["committed"], data["pruned"])


def _listed(git: Git, commits: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Commit → its records, folders of reps, and what its message says."""
    from evalrepo.running.landing import UNCOMMITTED

    wanted = list(dict.fromkeys(commits))
    if not wanted:
        return
    asked = "".join(f"{commit}\n" for commit in wanted).encode("ascii")
    messages = git("log", "--no-walk=unsorted", "--stdin", "-z", "--format=%H%n%B", stdin=asked)
    said = dict(word.split("\n", 1) for word in messages.decode("utf-8", "replace").split("\0") if "\n" in word)
    for commit, files in edges.held(git, wanted, _PARTS):
        records = {
            file.oid: path.removeprefix("results/") for path, file in files.items() if path.startswith("results/")
        }
        parts = (path.split("/") for path in files if path.startswith("transcripts/"))
        folders = {"/".join(part[:FOLDERS]) for part in parts if len(part) > FOLDERS and part[FOLDERS] != JUDGE}
        lines = said.get(commit, "").splitlines()
        found = {"records": records, "folders": sorted(folders), "committed": UNCOMMITTED not in lines}
        yield commit, {**found, "pruned": TOMBSTONE in files}


def own_clone(repo: Repository) -> str:
    """This clone's name, "" when it never measured."""
    try:
        return (repo.home / "clone").read_text("ascii").strip()
    except (OSError, UnicodeError):
        return ""


def given(repo: Repository) -> list[Given]:
    """Numbers that this clone gave."""
    from evalrepo.running.sequence import given as assigned

    return [Given(one.run, one.first, one.count, one.tree) for one in assigned(repo.home)]
