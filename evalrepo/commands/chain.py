"""Whether each clone's records follow one another without a gap, over all that is at hand: trees and run refs."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from evalrepo.errors import Finding, Place
from evalrepo.formats.result import load_json
from evalrepo.results import rows
from evalrepo.running.sequence import Numbered, findings

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree


def broken(repo: Repository, tree: Tree) -> list[Finding]:
    """Findings RUN001 to RUN003. A record that cannot be read is a finding of its own elsewhere."""
    trees = [tree] if repo.head() is None else [tree, repo.tree("HEAD")]
    found = rows(repo, trees)
    places = {row.oid: row.path for held in found.select(dict.fromkeys(found.cells())).values() for row in held}
    return findings(_numbered(data, places[oid]) for oid, data in found.git.blobs(list(places)))


def _numbered(data: bytes, path: str) -> Numbered:
    record = load_json(data, path)
    return Numbered(Place(path), record["clone"], record["sequence"], record["previous"], sha256(data).hexdigest())
