"""The reserve of a tree as something to look for; kept by the ids of what it was made of: a hook parses nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from evalrepo.discipline.leaks import Guard, guard, pack, unpack
from evalrepo.discipline.places import CONFIG, RESERVE
from evalrepo.errors import DataError
from evalrepo.store.cache import Cache

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.store.loading import Loaded

VERSION = 1
_SOURCES = (CONFIG, "scenarios", RESERVE, "rubrics")


def guarded(tree: Tree, repo: Repository) -> Guard:
    """What must be looked for. DataError when a file of the reserve cannot be read: nothing could be said about it."""
    if not tree.under(RESERVE):
        return Guard()
    cache, key = Cache(repo.home, "guard", VERSION), _key(tree)
    known = _known(cache.get([key]).get(key), tree)
    if known is not None:
        return known
    made, read = _made(tree, repo)
    cache.put({key: json.dumps({"read": read, "guard": pack(made)}, separators=(",", ":"))})
    return made


def _key(tree: Tree) -> str:
    lines = "\n".join(f"{path}\0{entry.mode} {entry.oid}" for path, entry in tree.under(*_SOURCES).items())
    return sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def _known(body: str | None, tree: Tree) -> Guard | None:
    """The guard that was kept, when every file that it was made of is as it was."""
    if body is None:
        return None
    try:
        data = json.loads(body)
        if all(_oid(tree, path) == oid for path, oid in data["read"].items()):
            return unpack(data["guard"])
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    return None


def _oid(tree: Tree, path: str) -> str:
    entry = tree.get(path)
    return entry.oid if entry is not None else ""


def _made(tree: Tree, repo: Repository) -> tuple[Guard, Mapping[str, str]]:
    from evalrepo.discipline.passages import held
    from evalrepo.store.loading import load

    loaded = load(tree, repo)
    _refuse(loaded)
    read: dict[str, str] = {}

    def content(path: str) -> bytes | None:
        read[path] = _oid(tree, path)
        return tree.read(path) if read[path] else None

    found = held(_by_path(loaded, "reserve"), _by_path(loaded, "run-set"), loaded.rubrics, content)
    return guard(found, loaded.config.reserve.overlap), read


def _by_path(loaded: Loaded, which: Any) -> dict[str, Any]:
    return {id_: (one.path, one.scenario) for id_, one in loaded.of_set(which).items()}


def _refuse(loaded: Loaded) -> None:
    wrong = [f for f in loaded.findings if not f.warning and f.place.file.startswith((RESERVE + "/", "rubrics/"))]
    if wrong:
        raise DataError(
            wrong,
            "the reserve cannot be read, so its leaks cannot be looked for",
            hint="evalrepo lint shows everything that is wrong in the files",
        )
