"""What is recorded of a cell by now, for `run` and `status`: rows of the trees and run refs at hand, pooled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from evalrepo.comparing.leaked import LEAK, leaked
from evalrepo.comparing.pool import CLI, Group, Identity, pool, score
from evalrepo.records.row import from_record
from evalrepo.results import records, rows

if TYPE_CHECKING:
    from evalrepo.records.record import CellHeader, Record
    from evalrepo.records.row import Row
    from evalrepo.records.verdict import Score
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree


class Counts:
    """Valid reps and scores of cells at exactly their digests and requested model."""

    def __init__(self, repo: Repository, tree: Tree) -> None:
        self._repo = repo
        self._tree = tree
        self.again()

    def again(self) -> Self:
        """Read what has landed since."""
        self._rows = rows(self._repo, [self._repo.tree("HEAD"), self._tree])
        self._read: dict[tuple[str, str, str], list[Row]] = {}
        return self

    def rows(self, cell: tuple[str, str, str]) -> list[Row]:
        """Everything that is recorded of a cell, whatever subject it had."""
        if cell not in self._read:
            self._read |= self._rows.select({cell: None})
        return self._read[cell]

    def record(self, cell: tuple[str, str, str], run: str) -> Record | None:
        """The whole record of what a run executed of a cell, as it was written first."""
        found = next((row for row in self.rows(cell) if row.executed == run), None)
        return records(self._rows.git, [found])[0] if found is not None else None

    def group(self, header: CellHeader) -> Group | None:
        """The cell's reps with this very apparatus, CLI included; of several resolved models the newest."""
        identity = Identity(
            header.digests.subject,
            header.digests.stimulus,
            header.digests.instrument,
            {k: v for k, v in header.digests.parts["apparatus"].items() if k != CLI},
        )
        mine = [row for row in self.rows(header.cell) if row.requested == header.model]
        groups = pool(mine, identity).groups
        return next((g for g in groups if g.apparatus == header.digests.apparatus), None)

    def valid(self, header: CellHeader) -> int:
        """Valid reps."""
        found = self.group(header)
        return found.valid if found else 0

    def settled(self, header: CellHeader) -> int:
        """Reps that need no other: valid ones, and those that leaked and are no acknowledged exception."""
        found = self.group(header)
        runs = {rep.run for rep in found.reps if rep.last.error == LEAK} if found else set()
        if found is None or not runs:
            return found.valid if found else 0
        from evalrepo.store.leaking import acknowledged

        mine = [row for row in self.rows(header.cell) if row.executed in runs and row.requested == header.model]
        return found.valid + len(leaked(mine, acknowledged(self._tree)))

    def another_subject(self, header: CellHeader) -> bool:
        """Whether the cell was measured with another subject as well: there is something to compare with."""
        return any(row.subject != header.digests.subject for row in self.rows(header.cell))

    def score(self, header: CellHeader, reps: int) -> Score | None:
        """The first `reps` valid reps, None when nothing is recorded."""
        found = self.group(header)
        return score(found, reps) if found else None


def of_record(record: Record) -> Score:
    """What one record says by itself, all its reps."""
    row = from_record(record.model_dump(mode="json", by_alias=True), "")
    row = row._replace(purpose="measure")
    found = pool([row], Identity(row.subject, row.stimulus, row.instrument, None)).groups
    return score(found[0], len(row.reps))
