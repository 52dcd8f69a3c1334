"""How opencode is started: facts first, then one turn's command line, environment and configuration.

The CLI's configuration is built from nothing. What asks for a permission by default is allowed in the lowest layer, so
that a subject's own rules stand above it, and `--auto` answers what a subject's rules ask; the rest goes into the
topmost layer. Documented settings of a tier: `variant` (the model's effort) and `base_url` (another address of the
model's provider).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evalrepo.agents import vendor
from evalrepo.agents.base import Box, Endpoint, Growing, Launch, Traits, Turn, place
from evalrepo.agents.executable import Program, find
from evalrepo.agents.opencode.sessions import over, session_of
from evalrepo.errors import HarnessError
from evalrepo.records.config import Agent, Tier
from evalrepo.world import World

PROGRAM = "opencode"
PACKAGE = "opencode-ai"
DATABASE = ".local/share/opencode/opencode.db"
"""Below HOME, with its `-wal` beside it."""

REHEARSAL_MODEL = "anthropic/claude-sonnet-4-5"

FLAGS = ("--format", "json", "--auto", "--print-logs", "--log-level", "INFO")
"""Events on stdout, nothing asked, the CLI's log on stderr: it tells of errors that the events only number."""

TITLE = "Session"
"""Given, so that no model is asked for one."""

SWITCHES = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_SHARE": "1",
    "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER": "1",
}

NO_TOOLS: dict[str, Any] = {"tools": {"*": False}, "permission": {"*": "deny"}}
CONFIG: dict[str, Any] = {"autoupdate": False, "share": "disabled", "snapshot": False}
"""The topmost layer. A snapshot after each step serves only to undo it."""

PERMISSION = {
    "permission": {
        "external_directory": "allow",
        "doom_loop": "allow",
        "read": {"*": "allow", "*.env": "allow", "*.env.*": "allow"},
    }
}
"""All that asks by default. Nothing more is allowed: a built-in sub-agent would lose its own limits."""

_LOWEST = ".config/opencode/config.json"
_NPM = ".config/opencode/.npmrc"
_BASH = "/bin/bash"
_CONTENT = "OPENCODE_CONFIG_CONTENT"
_ELSEWHERE = r"OPENCODE_AUTH_\w+"
_SETTINGS = ("variant", "base_url")
_KEYS = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GEMINI_API_KEY",
    "OPENCODE_API_KEY",
    "XAI_API_KEY",
    "DEEPSEEK_API_KEY",
    "MISTRAL_API_KEY",
    "GROQ_API_KEY",
    "OPENCODE_AUTH_CONTENT",
)
_FOLDER = ".opencode"
_LITTER = (
    ".git/opencode",
    *(
        f"{_FOLDER}/{name}"
        for name in (".gitignore", "node_modules", "package.json", "package-lock.json", "bun.lock", "bun.lockb")
    ),
)


def traits(agent: Agent) -> Traits:
    """A paid agent of any provider; a plugin of the subject makes it install packages beside the plugin."""
    return Traits(
        model_free=False,
        paid=True,
        network="open",
        litter=_LITTER,
        secrets=agent.env,
        logins=(".local/share/opencode/auth.json",),
        keys=_KEYS,
        tested=("1.18",),
        memory=1 << 30,
        rehearsal_model=REHEARSAL_MODEL,
    )


def describe(agent: Agent, tier: Tier) -> dict[str, Any]:
    """Model, settings and environment, and our own part of the command line and the configuration."""
    return vendor.described(PROGRAM, agent, tier, flags=list(FLAGS), config={**CONFIG, **PERMISSION})


def version(agent: Agent, world: World) -> str:  # noqa: ARG001
    """The number that `opencode --version` prints, "" when there is none. HarnessError when it fails."""
    return vendor.version([str(_program(world).path)], PACKAGE, world, SWITCHES)


def _program(world: World) -> Program:
    return vendor.program(PROGRAM, PACKAGE, world)


