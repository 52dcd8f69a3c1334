"""Finding a program and all that it needs to be read to start: links, its interpreter, its own install."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from evalrepo.agents.base import is_system
from evalrepo.errors import HarnessError
from evalrepo.world import World


@dataclass(frozen=True, slots=True)
class Program:
    """`path` as it was found, links not followed; `readable`: host paths outside the system's that it needs."""

    path: Path
    readable: tuple[Path, ...]


def interpreter() -> Program:
    """The base interpreter, free of any virtual environment and of links."""
    path = Path(os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable))
    prefix = Path(os.path.realpath(sys.base_prefix))
    return Program(path, () if is_system(prefix) else (prefix,))


def find(name: str, world: World) -> Program:
    """A program by name on the world's PATH, or by path. HarnessError that says where it looked."""
    path = _look(name, world)
    return Program(path, tuple(dict.fromkeys(p for p in _needs(path, world, 0) if not is_system(p))))


def _look(name: str, world: World) -> Path:
    if "/" in name:
        home = world.environ.get("HOME", "")
        path = Path(home + name[1:] if name.startswith("~/") else world.cwd / name)
        if _executable(path):
            return path
        raise HarnessError(
            f"there is no program {path}", hint="give `argv` a program that exists and may be executed, or its name"
        )
    places = [p for p in world.environ.get("PATH", "").split(":") if p]
    for place in places:
        if _executable(world.cwd / place / name):
            return world.cwd / place / name
    raise HarnessError(
        f"there is no program {name!r} in {', '.join(places) or 'an empty PATH'}",
        hint=f"install {name}, or put its directory into PATH",
    )


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _needs(path: Path, world: World, depth: int) -> list[Path]:
    """What a program needs to start. Each link's directory, since a link is only there with what is beside it."""
    needed: list[Path] = []
    for _ in range(40):
        needed += _environment_of(path, world, depth)
        if not path.is_symlink():
            break
        needed.append(path.parent)
        path = Path(os.path.normpath(path.parent / path.readlink()))
    return [*needed, *_install(path), *_interpreter(path, world, depth)]


def _environment_of(path: Path, world: World, depth: int) -> list[Path]:
    """A virtual environment of Python with the Python that it was made from."""
    root = path.parent.parent
    try:
        lines = (root / "pyvenv.cfg").read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    home = next((v.strip() for k, _, v in (line.partition("=") for line in lines) if k.strip() == "home"), "")
    base = Path(home) / path.name if home else None
    return [root, *(_needs(base, world, depth + 1) if base and base.exists() and depth < 5 else ())]


def _install(path: Path) -> list[Path]:
    """The whole tree of node modules, or the whole prefix of a Python; otherwise the file."""
    modules = [i for i, part in enumerate(path.parts) if part == "node_modules"]
    if modules:
        return [Path(*path.parts[: modules[0] + 1])]
    if path.name.startswith("python") and path.parent.name == "bin":
        return [Path(os.path.realpath(path)).parent.parent]
    return [path]


def _interpreter(path: Path, world: World, depth: int) -> list[Path]:
    """What the interpreter of a script needs, `#!/usr/bin/env NAME` looked up on PATH."""
    try:
        with path.open("rb") as file:
            first = file.readline(512)
    except OSError:
        return []
    if not first.startswith(b"#!") or depth >= 5:
        return []
    words = first[2:].decode("utf-8", "replace").split()
    if words and Path(words[0]).name == "env":
        words = [w for w in shlex.split(" ".join(words[1:])) if not w.startswith("-") and "=" not in w]
    if not words:
        return []
    try:
        return _needs(_look(words[0], world), world, depth + 1)
    except HarnessError:  # the script itself will say it when it is started
        return []
