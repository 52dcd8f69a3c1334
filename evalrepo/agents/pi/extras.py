"""Extensions and skills that pi is told to load by name: the subject's, the tier's, and one lent to rehearsals."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalrepo.agents.base import Box, Turn
from evalrepo.agents.executable import Program
from evalrepo.agents.pi.rehearsing import has_extensions
from evalrepo.agents.vendor import inside
from evalrepo.errors import HarnessError
from evalrepo.records.config import Tier
from evalrepo.world import World

SUBAGENT = "bundled:subagent"
"""An example that pi's own package brings: `{agent, task}`, `{tasks: […]}` or `{chain: […]}`, one pi a sub-agent."""

_EXAMPLES = Path("examples", "extensions")
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
_PASSED_ON = ("builtin:",)


@dataclass(frozen=True, slots=True)
class Extras:
    """As the agent sees them, in order; `readable` on the host."""

    extensions: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    readable: tuple[Path, ...] = ()


def extras(tier: Tier, turn: Turn, box: Box, program: Program, world: World) -> Extras:
    """What the turn's `install` and the tier's `extension` (several with commas) name.

    An extension is a place in the sandbox (relative to the work directory, `~/` in HOME), `bundled:NAME` (an example
    of pi's own package), `builtin:NAME`, or `${VARIABLE}` with a path on this machine. In a rehearsal for which nobody
    brings an extension it is SUBAGENT, so that scripts can spawn. HarnessError when something is not there.
    """
    named = [install.extension for install in turn.install if install.extension]
    named += [text.strip() for text in tier.settings.get("extension", "").split(",") if text.strip()]
    lent = turn.endpoint is not None and not named and not has_extensions(box)
    found = [_extension(text, box, program, world) for text in ([SUBAGENT] if lent else dict.fromkeys(named))]
    skills = dict.fromkeys(_in_box("skill", install.skill, box) for install in turn.install if install.skill)
    return Extras(
        tuple(place for place, _ in found), tuple(skills), tuple(path for _, paths in found for path in paths)
    )


def _extension(text: str, box: Box, program: Program, world: World) -> tuple[str, tuple[Path, ...]]:
    if text.startswith(_PASSED_ON):
        return text, ()
    if text.startswith("bundled:"):
        return str(_bundled(text.removeprefix("bundled:"), program)), ()
    variable = _VARIABLE.fullmatch(text)
    if variable is None:
        return _in_box("extension", text, box), ()
    path = _on_host(variable[1] or variable[2], world)
    return str(path), tuple(_with_packages(path))


def _bundled(name: str, program: Program) -> Path:
    package = next((p for p in Path(os.path.realpath(program.path)).parents if (p / "package.json").is_file()), None)
    folder = package / _EXAMPLES if package is not None else Path()
    for path in (folder / name / "index.ts", folder / f"{name}.ts"):
        if package is not None and path.is_file():
            return path
    raise HarnessError(
        f"the installed pi brings no example extension {name!r}", hint=f"see {folder} for those that it brings"
    )


def _on_host(variable: str, world: World) -> Path:
    value = world.environ.get(variable, "")
    path = world.cwd / value
    if not value or not path.exists():
        said = f"which is {value!r}, where nothing is" if value else "which is not set"
        raise HarnessError(
            f"an extension of pi is to be found by the variable {variable}, {said}",
            hint=f"export {variable}=/the/path/of/the/extension",
        )
    return path


def _with_packages(path: Path) -> Iterator[Path]:
    """An extension below `node_modules` may need what is beside it."""
    for place in dict.fromkeys((path, Path(os.path.realpath(path)))):
        modules = [i for i, part in enumerate(place.parts) if part == "node_modules"]
        yield Path(*place.parts[: modules[0] + 1]) if modules else place


def _in_box(what: str, text: str, box: Box) -> str:
    """A place of the sandbox as the agent sees it; pi itself passes over a skill that is not there."""
    top = box.home if text.startswith("~/") else box.work
    path = os.path.normpath(text.removeprefix("~/"))
    if path.startswith(("/", "..")) or not (top / path).exists():
        raise HarnessError(
            f"`install` names the {what} {text}, which is not in the sandbox",
            hint=f"`copy: {{{Path(path).name}: {text}}}` puts it there, relative to the work directory or with ~/",
        )
    return os.path.normpath(inside(text, box))
