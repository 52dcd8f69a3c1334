"""`--since REV`: which scenarios a change touches, by the digests, with the reason for each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalrepo.errors import GitError

if TYPE_CHECKING:
    from evalrepo.records.record import Digests
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.store import Loaded, LoadedScenario

RESULTS = "AgentsReport/evaluation/"
CHUNK = 100
"""Commits of the history that are asked for at once."""
STEPS_BACK = re.compile(r"(HEAD|@)((?:~\d*|\^)+)")


@dataclass(frozen=True)
class Base:
    """The commit that `--since` means: its id, and result-only commits that were not counted on the way."""

    commit: str
    passed_over: int


def since(repo: Repository, rev: str) -> Base:
    """Resolve REV; `HEAD~n` counts only commits that change something beside results.

    Raises GitError when the revision is unknown, the root is passed, or a shallow clone has no such commit.
    """
    steps = STEPS_BACK.fullmatch(rev)
    if steps is None:
        return Base(repo.resolve(rev), 0)
    return _walk(repo, _count(steps[2]), rev)


def _count(steps: str) -> int:
    return sum(int(s[1:] or 1) if s[0] == "~" else 1 for s in re.findall(r"~\d*|\^", steps))


def _walk(repo: Repository, steps: int, rev: str) -> Base:
    left, passed = steps, 0
    for commit, parent in _chain(repo):
        if left == 0:
            return Base(commit, passed)
        if parent is None:
            break
        if _only_results(repo, parent, commit):
            passed += 1
        else:
            left -= 1
    if left == 0:
        return Base(commit, passed)
    if repo.shallow:
        raise GitError(
            f"{rev} is not in this shallow clone", hint="fetch the history: fetch-depth: 0, or git fetch --unshallow"
        )
    raise GitError(f"{rev} lies before the first commit", hint="name a commit: git log --oneline")


def _chain(repo: Repository) -> Iterator[tuple[str, str | None]]:
    """First-parent history of HEAD as far as it is here: commit and its first parent, None where the history ends."""
    here: str | None = repo.resolve("HEAD")
    while here is not None:
        listed = repo.git.line("rev-list", "--first-parent", "--parents", f"--max-count={CHUNK}", here, "--")
        for row in listed.split("\n"):
            commit, parent, *_ = [*row.split(" "), None]
            assert commit is not None
            yield commit, parent
        here = parent


def _only_results(repo: Repository, parent: str, commit: str) -> bool:
    names = repo.git("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", parent, commit, "--")
    paths = [p for p in names.split(b"\0") if p]
    return bool(paths) and all(p.startswith(RESULTS.encode()) for p in paths)


@dataclass(frozen=True)
class Side:
    """One side of the comparison."""

    tree: Tree
    loaded: Loaded


def changed(old: Side, new: Side, among: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Scenario id → reasons, of the run-set of the new side: what differs in its digests, or that it is new.

    A changed subject chooses its `on_change` suite, or every scenario of that subject. `among`: paths of the only
    scenario files that can be concerned; both sides hold them.
    """
    reasons: dict[str, list[str]] = {}
    differing = _subjects(old, new)
    for subject, why in differing.items():
        for scenario_id in _affected(new, subject):
            reasons.setdefault(scenario_id, []).append(why)
    for scenario_id, loaded in new.loaded.scenarios.items():
        if loaded.set != "reserve" and (among is None or loaded.path in among):
            found = _own_reasons(old, new, loaded)
            if found:
                reasons.setdefault(scenario_id, []).extend(found)
    order = [i for i in new.loaded.scenarios if i in reasons]
    return {i: tuple(reasons[i]) for i in order}


def held(old: Side, new: Side, among: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Scenario id → what differs in stimulus and instrument, of the new side's reserve. `among` as in `changed`."""
    found: dict[str, tuple[str, ...]] = {}
    for scenario_id, loaded in new.loaded.scenarios.items():
        if loaded.set == "reserve" and (among is None or loaded.path in among):
            reasons = tuple(r for r in _own_reasons(old, new, loaded) if r.startswith(_FROZEN))
            if reasons:
                found[scenario_id] = reasons
    return found


_FROZEN = ("stimulus", "instrument")
"""Parts of a scenario's identity that freezing keeps as they are."""


def _subjects(old: Side, new: Side) -> dict[str, str]:
    from evalrepo.repository.digests import subject_part

    out = {}
    for name, subject in new.loaded.config.subjects.items():
        before = old.loaded.config.subjects.get(name)
        digest, _ = subject_part(new.tree, name, subject)
        if before is None:
            out[name] = f"subject {name} is new"
        elif subject_part(old.tree, name, before)[0] != digest:
            out[name] = f"subject {name} changed"
    return out


def _affected(new: Side, subject: str) -> list[str]:
    from evalrepo.store import select_ids

    suite = new.loaded.config.subjects[subject].on_change
    if suite is not None and suite in new.loaded.config.suites:
        return select_ids(new.loaded, new.loaded.config.suites[suite].scenarios)
    return [i for i, s in new.loaded.scenarios.items() if subject in s.scenario.subject and s.set != "reserve"]


def _own_reasons(old: Side, new: Side, loaded: LoadedScenario) -> list[str]:
    from evalrepo.repository.digests import explain

    before = old.loaded.scenarios.get(loaded.id)
    if before is None:
        return ["the scenario is new"]
    out: list[str] = []
    for agent, tier in _cells(new.loaded, loaded):
        out += explain(_digests(old, before, agent, tier), _digests(new, loaded, agent, tier))
    return [r for r in dict.fromkeys(out) if not r.startswith("subject")]


def _cells(loaded: Loaded, scenario: LoadedScenario) -> list[tuple[str, str]]:
    config = loaded.config
    names = [a for s in scenario.scenario.subject if s in config.subjects for a in config.subjects[s].agents]
    known = [a for a in (dict.fromkeys(names) or config.agents) if a in config.agents]
    return [(a, t) for a in known for t in config.agents[a].tiers]


def _digests(side: Side, loaded: LoadedScenario, agent: str, tier: str) -> Digests:
    from evalrepo.registry import module
    from evalrepo.repository.digests import digests

    settings = side.loaded.config.agents.get(agent)
    known = settings.tiers.get(tier) if settings else None
    description: Mapping[str, object] = {"absent": True}
    if settings is not None and known is not None:
        description = module(agent, settings).describe(settings, known)
    return digests(side.tree, side.loaded.config, loaded.scenario, agent, tier, cli="", description=description)
