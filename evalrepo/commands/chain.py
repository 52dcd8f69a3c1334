"""Whether each clone's records follow one another without a gap, over all that is at hand: trees and run refs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalrepo.commands.recorded import facts
from evalrepo.discipline.numbering import counts
from evalrepo.results import rows

if TYPE_CHECKING:
    from evalrepo.errors import Finding
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree


def broken(repo: Repository, tree: Tree) -> list[Finding]:
    """Findings RUN001 to RUN003, a gap as a warning: whether it stands elsewhere is for `verify` to say. A record that
    cannot be read is a finding of its own elsewhere."""
    trees = [tree] if repo.head() is None else [tree, repo.tree("HEAD")]
    found = counts(facts(repo, rows(repo, trees)), lambda *_: "")
    return [finding._replace(warning=finding.code == "RUN001") for finding in found]
