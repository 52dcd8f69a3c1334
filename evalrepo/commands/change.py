"""What `run --since REV` stands for: the commit, and which scenarios the change since then touches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.running.select import Side
    from evalrepo.store import Loaded


@dataclass(frozen=True)
class Change:
    """A base commit, and the scenario files that the change since it can concern (None: any)."""

    commit: str
    files: frozenset[str] | None

    @property
    def nothing(self) -> bool:
        """Whether no scenario is touched; where there is something, the digests decide."""
        return self.files is not None and not self.files


def since(repo: Repository, rev: str) -> Change:
    """Resolve REV and say what it came to. GitError when it cannot be had."""
    from evalrepo.running import select
    from evalrepo.running.impact import concerned

    base = select.since(repo, rev)
    passed = f", passing over {base.passed_over} result commits" if base.passed_over else ""
    click.echo(f"since {rev} = {base.commit[:9]}{passed}", err=True)
    return Change(base.commit, None if repo.busy() else concerned(repo, base.commit))


def touched(repo: Repository, tree: Tree, loaded: Loaded, change: Change) -> Mapping[str, tuple[str, ...]]:
    """Scenario id → why it is touched, by the digests. `loaded` holds at least the change's files.

    What the change does to frozen scenarios is told on standard error: it needs a thaw, and then another measurement.
    """
    from evalrepo.running.select import Side, changed
    from evalrepo.store import load

    before = repo.tree(change.commit)
    old, new = Side(before, load(before, repo, only=change.files)), Side(tree, loaded)
    for line in _frozen(repo, tree, old, new, change):
        click.echo(line, err=True)
    return changed(old, new, change.files)


def _frozen(repo: Repository, tree: Tree, old: Side, new: Side, change: Change) -> Iterator[str]:
    from evalrepo.render.safe import wrapped
    from evalrepo.running.preflight import frozen_touched
    from evalrepo.running.select import held

    found = held(old, new, change.files)
    if not found or not frozen_touched(repo, tree):
        return
    for scenario_id, reasons in found.items():
        yield from wrapped(f"{scenario_id}: {', '.join(reasons)}; frozen, needs a thaw", then="  ")
    yield "hint: evalrepo verify names the files; evalrepo thaw PATH --why REASON opens one"


def has_dead_runs(repo: Repository) -> bool:
    """Whether runs may have died here: their journals would lie there."""
    return any((repo.home / "journal").glob("*.jsonl"))
