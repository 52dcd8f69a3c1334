"""What `run` and `selftest` stand on: the repository, the measured tree, isolation, and one bench for all reps."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evalrepo.comparing.calibration import by_name, of_rubric
from evalrepo.formats.redaction import Redactor
from evalrepo.records.calibration import Calibration, Rule
from evalrepo.records.globs import is_glob
from evalrepo.records.record import CellHeader, Purpose
from evalrepo.registry import module
from evalrepo.repository.digests import digest, subject_part
from evalrepo.repository.worktrees import listed
from evalrepo.running import judging, logins
from evalrepo.running.bench import Bench
from evalrepo.running.canary import waiting
from evalrepo.running.leases import leased
from evalrepo.running.plan import Ground, Plan
from evalrepo.running.stage import Stage
from evalrepo.sandbox.isolation import Isolation
from evalrepo.sandbox.layout import base_directory
from evalrepo.sandbox.probe import probe
from evalrepo.scoring.judge.standing import Standing
from evalrepo.store.cache import Cache
from evalrepo.store.labels import labels_of, votes_of

if TYPE_CHECKING:
    from evalrepo.records.config import Config
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.store import Loaded
    from evalrepo.world import World


@dataclass(frozen=True)
class Session:
    """A repository and the tree of it that is measured.

    `at`: the commit whose subject it has, "" for the tree's own, with the name that a person gave it; `purpose`: why
    its reps are run.
    """

    repo: Repository
    tree: Tree
    loaded: Loaded
    isolation: Isolation
    at: str = ""
    at_name: str = ""
    purpose: Purpose = Purpose.MEASURE
    look: tuple[int, int] = (0, 0)
    """Which look at the reserve it is, and of how many."""

    @property
    def world(self) -> World:
        """The surroundings."""
        return self.repo.world


def begin(repo: Repository, tree: Tree, loaded: Loaded) -> Session:
    """Probe the isolation, with everything masked that no agent may see; the judge is the one that is asked."""
    judge = judging.overridden(loaded.config.judge, repo.world.environ)
    loaded = replace(loaded, config=loaded.config.model_copy(update={"judge": judge}))
    if not os.access(repo.common_dir, os.W_OK):
        return Session(repo, tree, loaded, probe(repo.world, hidden(repo)))
    base = base_directory(repo.world)
    with leased(repo.home, base):
        return Session(repo, tree, loaded, probe(repo.world, hidden(repo), base))


def hidden(repo: Repository) -> list[Path]:
    """What no agent may see: the repository, its work trees, git directories and objects, the real HOME."""
    home = repo.world.environ.get("HOME", "")
    places = [repo.top, repo.git_dir, repo.common_dir, *([Path(home)] if home not in ("", "/") else [])]
    others = [*(top for top, _ in listed(repo)), repo.objects_dir, *repo.alternates()]
    return list(dict.fromkeys((*places, *(place for place in others if place.is_dir()))))


@contextlib.contextmanager
def bench(session: Session, *, judged: bool = True) -> Iterator[Bench]:
    """The bench of one run; its directory of sandboxes is removed at the end. `judged` False: no judge is asked."""
    base = base_directory(session.world)
    redactor = Redactor(secrets(session.loaded.config, session.world.environ), patterns(session.loaded.config))
    with leased(session.repo.home, base), Stage(session.world, base) as stage:
        made = Bench(
            world=session.world,
            config=session.loaded.config,
            tree=session.tree,
            isolation=session.isolation,
            base=base,
            cache=session.repo.home / "cache",
            redactor=redactor,
            forbidden=_forbidden(session, base),
            tripwires=tripwires(session.loaded),
            stage=stage,
        )
        yield replace(made, court=_court(session, made)) if judged else made


def standing(tree: Tree, loaded: Loaded, rule: Rule) -> tuple[Standing, Standing]:
    """How far judges' answers are people's, by the labels and votes that the tree holds: by who answered, and by who
    was asked."""
    found: dict[tuple[str, str, str], Calibration] = {}
    asked: dict[tuple[str, str, str], Calibration] = {}
    for name, rubric in loaded.rubrics.items():
        labels = labels_of(tree, name)
        if labels:
            votes = [vote for vote in votes_of(tree, name) if vote.rubric == rubric.sha256]
            mine = of_rubric(name, rubric, labels, votes, rule)
            found |= mine
            asked |= by_name(mine, name, votes)
    return found, asked


def _court(session: Session, bench: Bench) -> judging.Court | None:
    """Whom the run's questions are put to, None when nobody is named."""
    judge = judging.judge_of(bench, session.repo.top)
    if judge is None:
        return None
    override = judging.OVERRIDE if session.world.environ.get(judging.OVERRIDE, "").strip() else ""
    cache = Cache(session.repo.home, "judged", judging.VERSION)
    rule = Rule(**session.loaded.config.judge.calibration.model_dump())
    known, by_whom = standing(session.tree, session.loaded, rule)
    return judging.Court(
        judge,
        session.loaded.rubrics,
        bench.redactor,
        cache,
        override,
        known,
        rule,
        digest(judging.how_asked(bench.config.judge)),
        asked=by_whom,
    )


