"""Can the agents be used here? Found where, which version, Node, login, and one rehearsal rep of each."""

from __future__ import annotations

import contextlib
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evalrepo import processes
from evalrepo.agents.executable import find
from evalrepo.agents.tested import was_tested
from evalrepo.errors import EvalrepoError, HarnessError
from evalrepo.formats.redaction import Redactor
from evalrepo.records.base import REHEARSAL
from evalrepo.records.checkup import AgentCheck, Login, Problem, Rehearsal, Tool
from evalrepo.records.config import Agent, Config, Tier
from evalrepo.records.scenario import Scenario
from evalrepo.registry import module
from evalrepo.registry import tier as tier_of
from evalrepo.running.bench import Bench, Prepared
from evalrepo.running.conformance import verdict
from evalrepo.running.rep import Attempt, execute
from evalrepo.running.stage import Stage
from evalrepo.sandbox.layout import base_directory
from evalrepo.sandbox.template import template

if TYPE_CHECKING:
    from evalrepo.agents.base import AgentModule, Traits
    from evalrepo.repository.tree import Tree
    from evalrepo.sandbox.isolation import Isolation
    from evalrepo.world import World

PLAYER = "scripted"
INSTALL = {
    "claude": "npm install --global @anthropic-ai/claude-code",
    "opencode": "npm install --global opencode-ai",
    "pi": "npm install --global @earendil-works/pi-coding-agent",
    "codex": "npm install --global @openai/codex",
    "node": "install Node.js from nodejs.org or your system's packages",
    "git": "install the package git",
    "rg": "install the package ripgrep",
}
_NEEDS_RIPGREP = "opencode"
_NUMBER = re.compile(r"\d+(\.\d+)+")
SCRIPT = "doctor"
_FILES = {"README.md": ("100644", b"A helo to the world.\n")}
_STEPS = [
    {"read": "README.md"},
    {"edit": {"path": "README.md", "old": "helo", "new": "hello"}},
    {"run": "tr a-z A-Z < README.md > LOUD.md"},
    {"say": "Mended. Status: COMPLETE"},
]
_CHECKS = [
    {"id": "read", "axis": "read", "any_call": {"tool": "read", "path": "README.md", "ok": True}},
    {"id": "edited", "axis": "edit", "file": {"path": "README.md", "matches": "hello"}},
    {"id": "called", "axis": "shell", "any_call": {"tool": "shell", "ok": True}},
    {"id": "ran", "axis": "shell", "file": {"path": "LOUD.md", "matches": "HELLO"}},
    {"id": "answered", "axis": "answer", "text": {"matches": "Mended"}},
]
SCENARIO = {
    "title": "A word is mended",
    "subject": "nothing",
    "turns": [{"prompt": "Mend the word in README.md, and write the file in capitals to LOUD.md."}],
    "limits": {"wall_s": 120, "startup_s": 60, "idle_s": 60},
    "checks": _CHECKS,
    "behaviours": [{"name": SCRIPT, "script": _STEPS}],
}
"""Read, edit, shell, answer: what every agent can do."""


@dataclass(frozen=True)
class Known:
    """An agent's name and settings, and whether it must be usable."""

    name: str
    settings: Agent
    asked: bool


@dataclass(frozen=True)
class Ward:
    """Where the reps are run: one model server and one directory for all of them. `cancel` ends the one at work."""

    world: World
    isolation: Isolation
    base: Path
    stage: Stage
    cancel: threading.Event


@contextlib.contextmanager
def ward(world: World, isolation: Isolation, cancel: threading.Event) -> Iterator[Ward]:
    """A place for rehearsals, gone afterwards."""
    parent = base_directory(world).parent
    with tempfile.TemporaryDirectory(prefix="dev", dir=parent, ignore_cleanup_errors=True) as place:
        base = Path(place).resolve()
        with Stage(world, base) as stage:
            yield Ward(world, isolation, base, stage, cancel)


def tools(world: World, names: Iterable[str]) -> tuple[Tool, ...]:
    """git, and ripgrep for the agents that need it."""
    found = [program("git", world, purpose="every sandbox")]
    if _NEEDS_RIPGREP in names:
        found.append(program("rg", world, purpose=f"{_NEEDS_RIPGREP}'s search and skill tools"))
    return tuple(found)


def program(name: str, world: World, *, needs: str = "", purpose: str = "") -> Tool:
    """A program with the version that it says."""
    try:
        path = find(name, world).path
    except HarnessError:
        return Tool(name, "", "", needs, purpose, INSTALL[name])
    version = ""
    with contextlib.suppress(HarnessError):
        env = {"PATH": world.environ.get("PATH", ""), "HOME": "/nonexistent"}
        said = processes.capture([str(path), "--version"], cwd=Path("/"), env=env)[1].decode("utf-8", "replace")
        number = _NUMBER.search(said)
        version = number[0] if number else ""
    return Tool(name, str(path), version, needs, purpose, INSTALL[name])


