"""What stands in a run's reference where its transcripts were pruned."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalrepo.repository.tree import Tree

TOMBSTONE = "tombstone.json"


def is_tombstone(tree: Tree) -> bool:
    """Whether the tree of a run's reference is a tombstone."""
    return TOMBSTONE in tree.children()
