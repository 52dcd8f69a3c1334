"""Fixtures: git holds every byte of them, and nothing in them leads out of the sandbox."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from pathlib import Path

from evalrepo.errors import Finding, Place
from evalrepo.linting.ground import Ground
from evalrepo.repository.objects import SYMLINK, Entry
from evalrepo.repository.tree import unusable


def stored(ground: Ground) -> Iterator[Finding]:
    """No gitlinks and no git-lfs pointers."""
    for name, files in ground.fixtures.items():
        paths = [f"fixtures/{name}/{inner}" for inner in files if inner]
        for path, why in unusable(ground.tree, paths):
            hint = "store the files themselves; a repository in a fixture is made by a `setup` step"
            yield Finding(Place(path), "FIX102", why, hint)


def links(ground: Ground) -> Iterator[Finding]:
    """Symlinks stay inside the fixture."""
    found = {f"fixtures/{n}/{i}": (n, i) for n, files in ground.fixtures.items() for i in _links(files)}
    for path, raw in ground.tree.read_many(found):
        name, inner = found[path]
        target = os.fsdecode(raw)
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(inner), target))
        if target.startswith("/"):
            yield Finding(Place(path), "FIX103", f"is a link to the absolute path {target}", "make it relative")
        elif joined.split("/")[0] == "..":
            hint = f"copy what it points to into fixtures/{name}/"
            yield Finding(Place(path), "FIX103", f"is a link that leaves the fixture: {target}", hint)


def _links(files: dict[str, Entry]) -> list[str]:
    return [inner for inner, entry in files.items() if inner and entry.mode == SYMLINK]


def nested(ground: Ground) -> Iterator[Finding]:
    """No repository inside a fixture on disk: git would store none of its files. Only the work tree can show it."""
    if ground.tree.name == "WORKTREE":
        yield from on_disk(ground.repo.top)


def on_disk(top: Path) -> Iterator[Finding]:
    """FIX105 for every repository in the fixtures of a work tree."""
    for found in sorted(_repositories(top / "fixtures")):
        path = found.relative_to(top).as_posix()
        hint = f"remove {path}/.git, or make the repository in a `setup` step"
        yield Finding(Place(path), "FIX105", "is a repository of its own, whose files git does not store", hint)


def _repositories(top: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(top):
        if ".git" in folders or ".git" in files:
            yield Path(folder)
        folders[:] = [f for f in folders if f != ".git"]


def same_names(ground: Ground) -> Iterator[Finding]:
    """No two files differ only in the case of letters."""
    for name, files in ground.fixtures.items():
        seen: dict[str, str] = {}
        for inner in files:
            other = seen.setdefault(inner.casefold(), inner)
            if other != inner:
                place = Place(f"fixtures/{name}/{inner}")
                message = f"differs from {other} only in the case of letters"
                yield Finding(place, "FIX106", message, "rename one: some file systems cannot hold both", True)


RULES = (stored, links, nested, same_names)
