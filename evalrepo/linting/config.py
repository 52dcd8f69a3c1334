"""`evalrepo.yaml` by itself and against the scenarios: agents, tiers, suites, gate, redaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evalrepo.errors import Finding, UsageError
from evalrepo.linting import environment
from evalrepo.linting.ground import Ground, near
from evalrepo.records.config import PROVIDERS
from evalrepo.registry import AGENTS, rehearsed
from evalrepo.store.choose import match

_BUILT_IN = sorted(set(AGENTS) - {"command"})


def agents(ground: Ground) -> Iterator[Finding]:
    """Built-in agents exist; scripted tiers name a script; environment variables are theirs to set."""
    for name, agent in ground.config.agents.items():
        if agent.kind == "builtin" and name not in _BUILT_IN:
            hint = f"built in: {', '.join(_BUILT_IN)}; any other CLI is described with kind: command"
            place = ground.in_config("agents", name)
            yield Finding(place, "CFG102", f'there is no built-in agent "{name}"', hint)
        for variable in (*agent.env, *agent.set):
            why = environment.fault(variable)
            if why:
                key = "set" if variable in agent.set else "env"
                place = ground.in_config("agents", name, key, *((variable,) if key == "set" else ()))
                yield Finding(place, "CFG112", f"{variable} {why}", "choose another name, or leave it out")


def judges(ground: Ground) -> Iterator[Finding]:
    """The judge is an agent at a tier that it has, or a model of a provider that can be asked."""
    judge = ground.config.judge
    if judge.agent is not None:
        agent = ground.config.agents.get(judge.agent)
        if agent is None:
            hint = near(judge.agent, list(ground.config.agents))
            yield Finding(ground.in_config("judge", "agent"), "CFG119", f'there is no agent "{judge.agent}"', hint)
        elif judge.tier not in agent.tiers:
            message = f'the agent "{judge.agent}" has no tier "{judge.tier}"'
            place = ground.in_config("judge", *(("tier",) if "tier" in judge.model_fields_set else ("agent",)))
            yield Finding(place, "CFG119", message, near(judge.tier, list(agent.tiers)))
    elif judge.model is not None and not judge.command and judge.model.partition(":")[0] not in PROVIDERS:
        message = f'"{judge.model}" is not PROVIDER:NAME with a provider of {", ".join(PROVIDERS)}'
        hint = "model: anthropic:claude-sonnet-4-5; any other model can be asked by `command`"
        yield Finding(ground.in_config("judge", "model"), "CFG119", message, hint)


def scripts(ground: Ground) -> Iterator[Finding]:
    """A tier of `scripted` names a script that some scenario has."""
    agent = ground.config.agents.get("scripted")
    if agent is None or agent.kind != "builtin":
        return
    known = _scripts(ground)
    for name, tier in agent.tiers.items():
        place = ground.in_config("agents", "scripted", "tiers", name)
        if tier.script is None:
            hint = f"{name}: {{script: NAME}}, where NAME is a script below `behaviours` or `conformance`"
            yield Finding(place, "CFG113", f"the tier {name} of scripted names no script", hint)
        elif known and not ground.broken and tier.script not in known:
            message = f'no scenario has a script called "{tier.script}"'
            yield Finding(place, "CFG114", message, near(tier.script, sorted(known)))


def _scripts(ground: Ground) -> set[str]:
    """Names of all scripts: `scripted` plays each of them as a tier."""
    return {s.name for one in ground.scenarios for s in (*(one.scenario.conformance or ()), *one.scenario.behaviours)}


def suites(ground: Ground) -> Iterator[Finding]:
    """What suites choose is there: scenarios, agents, tiers."""
    ids = list(ground.loaded.of_set("run-set"))
    for name, suite in ground.config.suites.items():
        for at, pattern in enumerate(suite.scenarios):
            yield from _pattern(ground, ids, pattern, ("suites", name, "scenarios", at), "CFG103")
        yield from _agents(ground, suite.agents, ("suites", name, "agents"))
        tiers = {tier for agent in ground.config.agents.values() for tier in agent.tiers}
        tiers |= _scripts(ground) if "scripted" in suite.agents else set()
        for at, tier in enumerate(suite.tiers):
            if tier not in tiers and not rehearsed(tier):
                place = ground.in_config("suites", name, "tiers", at)
                yield Finding(place, "CFG107", f'no agent has a tier called "{tier}"', near(tier, sorted(tiers)))


def gate(ground: Ground) -> Iterator[Finding]:
    """The gate's suites and golden scenarios are there."""
    suites = ground.config.suites
    for at, name in enumerate(ground.config.gate.suites):
        if name not in suites:
            place = ground.in_config("gate", "suites", at)
            yield Finding(
                place, "CFG104", f'there is no suite "{name}"', near(name, list(suites), "add it to `suites:`")
            )
    ids = list(ground.loaded.of_set("run-set"))
    for at, pattern in enumerate(ground.config.gate.golden):
        yield from _pattern(ground, ids, pattern, ("gate", "golden", at), "CFG105")


