"""What a gate's scores stand on: results as they were written, in a count without a gap, and judged again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from evalrepo.commands.rescoring import Ground, again, listed
from evalrepo.comparing.advice import plural
from evalrepo.errors import DataError
from evalrepo.records.verdict import Reason
from evalrepo.results import FOLDER, RUNS

if TYPE_CHECKING:
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.running.sequence import Numbered

NUMBERED = 1
"""Version of what is remembered of a record's place in its clone's count."""


def evidence(ground: Ground) -> list[Reason]:
    """Reasons: results that were removed, changed or copied; gaps in a count; verdicts that cannot be reproduced."""
    counting = list(_counting(ground))
    return [*_removed(ground), *_copies(ground, counting), *_count(ground), *again(ground, counting)]


def _counting(ground: Ground) -> Iterator[Row]:
    """Records at the contents that are compared, one of each blob."""
    wanted = {p.cell: [i.subject for i in (p.before, p.after) if i is not None] for p in ground.asked.cells}
    held = ground.rows.select(wanted, others=False)
    for planned in ground.asked.cells:
        keys = {i.key() for i in (planned.before, planned.after) if i is not None}
        for row in held[planned.cell]:
            if (row.subject, row.stimulus, row.instrument) in keys and row.purpose != "fresh":
                yield row


def _removed(ground: Ground) -> list[Reason]:
    """Result files that commits since the base removed or changed."""
    base = ground.asked.before.commit
    span = f"{base}..HEAD" if base else "HEAD"
    out = ground.repo.git(
        "log", "--format=", "--raw", "--no-abbrev", "--no-renames", "--diff-filter=DMT", "-m", "-z", span, "--", FOLDER
    )
    lost: list[str] = []
    kept: list[str] = []
    for old, path in _raw(out):
        if path.endswith(".md") and not path.endswith(".notes.md"):
            (kept if old in ground.rows else lost).append(path.rpartition("/")[2])
    reasons = []
    if lost:
        text = f"{plural(len(set(lost)), 'result file')} removed or changed, and not at hand as written: {listed(lost)}"
        reasons.append(Reason("invalid", "results-lost", text, f"git log --diff-filter=DMT -- {FOLDER}"))
    if kept:
        text = f"{plural(len(set(kept)), 'result file')} removed or changed, still counted as written: {listed(kept)}"
        reasons.append(Reason("note", "results-removed", text))
    return reasons


def _raw(out: bytes) -> Iterator[tuple[str, str]]:
    """Old blob id and path of each change, from `--raw -z`."""
    words = iter(out.decode("utf-8", "surrogateescape").split("\0"))
    for word in words:
        meta = word.strip()
        if meta.startswith(":"):
            yield meta.split(" ")[2], next(words, "")


def _copies(ground: Ground, counting: Sequence[Row]) -> list[Reason]:
    """Records of one run that are not the run's: other files of the same name, or none that the run's ref holds."""
    found = [*_unlike(counting), *_not_of_the_run(ground, counting), *_rewritten(ground, counting)]
    if not found:
        return []
    text = f"{plural(len(set(found)), 'record')} not as a run wrote it: {listed(found)}"
    return [Reason("invalid", "results-changed", text, "evalrepo lint")]


def _name(row: Row) -> str:
    return row.path.rpartition("/")[2]


def _unlike(counting: Sequence[Row]) -> Iterator[str]:
    """Two records of one run in one cell."""
    first: dict[tuple[str, tuple[str, str, str]], Row] = {}
    for row in counting:
        known = first.setdefault((row.run, row.cell), row)
        if known.oid != row.oid:
            yield f"run {row.run} has two of {row.scenario} · {row.agent}/{row.tier}"


def _not_of_the_run(ground: Ground, counting: Sequence[Row]) -> Iterator[str]:
    """Records whose run's own ref is at hand and does not hold them."""
    refs = ground.repo.refs(RUNS)
    own: dict[str, set[str]] = {}
    for row in counting:
        ref = RUNS + row.run
        if ref in refs:
            if ref not in own:
                tree = ground.repo.tree(refs[ref])
                own[ref] = {entry.oid for entry in tree.children("results").values()}
            if row.oid not in own[ref]:
                yield f"{_name(row)} is none of run {row.run}"


def _rewritten(ground: Ground, counting: Sequence[Row]) -> Iterator[str]:
    """Files whose name is not their record's, or whose text is not what it renders to (by this version: others may
    render it otherwise)."""
    from evalrepo import __version__
    from evalrepo.formats.result import check

    ours = f'"evalrepo": "{__version__}"'.encode()
    files = {row.oid: row for row in counting if not row.path.startswith("refs/")}
    for oid, data in ground.rows.git.blobs(list(files)):
        for finding in check(data, files[oid].path):
            if finding.code != "RES005" or ours in data:
                yield f"{_name(files[oid])}: {finding.code} {finding.message}"


def _count(ground: Ground) -> list[Reason]:
    """The clones' counts of their records: numbers that are there twice, links that are broken, gaps."""
    from evalrepo.running.sequence import findings

    found = findings(_numbered(ground))
    wrong = [f"{f.place.file.rpartition('/')[2]}: {f.code} {f.message}" for f in found if not f.warning]
    gaps = [f for f in found if f.warning]
    out = []
    if wrong:
        text = f"{plural(len(wrong), 'finding')} in the counts of records: {wrong[0]}"
        out.append(Reason("invalid", "results-count", text, "evalrepo lint"))
    own = _own_clone(ground.repo)
    ours = [f for f in gaps if own and f"clone {own}" in f.message]
    if ours:
        text = f"this clone made {plural(len(ours), 'record')} that are gone: {ours[0].message}"
        out.append(Reason("inconclusive", "results-gap", text, "evalrepo lint"))
    elif gaps:
        out.append(
            Reason("note", "results-gap", f"{plural(len(gaps), 'gap')} in the counts of records of other clones")
        )
    return out


def _own_clone(repo: Repository) -> str:
    """This clone's name, "" when it never measured."""
    try:
        return (repo.home / "clone").read_text("ascii").strip()
    except (OSError, UnicodeError):
        return ""


def _numbered(ground: Ground) -> Iterator[Numbered]:
    """Every record's place in its clone's count; read once and remembered by blob."""
    from evalrepo.errors import Place as Spot
    from evalrepo.formats.result import load_json
    from evalrepo.running.sequence import Numbered
    from evalrepo.store.cache import Cache

    places = ground.rows.blobs()
    cache = Cache(ground.repo.home, "numbers", NUMBERED)
    known = {oid: json.loads(body) for oid, body in cache.get(places).items()}
    fresh: dict[str, str] = {}
    for oid, data in ground.rows.git.blobs([oid for oid in places if oid not in known]):
        try:
            record = load_json(data, places[oid])
            known[oid] = [record["clone"], record["sequence"], record["previous"], sha256(data).hexdigest()]
            fresh[oid] = json.dumps(known[oid])
        except (DataError, KeyError):
            continue
    cache.put(fresh)
    return (Numbered(Spot(places[oid]), *known[oid]) for oid in places if oid in known)
