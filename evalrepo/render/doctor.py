"""What `doctor` found, as text of 80 columns: what is there, what is not, and what to do next. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterator

from evalrepo.records.checkup import AgentCheck, Checkup, Login, Tool
from evalrepo.render.safe import safe, wrapped
from evalrepo.render.text import Style, plain

LEFT = 11
"""Columns of the names on the left."""


def doctor_text(found: Checkup, code: int, style: Style = plain) -> str:
    """The machine, then each agent, then what is usable, with the exit code."""
    agents = ([*_agent(agent, style, apart=bool(found.config))] for agent in found.agents)
    blocks = [[*_machine(found)], *agents, [*_answer(found, code)]]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _machine(found: Checkup) -> Iterator[str]:
    yield from _row("config", found.config or "none: this is no repository with an evalrepo.yaml")
    yield from _row("isolation", f"{found.isolation} ({found.why})")
    for tool in found.tools:
        yield from _row(tool.name, tool_text(tool))
        if not tool.ok:
            yield from _next(tool.install)


def tool_text(tool: Tool) -> str:
    """`2.47.1, /usr/bin/git`, and what is wrong with it."""
    purpose = f"; needed by {tool.purpose}" if tool.purpose else ""
    if not tool.path:
        return f"not in PATH{purpose}"
    old = f", too old: it must be {tool.needs} or newer" if not tool.ok else ""
    return f"{tool.version or 'version unknown'}, {tool.path}{old}"


def _agent(agent: AgentCheck, style: Style, *, apart: bool) -> Iterator[str]:
    """`apart`: whether those that nobody asks for are told apart."""
    if not agent.path:
        state, role = "not installed", "inconclusive"
    elif agent.usable:
        state, role = "usable", "pass"
    else:
        state, role = "not usable", "block"
    aside = " (not in evalrepo.yaml)" if apart and not agent.asked else ""
    yield f"{style(safe(agent.name), 'heading')}: {style(state, role)}{aside}"
    if agent.path:
        yield from _row("  found", f"{agent.path}, {_version(agent)}")
    if agent.node is not None:
        yield from _row("  node", tool_text(agent.node))
    if agent.login is not None:
        yield from _login(agent.name, agent.login)
    yield from _rehearsal(agent)
    for problem in agent.problems:
        if agent.rehearsal is None and agent.path:
            yield from _row("  problem", problem.text)
        yield from _next(problem.hint)


def _version(agent: AgentCheck) -> str:
    version = f"version {agent.version}" if agent.version else "version unknown"
    if agent.known:
        return version
    return f"{version}: its reader was tested with {', '.join(agent.tested)} only"


def _login(name: str, login: Login) -> Iterator[str]:
    files = ", ".join(f"~/{file}" for file in login.files)
    if login.passed:
        yield from _row("  login", f"{', '.join(login.passed)} is passed on")
    elif login.ok:
        yield from _row("  login", f"{files} is lent to each rep")
    else:
        here = ", ".join([*(f"{key} is set" for key in login.set), *([f"{files} is there"] if files else [])])
        yield from _row("  login", f"{here}, and not given to a rep" if here else "none; a rehearsal needs none")
        yield from _next(_way(name, login), command=False)


def _way(name: str, login: Login) -> str:
    key = login.set[0] if login.set else login.keys[0] if login.keys else ""
    if login.files and not login.set:
        return f"for live reps, in evalrepo.yaml: agents.{name}.home: inherit"
    first = "" if login.set else f"export {key}=…, and "
    return f"for live reps: {first}agents.{name}.env: [{key}] in evalrepo.yaml" if key else "log in with the CLI itself"


def _rehearsal(agent: AgentCheck) -> Iterator[str]:
    done = agent.rehearsal
    if done is not None:
        why = f": {done.message}" if done.message else ""
        yield from _row("  rehearsal", f"{done.verdict} in {done.seconds:.1f} s{why}")
    elif agent.unrehearsed and agent.path:
        yield from _row("  rehearsal", f"none: {agent.unrehearsed}")


def _answer(found: Checkup, code: int) -> Iterator[str]:
    asked = [agent for agent in found.agents if agent.asked]
    wrong = [agent.name for agent in asked if not agent.usable]
    right = [agent.name for agent in (asked or found.agents) if agent.usable]
    said = [f"usable: {', '.join(right) or 'none'}"] + ([f"not usable: {', '.join(wrong)}"] if wrong else [])
    missing = [tool.name for tool in found.tools if not tool.ok]
    said += [f"missing: {', '.join(missing)}"] if missing else []
    yield from wrapped(f"doctor: {'; '.join(said)} (exit {code})", then="  ")


def _row(name: str, text: str) -> list[str]:
    return wrapped(text, first=f"{safe(name):{LEFT}} ", then=" " * (LEFT + 1), cut=False)


def _next(hint: str, *, command: bool = True) -> list[str]:
    if not hint:
        return []
    return wrapped(hint, first="  → ", then="    ", cut=not command)
