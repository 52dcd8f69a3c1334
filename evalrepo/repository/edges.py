"""Many commits by few processes: those of a range with their parents, what differs between each two, what each holds.

No commit-graph file, replace object or graft is believed, and no history is simplified: a merge is held against each
of its parents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import fsdecode
from typing import TYPE_CHECKING, NamedTuple

from evalrepo.errors import GitError
from evalrepo.repository.repo import FETCH_ALL, Repository

if TYPE_CHECKING:
    from evalrepo.repository.runner import Git

Commits = list[tuple[str, tuple[str, ...]]]
"""Full commit id and parents, parents before children."""

_PLAIN = ("-c", "core.commitGraph=false")
_DIFF = (
    "diff-tree", "--stdin", "-r", "--raw", "-z", "--no-renames", "--root", "--always", "--no-abbrev",
    "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
)  # fmt: skip
_MOST_PATHS = 200
"""More path arguments than this cost more than they save: their top-level folders are asked for instead."""


class Side(NamedTuple):
    """A file as git stores it: mode of six octal digits, object id."""

    mode: str
    oid: str


Row = tuple[str, Side | None, Side | None]
"""Path, what the parent holds there, what the commit holds."""


def commits(repo: Repository, tips: Sequence[str], known: Sequence[str]) -> Commits:
    """What is reachable from `tips` and not from `known` (full ids, or arguments such as `--remotes=origin`).

    GitError where a shallow clone ends inside the range.
    """
    asked = ("rev-list", "--topo-order", "--reverse", "--parents", *tips, "--not", *known)
    lines = repo.git(*_PLAIN, *asked).decode("ascii").splitlines()
    found = [(oid, tuple(parents)) for oid, *parents in (line.split(" ") for line in lines)]
    cut = repo.common_dir / "shallow"
    if cut.is_file():
        ends = set(cut.read_text().split())
        if any(oid in ends for oid, _ in found):
            raise GitError("this shallow clone does not hold the whole range, so nothing can be said", hint=FETCH_ALL)
    return found


def rows(repo: Repository, pairs: Iterable[tuple[str, str | None]], paths: Sequence[str] = ()) -> Iterator[list[Row]]:
    """For each (commit, parent; None: nothing) what differs, at and below these paths (none: everywhere)."""
    asked = list(pairs)
    if not asked:
        return
    feed = "".join(f"{commit} {parent}\n" if parent else f"{commit}\n" for commit, parent in asked)
    if len(paths) > _MOST_PATHS:
        paths = sorted({path.partition("/")[0] for path in paths})
    bare = {"GIT_INDEX_FILE": str(repo.git_dir / "no-index")}  # it would read the whole index and not use it
    out = repo.git(*_PLAIN, *_DIFF, "--", *paths, stdin=feed.encode("ascii"), extra=bare)
    words = iter(fsdecode(out).split("\0"))
    word = next(words)
    for _ in asked:
        found: list[Row] = []
        while (word := next(words)).startswith(":"):
            old_mode, new_mode, old, new, _ = word[1:].split(" ")
            found.append((next(words), _side(old_mode, old), _side(new_mode, new)))
        yield found


def held(git: Git, commits: Sequence[str], paths: Sequence[str]) -> Iterator[tuple[str, dict[str, Side]]]:
    """Each commit with the files that it holds at and below these paths."""
    if not commits:
        return
    nothing = git.line("hash-object", "-t", "tree", "--stdin")
    asked = _lines(f"{commit}^{{tree}}" for commit in commits)
    trees = git("cat-file", "--batch-check=%(objectname)", stdin=asked).decode("ascii").split()
    feed = _lines(f"{nothing} {tree}" for tree in dict.fromkeys(trees))
    out = git("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--", *paths, stdin=feed)
    found: dict[str, dict[str, Side]] = {tree: {} for tree in trees}
    files: dict[str, Side] = {}
    words = iter(out.split(b"\0"))
    for word in words:
        *heads, meta = word.split(b"\n")
        for head in filter(None, heads):
            files = found[head.decode("ascii").split(" ")[1]]
        if meta.startswith(b":"):
            _, mode, _, oid, _ = meta.decode("ascii").split(" ")
            files[fsdecode(next(words))] = Side(mode, oid)
    yield from ((commit, found[tree]) for commit, tree in zip(commits, trees, strict=True))


def _lines(words: Iterable[str]) -> bytes:
    return "".join(f"{word}\n" for word in words).encode("ascii")


def _side(mode: str, oid: str) -> Side | None:
    return None if mode == "000000" else Side(mode, oid)
