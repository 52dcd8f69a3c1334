"""What stands in a run's reference where its transcripts were pruned."""

from __future__ import annotations

import builtins
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from evalrepo.repository.objects import Entry

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree

TOMBSTONE = "tombstone.json"
PRUNED = "its transcripts were pruned here"
RESULTS = "results"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What was pruned: of which run, when (UTC, RFC 3339) and by whom; the commit that held it, how many files went and
    their bytes; the remote that held that commit ("": nobody looked)."""

    run: str
    at: str
    by: str
    commit: str
    files: int
    bytes: int
    remote: str = ""

    def encoded(self) -> builtins.bytes:
        """Its file."""
        return (json.dumps({"tombstone": 1, **asdict(self)}, indent=1, ensure_ascii=False) + "\n").encode()


def is_tombstone(tree: Tree) -> bool:
    """Whether the tree of a run's reference is a tombstone."""
    return TOMBSTONE in tree.children()


def bring(run: str) -> str:
    """The command that brings a run's transcripts into this clone."""
    return f"evalrepo transcripts fetch --run {run}"


def pruned_commit(tree: Tree) -> str | None:
    """The commit that a tombstone stands for, None for a tree that is none; "" when its file does not say."""
    if not is_tombstone(tree):
        return None
    try:
        said = json.loads(tree.read(TOMBSTONE))["commit"]
    except (ValueError, KeyError, TypeError):
        return ""
    return said if isinstance(said, str) else ""


def bury(repo: Repository, ref: str, stone: Tombstone) -> str:
    """Move a run's reference from `stone.commit` to a commit without parents that holds the results and the tombstone,
    under the message that it had; its id. `refs.LostRace` when the reference stands elsewhere by now."""
    entries = dict(repo.tree(stone.commit).under(RESULTS))
    entries[TOMBSTONE] = Entry("100644", repo.write_blob(stone.encoded()))
    message = repo.git("log", "-1", "--format=%B", stone.commit).decode("utf-8", "replace").rstrip("\n") + "\n"
    commit = repo.write_commit(repo.write_tree(entries), [], message)
    repo.move_ref(ref, commit, stone.commit)
    return commit
