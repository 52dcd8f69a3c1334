"""What is the same for every vendor's CLI that is started: its program, version, model, settings and environment."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalrepo.agents.base import Box, Turn, environment
from evalrepo.agents.executable import Program, find
from evalrepo.errors import HarnessError
from evalrepo.records.config import Agent, Install, Tier
from evalrepo.world import World

_NUMBER = re.compile(rb"\d+(\.\d+)+\S*")
_MODEL = re.compile(r"[^\s/]+/\S+")
_ELSEWHERE = re.compile(
    r"(\w+_)?((API)?KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)(_\w+)?|(AWS|GOOGLE|AZURE)_\w+|\w+_PROXY", re.IGNORECASE
)
"""Variables that hold credentials or turn requests to somebody else."""


def described(kind: str, agent: Agent, tier: Tier, **own: Any) -> dict[str, Any]:
    """Model, settings and environment, of passed variables the names; and what is the agent's own."""
    return {
        "kind": kind,
        "model": tier.model,
        "settings": dict(sorted(tier.settings.items())),
        "env": sorted(agent.env),
        "set": dict(sorted(agent.set.items())),
        "home": agent.home,
        **own,
    }


def program(name: str, package: str, world: World) -> Program:
    """The CLI on PATH. HarnessError with the npm package that brings it."""
    try:
        return find(name, world)
    except HarnessError as error:
        raise HarnessError(str(error), hint=f"install it: {_npm(package)}, or put its directory into PATH") from None


def _npm(package: str) -> str:
    return f"npm install --global {package}"


def version(argv: Sequence[str], package: str, world: World, env: Mapping[str, str]) -> str:
    """The number that `--version` prints, "" when there is none in it. HarnessError when it fails."""
    found = _NUMBER.search(answer([*argv, "--version"], package, world, env))
    return found[0].decode() if found else ""


def answer(argv: Sequence[str], package: str, world: World, env: Mapping[str, str]) -> bytes:
    """What the CLI prints, started in an empty HOME with `env` beside PATH. HarnessError when it fails."""
    from evalrepo.processes import capture

    with tempfile.TemporaryDirectory() as folder:
        home, temporary = Path(folder, "home"), Path(folder, "tmp")
        home.mkdir()
        temporary.mkdir()
        places = {"PATH": world.environ.get("PATH", ""), "HOME": str(home), "TMPDIR": str(temporary)}
        code, out, err = capture(argv, cwd=home, env={**places, **env}, timeout_s=60)
    if code:
        said = (err.strip() or out.strip()).decode("utf-8", "replace").partition("\n")[0]
        what = f"{' '.join(argv)} ended with exit code {code}: {said or 'it said nothing'}"
        raise HarnessError(what, hint=f"install it anew: {_npm(package)}")
    return out


def model_of(tier: Tier, example: str) -> str:
    """The tier's model. HarnessError when it names none."""
    if not tier.model:
        raise HarnessError("the tier names no model", hint=f"add one to the tier, such as `model: {example}`")
    return tier.model


def model_with_provider(tier: Tier, example: str) -> str:
    """The tier's model, PROVIDER/MODEL. HarnessError when it names none, or no provider."""
    model = model_of(tier, example)
    if not _MODEL.fullmatch(model):
        raise HarnessError(f"the model {model!r} has no provider", hint=f"write PROVIDER/MODEL, such as {example}")
    return model


def only(who: str, known: Collection[str], tier: Tier) -> None:
    """HarnessError when the tier has a setting that is not among the known ones."""
    for name in tier.settings:
        if name not in known:
            raise HarnessError(f"{who} has no setting {name!r}", hint=f"there are {', '.join(known)}")


def primary(who: str, installs: Sequence[Install]) -> str:
    """The agent that plays, "" when the subjects name none. HarnessError when they name several."""
    named = list(dict.fromkeys(install.primary for install in installs if install.primary))
    if len(named) > 1:
        raise HarnessError(
            f"{who} can play one primary agent, and the subjects name {' and '.join(named)}",
            hint="give only one subject of the scenario an `install` with `primary`",
        )
    return named[0] if named else ""


def inside(place: str, box: Box) -> str:
    """A place as `install` writes it (relative to the work directory, or `~/`), as the agent sees it."""
    return f"{box.home_inside}{place[1:]}" if place.startswith("~/") else f"{box.work_inside}/{place}"


def surroundings(
    agent: Agent, box: Box, turn: Turn, world: World, path: Sequence[str], elsewhere: str = r"(?!)"
) -> dict[str, str]:
    """The environment as `base.environment` builds it.

    In a rehearsal without any variable of the user's, and of those that the config sets without credentials and what
    turns requests to somebody else; `elsewhere` is the pattern of such names of the agent's own.
    """
    if turn.endpoint is None:
        return environment(agent, box, world, path)
    own = re.compile(elsewhere, re.IGNORECASE)
    kept = {n: v for n, v in agent.set.items() if not _ELSEWHERE.fullmatch(n) and not own.fullmatch(n)}
    return environment(agent.model_copy(update={"env": (), "set": kept}), box, world, path)
