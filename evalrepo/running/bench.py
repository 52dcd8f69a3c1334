"""What the reps of a run share, prepared once: templates, subjects, redaction, what must not be seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evalrepo.agents.base import AgentModule
from evalrepo.records.config import Agent, Config, Install, Tier
from evalrepo.registry import module
from evalrepo.repository.digests import subject_files
from evalrepo.sandbox.snapshot import manifest
from evalrepo.sandbox.template import template

if TYPE_CHECKING:
    from evalrepo.formats.redaction import Redactor
    from evalrepo.records.outcome import Manifest
    from evalrepo.records.scenario import Scenario
    from evalrepo.repository.tree import Tree
    from evalrepo.running.judging import Court
    from evalrepo.running.stage import Stage
    from evalrepo.sandbox.isolation import Isolation
    from evalrepo.world import World

Files = Mapping[str, tuple[str, bytes]]
"""Path → git mode and content."""


@dataclass(frozen=True)
class Bench:
    """Common to all reps of a run.

    `base`: the run's own directory for sandboxes; `cache`: where fixture templates are kept; `read`: a file of the
    measured tree; `forbidden` and `tripwires`: what no transcript may show; `court`: the judge, if there is
    one; `stage`: where rehearsals find their model server.
    """

    world: World
    config: Config
    tree: Tree
    isolation: Isolation
    base: Path
    cache: Path
    redactor: Redactor
    forbidden: tuple[str, ...] = ()
    tripwires: tuple[str, ...] = ()
    court: Court | None = None
    stage: Stage | None = None

    def read(self, path: str) -> bytes:
        """A file of the measured tree."""
        return self.tree.read(path)


@dataclass(frozen=True)
class Subject:
    """One subject's files (paths relative to the folder before the first wildcard) and where they go."""

    name: str
    files: Files
    install: Install


@dataclass(frozen=True)
class Prepared:
    """One cell, ready to be played: agent, template of the fixture, subjects.

    `traces`: its log shows what was loaded. `rehearsed`: the real CLI is asked, and a script answers it. `logins`:
    files below the real HOME that it is given. `tools` False: it is to do without them, as far as its CLI can.
    """

    scenario: Scenario
    name: str
    agent: Agent
    tier: Tier
    played: AgentModule
    template: Path
    subjects: tuple[Subject, ...]
    network: bool
    litter: tuple[str, ...] = ()
    traces: bool = False
    rehearsed: bool = False
    logins: tuple[str, ...] = ()
    tools: bool = True
    memo: dict[str, Manifest] = field(default_factory=dict, compare=False, repr=False)

    def before(self, work: Path) -> Manifest:
        """The work directory as the agent finds it. Where no setup ran, every rep's is the same copy: read once."""
        if self.scenario.setup or self.scenario.faults:
            return manifest(work)
        if "before" not in self.memo:
            self.memo["before"] = manifest(work)
        return self.memo["before"]

    @property
    def furnished(self) -> bool:
        """Whether setup or an install puts files into the work directory beside the fixture's."""
        targets = [target for subject in self.subjects for target in subject.install.copy_.values()]
        return bool(self.scenario.setup) or any(not target.startswith("~/") for target in targets)

    def subject_files(self) -> dict[str, bytes]:
        """The subjects' files by path relative to their subject, for scripts that ask for words of them."""
        return {path: data for subject in self.subjects for path, (_, data) in subject.files.items()}


def prepare(bench: Bench, scenario: Scenario, agent: str, tier: Tier, settings: Agent | None = None) -> Prepared:
    """Everything that a cell's reps have in common. Raises HarnessError, GitError when it cannot be had."""
    settings = settings or bench.config.agents[agent]
    played = module(agent, settings)
    traits = played.traits(settings)
    rehearsed = tier.script is not None and bool(traits.rehearsal_model)
    return Prepared(
        scenario=scenario,
        name=agent,
        agent=settings,
        tier=tier,
        played=played,
        template=_template(bench, scenario),
        subjects=tuple(_subject(bench, name, agent) for name in scenario.subject if name in bench.config.subjects),
        network=traits.network == "open" and not rehearsed,
        litter=traits.litter,
        traces=bool(traits.rehearsal_model),
        rehearsed=rehearsed,
        logins=traits.logins if settings.home == "inherit" and not rehearsed else (),
    )


def _template(bench: Bench, scenario: Scenario) -> Path:
    if scenario.fixture is None:
        return template({}, bench.cache, "empty")
    root = f"fixtures/{scenario.fixture}"
    entries = bench.tree.under(root)
    modes = {path: entry.mode for path, entry in entries.items()}
    files = {path.removeprefix(root + "/"): (modes[path], data) for path, data in bench.tree.read_many(list(entries))}
    return template(files, bench.cache, bench.tree.tree_oid(root) or "empty")


def _subject(bench: Bench, name: str, agent: str) -> Subject:
    subject = bench.config.subjects[name]
    places = subject_files(bench.tree, subject)
    entries = bench.tree.under(*places.values()) if places else {}
    content = dict(bench.tree.read_many(list(entries)))
    files = {own: (entries[path].mode, content[path]) for own, path in places.items()}
    return Subject(name, files, subject.install.get(agent, Install()))
