"""What a tree's reserve freezes by closure, and what of it the lock does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from evalrepo.discipline.closure import closure, of_scenario, unlocked
from evalrepo.discipline.generations import instruments, touches
from evalrepo.discipline.generations import thawed as was_thawed
from evalrepo.discipline.history import thawed
from evalrepo.discipline.places import LOCK, RESERVE, covered, outermost
from evalrepo.discipline.said import loops
from evalrepo.errors import Finding, Place
from evalrepo.repository.digests import instrument_digest
from evalrepo.store.loading import load, read_events
from evalrepo.store.loading import lock as lock_of

if TYPE_CHECKING:
    from evalrepo.records.event import Event
    from evalrepo.records.lock import Lock
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.store.loading import Loaded, LoadedScenario


def wanted(tree: Tree, loaded: Loaded, events: Mapping[str, Event]) -> dict[str, str]:
    """Roots that hold a file and are to be frozen → why: `of_reserve`, and what open tuning loops hold."""
    found = of_reserve(tree, loaded)
    held = frozenset(found)
    for name, event in loops(events).items():
        for path in event.paths:
            if tree.under(path) and not covered(held, path):
                found[path] = f"the tuning loop {name} holds it"
    return {root: found[root] for root in outermost(frozenset(found))}


def of_reserve(tree: Tree, loaded: Loaded) -> dict[str, str]:
    """Roots of the closure of the reserve and of `frozen.also` that hold a file → why."""
    reserve = {id_: one.scenario for id_, one in loaded.of_set("reserve").items()}
    return {root: why for root, why in closure(reserve, loaded.config, tree).items() if tree.under(root)}


def unfrozen(tree: Tree, loaded: Loaded, lock: Lock | None) -> dict[str, str]:
    """Those of `wanted` that no root of the lock covers; nothing while there is no reserve."""
    events = read_events(tree)[0]
    if not loaded.of_set("reserve") and not loaded.config.frozen.also and not loops(events):
        return {}
    roots = wanted(tree, loaded, events)
    return {root: roots[root] for root in unlocked(lock.roots if lock else (), tuple(roots))}


def findings(tree: Tree, loaded: Loaded, lock: Lock | None) -> list[Finding]:
    """LCK101 for each of `unfrozen`: warnings while there is no lock at all."""
    hint = "evalrepo freeze, then git commit"
    return [
        Finding(Place(LOCK), "LCK101", f"{root} is to be frozen ({why}), and is not", hint, warning=lock is None)
        for root, why in unfrozen(tree, loaded, lock).items()
    ]


def of_head(repo: Repository) -> list[Finding]:
    """The same of HEAD, for whom scenarios of the run-set are not worth reading; nothing without a lock."""
    tree = repo.tree("HEAD")
    held = lock_of(tree)
    return findings(tree, load(tree, repo, only=frozenset(tree.under(RESERVE))), held) if held is not None else []


def rests_on(tree: Tree, loaded: Loaded, one: LoadedScenario) -> dict[str, str]:
    """Path → why, of all whose change is another generation of a scenario: its own file, and what that names."""
    return {one.path: f"the file of {one.id}", **of_scenario(one.id, one.scenario, loaded.config, tree)}


def thaws(tree: Tree, loaded: Loaded, events: Mapping[str, Event], scenario: str) -> tuple[tuple[str, str], ...]:
    """When what a scenario rests on was thawed (RFC 3339), and the sentence about it, oldest first."""
    found = [event for event in events.values() if event.event == "thaw"]
    one = loaded.scenarios.get(scenario)
    if not found or one is None:
        return ()
    paths = rests_on(tree, loaded, one)
    return tuple((event.at, was_thawed(event)) for event in found if touches(event, paths))


def new_instruments(
    tree: Tree, loaded: Loaded, lock: Lock, events: Mapping[str, Event], closing: Iterable[str]
) -> tuple[str, ...]:
    """`ID DIGEST` of locked reserve scenarios whose instrument the newest freeze called otherwise, or not yet.

    `closing`: what this freeze closes; a scenario of which something stays open has no instrument yet.
    """
    known, closed = instruments(events), frozenset(closing)
    open_ = [path for path in thawed(events) if not covered(closed, path)]
    lines = lock.by_path()
    found = []
    for id_, one in loaded.of_set("reserve").items():
        if one.path not in lines or (open_ and _open(rests_on(tree, loaded, one), open_)):
            continue
        digest = instrument_digest(tree, loaded.config, one.scenario)
        if known.get(id_) != digest:
            found.append(f"{id_} {digest}")
    return tuple(found)


def _open(paths: Iterable[str], open_: Iterable[str]) -> bool:
    roots = frozenset(paths)
    return any(covered(roots, path) or any(covered((path,), root) for root in roots) for path in open_)
