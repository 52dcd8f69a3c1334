"""A Tree → config, scenarios with their defaults merged in, rubrics; every fault of the files as a finding."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from evalrepo.discipline.places import CONFIG, LEDGER, LOCK, RESERVE
from evalrepo.errors import DataError, Finding, GitError, Place
from evalrepo.formats import lockfile, yaml
from evalrepo.records.base import NAME
from evalrepo.records.config import Config
from evalrepo.records.event import Event
from evalrepo.records.lock import Lock
from evalrepo.records.rubric import Rubric
from evalrepo.records.scenario import Scenario, ScenarioFile, ScenarioSet, expand, with_defaults
from evalrepo.repository.repo import Repository
from evalrepo.repository.tree import Entry, Tree
from evalrepo.store.cache import Cache

PARSER = 1
"""Raised when the YAML reader or the models read the same text differently."""

_GOT = re.compile(r", got .*", re.DOTALL)
_LISTED = re.compile(r"\[[^\[\]]* [^\[\]]*\]")
_QUOTED = re.compile(r'"[^"]* [^"]*"|\'[^\']*\'')
"""What a message shows of the text that stands in a file: a value, a value as a list, and keys that are no words."""
RUN_SET = "scenarios"
RUBRICS = "rubrics"
Set = Literal["run-set", "reserve"]
_KINDS = {"CFG": "config", "SCN": "scenario", "RUB": "rubric", "LED": "event"}


@dataclass(frozen=True, slots=True)
class LoadedScenario:
    """A scenario with its set's and its subjects' defaults merged in; `case` is its id inside a set file, or ""."""

    id: str
    path: str
    set: Set
    scenario: Scenario
    case: str = ""


@dataclass(frozen=True)
class Loaded:
    """What a tree holds. `scenarios` and `rubrics` are those that could be read, by id and name, in path order."""

    config: Config
    scenarios: Mapping[str, LoadedScenario]
    rubrics: Mapping[str, Rubric]
    findings: tuple[Finding, ...] = ()

    def of_set(self, which: Set) -> dict[str, LoadedScenario]:
        """The scenarios of the run-set or of the reserve."""
        return {i: s for i, s in self.scenarios.items() if s.set == which}


def load(tree: Tree, repo: Repository | None = None, *, only: Collection[str] | None = None) -> Loaded:
    """Everything that can be read, and a finding for everything that cannot.

    `repo`: where to cache, or nowhere. `only`: paths of the scenario files that are wanted, as `Index.path` gives
    them; of the others nothing is known then.
    """
    findings: list[Finding] = []
    config = _config(tree, findings)
    cache = Cache(repo.home, "parsed", PARSER) if repo is not None else None
    files = _scenario_files(tree, only, cache, findings)
    rubrics = {PurePosixPath(p).stem: r for p, r in _rubrics(tree, cache, findings)}
    return Loaded(config, _by_id(files, config, findings), rubrics, tuple(sorted(findings)))


def usable(loaded: Loaded) -> Loaded:
    """The same; raises DataError with the findings when one of them is an error."""
    wrong = [f for f in loaded.findings if not f.warning]
    if wrong:
        raise DataError(wrong, hint="evalrepo lint shows everything that is wrong in the files")
    return loaded


def lock(tree: Tree) -> Lock | None:
    """`evalrepo.lock`, None when there is none; raises DataError for one that cannot be read."""
    if LOCK not in tree.under(LOCK):
        return None
    return lockfile.load(tree.read(LOCK))


def events(tree: Tree) -> dict[str, Event]:
    """Ledger path → event, oldest first; raises DataError with the findings of all that cannot be read."""
    found, findings = read_events(tree)
    if findings:
        raise DataError(findings)
    return found


def read_events(tree: Tree) -> tuple[dict[str, Event], list[Finding]]:
    """Ledger path → event for those that can be read, oldest first, and findings for the others."""
    findings: list[Finding] = []
    paths = sorted(p for p in tree.under(LEDGER) if p.endswith(".yaml"))
    found: dict[str, Event] = {}
    for path, text in tree.read_many(paths):
        event = _tried(lambda t=text, p=path: yaml.event_file(t, p), findings)  # type: ignore[misc]
        if event is not None:
            found[path] = event
    return dict(sorted(found.items())), findings


def _tried(read: Callable[[], Any], findings: list[Finding]) -> Any:
    try:
        return read()
    except DataError as error:
        findings.extend(map(_told, error.findings))
        return None


def _told(finding: Finding) -> Finding:
    """With a next step; of a file of the reserve without what stands in it, which no log and no colleague is to see."""
    hint = finding.hint or _hint(finding.code)
    if not finding.place.file.startswith(f"{RESERVE}/"):
        return finding._replace(hint=hint)
    message = _QUOTED.sub('"…"', _GOT.sub("; what it is stays in the reserve", finding.message))
    return finding._replace(message=message, hint=_QUOTED.sub('"…"', _LISTED.sub("[…]", hint)))


def _hint(code: str) -> str:
    kind = _KINDS.get(code[:3])
    return f"evalrepo schema {kind} shows what is allowed here" if kind else f"evalrepo lint --explain {code}"


def _config(tree: Tree, findings: list[Finding]) -> Config:
    try:
        text = tree.read(CONFIG)
    except GitError:
        hint = "evalrepo init writes one"
        findings.append(Finding(Place(CONFIG), "CFG101", "is not there", hint))
        return Config()
    found: Config | None = _tried(lambda: yaml.config_file(text, CONFIG), findings)
    return found if found is not None else Config()


def _scenario_files(
    tree: Tree, only: Collection[str] | None, cache: Cache | None, findings: list[Finding]
) -> dict[str, ScenarioFile]:
    wanted: dict[str, Entry] = {}
    for path, entry in [*tree.under(RUN_SET).items(), *tree.under(RESERVE).items()]:
        if only is not None and path not in only:
            continue
        fault = _misplaced(path, entry)
        if fault is not None:
            findings.append(fault)
        elif path.count("/") == 1 and path.endswith(".yaml"):
            wanted[path] = entry

    def parse(text: bytes, path: str) -> ScenarioFile:
        return yaml.scenario_file(text, path)

    found = _parsed(tree, wanted, "scenario", parse, _scenario_back, cache, findings)
    return {path: found[path] for path in wanted if path in found}


def _misplaced(path: str, entry: Entry) -> Finding | None:
    """A finding for what looks like a scenario and would not be read, or could not be named."""
    folder, _, name = path.partition("/")
    pure = PurePosixPath(name)
    if pure.suffix not in (".yaml", ".yml") or pure.parts[0] == "files":
        return None
    said = _fault_of(folder, pure, entry)
    return Finding(Place(path), *said) if said else None


def _fault_of(folder: str, name: PurePosixPath, entry: Entry) -> tuple[str, str, str] | None:
    if len(name.parts) > 1:
        hint = f"move it to {folder}/{name.name}; hidden files of checks lie below {folder}/files/"
        return "SCN102", "is not read: scenarios lie directly in the folder", hint
    if name.suffix == ".yml":
        return "SCN102", "is not read: scenarios end in .yaml", f"rename it to {folder}/{name.stem}.yaml"
    if entry.mode not in ("100644", "100755"):
        return "SCN103", "is not a regular file", "store the scenario itself"
    if not NAME.fullmatch(name.stem) or name.stem.endswith((".", ".lock")) or ".." in name.stem:
        hint = "a scenario's id is its file name: letters, digits, '.', '_' and '-', beginning with a letter or digit"
        return "SCN104", f'the file name makes no id: "{name.stem}"', hint
    return None


def _rubrics(tree: Tree, cache: Cache | None, findings: list[Finding]) -> Iterator[tuple[str, Rubric]]:
    wanted = {p: e for p, e in tree.under(RUBRICS).items() if p.count("/") == 1 and p.endswith(".md")}
    wanted = {p: e for p, e in wanted.items() if p != f"{RUBRICS}/README.md"}
    found = _parsed(tree, wanted, "rubric", yaml.rubric_file, Rubric.model_validate, cache, findings)
    yield from ((path, found[path]) for path in wanted if path in found)


def _scenario_back(data: Any) -> ScenarioFile:
    model = ScenarioSet if "cases" in data else Scenario
    return model.model_validate(data, by_alias=True, by_name=False)


def _parsed(
    tree: Tree,
    wanted: Mapping[str, Entry],
    kind: str,
    parse: Callable[[bytes, str], Any],
    back: Callable[[Any], Any],
    cache: Cache | None,
    findings: list[Finding],
) -> dict[str, Any]:
    """Path → model, from the cache where it holds the blob, else read; what is read without a fault is cached."""
    kept = cache.get(f"{kind}:{e.oid}" for e in wanted.values()) if cache else {}
    found: dict[str, Any] = {}
    for path, entry in wanted.items():
        model = _revived(kept.get(f"{kind}:{entry.oid}"), back)
        if model is not None:
            found[path] = model
    new: dict[str, str] = {}
    for path, text in tree.read_many([p for p in wanted if p not in found]):
        model = _tried(lambda t=text, p=path: parse(t, p), findings)  # type: ignore[misc]
        if model is not None:
            found[path] = model
            new[f"{kind}:{wanted[path].oid}"] = _frozen(model)
    if cache:
        cache.put(new)
    return found


def _frozen(model: BaseModel) -> str:
    return json.dumps(model.model_dump(mode="json", by_alias=True, exclude_unset=True), separators=(",", ":"))


def _revived(body: str | None, back: Callable[[Any], Any]) -> Any:
    if body is None:
        return None
    try:
        return back(json.loads(body))
    except (ValueError, ValidationError, TypeError, RecursionError):
        return None


def _by_id(files: Mapping[str, ScenarioFile], config: Config, findings: list[Finding]) -> dict[str, LoadedScenario]:
    out: dict[str, LoadedScenario] = {}
    for path, file in files.items():
        stem = PurePosixPath(path).stem
        which: Set = "reserve" if path.startswith(RESERVE + "/") else "run-set"
        for id_, scenario in expand(file, stem).items():
            if id_ in out:
                message = f'the id "{id_}" is also that of {out[id_].path}'
                hint = "rename one of the two; a reserve twin is called ID-reserve"
                findings.append(Finding(Place(path), "SCN105", message, hint))
                continue
            merged = _with_subjects(scenario, config)
            out[id_] = LoadedScenario(id_, path, which, merged, id_.partition("/")[2])
    return out


def _with_subjects(scenario: Scenario, config: Config) -> Scenario:
    for name in reversed(scenario.subject):
        if name in config.subjects:
            scenario = with_defaults(scenario, config.subjects[name].defaults)
    return scenario
