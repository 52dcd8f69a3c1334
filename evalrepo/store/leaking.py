"""Reserve text where it does not belong: in files, in a range's history and messages, in stored transcripts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from evalrepo.discipline.leaks import Found, Guard, Hits, judged, too_near
from evalrepo.discipline.places import RESERVE, covered
from evalrepo.discipline.shingles import placed
from evalrepo.errors import Finding, Place
from evalrepo.store.guarding import guarded
from evalrepo.store.sifting import Sifter

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree

BOILERPLATE = 3
"""Files of the run-set that hold a run of words which is nobody's secret then."""
GITLINK = "160000"
MESSAGE = "commit message"
_HASH = 16


class Text(NamedTuple):
    """One text that was looked at: where messages say it is, what its exceptions go by, its blob, what it may hold.

    `wires_only`: a transcript of the reserve itself, which holds its prompts by design.
    """

    shown: str
    name: str
    oid: str
    wires_only: bool = False


class Leak(NamedTuple):
    """Reserve text in a text. Content-free: `share` of a passage (0 to 1), most words in a `row`, a `hash` of what was
    found and where. `acknowledged`: the event that makes an exception of it, or ""."""

    place: Place
    code: str
    scenario: str
    kinds: tuple[str, ...]
    share: float
    row: int
    hash: str
    acknowledged: str = ""


@dataclass(frozen=True)
class Report:
    """What was found, and how much was looked at. `unread`: findings about what could not be looked at."""

    leaks: tuple[Leak, ...] = ()
    unread: tuple[Finding, ...] = ()
    files: int = 0
    commits: int = 0
    transcripts: int = 0
    reserve: int = 0

    @property
    def open(self) -> tuple[Leak, ...]:
        """Those without an exception."""
        return tuple(leak for leak in self.leaks if not leak.acknowledged)


@dataclass(frozen=True)
class Asked:
    """What to look at beside the tree: history since a commit id, stored transcripts; or a `message` alone."""

    since: str | None = None
    transcripts: bool = False
    message: bytes | None = None


@dataclass
class _Search:
    """One search under way."""

    repo: Repository
    tree: Tree
    base: Tree | None
    guard: Guard
    sifter: Sifter
    found: dict[Leak, None] = field(default_factory=dict)
    texts: dict[Text, None] = field(default_factory=dict)


def search(repo: Repository, tree: Tree, base: Tree | None, asked: Asked) -> Report:
    """Look through a tree and what `asked` adds. `base`: the tree whose run-set says what was shared by design.

    Raises DataError for a reserve that cannot be read, GitError where the history is too short to tell.
    """
    guard = guarded(tree, repo)
    if guard.empty:
        return Report()
    at = _Search(repo, tree, base, guard, Sifter(repo, tree.git, guard))
    files = dict.fromkeys(_files(tree, guard) if asked.message is None else ())
    commits = _past(at, asked.since, {(text.name, text.oid) for text in files}) if asked.since else []
    transcripts = dict.fromkeys(_transcripts(repo) if asked.transcripts else ())
    at.texts |= {**files, **dict.fromkeys(text for _, text in commits if text is not None), **transcripts}
    hits = at.sifter.hits(text.oid for text in at.texts)
    shared = _shared(at)
    for text in at.texts:
        if text.oid in hits:
            _judge(at, text, hits[text.oid], shared)
    _names(at)
    messages = [*_messages(repo, asked.since), *([("", asked.message)] if asked.message is not None else [])]
    for commit, message in messages:
        _judge_message(at, commit, message, shared)
    return Report(
        leaks=_marked(tree, at.found),
        unread=tuple(sorted(_unread(at))),
        files=len(files),
        commits=len(messages),
        transcripts=len(transcripts),
        reserve=len({p.scenario for p in guard.passages} | set(guard.shared or ())),
    )


def _files(tree: Tree, guard: Guard) -> Iterator[Text]:
    home = frozenset(guard.home)
    for path, entry in tree.entries().items():
        if entry.mode != GITLINK and not covered(home, path):
            yield Text(path, path, entry.oid)


