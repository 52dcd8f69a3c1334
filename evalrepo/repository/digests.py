"""The four digests of a cell: what was measured, by content. Equal for a commit, the index and the work tree.

Each digest is SHA-256 over the canonical JSON of its parts; a part of files is SHA-256 over sorted `mode oid path`
lines. What is not there is the part value "missing": digests never fail, `lint` reports it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evalrepo.records import globs, imports
from evalrepo.records.base import REHEARSAL, Model
from evalrepo.records.checks import Condition
from evalrepo.records.config import Agent, Config, Subject
from evalrepo.records.record import Digests
from evalrepo.records.scenario import Metric, Scenario
from evalrepo.repository.tree import Entry, Tree

SCORER = 1
"""Version of how checks become verdicts; a change makes every instrument a new one."""

MISSING, NONE = "missing", "none"


def canonical(value: Any) -> bytes:
    """JSON that is equal for equal values: sorted keys, ASCII, whole floats as integers, no NaN."""
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _plain(value: Any) -> Any:
    if isinstance(value, Model):
        return _plain(value.model_dump(mode="python", by_alias=True, exclude_defaults=True))
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = [_plain(item) for item in value]
        return sorted(items, key=repr) if isinstance(value, set | frozenset) else items
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        return int(value) if value.is_integer() else value
    return value if value is None or isinstance(value, bool | int) else str(value)


def digest(value: Any) -> str:
    """SHA-256 (hex) of the canonical JSON."""
    return hashlib.sha256(canonical(value)).hexdigest()


def files_digest(files: Mapping[str, Entry]) -> str:
    """SHA-256 (hex) of sorted `mode oid path` lines, each ended by NUL; "missing" when there are no files."""
    if not files:
        return MISSING
    lines = sorted(f"{e.mode} {e.oid} ".encode() + os.fsencode(path) + b"\0" for path, e in files.items())
    return hashlib.sha256(b"".join(lines)).hexdigest()


def below(tree: Tree, root: str) -> dict[str, Entry]:
    """The files below a directory, by path relative to it; a single file by its name."""
    return {globs.relative(root, path): entry for path, entry in tree.under(root).items()}


def subject_files(tree: Tree, subject: Subject) -> dict[str, str]:
    """Path relative to the subject → path in the repository, for installing it. Of two patterns the first wins."""
    found: dict[str, str] = {}
    for pattern in subject.paths:
        for path in tree.match(pattern):
            found.setdefault(globs.relative(pattern, path), path)
    return found


def subject_part(tree: Tree, name: str, subject: Subject) -> tuple[str, dict[str, str]]:
    """The digest of one subject, whatever its name and place, and its parts `paths` and `install`."""
    key = ("subject", name, subject.paths, canonical(subject.install))
    if key not in tree.memo:
        blocks = [
            files_digest({globs.relative(pattern, path): entry for path, entry in tree.match(pattern).items()})
            for pattern in subject.paths
        ]
        there = any(block != MISSING for block in blocks)
        parts = {"paths": digest(blocks) if there else MISSING, "install": digest(subject.install)}
        tree.memo[key] = (digest(parts), parts)
    found, parts = tree.memo[key]
    return found, dict(parts)


def digests(
    tree: Tree,
    config: Config,
    scenario: Scenario,
    agent: str,
    tier: str,
    *,
    cli: str,
    description: Mapping[str, Any],
) -> Digests:
    """The digests of one cell. `scenario` has its subject's defaults in it; `cli` is the agent's version as it says it;
    `description` is what the agent's module says of itself for this tier."""
    subject, subject_parts = _subjects(tree, config, scenario)
    others = {
        "stimulus": _stimulus(tree, scenario),
        "instrument": _instrument(tree, config, scenario),
        "apparatus": _apparatus(scenario, config.agents.get(agent), tier, cli, description),
    }
    return Digests(
        subject=subject,
        parts={"subject": subject_parts, **others},
        **{name: digest(parts) for name, parts in others.items()},
    )


def instrument_digest(tree: Tree, config: Config, scenario: Scenario) -> str:
    """The instrument digest of a scenario; `scenario` as for `digests`."""
    return digest(_instrument(tree, config, scenario))


