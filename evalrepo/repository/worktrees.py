"""The other work trees of a repository: which of them has a branch checked out."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalrepo.errors import GitError

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository


def holder(repo: Repository, branch: str) -> Repository | None:
    """The repository seen from the work tree that is on this branch; None when none is.

    Raises GitError when that work tree is not there (its index could not follow), or rebases or bisects the branch.
    """
    for top, checked_out in listed(repo):
        if checked_out == branch:
            return _opened(repo, top, branch)
    _nobody_rebases(repo, branch)
    return None


def listed(repo: Repository) -> list[tuple[Path, str | None]]:
    """Every work tree: its top, and the branch it is on (None when detached or bare)."""
    found: list[tuple[Path, str | None]] = []
    for block in os.fsdecode(repo.git("worktree", "list", "--porcelain", "-z")).split("\0\0"):
        facts = dict(line.partition(" ")[::2] for line in block.split("\0") if line)
        if "worktree" in facts and "bare" not in facts:
            found.append((Path(facts["worktree"]), facts.get("branch")))
    return found


def _opened(repo: Repository, top: Path, branch: str) -> Repository:
    try:
        return type(repo).open(replace(repo.world, cwd=top))
    except (GitError, OSError):
        raise GitError(
            f"{branch} is checked out in {top}, which is not there",
            hint="bring that work tree back, or say git worktree prune",
        ) from None


def _nobody_rebases(repo: Repository, branch: str) -> None:
    """git itself refuses to move a branch that some work tree is rebasing."""
    places = [repo.common_dir, *(repo.common_dir / "worktrees").glob("*")]
    for place in places:
        for name in ("rebase-merge/head-name", "rebase-apply/head-name"):
            try:
                rebased = os.fsdecode((place / name).read_bytes()).strip()
            except OSError:
                continue
            if rebased == branch:
                raise GitError(
                    f"{branch} is in the middle of a rebase; the results are kept and nothing was moved",
                    hint="finish or abort the rebase, then run again",
                )