def check(known: Known, world: World, there: Ward | None) -> AgentCheck:
    """Everything about one agent. Without `there` no rep is run."""
    played = module(known.name, known.settings)
    traits = played.traits(known.settings)
    facts: dict[str, Any] = {"tested": traits.tested}
    problems: list[Problem] = []
    try:
        facts["path"] = "built in" if known.name == PLAYER else str(find(_program(known), world).path)
    except HarnessError as error:
        missing = Problem(f"{_program(known)} is not in PATH", INSTALL.get(known.name, error.hint))
        return AgentCheck(known.name, known.asked, **facts, problems=(missing,))
    if traits.node:
        facts["node"] = node = program("node", world, needs=traits.node)
        problems += _old(node)
    try:
        facts["version"] = played.version(known.settings, world)
        facts["known"] = was_tested(facts["version"], traits.tested)
    except HarnessError as error:
        problems.append(Problem(str(error), error.hint))
    facts["login"] = _login(known.settings, traits, world)
    return _rehearsed(AgentCheck(known.name, known.asked, **facts, problems=tuple(problems)), known, (played, there))


def _program(known: Known) -> str:
    return known.settings.argv[0] if known.settings.kind == "command" else known.name


def _old(node: Tool) -> list[Problem]:
    if node.ok:
        return []
    said = f"Node.js {node.version} is too old" if node.path else "Node.js is not in PATH"
    return [Problem(f"{said}; it needs {node.needs} or newer", node.install)]


def _login(settings: Agent, traits: Traits, world: World) -> Login | None:
    if not traits.paid or not (traits.keys or traits.logins):
        return None
    home = world.environ.get("HOME", "")
    given = tuple(name for name in traits.keys if world.environ.get(name))
    return Login(
        keys=traits.keys,
        set=given,
        passed=tuple(n for n in traits.keys if n in settings.set or (n in settings.env and n in given)),
        files=tuple(name for name in traits.logins if home and Path(home, name).is_file()),
        inherit=settings.home == "inherit",
    )


def _rehearsed(found: AgentCheck, known: Known, how: tuple[AgentModule, Ward | None]) -> AgentCheck:
    played, there = how
    tier = _tier(known)
    why = _why_not(found, known, tier, there)
    if why or there is None or tier is None:
        return replace(found, unrehearsed=why)
    rehearsal = rehearse(known, tier, played, there)
    if rehearsal.verdict == "PASS":
        return replace(found, rehearsal=rehearsal)
    failed = f"its rehearsal gave {rehearsal.verdict}{': ' * bool(rehearsal.message)}{rehearsal.message}"
    problem = Problem(failed, _remedy(found), harness=rehearsal.verdict.startswith("ERROR"))
    return replace(found, rehearsal=rehearsal, problems=(problem,))


def _why_not(found: AgentCheck, known: Known, tier: Tier | None, there: Ward | None) -> str:
    """Why there is no rehearsal, "" when there can be one."""
    why = ""
    if found.problems:
        why = "it cannot be started"
    elif there is None:
        why = "not asked for"
    elif tier is None:
        why = "its protocol is not known; evalrepo run --fresh 1 --no-commit tries one scenario"
    elif known.name != PLAYER and find_spec("uvicorn") is None:
        why = "it needs a web server: pip install 'evalrepo[rehearsal]'"
    return why


def _remedy(found: AgentCheck) -> str:
    if found.known:
        return f"evalrepo doctor {found.name} tries it again; if it stays so, report it with this output"
    return f"install a version that is known to work: {', '.join(found.tested)}"


def _tier(known: Known) -> Tier | None:
    """What plays the script: the embedded player, or the real CLI."""
    return tier_of(known.name, known.settings, SCRIPT if known.name == PLAYER else REHEARSAL + SCRIPT)


def rehearse(known: Known, tier: Tier, played: AgentModule, there: Ward) -> Rehearsal:
    """One rep of `SCENARIO`. Never raises for what the agent or the machine does."""
    scenario = Scenario.model_validate(SCENARIO)
    traits = played.traits(known.settings)
    bench = Bench(
        world=there.world,
        config=Config(agents={known.name: known.settings}),
        tree=cast("Tree", None),  # nothing of a repository is measured
        isolation=there.isolation,
        base=there.base,
        cache=there.base / "cache",
        redactor=Redactor({}, ()),
        stage=there.stage,
    )
    try:
        cell = Prepared(
            scenario=scenario,
            name=known.name,
            agent=known.settings,
            tier=tier,
            played=played,
            template=template(_FILES, bench.cache, SCRIPT),
            subjects=(),
            network=False,
            litter=traits.litter,
            rehearsed=bool(traits.rehearsal_model),
        )
    except EvalrepoError as error:
        return Rehearsal("ERROR setup", 0.0, str(error))
    done = execute(bench, cell, Attempt(1, 1, there.world.timestamp()), SCRIPT, there.cancel)
    said = done.rep.message or next((c.evidence[0].text for c in done.rep.checks if _failed(c) and c.evidence), "")
    return Rehearsal(verdict(done.rep), done.rep.timing.seconds, said)


def _failed(result: Any) -> bool:
    return bool(result.gating and result.outcome == "fail")
