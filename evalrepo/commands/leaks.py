"""`evalrepo leaks`: text of the reserve where it must not stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalrepo.errors import Exit, GitError, UsageError

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.store.leaking import Asked, Leak, Report
    from evalrepo.world import World


@click.command("leaks")
@click.option("--staged", is_flag=True, help="In a hook: what is about to be committed, as git hands it to the hook.")
@click.option("--since", metavar="REV", help="HEAD, and every file and message of the commits since REV.")
@click.option("--transcripts", is_flag=True, help="The transcripts in this clone's run refs too.")
@click.option("--message", "message", metavar="FILE", help="In a commit-msg hook: the message in FILE, and no file.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(
    world: World, *, staged: bool, since: str | None, transcripts: bool, message: str | None, format_: str
) -> int:
    """Look for tripwires and words of the reserve in subjects, run-set, docs, results and every other tracked file.

    By default it looks at the work tree. A text leaks that holds 70 % of the eight-word runs of one of the reserve's
    texts, or thirteen of its words in a row; what twins share by design is left out. What is printed says where and how
    much, never what. An exception is made with `evalrepo acknowledge HASH --why REASON`.

    Exit 0: nothing, or only acknowledged exceptions. Exit 1: leaks. Exit 2: it cannot answer (the reserve cannot be
    read, the history is too short to tell).
    """
    from evalrepo.repository.repo import Repository
    from evalrepo.store.leaking import search

    if sum((staged, since is not None, message is not None)) > 1:
        raise UsageError("--staged, --since and --message ask for different things", hint="give one of them")
    repo = Repository.open(world, hook=staged or message is not None)
    report = search(repo, *_sides(repo, staged=staged, since=since), _asked(repo, since, transcripts, message))
    click.echo(_json(report) if format_ == "json" else _text(report))
    return Exit.NO if report.open else Exit.YES


def _sides(repo: Repository, *, staged: bool, since: str | None) -> tuple[Tree, Tree | None]:
    """The tree that is looked at, and the one whose run-set says what was shared before."""
    head = repo.head()
    if since is not None:
        base = repo.merge_base(since, "HEAD")
        return repo.tree("HEAD"), repo.tree(base) if base else None
    return repo.tree("INDEX" if staged else "WORKTREE"), repo.tree(head) if head else None


def _asked(repo: Repository, since: str | None, transcripts: bool, message: str | None) -> Asked:
    from evalrepo.store.leaking import Asked

    if since is not None:
        _refuse_cut(repo, since)
    return Asked(
        since=repo.resolve(since) if since is not None else None,
        transcripts=transcripts,
        message=_read(repo.world.cwd / message) if message is not None else None,
    )


def _read(path: Path) -> bytes:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}", hint="git hands the message's file to a commit-msg hook"
        ) from None
    return b"\n".join(line for line in lines if not line.startswith(b"#"))


def _refuse_cut(repo: Repository, since: str) -> None:
    """GitError where a shallow clone ends inside the range."""
    from evalrepo.repository.repo import FETCH_ALL

    cut = repo.common_dir / "shallow"
    if not repo.shallow or not cut.is_file():
        return
    inside = set(repo.git("rev-list", f"{repo.resolve(since)}..HEAD").decode().split())
    if inside.intersection(cut.read_text().split()):
        raise GitError(f"the commits since {since} are not all at hand", hint=FETCH_ALL)


def _json(report: Report) -> str:
    from evalrepo.render.findings import finding_json

    data: dict[str, Any] = {
        "schema": 1,
        "leaks": [_leak_json(leak) for leak in report.leaks],
        "unread": [finding_json(finding) for finding in report.unread],
        "looked_at": {"files": report.files, "commits": report.commits, "transcripts": report.transcripts},
        "reserve": report.reserve,
    }
    return json.dumps(data, indent=2)


def _leak_json(leak: Leak) -> dict[str, Any]:
    return {
        "file": leak.place.file,
        "line": leak.place.line,
        "code": leak.code,
        "reserve": leak.scenario,
        "kinds": list(leak.kinds),
        "share": leak.share,
        "words_in_a_row": leak.row,
        "hash": leak.hash,
        "acknowledged": leak.acknowledged,
    }


def _text(report: Report) -> str:
    from evalrepo.render.findings import shown
    from evalrepo.render.leaks import leak_finding, leak_summary

    lines = [shown(leak_finding(leak)) for leak in report.open]
    return "\n".join([*lines, *map(shown, report.unread), leak_summary(report)])
