"""What a push would send, as git's pre-push hook and pre-commit say it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from evalrepo.errors import GitError, UsageError
from evalrepo.store.since import Since, judged, since
from evalrepo.store.walking import Range

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository

OURS = "refs/evalrepo/"
"""Transcripts and claims: histories of their own, in which nothing is frozen."""


class Push(NamedTuple):
    """One reference that is pushed: the remote's name of it, what it will be, what it is ("" for not there)."""

    ref: str
    new: str
    old: str


def lines(text: str) -> list[Push]:
    """The pushes of a hook's standard input, `LOCAL-REF LOCAL-ID REMOTE-REF REMOTE-ID` a line. UsageError else."""
    found = []
    for line in text.splitlines():
        words = line.split(" ")
        if len(words) != 4:
            raise UsageError(
                f"not a line of a pre-push hook: {line[:60]}",
                hint='exec evalrepo verify --push "$@" in .git/hooks/pre-push',
            )
        found.append(Push(words[2], _id(words[1]), _id(words[3])))
    return found


def from_precommit(environ: Mapping[str, str], tracked: Mapping[str, str]) -> list[Push]:
    """The push that pre-commit's variables name: it reads the standard input itself, and tells of one reference.

    `tracked`: what is known of the remotes' branches. What pre-commit calls the start of the range is the remote's
    branch only where it is that; for a new branch it is a guess, and not taken.
    """
    new = environ.get("PRE_COMMIT_TO_REF") or environ.get("PRE_COMMIT_LOCAL_BRANCH", "")
    if not new:
        raise UsageError(
            "no push is told of: the standard input holds no line, and PRE_COMMIT_TO_REF is not set",
            hint="evalrepo verify --since REV checks a range without a push",
        )
    ref = environ.get("PRE_COMMIT_REMOTE_BRANCH", new)
    there = f"refs/remotes/{environ.get('PRE_COMMIT_REMOTE_NAME', '')}/{ref.removeprefix('refs/heads/')}"
    old = environ.get("PRE_COMMIT_FROM_REF", "")
    return [Push(ref, new, old if tracked.get(there) == old else "")]


def _id(word: str) -> str:
    return word if word.strip("0") else ""


def check(repo: Repository, pushes: Sequence[Push], remote: str, *, deeply: bool = False) -> Iterator[Since]:
    """The findings of each push that holds commits: against what the remote has there, or, where it has nothing, all
    commits that none of its branches has. GitError for an id of the remote that is not at hand."""
    for push in pushes:
        if not push.new or push.ref.startswith(OURS):
            continue
        tip = repo.resolve(push.new)
        if push.old:
            _refuse_unknown(repo, push, remote)
            yield since(repo, push.old, tip, deeply=deeply, forced=True, results=True)
        else:
            yield judged(_new(repo, tip, remote), [], deeply=deeply, results=True)


def _refuse_unknown(repo: Repository, push: Push, remote: str) -> None:
    if repo.git.code("cat-file", "-e", f"{push.old}^{{commit}}")[0]:
        raise GitError(
            f"{push.ref} is at {push.old[:12]} there, which is not at hand, so it cannot be said what the push changes",
            hint=f"git fetch {remote or 'the remote'}, then again",
        )


def _new(repo: Repository, tip: str, remote: str) -> Range:
    """What no branch of the remote has."""
    prefix = f"refs/remotes/{remote}/" if remote else "refs/remotes/"
    known = tuple(dict.fromkeys(repo.refs(prefix).values()))
    start = next((base for oid in known if (base := repo.merge_base(oid, tip))), "")
    return Range(repo, tip, known, start)