def _past(at: _Search, since: str, here: set[tuple[str, str]]) -> list[tuple[str, Text | None]]:
    """(commit, text) for every blob that a commit of the range brought and the tree no longer has at that path."""
    home, seen = frozenset(at.guard.home), set(here)
    found: list[tuple[str, Text | None]] = []
    for commit, path, oid in brought(at.repo, since):
        if (path, oid) not in seen and not covered(home, path):
            seen.add((path, oid))
            found.append((commit, Text(f"{commit[:12]}:{path}", path, oid)))
    return found


def brought(repo: Repository, since: str) -> Iterator[tuple[str, str, str]]:
    """Commit, path and blob id of every file that a commit in `since`..HEAD added or changed, against each parent."""
    out = os.fsdecode(
        repo.git(
            "log", "-m", "--root", "--raw", "--no-renames", "--no-abbrev", "-z", "--format=%x01%H",
            "--no-show-signature", "--no-ext-diff", "--no-textconv", f"{since}..HEAD", "--",
        )
    )  # fmt: skip
    commit, parts = "", iter(out.split("\0"))
    for part in parts:
        word = part.lstrip("\n")
        if word.startswith("\x01"):
            commit = word[1:].strip()
        elif word.startswith(":"):
            _, mode, _, oid, status = word.split(" ")
            path = next(parts)
            if mode not in (GITLINK, "000000") and status[:1] != "D":
                yield commit, path, oid


def _messages(repo: Repository, since: str | None) -> Iterator[tuple[str, bytes]]:
    if since is None:
        return
    for block in repo.git("log", "-z", "--format=%H%n%B", "--no-show-signature", f"{since}..HEAD", "--").split(b"\0"):
        commit, _, message = block.partition(b"\n")
        if commit:
            yield commit.decode("ascii"), message


def _transcripts(repo: Repository) -> Iterator[Text]:
    """The stored transcripts of every run at hand; of the reserve's only tripwires are looked for."""
    for ref, commit in repo.refs("refs/evalrepo/runs/").items():
        tree = repo.tree(commit)
        sealed = _sealed(tree)
        for path, entry in tree.under("transcripts").items():
            name = f"{ref}:{path}"
            yield Text(name, name, entry.oid, path.split("/")[1] in sealed)


def _sealed(tree: Tree) -> set[str]:
    """Folders below `transcripts/` of cells of the reserve, by the run's own records."""
    from evalrepo.formats.fence import load_json

    found = set()
    for path, data in tree.read_many([path for path in tree.under("results") if path.endswith(".md")]):
        record = load_json(data, path)
        if record.get("set") == "reserve":
            found.add(str(record["scenario"]).replace("/", "~"))
    return found


def _shared(at: _Search) -> dict[str, set[int]]:
    """Reserve scenario → shingles that are not its alone: those of the files that it has in common with the run-set.

    They must stand there now, and in the base as long as that holds the scenario as it is: text that a later change
    copies into the run-set is a leak, not something in common.
    """
    everywhere = set.intersection(*(_everywhere(at, tree) for tree in (at.tree, at.base) if tree is not None))
    found: dict[str, set[int]] = {}
    for id_, roots in (at.guard.shared or {}).items():
        trees = (at.tree, at.base) if _paired(at, id_) else (at.tree,)
        found[id_] = everywhere | set.intersection(*(_in(at, tree, roots) for tree in trees if tree is not None))
    return found


def _in(at: _Search, tree: Tree, roots: Iterable[str]) -> set[int]:
    """Shingles of the reserve in the files below these roots."""
    oids = [entry.oid for entry in tree.under(*roots).values() if entry.mode != GITLINK]
    return {number for hits in at.sifter.hits(oids).values() for number in hits.numbers}


def _everywhere(at: _Search, tree: Tree) -> set[int]:
    """Shingles that so many files of the run-set have that they say nothing."""
    oids = [entry.oid for entry in tree.under("scenarios").values() if entry.mode != GITLINK]
    hits = at.sifter.hits(oids)
    counts = Counter(number for oid in oids if oid in hits for number in hits[oid].numbers)
    return {number for number, files in counts.items() if files >= BOILERPLATE}


def _paired(at: _Search, scenario: str) -> bool:
    """Whether the base holds the scenario as it is now: then that is where it was paired with its twin."""
    path = f"{RESERVE}/{scenario.partition('/')[0]}.yaml"
    now, before = at.tree.get(path), at.base.get(path) if at.base is not None else None
    return now is not None and before == now


