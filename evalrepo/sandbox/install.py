"""Putting a subject's files where an agent's config says, before the agent starts."""

from __future__ import annotations

import os
from pathlib import Path

from evalrepo.errors import HarnessError
from evalrepo.records.config import Install
from evalrepo.sandbox import paths
from evalrepo.sandbox.layout import Sandbox

BY_NAME = ("plugin_dir", "skill", "extension")
"""Keys of an install whose place the CLI is told."""
EXTRAS = "~/.local/share/extras"
"""Where a subject is put that the CLI finds by no other way."""


def located(name: str, files: paths.Files, plan: Install) -> Install:
    """The plan with every path of the subject under BY_NAME as the place in the sandbox where `install` puts it.

    What the subject does not have stays as it is: a place in the sandbox, or a word that the CLI knows.
    """
    own = {key: getattr(plan, key) for key in BY_NAME}
    places = {
        key: f"{EXTRAS}/{name}" if _plain(path) == "." else f"{EXTRAS}/{name}/{_plain(path)}"
        for key, path in own.items()
        if path and _has(files, path)
    }
    return plan.model_copy(update=places)


def _plain(path: str) -> str:
    return path.removeprefix("./").rstrip("/") or "."


def _has(files: paths.Files, path: str) -> bool:
    plain = _plain(path)
    return plain == "." or plain in files or any(name.startswith(plain + "/") for name in files)


def install(box: Sandbox, files: paths.Files, plan: Install, name: str = "subject") -> list[str]:
    """Copy the subject's files; returns what was written, sorted: relative to the work directory, `~/…` in HOME.

    A subject that the plan names paths of (`located`) is put as a whole below EXTRAS, under its `name`.

    Everything is checked before the first file is written: sources that do not exist, targets that leave their
    directory or meet a file or link of the fixture on their way. A file that is there is replaced.
    """
    placed = _placed(files, plan)
    if located(name, files, plan) != plan:
        placed |= _moved(files, ".", f"{EXTRAS}/{name}")
    for where in ("", "~/"):
        tree = {p.removeprefix("~/"): f for p, f in placed.items() if p.startswith("~/") == bool(where)}
        paths.check(tree, "install")
    targets = {target: _place(box, target) for target in placed}
    for target, place in targets.items():
        _way_is_free(box, target, place)
    for target, (mode, content) in placed.items():
        _write(box, targets[target], mode, content)
    return sorted(placed)


def _placed(files: paths.Files, plan: Install) -> dict[str, tuple[str, bytes]]:
    placed: dict[str, tuple[str, bytes]] = {}
    for source, target in plan.copy_.items():
        placed |= _moved(files, source, target)
    for source, target in plan.home.items():
        placed |= _moved(files, source, "~/" + target.removeprefix("~/"))
    return placed


def _moved(files: paths.Files, source: str, target: str) -> dict[str, tuple[str, bytes]]:
    """The files of one line of the map, under the names where they go."""
    source, target = _plain(source), target.removeprefix("./")
    into = target.rstrip("/")
    if source in files:
        return {f"{into}/{source.rpartition('/')[2]}" if target.endswith("/") else into: files[source]}
    start = "" if source == "." else source + "/"
    found = {path.removeprefix(start): file for path, file in files.items() if path.startswith(start)}
    if not found:
        raise HarnessError(
            f"install: the subject has no {source!r}", hint="see `install:` of the subject in the config"
        )
    prefix = "" if into in {"", "."} else into + "/"
    return {prefix + path: file for path, file in found.items()}


def _place(box: Sandbox, name: str) -> Path:
    return box.home / name.removeprefix("~/") if name.startswith("~/") else box.work / name


def _way_is_free(box: Sandbox, name: str, place: Path) -> None:
    top = box.home if name.startswith("~/") else box.work
    for parent in place.relative_to(top).parents:
        way = top / parent
        if way.is_symlink() or (way.exists() and not way.is_dir()):
            raise HarnessError(f"install: {name} would go through {parent}, which is no directory of the fixture")
    if place.is_dir() and not place.is_symlink():
        raise HarnessError(f"install: {name} is a directory of the fixture")


def _write(box: Sandbox, place: Path, mode: str, content: bytes) -> None:
    top = box.home if place.is_relative_to(box.home) else box.work
    for parent in reversed(place.relative_to(top).parents):
        if not (top / parent).is_dir():
            (top / parent).mkdir()
            _give(box, top / parent)
    place.unlink(missing_ok=True)
    if mode == "120000":
        place.symlink_to(os.fsdecode(content))
    else:
        with place.open("xb") as file:
            file.write(content)
        place.chmod(paths.MODES[mode])
    _give(box, place)


def _give(box: Sandbox, place: Path) -> None:
    if box.uid is not None:
        os.chown(place, box.uid, box.uid, follow_symlinks=False)