def stimulus_digest(tree: Tree, scenario: Scenario) -> str:
    """The stimulus digest of a scenario; `scenario` as for `digests`."""
    return digest(_stimulus(tree, scenario))


def subject_digest(tree: Tree, config: Config, scenario: Scenario) -> str:
    """The subject digest of a scenario."""
    return _subjects(tree, config, scenario)[0]


def _subjects(tree: Tree, config: Config, scenario: Scenario) -> tuple[str, dict[str, str]]:
    """One subject's digest as it is; several combined in order of name."""
    names = sorted(set(scenario.subject))
    found = {name: _subject(tree, config, name) for name in names}
    if len(names) == 1:
        return found[names[0]]
    parts = {f"{name}:{part}": value for name in names for part, value in found[name][1].items()}
    return digest([found[name][0] for name in names]), parts


def _subject(tree: Tree, config: Config, name: str) -> tuple[str, dict[str, str]]:
    if name in config.subjects:
        return subject_part(tree, name, config.subjects[name])
    parts = {"paths": MISSING, "install": MISSING}
    return digest(parts), parts


def _stimulus(tree: Tree, scenario: Scenario) -> dict[str, str]:
    return {
        "prompts": digest(scenario.turns),
        "setup": digest(scenario.setup),
        "env": digest(scenario.env),
        "faults": digest(scenario.faults),
        "limits": digest(scenario.limits),
        "preconditions": digest([scenario.preconditions, _contents(tree, _hidden(scenario.preconditions))]),
        "fixture": _fixture(tree, scenario.fixture),
    }


def _fixture(tree: Tree, name: str | None) -> str:
    if name is None:
        return NONE
    key = ("fixture", name)
    if key not in tree.memo:
        tree.memo[key] = files_digest(below(tree, f"fixtures/{name}"))
    found: str = tree.memo[key]
    return found


def _instrument(tree: Tree, config: Config, scenario: Scenario) -> dict[str, str]:
    conditions = (*scenario.validity, *scenario.checks)
    rubrics = _rubrics(scenario)
    return {
        "validity": digest(scenario.validity),
        "checks": digest(scenario.checks),
        "trigger": digest([scenario.trigger, scenario.should_trigger]) if scenario.trigger else NONE,
        "metrics": digest(scenario.metrics),
        "rubrics": _files_part(tree, rubrics),
        "judge": digest(config.judge.model_copy(update=_NOT_OF_THE_JUDGE)) if rubrics else NONE,
        "hidden": _files_part(tree, _hidden(conditions)),
        "modules": _files_part(tree, _modules(tree, conditions)),
        "scorer": str(SCORER),
    }


_NOT_OF_THE_JUDGE = {"paid": None, "timeout_s": 120.0}
"""Fields of the judge's configuration that change nothing in what it is asked and says."""


def _files_part(tree: Tree, roots: Iterable[str]) -> str:
    found = _contents(tree, roots)
    if MISSING in found.values():
        return MISSING
    return digest(found) if found else NONE


def _contents(tree: Tree, roots: Iterable[str]) -> dict[str, str]:
    """Root → digest of its files, or "missing"."""
    return {root: files_digest(below(tree, root)) for root in sorted(set(roots))}