def _judge(at: _Search, text: Text, hits: Hits, shared: Mapping[str, set[int]]) -> None:
    for wire in hits.wires:
        if text.name not in (at.guard.wires or {}).get(wire, ()):
            _add_wire(at, Place(text.shown, _line(at, text.oid, wire)), text.name, wire)
    if text.wires_only:
        return
    twins = [scenario for scenario, path in (at.guard.twins or {}).items() if path == text.name]
    for found in judged(at.guard, hits, shared, twins):
        _add(at, text, "LEK002", found)
    for scenario in twins:
        near = too_near(at.guard, hits, scenario)
        if near is not None:
            _add(at, text, "LEK003", near)


def _add(at: _Search, text: Text, code: str, found: Found) -> None:
    place = Place(text.shown, _first_line(at, _content(at, text.oid), found))
    at.found[_leak(at, place, code, text.name, found)] = None


def _leak(at: _Search, place: Place, code: str, name: str, found: Found) -> Leak:
    hash_ = _hash(code, name, at.guard.spelled(found.numbers))
    return Leak(place, code, found.scenario, found.kinds, round(found.share, 4), found.row, hash_)


def _add_wire(at: _Search, place: Place, name: str, wire: str) -> None:
    owners = ", ".join(path.rpartition("/")[2].removesuffix(".yaml") for path in (at.guard.wires or {})[wire])
    hash_ = _hash("LEK001", name, wire.lower())
    at.found[Leak(place, "LEK001", owners, ("a tripwire",), 1.0, 0, hash_)] = None


def _hash(*parts: str) -> str:
    return sha256("\0".join(("leak", *parts)).encode("utf-8", "surrogateescape")).hexdigest()[:_HASH]


def _content(at: _Search, oid: str) -> bytes:
    return next(iter(at.tree.git.blobs([oid])))[1]


def _first_line(at: _Search, data: bytes, found: Found) -> int:
    tokens, lines = placed(data)
    return next((lines[token] for token, number in at.guard.sieve.places(tokens) if number in found.numbers), 0)


def _line(at: _Search, oid: str, wire: str) -> int:
    low, plain = wire.lower().encode(), wire.lower().replace("-", "").encode()
    rows = _content(at, oid).split(b"\n")
    return next((n for n, row in enumerate(rows, 1) if low in row.lower() or plain in row.lower()), 0)


def _names(at: _Search) -> None:
    """A file's name can bear a tripwire too."""
    every = "\n".join(text.name for text in at.texts).lower()
    for wire in at.guard.wires or ():
        for text in at.texts if wire.lower() in every else ():
            if wire.lower() in text.name.lower():
                _add_wire(at, Place(text.shown), text.name, wire)


def _judge_message(at: _Search, commit: str, message: bytes, shared: Mapping[str, set[int]]) -> None:
    hits = at.sifter.look(message)
    shown = f"the message of {commit[:12]}" if commit else "the commit message"
    for wire in hits.wires:
        _add_wire(at, Place(shown), MESSAGE, wire)
    for found in judged(at.guard, hits, shared):
        at.found[_leak(at, Place(shown, _first_line(at, message, found)), "LEK002", MESSAGE, found)] = None


def _marked(tree: Tree, found: Iterable[Leak]) -> tuple[Leak, ...]:
    """The leaks in order of place, those that the ledger acknowledges with their event."""
    leaks = sorted(found)
    events = acknowledged(tree) if leaks else {}
    return tuple(leak._replace(acknowledged=events.get(leak.hash, "")) for leak in leaks)


def acknowledged(tree: Tree) -> dict[str, str]:
    """Hash of a leak → the event that makes an exception of it."""
    from evalrepo.store.loading import read_events

    events, _ = read_events(tree)
    return {hash_: path for path, e in events.items() if e.event == "acknowledge" for hash_ in e.hashes}


def _unread(at: _Search) -> Iterator[Finding]:
    for text in at.texts:
        size = at.sifter.unread.get(text.oid)
        if size is not None:
            message = f"has {size:,} bytes, and was not looked at"
            yield Finding(Place(text.shown), "LEK004", message, "keep such a file out of git, or make it smaller", True)
