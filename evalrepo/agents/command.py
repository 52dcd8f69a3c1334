"""Any other CLI, described in `evalrepo.yaml` with `kind: command`: argv, environment, transcript."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalrepo.agents import atif, vendor
from evalrepo.agents import native as log
from evalrepo.agents.base import Box, Growing, Launch, Traits, Turn, environment, printed
from evalrepo.agents.executable import find
from evalrepo.errors import HarnessError
from evalrepo.records import globs
from evalrepo.records.config import Agent, Tier
from evalrepo.records.transcript import Transcript
from evalrepo.world import World

_PLACEHOLDER = re.compile(r"\{([A-Za-z][A-Za-z0-9._-]*)\}")
_OWN = ("prompt", "model", "session", "turn")


def traits(agent: Agent) -> Traits:
    """As the config says; a transcript inside the sandbox is litter."""
    place = agent.transcript.glob
    inside = place != "stdout" and not place.startswith("~/")
    return Traits(
        model_free=False,
        paid=agent.paid,
        network=agent.network,
        litter=(_fixed(place) or place.split("/")[0],) if inside else (),
        secrets=agent.env,
    )


def describe(agent: Agent, tier: Tier) -> dict[str, Any]:
    """All of the config that reaches the CLI; of passed variables the names."""
    return vendor.described(
        "command",
        agent,
        tier,
        argv=list(agent.argv),
        resume_argv=list(agent.resume_argv),
        stdin=agent.stdin,
        network=agent.network,
        transcript=agent.transcript.model_dump(mode="json"),
    )


def version(agent: Agent, world: World) -> str:
    """The first line that the config's `version` command prints; "" without one. HarnessError when it fails."""
    find(agent.argv[0], world)
    if not agent.version:
        return ""
    from evalrepo.processes import capture

    program = find(agent.version[0], world)
    env = {n: world.environ[n] for n in ("PATH", "HOME", *agent.env) if n in world.environ} | agent.set
    argv = [str(program.path), *agent.version[1:]]
    code, out, err = capture(argv, cwd=world.cwd, env=env, timeout_s=30)
    lines = (out.strip() or err.strip()).decode("utf-8", "replace").splitlines()
    if code or not lines:
        said = f": {lines[0]}" if lines else " and said nothing"
        raise HarnessError(
            f"{' '.join(agent.version)} ended with exit code {code}{said}",
            hint="the agent's `version` must print its version and end with exit code 0",
        )
    return lines[0].strip()


def problems(agent: Agent, tier: Tier) -> list[str]:
    """Placeholders in argv or resume_argv that nothing fills."""
    named = (name for text in (*agent.argv, *agent.resume_argv) for name in _PLACEHOLDER.findall(text))
    return [name for name in dict.fromkeys(named) if name not in _OWN and name not in tier.settings]


def launch(agent: Agent, tier: Tier, box: Box, turn: Turn, world: World) -> Launch:
    """The turn's command line. HarnessError for a missing program, or a placeholder that nothing fills."""
    argv = _filled(_template(agent, turn), tier, turn)
    program = find(argv[0], world)
    return Launch(
        argv=(str(program.path), *argv[1:]),
        env=environment(agent, box, world, (str(program.path.parent),)),
        stdin=turn.prompt.encode("utf-8", "replace") if agent.stdin == "prompt" else None,
        readable=(*program.readable, *(_readable(text, world) for text in agent.readable)),
        watch=_watch(agent, box, turn.number),
    )


def _template(agent: Agent, turn: Turn) -> Sequence[str]:
    if turn.session != "resume":
        return agent.argv
    if not agent.resume_argv:
        raise HarnessError(
            f"turn {turn.number} resumes the session, but the agent has no `resume_argv`",
            hint="add `resume_argv` to the agent, or `session: fresh` to the turn",
        )
    return agent.resume_argv


def _filled(template: Sequence[str], tier: Tier, turn: Turn) -> list[str]:
    session = turn.previous if turn.session == "resume" and turn.previous else turn.session_id
    values = {
        **tier.settings,
        "prompt": turn.prompt,
        "session": session,
        "turn": str(turn.number),
        **({"model": tier.model} if tier.model is not None else {}),
    }

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            why = "the tier names no model" if name == "model" else "no such setting in the tier"
            raise HarnessError(
                f"argv asks for {{{name}}}: {why}",
                hint=f"there are {', '.join('{' + n + '}' for n in sorted(values))}",
            )
        return values[name]

    return [_PLACEHOLDER.sub(value, text) for text in template]


def _readable(text: str, world: World) -> Path:
    home = world.environ.get("HOME", "")
    path = Path(home + text[1:] if text.startswith("~/") else world.cwd / text)
    if not path.exists():
        raise HarnessError(f"the agent's `readable` names {path}, which is not there")
    return path


def _fixed(glob: str) -> str:
    """The directories of a glob before its first wildcard."""
    parts = glob.split("/")[:-1]
    wild = next((i for i, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    return "/".join(parts[:wild])


def _place(agent: Agent, box: Box) -> tuple[Path, str]:
    """The directory that a transcript glob starts from, and the glob within it."""
    glob = agent.transcript.glob
    top, rest = (box.home, glob[2:]) if glob.startswith("~/") else (box.work, glob)
    if rest.startswith("/") or ".." in rest.split("/"):
        raise HarnessError(
            f"the transcript glob {glob!r} leaves the sandbox", hint="use a path in the sandbox, or one with ~/"
        )
    return top / _fixed(rest), rest.removeprefix(_fixed(rest)).lstrip("/")


def _watch(agent: Agent, box: Box, turn: int) -> Growing:
    if agent.transcript.glob == "stdout":
        return Growing(tuple(box.output(n) for n in range(1, turn + 1)))
    folder, pattern = _place(agent, box)
    return Growing((folder if globs.is_glob(pattern) else folder / pattern,))


def native(agent: Agent, box: Box) -> dict[str, Path]:
    """Files that fit the transcript's glob by the time they were last written, or the output of each turn."""
    if agent.transcript.glob == "stdout":
        return printed(box)
    folder, pattern = _place(agent, box)
    top = Path(os.path.realpath(box.home if agent.transcript.glob.startswith("~/") else box.work))
    if not Path(os.path.realpath(folder)).is_relative_to(top):
        return {}
    found = {p.relative_to(folder).as_posix(): p for p in _watch(agent, box, 0)()}
    fit = {name: path for name, path in found.items() if globs.matches(pattern, name)}
    return dict(sorted(fit.items(), key=lambda item: (item[1].stat().st_mtime_ns, item[0])))


def read(agent: Agent, files: Mapping[str, bytes], work: str) -> Transcript:
    """The transcript in the format that the config names."""
    if agent.transcript.format == "atif":
        return atif.read(files, work, agent="command")
    return log.read(files, work, agent="command", noisy=agent.transcript.glob == "stdout")


def counter(agent: Agent, watch: Growing) -> Callable[[], int]:
    """Counts tool calls in the growing transcript."""
    return atif.Counter(watch) if agent.transcript.format == "atif" else log.Counter(watch)
