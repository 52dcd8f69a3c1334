"""The one door by which an event enters the ledger: signed, named in the order of time, durable, staged whole."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalrepo.discipline.places import LEDGER
from evalrepo.errors import DataError, Finding, GitError, Place, UsageError
from evalrepo.formats.ids import ALPHABET, ulid
from evalrepo.formats.yaml import dump_event
from evalrepo.records.event import Event, EventKind
from evalrepo.records.reason import hollow
from evalrepo.repository.durable import put
from evalrepo.store.stored import Reader

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository


def signed(repo: Repository, event: EventKind, why: str, /, **said: Any) -> Event:
    """An event of now by the person whom git knows; `said` are the other fields of `Event`.

    Raises UsageError for a reason that says nothing, GitError where git knows no person.
    """
    wrong = hollow(why, event)
    if wrong:
        raise UsageError(f"an event needs a reason that says something: {wrong}", hint='--why "what is wrong, and why"')
    return Event(event=event, at=repo.world.timestamp(), by=person(repo), why=why.strip(), **said)


def entry(repo: Repository, event: Event) -> tuple[str, bytes]:
    """Path and bytes of an event that is newer than every one at hand; nothing is written.

    For a caller that commits the file itself, with `repository.commit.land`.
    """
    return f"{LEDGER}/{_next_ulid(repo)}.yaml", dump_event(event)


def append(repo: Repository, event: Event, files: Mapping[str, bytes] | None = None) -> str:
    """Write an event, and the files that belong to it (repository path → bytes), and stage exactly these.

    Returns the event's path. Raises GitError or OSError when one of them cannot be written or staged; then work tree
    and index are as they were.
    """
    from evalrepo.store.landing_events import settle

    settle(repo)
    path, data = entry(repo, event)
    _refuse_links(repo, (path, *(files or {})))
    every = {path: data, **(files or {})}
    oids = {name: repo.write_blob(body) for name, body in every.items()}
    before = {name: _bytes(repo.top / name) for name in every}
    try:
        for name, body in every.items():
            put(repo.top / name, body)
        _stage(repo, oids)
    except BaseException:
        _roll_back(repo, before)
        raise
    return path


def commit(repo: Repository, event: Event, message: str) -> str:
    """Commit an event by itself, on what is checked out; the user's index and work tree keep all else. The commit.

    Raises GitError, with nothing moved, as the landing of results does. After a crash in the middle the next event, or
    the next run, finishes the index or takes away what was left (`landing_events.settle`).
    """
    from evalrepo.store.landing_events import land

    return land(repo, *entry(repo, event), message)


def person(repo: Repository) -> str:
    """Who signs: `Name <address>`. Raises GitError where git knows nobody."""
    identity = repo.identity()
    if identity is None:
        raise GitError(
            "an event of the ledger is signed with a person's name, and git knows none",
            hint='git config user.name "Your Name"; git config user.email you@example.org',
        )
    return f"{identity[0]} <{identity[1]}>"


def _next_ulid(repo: Repository) -> str:
    """A ULID after every event in the index and in the work tree: the order of names is that of events."""
    now = int(repo.world.now().timestamp() * 1000)
    names = {path.rsplit("/", 1)[1] for path in Reader(repo, None, "the index").files([LEDGER])}
    if (folder := repo.top / LEDGER).is_dir():
        names |= {file.name for file in folder.iterdir()}
    times = {_milliseconds(name.removesuffix(".yaml")): name for name in names if name.endswith(".yaml")}
    last = max(times, default=0)
    if last + 1 >= 1 << 48:
        message = "is named for the end of time, so no event can follow it"
        place = Place(f"{LEDGER}/{times[last]}")
        raise DataError([Finding(place, "LED101", message, "take it out of the commit that added it")])
    return ulid(max(now, last + 1), repo.world.random(10))


def _milliseconds(name: str) -> int:
    if len(name) != 26 or not set(name) <= set(ALPHABET):
        return 0
    number = 0
    for letter in name[:10]:
        number = number * 32 + ALPHABET.index(letter)
    return number


def _refuse_links(repo: Repository, paths: tuple[str, ...]) -> None:
    """What is written lies in the work tree itself, not where a symbolic link leads."""
    for path in paths:
        pure = Path(path)
        for part in (*reversed(pure.parents[:-1]), pure):
            if (repo.top / part).is_symlink():
                raise GitError(f"{part} is a symbolic link", hint=f"git rm {part}; evalrepo writes a file of its own")


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _roll_back(repo: Repository, before: Mapping[str, bytes | None]) -> None:
    for name, data in before.items():
        with contextlib.suppress(OSError):
            if data is None:
                (repo.top / name).unlink(missing_ok=True)
            elif _bytes(repo.top / name) != data:
                put(repo.top / name, data)


def _stage(repo: Repository, oids: Mapping[str, str]) -> None:
    """These paths with exactly these blobs, and no other, into the user's index."""
    arguments = [word for path, oid in oids.items() for word in ("--cacheinfo", f"100644,{oid},{path}")]
    repo.git("update-index", "--add", *arguments)
    repo.git.code("update-index", "-q", "--refresh")
