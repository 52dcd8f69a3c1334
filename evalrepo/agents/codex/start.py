"""How codex is started: facts first, then one turn's command line, configuration and environment.

Everything goes by `-c` on the command line; `~/.codex/config.toml` is left to the subject. The built-in provider's
retries cannot be set, and without network it waits forever, so that ours takes its place: the vendor's own address, its
login or a key, few retries. Settings of a tier: `effort` (of reasoning), `retries` (default 1), `web_search` (`live`,
`cached` or `disabled`; default the CLI's own).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from evalrepo.agents import vendor
from evalrepo.agents.base import Box, Growing, Launch, Traits, Turn, place, printed, regular_files
from evalrepo.agents.codex.read import head_of, session_of
from evalrepo.agents.jsonl import rows, text_of
from evalrepo.agents.node import Runnable, runnable
from evalrepo.errors import HarnessError
from evalrepo.records.config import Agent, Tier
from evalrepo.records.steps import Step
from evalrepo.world import World

PROGRAM = "codex"
PACKAGE = "@openai/codex"
OLDEST_NODE = "16"
KEYS = ("CODEX_API_KEY", "OPENAI_API_KEY")
"""The first one wins in the CLI too."""

LOGIN = ".codex/auth.json"
SESSIONS = ".codex/sessions"
CATALOG = ".codex/models.json"
REHEARSAL_MODEL = "gpt-5.5"

FLAGS = (
    "--json",
    "--dangerously-bypass-approvals-and-sandbox",
    "--dangerously-bypass-hook-trust",
    "--skip-git-repo-check",
)
"""Full permission, and hooks that nobody was asked about: the sandbox is the boundary."""

CONFIG: dict[str, Any] = {
    "analytics.enabled": False,
    "feedback.enabled": False,
    "check_for_update_on_startup": False,
    "features.plugins": False,
    "features.apps": False,
    "features.unbounded_connection_retries": False,
}
"""No telemetry, no updates, no catalogue of plugins, which is fetched from two hosts; and an end to retries."""

NO_TOOLS: dict[str, Any] = {
    "features.shell_tool": False,
    "features.unified_exec": False,
    "features.image_generation": False,
    "features.multi_agent": False,
    "features.view_image": False,
    "web_search": "disabled",
}
"""What can be taken from its model; a tool to edit files and a plan stay."""

PROVIDER = "direct"
_SETTINGS = ("effort", "retries", "web_search")


def traits(agent: Agent) -> Traits:
    """A paid agent that leaves nothing in the work directory."""
    return Traits(
        model_free=False,
        paid=True,
        network="open",
        secrets=tuple(dict.fromkeys((*KEYS, *agent.env))),
        logins=(LOGIN,),
        keys=KEYS,
        tested=("0.171",),
        priced=False,
        memory=512 << 20,
        node=OLDEST_NODE,
        rehearsal_model=REHEARSAL_MODEL,
    )


def describe(agent: Agent, tier: Tier) -> dict[str, Any]:
    """Model, settings and environment, and our own part of the command line and the configuration."""
    return vendor.described(PROGRAM, agent, tier, flags=list(FLAGS), config=CONFIG)


def version(agent: Agent, world: World) -> str:  # noqa: ARG001
    """The number that `codex --version` prints, "" when there is none. HarnessError when it fails."""
    return vendor.version(_runnable(world).argv, PACKAGE, world, {})


def _runnable(world: World) -> Runnable:
    return runnable(vendor.program(PROGRAM, PACKAGE, world), world, OLDEST_NODE)


def launch(agent: Agent, tier: Tier, box: Box, turn: Turn, world: World) -> Launch:
    """The turn's command line; the prompt goes to standard input, where every prompt is just text.

    HarnessError for a missing program, model or session, a setting that is not known, and what codex cannot install.
    """
    model = vendor.model_of(tier, REHEARSAL_MODEL)
    vendor.only(PROGRAM, _SETTINGS, tier)
    _refuse(tier, turn)
    started = _runnable(world)
    config = _config(agent, tier, box, turn, world)
    if (catalog := _catalog(turn, started, world)) is not None:
        place(box, CATALOG, catalog)
        config["model_catalog_json"] = f"{box.home_inside}/{CATALOG}"
    resume = ("resume",) if turn.session == "resume" else ()
    session = (_session(box, turn),) if resume else ()
    options = [text for key, value in config.items() for text in ("-c", f"{key}={_toml(value)}")]
    return Launch(
        argv=(*started.argv, "exec", *resume, *FLAGS, "-m", model, *options, *session, "-"),
        env=_environment(agent, box, turn, world, started),
        stdin=turn.prompt.encode("utf-8", "replace"),
        readable=started.readable,
        watch=Growing((box.home / SESSIONS, box.output(turn.number))),
        done=partial(_is_over, box.output(turn.number)),
    )


def _is_over(output: Path) -> bool:
    """Whether the turn's last event was printed."""
    try:
        last = output.read_bytes()[-65_536:].rstrip().rpartition(b"\n")[2]
    except OSError:
        return False
    return last.startswith((b'{"type":"turn.completed"', b'{"type":"turn.failed"'))


