"""What a gate's scores stand on: results as they were written, in a count without a gap, and judged again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evalrepo.commands.rescoring import Ground, again, listed
from evalrepo.comparing.advice import plural
from evalrepo.errors import GitError
from evalrepo.records.verdict import Reason

if TYPE_CHECKING:
    from evalrepo.discipline.told import Told
    from evalrepo.errors import Finding
    from evalrepo.records.row import Row

_REASONS = {
    "results-removed": ("RES007", "RES008", "RES009"),
    "results-gap": ("RUN001",),
    "results-count": ("RUN002", "RUN003"),
    "results-altered": ("RUN004",),
    "results-dropped": ("RUN005", "RUN007"),
    "results-unkept": ("RUN006",),
    "claims": ("RUN009", "RUN010", "RUN011"),
}
"""A gate's reason → the findings that make it."""


def evidence(ground: Ground) -> list[Reason]:
    """Reasons: results that were removed, changed, left out or made up; verdicts that cannot be reproduced."""
    counting = list(_counting(ground))
    return [*_audit(ground), *_copies(ground, counting), *again(ground, counting)]


def _counting(ground: Ground) -> Iterator[Row]:
    """Records at the contents that are compared, one of each blob."""
    wanted = {p.cell: [i.subject for i in (p.before, p.after) if i is not None] for p in ground.asked.cells}
    held = ground.rows.select(wanted, others=False)
    for planned in ground.asked.cells:
        keys = {i.key() for i in (planned.before, planned.after) if i is not None}
        for row in held[planned.cell]:
            if (row.subject, row.stimulus, row.instrument) in keys and row.purpose != "fresh":
                yield row


def _audit(ground: Ground) -> list[Reason]:
    """Results that were discarded, changed or made up: since the base, and as they are now."""
    from evalrepo.commands.auditing import audited, with_events

    base, head = ground.asked.before.commit, ground.repo.resolve("HEAD")
    gone, reasons = _claims(ground, head)
    told = [*audited(ground.repo, base or None), *with_events(ground.repo, head, gone)]
    look = f"evalrepo verify --records{f' --since {base[:12]}' if base else ''}"
    for code, codes in _REASONS.items():
        wrong = [one.finding for one in told if one.wrong and one.finding.code in codes]
        if wrong:
            text = f"{plural(len(wrong), 'finding')} about results: {_said(wrong[0])}"
            reasons.append(Reason("invalid", code, text, look))
    open_ = [one.finding for one in told if one.finding.code == "RUN009" and one.finding.warning and not one.event]
    if open_:
        text = f"{plural(len(open_), 'claim')} of less than a day without a record: {_said(open_[0])}"
        reasons.append(Reason("inconclusive", "claims-open", text, look))
    for code, some, what in (
        ("results-acknowledged", [one.finding for one in told if one.event], "acknowledged finding"),
        ("results-warnings", [one.finding for one in told if one.finding.warning and not one.event], "warning"),
    ):
        if some:
            reasons.append(Reason("note", code, f"{plural(len(some), what)} about results: {_said(some[0])}"))
    return reasons


def _claims(ground: Ground, head: str) -> tuple[list[Told], list[Reason]]:
    """What the remote lost of its claims, which are fetched here; and that they cannot be had."""
    from evalrepo.commands.auditing import claims_remote
    from evalrepo.discipline.claims import lost
    from evalrepo.discipline.told import Told
    from evalrepo.running.claiming import refreshed

    base = ground.asked.before.commit
    remote = claims_remote(ground.repo, *([base] if base else []), head)
    if remote is None:
        return [], []
    try:
        known, there = refreshed(ground.repo, remote)
    except GitError as error:
        text = f"the claims of runs at {remote} cannot be read, so nobody can say what was left out: {error.message}"
        return [], [Reason("inconclusive", "claims-unreachable", text, f"git ls-remote {remote}")]
    return [Told(finding) for finding in lost(known, there, remote)], []


def _said(finding: Finding) -> str:
    return f"{finding.place.file.rpartition('/')[2]}: {finding.code} {finding.message}"


def _copies(ground: Ground, counting: Sequence[Row]) -> list[Reason]:
    """Records that are twice and differ, and files that say something else than their record."""
    found = [*_unlike(counting), *_rewritten(ground, counting)]
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
