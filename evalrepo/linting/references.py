"""What scenarios name of the repository: fixtures, rubrics and their questions, hidden files, check modules."""

from __future__ import annotations

from collections.abc import Iterator

from evalrepo.errors import Finding, Place
from evalrepo.linting.ground import Called, Ground, Key, near
from evalrepo.records.checks import Condition
from evalrepo.records.kinds import Judge
from evalrepo.records.names import fixture_path, rubric_path, with_nested
from evalrepo.records.rubric import SCORES, Question, anchors
from evalrepo.records.scenario import JudgeMetric, Metric
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
                yield from _question(ground, judge, place, judge.pass_when)
        for name, metric in one.scenario.metrics.items():
            if isinstance(metric, Metric) and metric.judge is not None:
                yield from _question(ground, metric.judge, ground.of(one, "metrics", name), SCORES)
        yield from _people(ground, one)


def _people(ground: Ground, one: LoadedScenario) -> Iterator[Finding]:
    """The rubric that people score by has the metrics that are theirs."""
    name = one.scenario.rubric
    if name is None or rubric_path(name) in ground.broken:
        return
    rubric = ground.loaded.rubrics.get(name)
    if rubric is None:
        hint = near(name, list(ground.loaded.rubrics), f"write {rubric_path(name)}")
        yield Finding(ground.of(one, "rubric"), "RUB101", f"there is no {rubric_path(name)}", hint)
        return
    for metric, spec in one.scenario.metrics.items():
        if spec == "human" and anchors(metric, rubric) is None:
            message = f'{rubric_path(name)} has no metric "{metric}", so nobody knows what earns its scores'
            yield Finding(ground.of(one, "metrics", metric), "RUB102", message, near(metric, list(rubric.head.asked)))


def _question(ground: Ground, asks: Judge | JudgeMetric, place: Place, wanted: tuple[str, ...]) -> Iterator[Finding]:
    path = rubric_path(asks.rubric)
    if path in ground.broken:
        return
    rubric = ground.loaded.rubrics.get(asks.rubric)
    if rubric is None:
        hint = near(asks.rubric, list(ground.loaded.rubrics), f"write {path}")
        yield Finding(place, "RUB101", f"there is no {path}", hint)
        return
    known = rubric.head.asked
    if asks.question not in known:
        hint = near(asks.question, list(known))
        yield Finding(place, "RUB102", f'{path} has no question "{asks.question}"', hint)
        return
    yield from _fits(asks, known[asks.question], place, wanted)


def _fits(asks: Judge | JudgeMetric, question: Question, place: Place, wanted: tuple[str, ...]) -> Iterator[Finding]:
    """The answers that are wanted are among those that are allowed, and the reference is there where it is needed."""
    named = f'the question "{asks.question}"'
    if isinstance(asks, JudgeMetric) and not question.scale:
        hint = "give the question a `scale` with 0, 1, 2 and 3, or ask it in a check"
        yield Finding(place, "RUB104", f"{named} gives no score from 0 to 3", hint)
    elif odd := [answer for answer in wanted if answer not in question.offered]:
        hint = f"the answers are {', '.join(question.offered)}"
        yield Finding(place, "RUB103", f'"{odd[0]}" is no answer to {named}', hint)
    if question.reference and not (asks.reference or "").strip():
        hint = "reference: the answer that is known to be right"
        yield Finding(place, "RUB105", f"{named} is answered beside a reference, and there is none", hint)
    if asks.reference is not None and not question.reference:
        hint = "say `reference: true` at the question in the rubric, or take the reference away"
        yield Finding(place, "RUB106", f"{named} takes no reference, so this one would not be looked at", hint)


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


def scales(ground: Ground) -> Iterator[Finding]:
    """Each value of a scale is anchored."""
    for name, rubric in ground.loaded.rubrics.items():
        for key, question in rubric.head.asked.items():
            if question.unanchored:
                message = f"{key}: nothing says what earns {' and '.join(question.unanchored)}"
                hint = f'scale: {{"{question.unanchored[0]}": what earns it}}'
                yield Finding(Place(rubric_path(name)), "RUB107", message, hint, warning=True)


RULES = (fixtures, rubrics, scales, hidden)
