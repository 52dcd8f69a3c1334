"""What is to be frozen: the reserve, and by closure all that it names. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Protocol

from evalrepo.discipline.places import RESERVE, covered, outermost
from evalrepo.records.config import Config
from evalrepo.records.imports import files
from evalrepo.records.names import asks_a_judge, named
from evalrepo.records.scenario import Scenario

WILD = frozenset("*?[")
_WORD = re.compile(r"[^\s;|&<>()'\"`=$]+")


class Files(Protocol):
    """The part of a tree that says what there is."""

    def match(self, *patterns: str) -> Mapping[str, Any]:
        """Files that fit a pattern, by path."""

    def under(self, *roots: str) -> Mapping[str, Any]:
        """Files at or below a path."""

    def source(self, path: str) -> bytes | None:
        """A regular file's bytes, None when there is none."""


def closure(reserve: Mapping[str, Scenario], config: Config, tree: Files) -> dict[str, str]:
    """Roots, sorted → why: the reserve's folder, what its scenarios name, and `frozen.also` (`dir/**` is `dir`).

    Other globs are resolved to the files of today.
    """
    wanted = {RESERVE: "the reserve"}
    for id_, scenario in reserve.items():
        for path, why in of_scenario(id_, scenario, config, tree).items():
            wanted.setdefault(path, why)
    for glob in config.frozen.also:
        literal = glob.removesuffix("/**")
        for path in {literal} if not WILD & set(literal) else tree.match(glob):
            wanted.setdefault(path, f"`frozen.also` has {glob}")
    return {root: wanted[root] for root in outermost(frozenset(wanted))}


def of_scenario(id_: str, scenario: Scenario, config: Config, tree: Files) -> dict[str, str]:
    """Path → why, of all that a scenario rests on beside its own file and its subject.

    Fixtures, rubrics, hidden files, check modules with what they import of the repository, files of the repository
    that its setup names, and for a scenario with a judge the files that the judge's configuration names.
    """
    names = named(scenario)
    found = dict.fromkeys(names.paths, f"{id_} names it")
    for module in names.modules:
        for path in files(module, tree.source):
            found.setdefault(path, f"{module} imports it")
    for path in _of_setup(scenario, config, tree):
        found.setdefault(path, f"the setup of {id_} names it")
    if asks_a_judge(scenario):
        for path in paths_in(config.judge.model_dump(mode="json"), tree):
            found.setdefault(path, "the judge rests on it")
    return found


def _of_setup(scenario: Scenario, config: Config, tree: Files) -> Iterator[str]:
    """Files of the repository, by words with a folder; what the fixture holds too is meant there."""
    words = dict.fromkeys(word for step in scenario.setup for word in _WORD.findall(step.run) if "/" in word)
    there = [path for path in (word.removeprefix("./") for word in words) if _is_file(path, tree)]
    if not there:
        return
    subjects = set(tree.match(*(glob for subject in config.subjects.values() for glob in subject.paths)))
    for path in there:
        in_fixture = scenario.fixture is not None and _is_file(f"fixtures/{scenario.fixture}/{path}", tree)
        if not in_fixture and path not in subjects:
            yield path


def paths_in(settings: Any, tree: Files) -> tuple[str, ...]:
    """Files of the repository that a setting's texts name, sorted."""
    return tuple(sorted({text for text in _texts(settings) if _is_file(text, tree)}))


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, Mapping):
        return chain.from_iterable(_texts(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return chain.from_iterable(_texts(inner) for inner in value)
    return (value,) if isinstance(value, str) else ()


def _is_file(path: str, tree: Files) -> bool:
    return bool(path) and not path.startswith(("/", "~", ".")) and set(tree.under(path)) == {path}


def unlocked(roots: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Roots of the closure that the lock's roots do not cover."""
    known = frozenset(roots)
    return tuple(root for root in wanted if not covered(known, root))
