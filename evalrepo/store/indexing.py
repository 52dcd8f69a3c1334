"""Which scenarios a changed path concerns: inverted maps, cached by tree id, without YAML and models when warm."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalrepo.discipline.places import CONFIG, RESERVE
from evalrepo.records import globs
from evalrepo.repository.tree import Tree
from evalrepo.store.cache import Cache
from evalrepo.store.fastrange import INDEX, INDEXED, index_key, outline, outline_key

if TYPE_CHECKING:
    from evalrepo.records.config import Config
    from evalrepo.records.names import Named
    from evalrepo.repository.repo import Repository
    from evalrepo.store.loading import Loaded

_SETS = ("scenarios", RESERVE)
_LISTS = ("run_set", "reserve")


@dataclass(frozen=True)
class Index:
    """Scenarios by number: first the run-set's `run_set`, then the reserve's `reserve` ids.

    `files`: path of a set's file → numbers; `under`: file or directory → reason → numbers; `subjects`: name → its
    `paths` (globs), `on_change`, `agents`, and the `scenarios` that name it; `suites`: name → patterns.
    """

    run_set: tuple[str, ...]
    reserve: tuple[str, ...]
    files: Mapping[str, list[int]] = field(default_factory=dict)
    under: Mapping[str, Mapping[str, list[int]]] = field(default_factory=dict)
    subjects: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    suites: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[str, ...]:
        """Every id, in the order of the numbers."""
        return (*self.run_set, *self.reserve)

    @cached_property
    def sets(self) -> Mapping[str, str]:
        """Id → "run-set" or "reserve", for `select_ids`."""
        return {**dict.fromkeys(self.run_set, "run-set"), **dict.fromkeys(self.reserve, "reserve")}

    @cached_property
    def judged_by_modules(self) -> tuple[int, ...]:
        """Scenarios with check modules, which any other module may concern: what they import the digests say."""
        return tuple(sorted({n for reasons in self.under.values() for n in reasons.get("check module", ())}))

    def path(self, id_: str) -> str:
        """The scenario's file, for `load(…, only=…)`."""
        return f"{_SETS[0] if self.sets[id_] == 'run-set' else RESERVE}/{id_.partition('/')[0]}.yaml"


def index(tree: Tree, repo: Repository) -> Index:
    """The index of a tree; raises DataError when its files cannot be used and it is not cached."""
    key = _key(tree)
    cache = Cache(repo.home, *INDEX)
    body = cache.get([key]).get(key) if key else None
    known = _read(body)
    if known is not None:
        return known
    from evalrepo.store.loading import load, usable

    built = build(usable(load(tree, repo)))
    if key:
        cache.put({key: json.dumps(asdict(built), separators=(",", ":")), outline_key(key): outline(built)})
    return built


def _key(tree: Tree) -> str | None:
    config = tree.under(CONFIG).get(CONFIG)
    if config is None:
        return None
    folders = {name: oid for name in INDEXED[1:] if (oid := tree.tree_oid(name)) is not None}
    return index_key({CONFIG: config.oid, **folders})


def _read(body: str | None) -> Index | None:
    if body is None:
        return None
    try:
        data = json.loads(body)
        return Index(**{**data, **{name: tuple(data[name]) for name in _LISTS}})
    except (ValueError, TypeError, KeyError):
        return None


def build(loaded: Loaded) -> Index:
    """The index of what was loaded."""
    from evalrepo.records.names import named

    run_set, reserve = tuple(loaded.of_set("run-set")), tuple(loaded.of_set("reserve"))
    files: dict[str, list[int]] = {}
    under: dict[str, dict[str, list[int]]] = {}
    of_subject: dict[str, list[int]] = {}
    for number, id_ in enumerate((*run_set, *reserve)):
        one = loaded.scenarios[id_]
        if one.case:
            files.setdefault(one.path, []).append(number)
        for subject in one.scenario.subject:
            of_subject.setdefault(subject, []).append(number)
        names = named(one.scenario)
        for reason, paths in _by_reason(names):
            for path in paths:
                under.setdefault(path, {}).setdefault(reason, []).append(number)
    return Index(run_set, reserve, files=files, under=under, **_of_config(loaded.config, of_subject))


