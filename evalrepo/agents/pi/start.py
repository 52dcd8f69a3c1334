"""How pi is started: argv, environment, session, what it is told to load; what of the config it understands.

The prompt comes on stdin: as an argument `@NAME` would be a file, and 128 KiB the end. What pi finds by itself is
left on, because HOME holds nothing but what a subject put there and the work directory nothing but the fixture: so the
subject is found as a user's pi would find it, sub-agents' pi too. What of the fixture pi asks about (`.pi`, and skills
in `.agents`) is off unless the tier says `trust: project`; an instruction file above the work directory, which nobody
declared, is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalrepo.agents import vendor
from evalrepo.agents.base import Box, Growing, Launch, Traits, Turn, place
from evalrepo.agents.node import Runnable, runnable
from evalrepo.agents.pi import places, rehearsing
from evalrepo.agents.pi.extras import Extras, extras
from evalrepo.agents.pi.read import settled
from evalrepo.errors import HarnessError
from evalrepo.records.config import Agent, Tier
from evalrepo.world import World

PACKAGE = "@earendil-works/pi-coding-agent"
EXAMPLE = "anthropic/claude-sonnet-4-5"
OLDEST_NODE = "22.19"
"""What `engines` of its package.json asks for; an older one breaks with a syntax error."""

QUIET = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}
"""No catalogues of models, no updates, no reports; none of it keeps pi from asking its model."""

RETRIES = b'{"retry": {"maxRetries": 1, "baseDelayMs": 1000}}\n'
"""settings.json of a subject that brings none: one retry after a second instead of three in fifteen."""

KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "google": "GEMINI_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "groq": "GROQ_API_KEY",
    "cerebras": "CEREBRAS_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "xai": "XAI_API_KEY",
    "vercel-ai-gateway": "AI_GATEWAY_API_KEY",
    "huggingface": "HF_TOKEN",
    "github-copilot": "COPILOT_GITHUB_TOKEN",
}
"""Provider → the variable with its key, of those that many use; for any other one the config names what it needs."""

SETTINGS = {
    "thinking": "--thinking",
    "tools": "--tools",
    "exclude_tools": "--exclude-tools",
    "system_prompt": "--system-prompt",
    "append_system_prompt": "--append-system-prompt",
}
"""A tier's settings → pi's own options. Beside them `extension`, see `extras`, and `trust: project`."""

_MOVES = ("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "PI_PACKAGE_DIR")
_LONGEST_NAME = 1000


def traits(agent: Agent) -> Traits:
    """Paid, online; what is left in the work directory is a popular extension's."""
    providers = {(tier.model or "").partition("/")[0] for tier in agent.tiers.values()}
    known = tuple(variable for provider, variable in KEYS.items() if provider in providers)
    return Traits(
        model_free=False,
        paid=True,
        network="open",
        litter=(".pi-subagents",),
        secrets=tuple(dict.fromkeys((*KEYS.values(), *agent.env))),
        logins=(f"{places.HOME}/auth.json", f"{places.HOME}/models.json"),
        keys=known or tuple(KEYS.values()),
        tested=("1.6",),
        memory=700 << 20,
        node=OLDEST_NODE,
        rehearsal_model=rehearsing.MODEL,
    )


def describe(agent: Agent, tier: Tier) -> dict[str, Any]:
    """Model, settings and environment; of passed variables the names."""
    return vendor.described("pi", agent, tier)


def version(agent: Agent, world: World) -> str:  # noqa: ARG001
    """The number that `pi --version` prints, "" when there is none. HarnessError when it, or a Node.js for it, is not
    there."""
    return vendor.version(_runnable(world).argv, PACKAGE, world, QUIET)


def _runnable(world: World) -> Runnable:
    return runnable(vendor.program("pi", PACKAGE, world), world, OLDEST_NODE)


def launch(agent: Agent, tier: Tier, box: Box, turn: Turn, world: World) -> Launch:
    """One `pi --print`. Writes pi's settings into HOME where there are none, and in a rehearsal who is to be asked.

    HarnessError: a program, the model, a skill or an extension is missing, a setting is not known.
    """
    model = vendor.model_with_provider(tier, EXAMPLE)
    vendor.only("pi", (*SETTINGS, "extension", "trust"), tier)
    _no_strays(box)
    started = _runnable(world)
    added = extras(tier, turn, box, started.program, world)
    if not (box.home / places.HOME / "settings.json").exists():
        place(box, f"{places.HOME}/settings.json", RETRIES)
    if turn.endpoint is not None:
        rehearsing.prepare(box, turn.endpoint, model)
    folder = places.sessions(box)
    output = box.output(turn.number)
    return Launch(
        argv=(*started.argv, *_options(tier, box, turn, model), *_loaded(added)),
        env=_environment(agent, box, turn, world, started),
        stdin=turn.prompt.encode("utf-8", "replace"),
        readable=tuple(dict.fromkeys((*started.readable, *added.readable))),
        watch=Growing((folder,)),
        done=lambda: settled(output),
    )


def _no_strays(box: Box) -> None:
    """Outside an isolated sandbox pi would read instruction files of directories that are none of ours."""
    if box.isolated:
        return
    for folder in box.work.parents:
        for name in places.CONTEXT_FILES:
            if (folder / name).is_file():
                raise HarnessError(
                    f"pi would read {folder / name}, because the sandbox lies below it",
                    hint="run isolated, or let TMPDIR name a directory with no such file above it",
                )


def _options(tier: Tier, box: Box, turn: Turn, model: str) -> list[str]:
    session = turn.previous if turn.session == "resume" and turn.previous else turn.session_id
    options = ["--print", "--mode", "json", "--model", model, "--session-dir", f"{box.home_inside}/{places.OURS}"]
    options += ["--session-id", session, "--name", _name(turn)]
    options.append("--approve" if _trusted(tier) else "--no-approve")
    for name, value in sorted(tier.settings.items()):
        options += [SETTINGS[name], value] if name in SETTINGS else []
    return options if turn.tools else [*options, "--no-tools", "--no-mcp"]


def _name(turn: Turn) -> str:
    """The session's display name, which stands in the log where each turn begins, with a prompt that pi expands."""
    expanded = turn.prompt.startswith("/") and len(turn.prompt) < _LONGEST_NAME
    return f"turn {turn.number}" + (f": {turn.prompt}" if expanded else "")


def _trusted(tier: Tier) -> bool:
    said = tier.settings.get("trust", "none")
    if said not in ("none", "project"):
        raise HarnessError(f"a tier of pi has trust: {said}", hint="there are `project` and `none`, the default")
    return said == "project"


def _loaded(added: Extras) -> Iterator[str]:
    for extension in added.extensions:
        yield from ("--extension", extension)
    for skill in added.skills:
        yield from ("--skill", skill)


def _environment(agent: Agent, box: Box, turn: Turn, world: World, started: Runnable) -> dict[str, str]:
    """Node.js stands before the system's directories, which may hold one that is too old for a sub-agent's `pi`."""
    if moved := next((name for name in _MOVES if name in (*agent.env, *agent.set)), ""):
        raise HarnessError(
            f"{moved} would move pi's files out of the rep's HOME", hint="take it out of `env` and `set`"
        )
    env = QUIET | vendor.surroundings(agent, box, turn, world, (str(started.program.path.parent),), r"PI_\w+")
    folders = env["PATH"].split(":")
    at = 1 if box.bin_inside else 0
    env["PATH"] = ":".join(dict.fromkeys((*folders[:at], *filter(None, [started.folder]), *folders[at:])))
    if turn.endpoint is None:
        return env
    return env | rehearsing.keys(turn.endpoint)
