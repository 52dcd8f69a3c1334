"""Lists of files that others wrote, checked as a whole before the first of them is written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from evalrepo.errors import HarnessError

Files = Mapping[str, tuple[str, bytes]]
"""Relative path with `/` → git mode ("100644", "100755", "120000") and content (a link's target)."""
MODES = {"100644": 0o644, "100755": 0o755, "120000": 0}


def check(files: Files, what: str) -> None:
    """Refuse a list with a path that leaves the tree or meets another, a nested `.git`, or a link out of the tree.

    `what` names the list in the error. Links may be relative and inside of the tree, also through other links.
    """
    for path, (mode, content) in files.items():
        _check_path(path, what)
        if mode not in MODES:
            raise HarnessError(f"{what}: {path} has the git mode {mode}", hint="submodules cannot be used here")
        for parent in _parents(path):
            if parent in files:
                raise HarnessError(f"{what}: {path} lies below {parent}, which is not a directory")
        if mode == "120000":
            _check_link(path, os.fsdecode(content), files, what)


def _check_path(path: str, what: str) -> None:
    parts = path.split("/")
    if path.startswith("/") or "\0" in path or any(p in {"", ".", ".."} for p in parts):
        raise HarnessError(f"{what}: the path {path!r} leaves the tree")
    if any(p.lower() == ".git" for p in parts):
        raise HarnessError(
            f"{what}: {path} is inside of a .git directory", hint="make nested repositories with a setup step"
        )


def _parents(path: str) -> Iterator[str]:
    for parent in PurePosixPath(path).parents:
        if parent.name:
            yield str(parent)


def _check_link(path: str, target: str, files: Files, what: str) -> None:
    if target.startswith("/"):
        raise HarnessError(f"{what}: {path} is a link to the absolute path {target!r}", hint="make it relative")
    if resolve(path, files) is None:
        raise HarnessError(f"{what}: {path} is a link to {target!r}, which leaves the tree or goes in a circle")


def resolve(path: str, files: Files) -> str | None:
    """Where a path leads when the links among `files` are followed, "" for the top; None outside or in a circle."""
    done: list[str] = []
    todo = path.split("/")[::-1]
    followed = 0
    while todo:
        part = todo.pop()
        if part in {"", "."}:
            continue
        if part == "..":
            if not done:
                return None
            done.pop()
            continue
        done.append(part)
        mode, content = files.get("/".join(done), ("", b""))
        if mode == "120000":
            followed += 1
            target = os.fsdecode(content)
            if followed > 40 or target.startswith("/"):
                return None
            done.pop()
            todo += target.split("/")[::-1]
    return "/".join(done)