def _every(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """The conditions and all that are nested in them."""
    for condition in conditions:
        yield condition
        yield from _every(condition.nested())


def _hidden(conditions: Iterable[Condition]) -> list[str]:
    return [source for c in _every(conditions) if c.command for source in c.command.files.values()]


def _modules(tree: Tree, conditions: Iterable[Condition]) -> list[str]:
    """The check modules, and what they import of the repository."""
    named = [c.python.path for c in _every(conditions) if c.python]
    return [*named, *(path for module in named for path in _imported(tree, module))]


def _imported(tree: Tree, module: str) -> tuple[str, ...]:
    key = ("imports", module)
    if key not in tree.memo:
        tree.memo[key] = imports.files(module, tree.source)
    found: tuple[str, ...] = tree.memo[key]
    return found


def _rubrics(scenario: Scenario) -> list[str]:
    """Files of the rubrics that the scenario's checks and metrics name."""
    names = [c.judge.rubric for c in _every((*scenario.validity, *scenario.checks)) if c.judge]
    names += [m.judge.rubric for m in scenario.metrics.values() if isinstance(m, Metric) and m.judge]
    return [f"rubrics/{name}.md" for name in names]


def _apparatus(
    scenario: Scenario, known: Agent | None, tier: str, cli: str, description: Mapping[str, Any]
) -> dict[str, str]:
    return {
        "description": digest(description),
        "agent": digest(known.model_copy(update=_NOT_OF_THE_AGENT)) if known else MISSING,
        "tier": digest(known.tiers[tier]) if known and tier in known.tiers else MISSING,
        "script": _script(scenario, known, tier),
        "cli": comparable(cli, known.comparable.get("cli", "exact") if known else "exact"),
    }


_NOT_OF_THE_AGENT = {"tiers": {}, "comparable": {}, "paid": False}
"""Fields of an agent's configuration that stand elsewhere or change nothing in what it does."""


def _script(scenario: Scenario, agent: Agent | None, tier: str) -> str:
    """The steps that are played in the model's stead: a tier's `script`, or the SCRIPT of `rehearsal:SCRIPT`."""
    settings = agent.tiers.get(tier) if agent else None
    name = settings.script if settings else tier.removeprefix(REHEARSAL) if tier.startswith(REHEARSAL) else ""
    if not name:
        return NONE
    scripts = (*(scenario.conformance or ()), *scenario.behaviours)
    return next((digest(script.by_turn()) for script in scripts if script.name == name), MISSING)


def comparable(cli: str, how: str) -> str:
    """The version that counts: all of it (`exact`), its first two numbers (`minor`), or "any"."""
    if how == "any":
        return "any"
    numbers = re.search(r"\d+\.\d+", cli)
    return numbers.group() if how == "minor" and numbers else cli


def affected(tree: Tree, config: Config, scenario: Scenario) -> frozenset[str]:
    """Patterns and roots (as `Tree.match` takes them) of all files that this scenario's digests read. The scenario's
    own file and `evalrepo.yaml` are not among them."""
    found = {path for name in scenario.subject if name in config.subjects for path in config.subjects[name].paths}
    conditions = (*scenario.preconditions, *scenario.validity, *scenario.checks)
    found |= {*_hidden(conditions), *_modules(tree, conditions), *_rubrics(scenario)}
    if scenario.fixture:
        found.add(f"fixtures/{scenario.fixture}")
    return frozenset(found)


_WORDS = {
    "paths": "the subject's files",
    "install": "where the subject is installed",
    "prompts": "the prompts",
    "setup": "the setup steps",
    "env": "the environment",
    "faults": "the planted faults",
    "limits": "the limits",
    "preconditions": "the preconditions",
    "fixture": "the fixture",
    "validity": "the validity checks",
    "checks": "the checks",
    "trigger": "the trigger",
    "metrics": "the metrics",
    "rubrics": "the rubrics",
    "judge": "the judge",
    "hidden": "the checks' hidden files",
    "modules": "the check modules",
    "scorer": "the scorer's version",
    "description": "how the agent is driven",
    "agent": "the agent's configuration",
    "tier": "the tier's settings",
    "script": "the script that is played",
    "cli": "the CLI's version",
}


def explain(a: Digests, b: Digests) -> list[str]:
    """What differs, one sentence a part: "stimulus: the prompts differ", "apparatus: the CLI's version: 1.2 → 1.3"."""
    out: list[str] = []
    for name in ("subject", "stimulus", "instrument", "apparatus"):
        if getattr(a, name) == getattr(b, name):
            continue
        old, new = a.parts.get(name, {}), b.parts.get(name, {})
        changed = [part for part in dict.fromkeys((*old, *new)) if old.get(part) != new.get(part)]
        out += [f"{name}: {_said(part, old.get(part, NONE), new.get(part, NONE))}" for part in changed]
        out += [] if changed else [f"{name}: differs"]
    return out


def _said(part: str, old: str, new: str) -> str:
    subject, _, kind = part.rpartition(":")
    words = _WORDS.get(kind, kind) + (f" ({subject})" if subject else "")
    if len(old) == len(new) == 64:
        return f"{words}: changed"
    short = [value if len(value) < 64 else value[:8] for value in (old, new)]
    return f"{words}: {short[0]} → {short[1]}"