def launch(agent: Agent, tier: Tier, box: Box, turn: Turn, world: World) -> Launch:
    """One `opencode run` with the prompt on its stdin. HarnessError: a program, the model or the session is missing."""
    model = vendor.model_with_provider(tier, REHEARSAL_MODEL)
    vendor.only(PROGRAM, _SETTINGS, tier)
    program, ripgrep = _program(world), _ripgrep(world)
    _prepare(box)
    env = _environment(agent, box, turn, world, (str(ripgrep.path.parent),))
    env[_CONTENT] = json.dumps(_config(tier, box, turn, env.get(_CONTENT, "")), sort_keys=True)
    return Launch(
        argv=(str(program.path), "run", "-m", model, *FLAGS, *_arguments(tier, box, turn)),
        env=env,
        stdin=turn.prompt.encode("utf-8", "replace"),
        readable=(*program.readable, *ripgrep.readable),
        watch=Growing(
            (box.output(turn.number), box.errors(turn.number), box.home / DATABASE, box.home / f"{DATABASE}-wal")
        ),
        done=partial(over, box.errors(turn.number)),
    )


def _ripgrep(world: World) -> Program:
    """The program that opencode would fetch from the network where it finds none."""
    try:
        return find("rg", world)
    except HarnessError as error:
        raise HarnessError(
            f"opencode needs ripgrep, and would download it into every sandbox: {error}",
            hint="install ripgrep (the program `rg`) on this machine",
        ) from None


def _prepare(box: Box) -> None:
    """Our lowest layer, and no packages for a folder without plugins; what a subject has put there stays."""
    for name, data in ((_LOWEST, json.dumps(PERMISSION).encode()), (_NPM, b"offline=true\n")):
        if not (box.home / name).is_symlink() and not (box.home / name).exists():
            place(box, name, data)


def _environment(agent: Agent, box: Box, turn: Turn, world: World, path: tuple[str, ...]) -> dict[str, str]:
    """In a rehearsal offline for npm too."""
    env = {**SWITCHES, **vendor.surroundings(agent, box, turn, world, path, _ELSEWHERE)}
    if turn.endpoint is not None:
        env.setdefault("npm_config_offline", "true")
    if "SHELL" not in agent.set and Path(_BASH).exists():  # its tool is called bash, and users' shells are seldom less
        env["SHELL"] = _BASH
    return env


def _config(tier: Tier, box: Box, turn: Turn, given: str) -> dict[str, Any]:
    """The topmost layer: ours, above it what the agent's `set` gives, above both who is asked.

    A provider that is named here is there without a key too, so that the CLI says what it lacks.
    """
    provider = (tier.model or "").partition("/")[0]
    own: dict[str, Any] = {
        **CONFIG,
        **({} if turn.tools else NO_TOOLS),
        "small_model": tier.model,
        "provider": {provider: {}},
    }
    plugins = [vendor.inside(install.extension, box) for install in turn.install if install.extension]
    if plugins:
        own["plugin"] = [f"file://{path}" for path in plugins]
    return _merged(_merged(own, _object(given)), _asked(provider, tier, turn.endpoint))


def _asked(provider: str, tier: Tier, endpoint: Endpoint | None) -> dict[str, Any]:
    if endpoint is not None:
        options = {"baseURL": f"{endpoint.url}/v1", "apiKey": endpoint.key}
        return {"small_model": tier.model, "provider": {provider: {"options": options}}}
    address = tier.settings.get("base_url")
    return {"provider": {provider: {"options": {"baseURL": address}}}} if address else {}


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise HarnessError(f"{_CONTENT} is no JSON object", hint="correct it in the agent's `set`, or leave it out")
    return value


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """The upper of two configurations wins; objects are merged."""
    merged = dict(below)
    for name, value in above.items():
        inner = merged.get(name)
        merged[name] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged


def _arguments(tier: Tier, box: Box, turn: Turn) -> list[str]:
    """What differs from turn to turn."""
    given = ["--agent", primary] if (primary := vendor.primary(PROGRAM, turn.install)) else []
    given += ["--variant", variant] if (variant := tier.settings.get("variant")) else []
    if turn.session != "resume":
        return [*given, "--title", TITLE]
    session = session_of(box.output(turn.number - 1))
    if not session:
        raise HarnessError(
            f"turn {turn.number} resumes the session of turn {turn.number - 1}, which named none in its output",
            hint="cut that turn later, or let this one begin with `session: fresh`",
        )
    return [*given, "-s", session]
