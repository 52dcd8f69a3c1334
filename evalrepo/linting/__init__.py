"""Everything that can be wrong in the files of a repository, as findings: one module a family of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from evalrepo.errors import Finding, GitError
from evalrepo.linting import (
    config,
    conformance,
    fixtures,
    labels,
    ledger,
    names,
    parity,
    references,
    results,
    scenarios,
    subjects,
)
from evalrepo.linting.ground import Ground
from evalrepo.repository.repo import Repository
from evalrepo.repository.tree import Tree
from evalrepo.store.loading import Loaded, load

Rule = Callable[[Ground], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
    *config.RULES,
    *subjects.RULES,
    *names.RULES,
    *parity.RULES,
    *references.RULES,
    *labels.RULES,
    *scenarios.RULES,
    *conformance.RULES,
    *fixtures.RULES,
    *ledger.RULES,
    *results.RULES,
)
"""Every rule; each looks at the whole ground and yields what is wrong."""


def lint(tree: Tree, repo: Repository, loaded: Loaded | None = None) -> list[Finding]:
    """All findings of a tree, sorted by place: what could not be read, and what does not fit together.

    Raises GitError when git cannot read the tree at all. A repository in a fixture is one reason, and a finding.
    """
    try:
        tree.entries()
    except GitError:
        nested = list(fixtures.on_disk(repo.top)) if tree.name == "WORKTREE" else []
        if nested:
            return nested
        raise
    ground = Ground(tree, repo, loaded if loaded is not None else load(tree, repo))
    return sorted({*ground.loaded.findings, *_all(ground)})


def _all(ground: Ground) -> Iterator[Finding]:
    for rule in RULES:
        yield from rule(ground)
