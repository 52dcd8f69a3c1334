"""How Claude Code is started: argv, environment, session, permissions; what of the config it understands."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

from evalrepo.agents import vendor
from evalrepo.agents.base import Box, Growing, Launch, Traits, Turn
from evalrepo.agents.claude.keep import PROJECTS
from evalrepo.agents.executable import Program
from evalrepo.errors import HarnessError
from evalrepo.records.config import Agent, Tier
from evalrepo.world import World

PACKAGE = "@anthropic-ai/claude-code"
REHEARSAL_MODEL = "claude-sonnet-4-5"
KEYS = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN")

SETTINGS = {
    "effort": "--effort",
    "max_turns": "--max-turns",
    "max_budget_usd": "--max-budget-usd",
    "permission_mode": "--permission-mode",
    "append_system_prompt": "--append-system-prompt",
    "settings": "--settings",
}
"""A tier's settings → the CLI's own options (`settings` is a file in the sandbox, or JSON)."""

QUIET = {
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
}
"""No updates, no telemetry, and three minutes less of retries (its default is ten, even of a refused key)."""

_ELSEWHERE = r"ANTHROPIC_(?!\w*MODEL)\w+|CLAUDE_CODE_(OAUTH|USE|SKIP)_\w+|CLOUD_ML_\w+"
"""Variables that turn requests to somebody else."""

_LOG_PLACE = "CLAUDE_CONFIG_DIR"
_BYPASS = "bypassPermissions"


def traits(agent: Agent) -> Traits:
    """Paid, online, leaves nothing in the work directory."""
    return Traits(
        model_free=False,
        paid=True,
        network="open",
        secrets=tuple(dict.fromkeys((*KEYS, *agent.env))),
        logins=(".claude/.credentials.json",),
        keys=KEYS,
        tested=("2.1.332",),
        rehearsal_model=REHEARSAL_MODEL,
    )


def describe(agent: Agent, tier: Tier) -> dict[str, Any]:
    """Model, settings and environment; of passed variables the names."""
    return vendor.described("claude", agent, tier)


def version(agent: Agent, world: World) -> str:  # noqa: ARG001
    """The number that `claude --version` prints, "" when there is none. HarnessError when it fails."""
    return vendor.version([str(_program(world).path)], PACKAGE, world, QUIET)


def _program(world: World) -> Program:
    return vendor.program("claude", PACKAGE, world)


def launch(agent: Agent, tier: Tier, box: Box, turn: Turn, world: World) -> Launch:
    """The turn's command line; the prompt goes to its standard input, where every prompt is just text.

    Its result is printed when all is over, sub-agents in the background included. HarnessError for a missing program or
    model, a setting that is not known, a log that is led elsewhere, and root without isolation.
    """
    program = _program(world)
    if _LOG_PLACE in (*agent.env, *agent.set):
        raise HarnessError(
            f"with {_LOG_PLACE} Claude Code keeps its log where nobody looks for it",
            hint="take it out of the agent's `env` and `set`; every rep has a HOME of its own anyway",
        )
    return Launch(
        argv=(str(program.path), *_arguments(tier, box, turn)),
        env=_environment(agent, box, turn, world, str(program.path.parent)),
        stdin=turn.prompt.encode("utf-8", "replace"),
        readable=program.readable,
        watch=Growing((box.home / PROJECTS,)),
        done=partial(_printed, box.output(turn.number)),
    )


def _printed(output: Path) -> bool:
    try:
        return output.stat().st_size > 0
    except OSError:
        return False


def _arguments(tier: Tier, box: Box, turn: Turn) -> list[str]:
    """All turns of a session get the same, for the CLI records its system prompt at the first and sends that again."""
    model = vendor.model_of(tier, REHEARSAL_MODEL)
    vendor.only("Claude Code", SETTINGS, tier)
    session = "--resume" if turn.session == "resume" else "--session-id"
    own = {"permission_mode": _BYPASS} | tier.settings
    if own["permission_mode"] == _BYPASS:
        _refuse_root(box)
    return [
        "-p",
        "--output-format=json",
        f"--model={model}",
        f"{session}={turn.session_id}",
        *(f"{SETTINGS[name]}={value}" for name, value in own.items()),
        *(() if turn.tools else ("--tools=",)),
        *_subject(box, turn),
    ]


def _refuse_root(box: Box) -> None:
    if os.geteuid() == 0 and not box.isolated:
        raise HarnessError(
            "Claude Code takes no full permissions as root, and this sandbox is no boundary that would allow them",
            hint="run as another user, or where the sandbox can be isolated (`evalrepo doctor` says why it is not)",
        )


def _subject(box: Box, turn: Turn) -> list[str]:
    primary = vendor.primary("Claude Code", turn.install)
    plugins = [install.plugin_dir for install in turn.install if install.plugin_dir]
    return [
        *([f"--agent={primary}"] if primary else ()),
        *(f"--plugin-dir={vendor.inside(place, box)}" for place in plugins),
    ]


def _environment(agent: Agent, box: Box, turn: Turn, world: World, folder: str) -> dict[str, str]:
    env = QUIET | vendor.surroundings(agent, box, turn, world, (folder,), _ELSEWHERE)
    if turn.endpoint is None:
        return env
    return env | {"ANTHROPIC_BASE_URL": turn.endpoint.url, "ANTHROPIC_API_KEY": turn.endpoint.key}