def _by_reason(names: Named) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        ("fixture", names.fixtures),
        ("rubric", names.rubrics),
        ("hidden file", names.hidden),
        ("check module", names.modules),
    )


def _of_config(config: Config, of_subject: Mapping[str, list[int]]) -> dict[str, Any]:
    subjects = {
        name: {
            "paths": list(subject.paths),
            "on_change": subject.on_change,
            "agents": list(subject.agents),
            "scenarios": of_subject.get(name, []),
        }
        for name, subject in config.subjects.items()
    }
    return {"subjects": subjects, "suites": {name: list(suite.scenarios) for name, suite in config.suites.items()}}


def touched(index: Index, changed: Iterable[str]) -> dict[str, list[str]]:
    """Scenario id → reasons, each a kind and the path: `fixture fixtures/api/app.py`. Pure; dict look-ups.

    A changed config is a reason of every scenario: the digests say whom it concerns.
    """
    ids = index.ids
    numbers = {id_: n for n, id_ in enumerate(ids)}
    found: dict[int, list[str]] = {}
    subject_of = _Subjects(index)
    for path in changed:
        for number, reason in _concerned(index, subject_of, numbers, path):
            found.setdefault(number, []).append(f"{reason} {path}")
    return {ids[number]: list(dict.fromkeys(found[number])) for number in sorted(found)}


def subjects_of(index: Index, changed: Iterable[str]) -> list[str]:
    """Names of the subjects that hold one of these paths, whether a scenario names them or not."""
    subject_of = _Subjects(index)
    return list(dict.fromkeys(name for path in changed for name in subject_of(path)))


def owners_of(index: Index, paths: Iterable[str]) -> dict[str, list[str]]:
    """Path → the subjects that hold it, for those that one holds."""
    subject_of = _Subjects(index)
    return {path: names for path in paths if (names := subject_of(path))}


def measured_by(index: Index, paths: Iterable[str]) -> dict[str, set[str]]:
    """Path → the subjects that it measures: as a scenario, or as what a scenario names."""
    of: dict[int, set[str]] = {}
    for name, subject in index.subjects.items():
        for number in subject["scenarios"]:
            of.setdefault(number, set()).add(name)
    numbers = {id_: n for n, id_ in enumerate(index.ids)}
    found: dict[str, set[str]] = {}
    for path in paths:
        for number, _ in _concerned(index, lambda _: [], numbers, path):
            found.setdefault(path, set()).update(of.get(number, ()))
    return found


def _concerned(
    index: Index, subject_of: Callable[[str], list[str]], numbers: Mapping[str, int], path: str
) -> Iterator[tuple[int, str]]:
    if path == CONFIG:
        yield from ((number, "config") for number in numbers.values())
        return
    folder, _, name = path.partition("/")
    if folder in _SETS and name.endswith(".yaml"):
        own = index.files.get(path, [])
        single = numbers.get(name.removesuffix(".yaml"))
        yield from ((number, "scenario") for number in (own or ([single] if single is not None else [])))
    if path.endswith(".py"):
        yield from ((number, "check module's import") for number in index.judged_by_modules)
    for parent in (*_parents(path), path):
        for reason, those in index.under.get(parent, {}).items():
            yield from ((number, reason) for number in those)
    for subject in subject_of(path):
        yield from ((number, f"subject {subject}:") for number in index.subjects[subject]["scenarios"])


def _parents(path: str) -> Iterator[str]:
    at = path.find("/")
    while at != -1:
        yield path[:at]
        at = path.find("/", at + 1)


class _Subjects:
    """Path → subjects whose globs it fits: literal paths and `dir/**` by look-up, other globs compiled once."""

    def __init__(self, index: Index) -> None:
        self._under: dict[str, list[str]] = {}
        self._globs: dict[str, list[str]] = {}
        for name, subject in index.subjects.items():
            for glob in subject["paths"]:
                literal = glob.removesuffix("/**")
                target = self._globs if globs.is_glob(literal) else self._under
                target.setdefault(glob if globs.is_glob(literal) else literal, []).append(name)

    def __call__(self, path: str) -> list[str]:
        """Names, each once."""
        found = list(self._under.get(path, ()))
        for parent in _parents(path):
            found += self._under.get(parent, ())
        for glob, names in self._globs.items():
            if globs.matches(glob, path):
                found += names
        return list(dict.fromkeys(found))