def _pattern(ground: Ground, ids: list[str], pattern: str, keys: tuple[str | int, ...], code: str) -> Iterator[Finding]:
    place = ground.in_config(*keys)
    try:
        found = match(pattern, ids)
    except UsageError as error:
        yield Finding(place, code, f"{error}", error.hint)
        return
    if not found and not any(pattern.rstrip("*") in file for file in ground.broken):
        reserve = match_quietly(pattern, list(ground.loaded.of_set("reserve")))
        hint = "suites and golden scenarios are of the run-set; this one is in the reserve" if reserve else ""
        hint = hint or near(pattern, ids, "evalrepo list scenarios shows what there is")
        yield Finding(place, code, f'no scenario of the run-set is called or matches "{pattern}"', hint)


def match_quietly(pattern: str, ids: list[str]) -> list[str]:
    """The ids that a pattern names, [] for an alias of several files."""
    try:
        return match(pattern, ids)
    except UsageError:
        return []


def _agents(ground: Ground, names: Iterable[str], keys: tuple[str, ...]) -> Iterator[Finding]:
    known = ground.config.agents
    for at, name in enumerate(names):
        if name not in known:
            place = ground.in_config(*keys, at)
            yield Finding(
                place, "CFG106", f'there is no agent "{name}"', near(name, list(known), "add it to `agents:`")
            )


def of_subjects(ground: Ground) -> Iterator[Finding]:
    """Agents and suites that subjects name."""
    suites = ground.config.suites
    for name, subject in ground.config.subjects.items():
        yield from _agents(ground, subject.agents, ("subjects", name, "agents"))
        if subject.on_change is not None and subject.on_change not in suites:
            place = ground.in_config("subjects", name, "on_change")
            message = f'there is no suite "{subject.on_change}"'
            yield Finding(place, "CFG108", message, near(subject.on_change, list(suites), "add it to `suites:`"))
        for agent in subject.install:
            if agent not in ground.config.agents:
                place = ground.in_config("subjects", name, "install", agent)
                hint = near(agent, list(ground.config.agents), "add it to `agents:`, or remove the entry")
                yield Finding(place, "CFG109", f'there is no agent "{agent}" to install for', hint)


def uncovered(ground: Ground) -> Iterator[Finding]:
    """A gap that is known is still a gap."""
    ids = list(ground.loaded.of_set("run-set"))
    for at, gap in enumerate(ground.config.uncovered):
        if match_quietly(gap.id, ids):
            place = ground.in_config("uncovered", at)
            hint = "take it out of `uncovered:`"
            yield Finding(place, "CFG111", f'"{gap.id}" is called uncovered, and there is such a scenario', hint, True)


def also_frozen(ground: Ground) -> Iterator[Finding]:
    """What is frozen beside the reserve is there."""
    for at, glob in enumerate(ground.config.frozen.also):
        if not ground.tree.match(glob) and not ground.tree.under(glob.removesuffix("/**")):
            place = ground.in_config("frozen", "also", at)
            hint = "** crosses directories, * does not; a directory is written dir/**"
            yield Finding(place, "CFG118", f'no file matches "{glob}"', hint)


RULES = (agents, judges, scripts, suites, gate, of_subjects, uncovered, also_frozen)
