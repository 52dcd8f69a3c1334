"""What a change can concern, told from paths alone: no YAML, no models, no snapshot of the work tree.

It bounds what `--since` selects from above; the digests decide within the bound.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalrepo.discipline.places import CONFIG, RESERVE
from evalrepo.errors import EvalrepoError
from evalrepo.store.indexing import Index, index, subjects_of, touched

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository

_OURS = ("scenarios/", RESERVE + "/", "rubrics/")


def concerned(repo: Repository, base: str) -> frozenset[str] | None:
    """Paths of the scenario files that a change of the work tree since `base` (a commit id) can concern.

    Changed files of our own folders are among them, whatever they are: somebody has to read them. None when every
    scenario may be concerned.
    """
    changed = _changed(repo, base)
    if CONFIG in changed:
        return None
    try:
        known = index(repo.tree(base), repo)
    except EvalrepoError:  # what is wrong at the base may be right now
        return None
    found = {path for path in changed if path.startswith(_OURS)}
    found |= {known.path(id_) for id_ in touched(known, changed)}
    return frozenset(found | _by_suite(known, changed))


def _changed(repo: Repository, base: str) -> list[str]:
    """Paths in which the work tree differs from a commit, files that are not tracked yet included."""
    tracked = repo.git(
        "diff", "--name-only", "--no-renames", "--no-relative", "--no-ext-diff", "--no-textconv",
        "--ignore-submodules=none", "-z", base, "--",
    )  # fmt: skip
    others = repo.git("ls-files", "--others", "--exclude-standard", "-z")
    return [os.fsdecode(name) for name in (tracked + others).split(b"\0") if name]


def _by_suite(known: Index, changed: list[str]) -> set[str]:
    """Files of the suites that a changed subject chooses."""
    chosen = [known.subjects[name]["on_change"] for name in subjects_of(known, changed)]
    suites = [suite for suite in dict.fromkeys(chosen) if suite in known.suites]
    if not suites:
        return set()
    from evalrepo.store.choose import select_ids

    return {known.path(id_) for suite in suites for id_ in select_ids(known.sets, known.suites[suite])}
