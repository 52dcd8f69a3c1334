"""What commits say of themselves, read with GitPython.

GitPython starts git with this process's environment, so every variable that could turn it elsewhere is overruled, and
the settings of our own runner are handed over in the environment. It never gets a string from a person: only full ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evalrepo.repository.runner import FIXED, SETTINGS

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository

_TRAILER = re.compile(r"([A-Za-z0-9-]+)[ \t]*:[ \t]*(.*)")


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """A commit: full id, parents, author ("Name <address>"), author date (UTC, RFC 3339, seconds), subject line,
    and trailers, key → values in their order."""

    id: str
    parents: tuple[str, ...]
    author: str
    date: str
    subject: str
    trailers: dict[str, tuple[str, ...]] = field(default_factory=dict)


def first_parents(repo: Repository, commit: str, most: int | None = None) -> Iterator[CommitInfo]:
    """From a commit (full id) back along first parents, at most `most`; ends where the history or a shallow clone does.

    GitPython reads SHA-1 repositories only; for the others git itself is asked, all at once.
    """
    way = _by_gitpython if repo.object_format == "sha1" else by_log
    return way(repo, commit, most)


def by_log(repo: Repository, commit: str, most: int | None = None) -> Iterator[CommitInfo]:
    """The same by one `git log`."""
    bound = () if most is None else (f"--max-count={most}",)
    form = "--format=%H%x00%P%x00%an <%ae>%x00%at%x00%B"
    out = repo.git("log", "--first-parent", "-z", form, "--no-show-signature", *bound, commit, "--")
    words = out.decode("utf-8", "replace").split("\0")
    for at in range(0, len(words) - 4, 5):
        oid, parents, author, date, message = words[at : at + 5]
        yield _info(oid, tuple(parents.split()), author, int(date), message)


def _by_gitpython(repo: Repository, commit: str, most: int | None) -> Iterator[CommitInfo]:
    import git

    with git.Repo(repo.top, search_parent_directories=False, expand_vars=False) as python:
        python.git.update_environment(**environment(repo))
        bound: dict[str, Any] = {} if most is None else {"max_count": most}
        for found in git.Commit.iter_items(python, commit, first_parent=True, **bound):
            text = found.message if isinstance(found.message, str) else found.message.decode("utf-8", "replace")
            author = f"{found.author.name or ''} <{found.author.email or ''}>"
            if "\ufffd" in text + author:  # GitPython 3.2.1 overlooks the encoding that a commit declares
                yield from by_log(repo, found.hexsha, 1)
                continue
            parents = tuple(parent.hexsha for parent in found.parents)
            yield _info(found.hexsha, parents, author, found.authored_date, text)


def environment(repo: Repository) -> dict[str, str]:
    """What must stand in the environment of GitPython's git, whatever this process's own says."""
    config = {"GIT_CONFIG_COUNT": str(len(SETTINGS)), "GIT_CONFIG_PARAMETERS": ""}
    for n, (key, value) in enumerate(SETTINGS.items()):
        config |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
    places = {
        "GIT_DIR": str(repo.git_dir),
        "GIT_COMMON_DIR": str(repo.common_dir),
        "GIT_WORK_TREE": str(repo.top),
        "GIT_INDEX_FILE": str(repo.index_file),
        "GIT_OBJECT_DIRECTORY": str(repo.objects_dir),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": repo.git.env.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", ""),
        "GIT_NAMESPACE": "",
    }
    return {**repo.git.env, **FIXED, **config, **places}


def _info(oid: str, parents: tuple[str, ...], author: str, date: int, message: str) -> CommitInfo:
    return CommitInfo(
        id=oid,
        parents=parents,
        author=author,
        date=datetime.fromtimestamp(date, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        subject=message.strip("\n").partition("\n")[0],
        trailers=trailers(message),
    )


def trailers(message: str) -> dict[str, tuple[str, ...]]:
    """The `Key: value` lines of a message's last paragraph, when it has nothing else; folded lines joined."""
    paragraphs = re.split(r"\n[ \t]*\n", message.strip())
    found: dict[str, tuple[str, ...]] = {}
    if len(paragraphs) < 2:
        return found
    last = re.sub(r"\n[ \t]+", " ", paragraphs[-1]).split("\n")
    for line in last:
        pair = _TRAILER.fullmatch(line.rstrip())
        if pair is None:
            return {}
        found[pair[1]] = (*found.get(pair[1], ()), pair[2])
    return found
