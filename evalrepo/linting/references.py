"""What scenarios name of the repository: fixtures, rubrics and their questions, hidden files, check modules."""

from __future__ import annotations

from collections.abc import Iterator

from evalrepo.errors import Finding, Place
from evalrepo.linting.ground import Called, Ground, Key, near
from evalrepo.records.checks import Condition
from evalrepo.records.names import fixture_path, rubric_path, with_nested
from evalrepo.records.scenario import Metric
from evalrepo.repository.tree import unusable
from evalrepo.store.loading import LoadedScenario


def fixtures(ground: Ground) -> Iterator[Finding]:
    """The fixture is there."""
    for one in ground.scenarios:
        name = one.scenario.fixture
        if name is not None and name not in ground.fixtures:
            hint = near(name, list(ground.fixtures), f"git add the files of {fixture_path(name)}/")
            yield Finding(ground.of(one, "fixture"), "FIX101", f"{fixture_path(name)}/ holds no file", hint)
        elif name is not None and "" in ground.fixtures[name]:
            hint = f"move it to {fixture_path(name)}/"
            yield Finding(ground.of(one, "fixture"), "FIX107", f"{fixture_path(name)} is not a directory", hint)


def rubrics(ground: Ground) -> Iterator[Finding]:
    """Rubric and question are there, and an answer that passes is one of the question's."""
    for one in ground.scenarios:
        for condition, place in _asked(ground, one):
            judge = condition.judge
            if judge is not None:
                yield from _question(ground, judge.rubric, judge.question, place, judge.pass_when)
        for name, metric in one.scenario.metrics.items():
            if isinstance(metric, Metric) and metric.judge is not None:
                place = ground.of(one, "metrics", name)
                yield from _question(ground, metric.judge.rubric, metric.judge.question, place, ())


def _question(
    ground: Ground, rubric: str, question: str, place: Place, pass_when: tuple[str, ...]
) -> Iterator[Finding]:
    path = rubric_path(rubric)
    if path in ground.broken:
        return
    found = ground.loaded.rubrics.get(rubric)
    if found is None:
        hint = near(rubric, list(ground.loaded.rubrics), f"write {path}")
        yield Finding(place, "RUB101", f"there is no {path}", hint)
        return
    asked = found.head.questions.get(question)
    if asked is None:
        hint = near(question, list(found.head.questions))
        yield Finding(place, "RUB102", f'{path} has no question "{question}"', hint)
        return
    for answer in pass_when:
        if answer not in asked.answers:
            hint = f"the answers are {', '.join(asked.answers)}"
            yield Finding(place, "RUB103", f'"{answer}" is no answer to the question "{question}"', hint)


def hidden(ground: Ground) -> Iterator[Finding]:
    """Hidden files and check modules are there, and git holds their content."""
    for one in ground.scenarios:
        for condition, place in _asked(ground, one):
            if condition.command is not None:
                for path in condition.command.files.values():
                    yield from _present(ground, path, place, "SCN118", "the hidden file")
            if condition.python is not None:
                yield from _present(ground, condition.python.path, place, "SCN119", "the check module")


def _present(ground: Ground, path: str, place: Place, code: str, what: str) -> Iterator[Finding]:
    files = ground.tree.under(path)
    if not files:
        hint = "git add it; paths are relative to the top of the repository"
        yield Finding(place, code, f"{what} {path} is not there", hint)
    for found, why in unusable(ground.tree, files):
        yield Finding(place, code, f"{what} {found} {why}", "store the file itself")


def _asked(ground: Ground, one: LoadedScenario) -> Iterator[tuple[Condition, Place]]:
    """Every condition with the place of the check that it belongs to."""
    for key, checks in (
        ("preconditions", one.scenario.preconditions),
        ("validity", one.scenario.validity),
        ("checks", one.scenario.checks),
    ):
        for check in checks:
            keys: tuple[Key, ...] = (key, Called(check.id))
            wanted = [c for c in with_nested(check) if c.judge or c.command or c.python]
            if wanted:
                yield from ((condition, ground.of(one, *keys)) for condition in wanted)


RULES = (fixtures, rubrics, hidden)
