"""The walk that `discipline.results_history` judges: every commit of a range, each against every parent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import fsdecode
from typing import TYPE_CHECKING

from evalrepo.discipline.results_history import FOLDER, Change, gone_by_rewriting, is_written, judged

if TYPE_CHECKING:
    from evalrepo.discipline.told import Told
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.runner import Git


def past(repo: Repository, base: str | None, head: str) -> list[Told]:
    """What the commits that `head` reaches and `base` does not (full ids; None: all) did to result files.

    Nothing is simplified away: a merge that drops what its other parent holds is one of them.
    """
    span = f"{base}..{head}" if base else head
    if next(walk(repo.git, span, "--diff-filter=DMT"), None) is None:
        return []
    changes = list(walk(repo.git, span))
    held = {path: entry.oid for path, entry in repo.tree(head).under(FOLDER).items()}
    return judged(changes, _Merges(repo.git).brought, lambda path: held.get(path, ""))


def rewritten(repo: Repository, base: str, head: str) -> list[Told]:
    """Results that stood at `base`, and that a rewritten branch, now at `head`, has not as they were. Full ids."""
    now = repo.tree(head).under(FOLDER)
    held = {entry.oid for entry in now.values()}
    gone = {path: e.oid for path, e in repo.tree(base).under(FOLDER).items() if is_written(path) and e.oid not in held}
    return [gone_by_rewriting(path, base, edited=path in now) for path in gone]


def walk(git: Git, span: str, *options: str) -> Iterator[Change]:
    """Every change below the results folder, parents first; `span` as git log takes it, of full commit ids."""
    out = git(
        "log", "--full-history", "--sparse", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=oneline",
        "--no-abbrev-commit", "--no-decorate", "--topo-order", "--reverse", "-z", *options, span, "--", FOLDER,
    )  # fmt: skip
    words = iter(out.split(b"\0"))
    commit = parent = ""
    for word in words:
        text = word.lstrip(b"\n")
        if text.startswith(b":"):
            old_mode, new_mode, old, new, _ = text[1:].decode("ascii").split(" ")
            yield Change(commit, parent, fsdecode(next(words)), old_mode, new_mode, _id(old), _id(new))
        elif text:
            commit, _, rest = text.decode("utf-8", "replace").partition(" ")
            parent = rest[len("(from ") :].partition(")")[0] if rest.startswith("(from ") else ""
            parent = parent if len(parent) == len(commit) else ""


def _id(oid: str) -> str:
    return oid if oid.strip("0") else ""


@dataclass
class _Merges:
    """What is asked of merges, each thing once; merges that change a result are rare."""

    git: Git
    _parents: dict[str, list[str]] = field(default_factory=dict)

    def brought(self, change: Change) -> bool:
        """Whether another parent had the path as the merge has it, and not as the common ancestor had it."""
        others = [p for p in self._parents_of(change.commit) if p != change.parent]
        return any(
            self._at(other, change.path) == change.new
            and any(self._at(base, change.path) == change.old for base in self._bases(change.parent, other))
            for other in others
        )

    def _parents_of(self, commit: str) -> list[str]:
        if commit not in self._parents:
            self._parents[commit] = self.git.line("rev-parse", f"{commit}^@").split()
        return self._parents[commit]

    def _at(self, commit: str, path: str) -> str:
        out = self.git("ls-tree", "-z", "--full-tree", commit, "--", path)
        return out.split(b"\t", 1)[0].split(b" ")[2].decode("ascii") if out else ""

    def _bases(self, one: str, other: str) -> list[str]:
        code, out, _ = self.git.code("merge-base", "--all", one, other)
        return out.decode("ascii").split() if code == 0 else []
