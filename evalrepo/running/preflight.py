"""Before a run spends anything: git at rest, a place to write, nothing frozen touched, the instrument proven."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from shlex import join
from typing import TYPE_CHECKING

from evalrepo import store
from evalrepo.discipline.freeze import compare, roots_of
from evalrepo.errors import DataError, GitError, HarnessError, InvalidError, UsageError
from evalrepo.records.record import Purpose
from evalrepo.registry import rehearsed
from evalrepo.running.bench import Bench, Prepared
from evalrepo.running.canary import waiting
from evalrepo.running.conformance import Proof, prove
from evalrepo.running.rep import furnish
from evalrepo.sandbox.layout import Sandbox, fresh
from evalrepo.sandbox.setup import deterministic
from evalrepo.store.frozen import verify

if TYPE_CHECKING:
    from evalrepo.errors import Finding
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.running.plan import Plan
    from evalrepo.running.session import Session
    from evalrepo.store import LoadedScenario


def git_at_rest(repo: Repository) -> None:
    """GitError while a merge or a rebase is in progress, or when there is no commit yet to measure against."""
    if repo.head() is None:
        raise GitError("this branch has no commit yet", hint="git add -A && git commit, then run again")
    busy = repo.busy()
    if busy is not None:
        raise GitError(
            f"a {busy} is in progress, results cannot be committed", hint=f"finish or abort the {busy} first"
        )


def writable(repo: Repository) -> None:
    """HarnessError when the git directory cannot be written: before the first rep, not after the last."""
    probe = repo.home / "probe"
    try:
        repo.home.mkdir(exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise HarnessError(
            f"{repo.home}: results cannot be kept: {error.strerror}", hint="make the git directory writable"
        ) from None


def nothing_frozen_touched(repo: Repository, tree: Tree) -> None:
    """DataError with every frozen file that is not as it was locked: staged, or in the tree that is measured."""
    findings = frozen_touched(repo, tree)
    if findings:
        count = f"{len(findings)} frozen files are" if len(findings) > 1 else "a frozen file is"
        raise DataError(
            sorted(findings),
            f"{count} not as locked, so nothing is measured",
            hint="evalrepo verify explains; evalrepo thaw PATH --why opens a file with a reason",
        )


def frozen_touched(repo: Repository, tree: Tree) -> set[Finding]:
    """A finding for every frozen file that is not as it was locked: staged, or in the tree that is measured."""
    return {f for f in (*verify(repo).findings, *_in_tree(tree)) if not f.warning}


def _in_tree(tree: Tree) -> list[Finding]:
    lock = store.lock(tree)
    if lock is None:
        return []
    lines = lock.by_path()
    return compare(lock, {p: e for p, e in tree.under(*roots_of(lock)).items() if p in lines})


def consent(paid: Sequence[str], *, live: bool) -> None:
    """UsageError when agents that cost money were not consented to."""
    if paid and not live:
        raise UsageError(
            f"{', '.join(paid)} costs money, so nothing is started without consent",
            hint="--live or EVALREPO_LIVE=1 says yes; --dry-run shows what would run",
        )


def rehearsable(plans: Sequence[Plan]) -> None:
    """HarnessError when a rehearsal is wanted and what it needs is not installed: before the first rep, not in each."""
    if any(cell.need and rehearsed(cell.header.tier) for made in plans for cell in made.cells):
        from evalrepo.rehearsal.server import installed

        installed()


def looked_at(here: Session, plans: Sequence[Plan]) -> None:
    """UsageError when reps are wanted of a cell whose canary nobody looked at, and `discipline.canary` requires it."""
    waits = waiting(here.tree, here.loaded.config)
    cells = [c for made in plans for c in made.cells if c.need and c.header.purpose is not Purpose.CANARY]
    blind = list(dict.fromkeys(c.header.scenario for c in cells if waits(c.header)))
    if blind:
        raise UsageError(
            f"nobody has looked at a canary of {', '.join(blind)}, and discipline.canary requires it",
            hint=f"evalrepo run {join(blind)} --canary",
        )


def instrument_proven(
    bench: Bench,
    scenarios: Sequence[LoadedScenario],
    jobs: int,
    cancel: threading.Event,
    said: Callable[[Proof], None] = lambda _: None,
) -> list[Proof]:
    """Play what was not proven yet; InvalidError naming what did not give its verdict, or what no script shows."""
    proofs = prove(bench, scenarios, jobs=jobs, cancel=cancel, memory=bench.cache / "selftest", said=said)
    wrong = [play for proof in proofs for play in proof.plays if not play.ok]
    if wrong and not cancel.is_set():
        first = wrong[0]
        why = f": {first.rep.message}" if first.rep.message else ""
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise InvalidError(
            f"the self-test fails: {first.scenario}, script {first.script}: expected {first.expected}, "
            f"got {first.got}{why}{more}",
            hint=f"evalrepo selftest {first.scenario} shows what each check saw",
        )
    if not cancel.is_set():
        _no_gaps(proofs)
    return proofs


def _no_gaps(proofs: Sequence[Proof]) -> None:
    """InvalidError unless each gating check was seen to pass, and to fail alone."""
    gaps = [(proof.scenario, gap) for proof in proofs for gap in proof.gaps]
    if gaps:
        scenario, gap = gaps[0]
        more = f" (and {len(gaps) - 1} more)" if len(gaps) > 1 else ""
        names = join(dict.fromkeys(name for name, _ in gaps))
        raise InvalidError(
            f"the instrument is not proven: {scenario}: {gap}{more}",
            hint=f"evalrepo selftest {names} lists what is missing; add scripts under `conformance:`",
        )


def setup_is_deterministic(bench: Bench, cells: Sequence[Prepared], cancel: threading.Event) -> None:
    """Each distinct setup is made twice and compared; SetupError names the paths that differ."""
    seen: set[tuple[str, ...]] = set()
    for cell in cells:
        key = (str(cell.template), *(step.run for step in cell.scenario.setup))
        if cell.scenario.setup and key not in seen:
            seen.add(key)
            _compare(bench, cell, cancel)


def _compare(bench: Bench, cell: Prepared, cancel: threading.Event) -> None:
    def make() -> Sandbox:
        return fresh(bench.base, cell.template, bench.isolation)

    deterministic(make, lambda box: furnish(bench, cell, box, cancel))
