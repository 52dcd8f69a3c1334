"""The scenario and the rubrics by which a recorded rep was judged, looked for where they may still stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalrepo.checks.asking import all_checks
from evalrepo.errors import EvalrepoError
from evalrepo.records.names import with_nested
from evalrepo.records.rubric import anchors
from evalrepo.repository.digests import NONE, digest
from evalrepo.repository.tree import CommitTree
from evalrepo.running.keep import SNAPSHOT, run_ref
from evalrepo.running.opened import Before, fixture_of
from evalrepo.running.rejudge import Instrument, rejudge
from evalrepo.running.stored import settings_of
from evalrepo.store import load

if TYPE_CHECKING:
    from evalrepo.records.checks import Check
    from evalrepo.records.judgement import Judgement
    from evalrepo.records.record import Record, Rep
    from evalrepo.records.rubric import Rubric
    from evalrepo.records.scenario import MetricSpec, Scenario
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.running.quoting import Quotes


@dataclass(frozen=True)
class Then:
    """`scenario` None: it is nowhere at hand. `where`: a sentence's part about where it stands; `tree`: its files."""

    scenario: Scenario | None = None
    rubrics: Mapping[str, Rubric] = field(default_factory=dict)
    where: str = ""
    tree: Tree | None = None

    @property
    def checks(self) -> tuple[Check, ...]:
        """What had to report."""
        return all_checks(self.scenario) if self.scenario is not None else ()

    @property
    def metrics(self) -> Mapping[str, MetricSpec]:
        """By name."""
        return self.scenario.metrics if self.scenario is not None else {}

    def questions(self) -> Iterator[tuple[str, tuple[str, str, str, int | None]]]:
        """What a judge may have been asked, as a judgement names it (rubric, question, scope, turn), and for what:
        `check ID`, `metric NAME`."""
        for check in self.checks:
            for condition in with_nested(check):
                if condition.judge is not None:
                    yield (
                        f"check {check.id}",
                        (condition.judge.rubric, condition.judge.question, check.scope, check.turn),
                    )
        for name, metric in self.metrics.items():
            if not isinstance(metric, str) and metric.judge is not None:
                yield f"metric {name}", (metric.judge.rubric, metric.judge.question, "main", None)

    def anchored(self, metric: str) -> str:
        """What the scenario's rubric tells people about a metric: its question, and what earns each score; or ""."""
        rubric = self.rubrics.get(self.scenario.rubric or "") if self.scenario is not None else None
        found = anchors(metric, rubric) if rubric is not None else None
        if found is None:
            return ""
        scale = "; ".join(f"{score} {meaning.strip()}" for score, meaning in found.scale.items())
        return f"{found.ask.strip()} ({scale})"

    def ask(self, judgement: Judgement) -> str:
        """The question's words, "" when the rubric of then is not at hand."""
        rubric = self.rubrics.get(judgement.rubric)
        if rubric is None or rubric.sha256 != judgement.rubric_sha256:
            return ""
        question = rubric.head.asked.get(judgement.question)
        return question.ask.strip() if question is not None else ""


def snapshot(repo: Repository, run: str) -> Tree | None:
    """The files that a run measured, as its reference keeps them; None when it keeps none, or is not here."""
    commit = repo.refs(run_ref(run)).get(run_ref(run))
    oid = repo.tree(commit).tree_oid(SNAPSHOT.rstrip("/")) if commit else None
    return CommitTree(repo.git, f"the files of run {run}", repo.object_format, oid) if oid else None


def then(repo: Repository, record: Record, path: str = "") -> Then:
    """What the record was judged by: a place that has these checks, and the rubrics of its judges where one has them
    too. `path`: of its result file, whose commit is looked at too."""
    asked = {(one.rubric, one.rubric_sha256) for rep in record.reps for one in rep.judged}
    first = Then()
    for found in _matching(repo, record, path):
        if asked <= {(name, rubric.sha256) for name, rubric in found.rubrics.items()}:
            return found
        first = first if first.scenario is not None else found
    return first


def _matching(repo: Repository, record: Record, path: str) -> Iterator[Then]:
    for where, tree in _places(repo, record, path):
        try:
            loaded = load(tree, repo)
        except EvalrepoError:  # of a newer evalrepo
            continue
        one = loaded.scenarios.get(record.scenario)
        if one is not None and same(one.scenario, record):
            yield Then(one.scenario, {**_of_people(repo, one.scenario, path), **loaded.rubrics}, where, tree)


def _of_people(repo: Repository, scenario: Scenario, path: str) -> Mapping[str, Rubric]:
    """The rubric that tells people what earns a score: no run keeps it, so as it was when the record was added."""
    if scenario.rubric is None:
        return {}
    commit = _added(repo, path)
    return load(repo.tree(commit or "WORKTREE"), repo).rubrics


def same(scenario: Scenario, record: Record) -> bool:
    """Whether these are the checks and metrics that judged the record, by the parts of its instrument digest."""
    parts = record.digests.parts.get("instrument", {})
    trigger = digest([scenario.trigger, scenario.should_trigger]) if scenario.trigger else NONE
    now = {"checks": digest(scenario.checks), "metrics": digest(scenario.metrics), "trigger": trigger}
    return now.items() <= parts.items()


def _places(repo: Repository, record: Record, path: str) -> Iterator[tuple[str, Tree]]:
    for run in dict.fromkeys((record.run, record.executed)):
        if (tree := snapshot(repo, run)) is not None:
            yield f"as run {run} keeps it", tree
    yield "as it is in the work tree", repo.tree("WORKTREE")
    for commit in dict.fromkeys((_added(repo, path), record.commit)):
        if commit and not repo.git.code("cat-file", "-e", f"{commit}^{{commit}}")[0]:
            yield f"as it is at commit {commit[:9]}", repo.tree(commit)


def _added(repo: Repository, path: str) -> str:
    """The newest commit that added a file, "" when none did."""
    if not path or path.startswith("refs/") or repo.head() is None:
        return ""
    command = ("log", "-1", "--diff-filter=A", "--no-renames", "--format=%H", "HEAD", "--", path)
    return repo.git(*command).decode("ascii").strip()


def with_evidence(record: Record, rep: Rep, then: Then, quotes: Quotes) -> Rep:
    """A rep whose record holds no evidence (a reserve's), with that which its checks find once more in what was kept;
    where one would answer otherwise now, or needs more than was kept, as it is recorded."""
    if then.scenario is None or then.tree is None or not rep.valid:
        return rep
    agent = settings_of(then.tree, record.agent, load(then.tree).config.agents)
    parts = frozenset(record.digests.parts.get("instrument", {}))
    by = Instrument(then.scenario, record.agent, agent, Before(fixture_of(then.tree, then.scenario)), same=parts)
    anew = rejudge(by, rep, quotes.files).rep
    if anew is None:
        return rep
    found = {check.id: check for check in anew.checks}
    checks = tuple(found[c.id] if c.id in found and found[c.id].outcome is c.outcome else c for c in rep.checks)
    now = {
        name: score
        for name, score in anew.metrics.items()
        if name in rep.metrics and score.score == rep.metrics[name].score
    }
    return rep.model_copy(update={"checks": checks, "metrics": {**rep.metrics, **now}})
