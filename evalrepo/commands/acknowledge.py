"""`evalrepo acknowledge`: say of a finding that it was looked at and may stay."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from evalrepo.commands.entering import FORMAT, WHY, enter
from evalrepo.errors import GitError, UsageError

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.world import World

_MARK = re.compile(r"[0-9a-f]{8,64}")


@click.command("acknowledge")
@click.argument("places", nargs=-1, required=True, metavar="PLACE…")
@click.option("--code", "codes", multiple=True, metavar="CODE", help="Only findings of this code; may be repeated.")
@WHY
@FORMAT
@click.pass_obj
def command(world: World, *, places: tuple[str, ...], codes: tuple[str, ...], why: str, format_: str) -> int:
    """Acknowledge findings of `verify`, `leaks` or the audit: they were looked at, and may stay.

    A PLACE is COMMIT:PATH, a path, the ref of a run or a claim, or a hash as `leaks` prints it. A finding that a commit
    made is named by that commit and its path (or a folder above); one that is so now by the very path and its --code.
    Commits and paths may be words of their own: each path is meant in each commit. What is only staged is put right.

    Exit 0: written and staged. Exit 2: a place that is nothing here, too little to tell a finding by, no reason.
    """
    from evalrepo.codes import CODES
    from evalrepo.repository.repo import Repository
    from evalrepo.store.ledger import signed

    for code in codes:
        if code not in CODES:
            raise UsageError(f"there is no code {code}", hint="the code stands behind the place in every finding")
    repo = Repository.open(world)
    commits, paths, hashes = _sorted(repo, places)
    _enough(commits, paths, codes)
    event = signed(repo, "acknowledge", why, commits=commits, paths=paths, hashes=hashes, codes=codes)
    said = [
        *(f"the hash {mark}" for mark in hashes),
        *(f"commit {commit[:12]}" for commit in commits),
        *(f"the path {path}" for path in paths),
    ]
    only = f", findings {', '.join(codes)} only" if codes else ""
    return enter(repo, event, format_, [f"acknowledged: {', '.join(said)}{only}"])


def _sorted(repo: Repository, places: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Commits by their full ids, paths, hashes; each once, in the order given."""
    commits: dict[str, None] = {}
    paths: dict[str, None] = {}
    hashes: dict[str, None] = {}
    for place in places:
        if place.startswith("refs/evalrepo/"):  # the place of a finding about a run or a claim, which may be gone
            paths[place] = None
            continue
        rev, colon, path = place.partition(":")
        commit = _commit(repo, rev)
        if commit is not None and (path or not colon):
            commits[commit] = None
            paths.update({path: None} if path else {})
        elif not colon and _MARK.fullmatch(place):
            hashes[place] = None
        else:
            paths[_path(repo, place)] = None
    return tuple(commits), tuple(paths), tuple(hashes)


def _enough(commits: tuple[str, ...], paths: tuple[str, ...], codes: tuple[str, ...]) -> None:
    if commits and not paths:
        raise UsageError(f"which findings of {commits[0][:12]}?", hint=f"evalrepo acknowledge {commits[0][:12]}:PATH")
    if paths and not commits and not codes:
        raise UsageError(
            f"which finding at {paths[0]}?", hint="name its --code, or the commit that made it: COMMIT:PATH"
        )


def _commit(repo: Repository, rev: str) -> str | None:
    try:
        return repo.resolve(rev)
    except GitError:
        return None


def _path(repo: Repository, place: str) -> str:
    """A path that some commit or the index holds: what is acknowledged may have been removed since."""
    if not place.startswith(("/", "-", ":")) and ".." not in place.split("/"):
        known = repo.git("ls-files", "-z", "--", place)
        if known or repo.git("log", "-1", "--all", "--format=%H", "--", place):
            return place
    raise UsageError(
        f"{place} is no commit, no hash, and no path that this repository has or had",
        hint="copy the place from the finding; paths are relative to the top of the repository",
    )
