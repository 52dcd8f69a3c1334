"""What every rule looks at: the tree, what was loaded from it, and where in the files a thing stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from evalrepo.discipline.places import CONFIG
from evalrepo.errors import DataError, Place
from evalrepo.formats import yaml
from evalrepo.records.config import Config
from evalrepo.repository.repo import Repository
from evalrepo.repository.tree import Entry, Tree
from evalrepo.store.loading import Loaded, LoadedScenario


class Called(NamedTuple):
    """In a path of keys: the item of a list whose `id` or `name` is this."""

    name: str


Key = str | int | Called


@dataclass(frozen=True)
class Ground:
    """One tree and what was read from it."""

    tree: Tree
    repo: Repository
    loaded: Loaded
    _documents: dict[str, yaml.Document | None] = field(default_factory=dict, repr=False, compare=False)

    @property
    def config(self) -> Config:
        """The config, an empty one when it cannot be read."""
        return self.loaded.config

    @property
    def scenarios(self) -> Iterator[LoadedScenario]:
        """Every scenario that could be read."""
        yield from self.loaded.scenarios.values()

    @cached_property
    def broken(self) -> frozenset[str]:
        """Files with findings: what they would hold is not known."""
        return frozenset(f.place.file for f in self.loaded.findings if not f.warning)

    @cached_property
    def fixtures(self) -> dict[str, dict[str, Entry]]:
        """Fixture → its files by path relative to it."""
        found: dict[str, dict[str, Entry]] = {}
        for path, entry in self.tree.under("fixtures").items():
            name, _, inner = path.removeprefix("fixtures/").partition("/")
            found.setdefault(name, {})[inner] = entry
        return found

    def in_config(self, *keys: Key) -> Place:
        """The place of a path of keys in the config."""
        return self.at(CONFIG, *keys)

    def at(self, file: str, *keys: Key) -> Place:
        """The place of a path of keys in a YAML file."""
        return self._best([(file, ())], keys)

    def of(self, scenario: LoadedScenario, *keys: Key) -> Place:
        """The place of a path of keys of a scenario: in its case, else in its set's or its subjects' defaults."""
        where: list[tuple[str, tuple[Key, ...]]] = []
        if scenario.case:
            case: tuple[Key, ...] = ("cases", Called(scenario.case))
            where = [(scenario.path, case), (scenario.path, ()), (scenario.path, ("defaults",))]
        else:
            where = [(scenario.path, ())]
        where += [(CONFIG, ("subjects", name, "defaults")) for name in scenario.scenario.subject]
        return self._best(where, keys)

    def _best(self, where: Sequence[tuple[str, tuple[Key, ...]]], keys: Sequence[Key]) -> Place:
        for file, before in where:
            document = self._document(file)
            path = _resolved(document.data, (*before, *keys)) if document else None
            if document and path is not None:
                return document.where(path)
        file, before = where[0]
        document = self._document(file)
        if document is None:
            return Place(file)
        nearest = _nearest(document.data, before)
        return document.where(nearest) if nearest else Place(file, 1, 1)

    def _document(self, file: str) -> yaml.Document | None:
        if file not in self._documents:
            self._documents[file] = self._read(file)
        return self._documents[file]

    def _read(self, file: str) -> yaml.Document | None:
        if file not in self.tree.under(file):
            return None
        try:
            return yaml.read(self.tree.read(file), file)
        except DataError:
            return None


def _resolved(data: Any, keys: Sequence[Key]) -> list[str | int] | None:
    """The keys with every `Called` replaced by an index; None when the data has no such path."""
    path: list[str | int] = []
    for key in keys:
        step = _step(data, key)
        if step is None:
            return None
        path.append(step)
        data = data[step]
    return path


def _step(data: Any, key: Key) -> str | int | None:
    if isinstance(key, Called):
        if not isinstance(data, list):
            return None
        fits = (n for n, item in enumerate(data) if isinstance(item, dict) and key.name in _names(item))
        return next(fits, None)
    if isinstance(key, int):
        return key if isinstance(data, list) and key < len(data) else None
    return key if isinstance(data, dict) and key in data else None


def _names(item: dict[str, Any]) -> list[str]:
    return [str.__str__(v) for v in (item.get("id"), item.get("name")) if isinstance(v, str)]


def _nearest(data: Any, keys: Sequence[Key]) -> list[str | int]:
    for end in range(len(keys), 0, -1):
        path = _resolved(data, keys[:end])
        if path is not None:
            return path
    return []


def near(name: str, known: Sequence[str], fallback: str = "") -> str:
    """A hint: the nearest known names, or all of them when they are few."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, 2)
    if close:
        return "did you mean " + " or ".join(close) + "?"
    if known and len(known) <= 8:
        return "known: " + ", ".join(sorted(known))
    return fallback or "there is none of that name"
