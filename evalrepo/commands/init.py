"""`evalrepo init`: scaffold a repository that runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from evalrepo.errors import EvalrepoError, Exit, GitError, UsageError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from evalrepo.world import World

CONFIG = "evalrepo.yaml"
EXAMPLE = ("scenarios/", "subjects/", "fixtures/")
"""What only the config that is written along with it fits."""

HIDDEN = "dot_"
"""Begins the names of templates that begin with a dot in the repository, so that they act nowhere else."""


@dataclass(frozen=True)
class Made:
    """What was done. Paths are relative to `top`, sorted."""

    top: str
    wrote: tuple[str, ...]
    kept: tuple[str, ...]
    example: bool
    """Whether the example belongs to the config: False when the person had one already."""
    next: tuple[str, ...]


@click.command("init")
@click.argument("directory", metavar="[DIR]", default=".")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, *, directory: str, format_: str) -> int:
    """Write config, folders, an example that runs, hooks, .gitattributes and a CI workflow.

    DIR is the top of a git repository; default: here. A file that exists is never written over. Where there is an
    evalrepo.yaml already, the example is left out.
    """
    made = scaffold(world, _top(world, directory))
    click.echo(json.dumps({"schema": 1, **asdict(made)}, indent=2) if format_ == "json" else _text(made))
    return Exit.YES


def _top(world: World, directory: str) -> Path:
    """The top of the repository that DIR is. GitError or UsageError when it is none."""
    from evalrepo.repository.repo import Repository

    place = world.cwd / directory
    if not place.is_dir():
        raise UsageError(f"there is no directory {directory}", hint=_git_init(directory))
    try:
        top = Repository.open(replace(world, cwd=place)).top
    except GitError as error:
        raise GitError(
            error.message, hint=_git_init(directory) if "not a git" in error.message else error.hint
        ) from None
    if not top.samefile(place):
        raise UsageError(
            f"{CONFIG} lies at the top of a repository, and that is {top}", hint=f"evalrepo init {quote(str(top))}"
        )
    return top


def _git_init(directory: str) -> str:
    word = "" if directory == "." else f" {quote(directory)}"
    return f"git init{word}, then evalrepo init{word}"


def scaffold(world: World, top: Path) -> Made:
    """Write what is missing below `top`."""
    example = not os.path.lexists(top / CONFIG)
    files = {path: data for path, data in templates().items() if example or not path.startswith(EXAMPLE)}
    wrote = [path for path, data in files.items() if write(top, path, data)]
    here = top.samefile(world.cwd)
    steps = ('git add -A && git commit -m "Add evals"', "evalrepo run --reps 3", "evalrepo new MY-FIRST")
    return Made(
        top=str(top),
        wrote=tuple(wrote),
        kept=tuple(path for path in files if path not in wrote),
        example=example,
        next=steps if here else (f"cd {quote(str(top))}", *steps),
    )


def templates() -> Mapping[str, bytes]:
    """Path in the repository → content, sorted."""
    from importlib.resources import files

    from evalrepo import __version__

    found = dict(_walk(files("evalrepo.commands") / "templates" / "init", ""))
    return {path: data.replace(b"@VERSION@", __version__.encode()) for path, data in sorted(found.items())}


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for item in folder.iterdir():
        name = f".{item.name.removeprefix(HIDDEN)}" if item.name.startswith(HIDDEN) else item.name
        if item.is_dir():
            yield from _walk(item, f"{prefix}{name}/")
        else:
            yield prefix + name, item.read_bytes()


def write(top: Path, path: str, data: bytes) -> bool:
    """Whether the file was made; False when something is there. Never through a link. EvalrepoError when it cannot."""
    place = top / path
    for folder in [p for p in place.relative_to(top).parents if p.name]:
        if (top / folder).is_symlink() or (os.path.lexists(top / folder) and not (top / folder).is_dir()):
            raise UsageError(f"{folder} is not a folder of its own", hint=f"replace {folder} by a folder, then again")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as file:
            file.write(data)
    except FileExistsError:
        return False
    except OSError as error:
        raise EvalrepoError(f"{path}: cannot be written: {error.strerror}") from None
    return True


def _text(made: Made) -> str:
    from evalrepo.render.safe import safe, wrapped

    wrote = [f"wrote {path}" for path in made.wrote] or ["wrote nothing: everything is there"]
    kept = wrapped(f"kept as it was: {', '.join(made.kept)}", then="  ") if made.kept else []
    why = [] if made.example else [f"{CONFIG} was there, so the example was left out"]
    return "\n".join([*wrote, *kept, *why, "", "next:", *(f"  {safe(step)}" for step in made.next)])