def _forbidden(session: Session, base: Path) -> tuple[str, ...]:
    """What is hidden, and all sandboxes: which of them is an agent's own is known when it has one."""
    return (*map(str, hidden(session.repo)), f"{base}/")


def secrets(config: Config, environ: Mapping[str, str]) -> dict[str, str]:
    """Values of the environment variables and login files that agents and the judge are given."""
    names = {*judging.passed(config.judge), *(name for agent in config.agents.values() for name in agent.env)}
    found = {name: environ[name] for name in sorted(names) if name in environ}
    for name, agent in config.agents.items():
        if agent.home == "inherit" and agent.kind == "builtin":
            found |= logins.secrets(environ.get("HOME", ""), module(name, agent).traits(agent).logins)
    return found


def patterns(config: Config) -> tuple[str, ...]:
    """The config's own patterns of what must never be stored."""
    return config.redact.patterns


def tripwires(loaded: Loaded) -> tuple[str, ...]:
    """The strings that must stand nowhere but in reserve files and rubrics."""
    found = [s.scenario.tripwire for s in loaded.scenarios.values() if s.set == "reserve"]
    found += [r.head.tripwire for r in loaded.rubrics.values()]
    return tuple(dict.fromkeys(t for t in found if t))


def ground(session: Session, have: Callable[[CellHeader], int], against: Session | None = None) -> Ground:
    """What a plan stands on; agents' versions are asked for once each. `against`: the side that is measured with it."""
    repo, config = session.repo, session.loaded.config
    head = repo.tree("HEAD")

    @cache
    def version(agent: str) -> str:
        settings = config.agents[agent]
        return module(agent, settings).version(settings, session.world)

    @cache
    def dirty(subjects: tuple[str, ...]) -> bool:
        if session.at:
            return False
        known = [config.subjects[n] for n in subjects if n in config.subjects]
        return any(subject_part(head, "", s)[0] != subject_part(session.tree, "", s)[0] for s in known)

    return Ground(
        tree=session.tree,
        loaded=session.loaded,
        commit=session.at or repo.head() or "",
        dirty=dirty,
        version=version,
        isolation=session.isolation.level,
        have=have,
        purpose=session.purpose,
        look=session.look,
        other=(against.tree, against.loaded.config) if against is not None else None,
        waits=waiting(session.tree, config),
    )


def snapshot(session: Session, made: Plan) -> str:
    """The id of a stored tree of every file that the plan's cells rest on: the run can be repeated from it."""
    from evalrepo.repository.digests import affected

    roots: set[str] = {"evalrepo.yaml"}
    for cell in made.cells:
        if cell.need:
            loaded = session.loaded.scenarios[cell.header.scenario]
            roots |= {loaded.path, *affected(session.tree, session.loaded.config, loaded.scenario)}
    entries = {**session.tree.under(*roots), **session.tree.match(*(r for r in roots if is_glob(r)))}
    session.tree.persist(entries)
    return session.repo.write_tree(entries)