def _refuse(tier: Tier, turn: Turn) -> None:
    if not tier.settings.get("retries", "1").isdecimal():
        raise HarnessError(f"`retries` is {tier.settings['retries']!r}", hint="give a whole number")
    for install in turn.install:
        for name in ("primary", "plugin_dir", "skill", "extension"):
            if getattr(install, name):
                raise HarnessError(
                    f"codex has nothing that `install` with `{name}` could name",
                    hint="copy to AGENTS.md, .codex/skills/NAME, .codex/agents/NAME.toml or .codex/hooks.json instead",
                )


def _config(agent: Agent, tier: Tier, box: Box, turn: Turn, world: World) -> dict[str, Any]:
    """Overrides of the configuration. The project is trusted, or its hooks, roles and settings would be left out."""
    own: dict[str, Any] = {
        **CONFIG,
        "projects": {box.work_inside: {"trust_level": "trusted"}},
        "model_provider": PROVIDER,
        f"model_providers.{PROVIDER}": _provider(agent, tier, box, turn, world),
    }
    search = tier.settings.get("web_search", "disabled" if turn.endpoint else "")
    if search:
        own["web_search"] = search
    if not turn.tools:
        own |= NO_TOOLS
    if "effort" in tier.settings:
        own["model_reasoning_effort"] = tier.settings["effort"]
    return own


def _provider(agent: Agent, tier: Tier, box: Box, turn: Turn, world: World) -> dict[str, Any]:
    """The vendor as the built-in provider has it, or the server of a rehearsal. A key comes before a login."""
    retries = int(tier.settings.get("retries", "1"))
    provider: dict[str, Any] = {
        "name": "OpenAI",
        "wire_api": "responses",
        "supports_websockets": False,
        "request_max_retries": retries,
        "stream_max_retries": retries,
    }
    if turn.endpoint is not None:
        return provider | {"base_url": f"{turn.endpoint.url}/v1", "env_key": KEYS[0]}
    given = {name for name in agent.env if name in world.environ} | set(agent.set)
    key = next((name for name in KEYS if name in given), None)
    if key is None and (box.home / LOGIN).is_file():
        return provider | {"requires_openai_auth": True}
    return provider | {"env_key": key or KEYS[0]}


def _environment(agent: Agent, box: Box, turn: Turn, world: World, started: Runnable) -> dict[str, str]:
    folders = (str(started.program.path.parent), *((started.folder,) if started.folder else ()))
    env = vendor.surroundings(agent, box, turn, world, folders)
    env.pop("CODEX_HOME", None)
    return env if turn.endpoint is None else env | {KEYS[0]: turn.endpoint.key}


def _catalog(turn: Turn, started: Runnable, world: World) -> bytes | None:
    """For a rehearsal whose script wants a model for a sub-agent that codex does not know: its catalogue of models with
    that one beside them, as able as the rehearsal's own. None where nothing is missing."""
    wanted = dict.fromkeys(_models(turn.script or ())) if turn.endpoint is not None else {}
    if not wanted:
        return None
    catalog = json.loads(vendor.answer([*started.argv, "debug", "models"], PACKAGE, world, {}))
    known = {model["slug"]: model for model in catalog["models"]}
    like = known.get(REHEARSAL_MODEL, catalog["models"][0])
    new = [{**like, "slug": name, "display_name": name, "priority": 99} for name in wanted if name not in known]
    return json.dumps({"models": [*catalog["models"], *new]}).encode() if new else None


def _models(steps: tuple[Step, ...]) -> Iterator[str]:
    for step in steps:
        if step.spawn is not None:
            if step.spawn.model:
                yield step.spawn.model
            yield from _models(step.spawn.steps)


def _session(box: Box, turn: Turn) -> str:
    """The id that the last turn before said its session has. HarnessError when none did."""
    for number in range(turn.number - 1, 0, -1):
        try:
            found = session_of(box.output(number).read_bytes())
        except OSError:
            continue
        if found:
            return found
    raise HarnessError(
        f"turn {turn.number} resumes a session, and no turn before it began one",
        hint="give the turn `session: fresh`, or look why codex did not start",
    )


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}={_toml(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def native(agent: Agent, box: Box) -> dict[str, Path]:  # noqa: ARG001
    """Rollouts, main sessions first, each by the time it began; then what each turn printed."""
    found = [path for path in regular_files(box.home / SESSIONS) if path.suffix == ".jsonl"]
    found.sort(key=lambda path: (_is_child(path), path.name))
    return {path.name: path for path in found} | printed(box)


def _is_child(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            first = file.readline()
    except OSError:
        return False
    return bool(text_of(head_of(rows(path.name, first)[0]).get("parent_thread_id")))
