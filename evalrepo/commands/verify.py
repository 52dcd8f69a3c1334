"""`evalrepo verify`: what is frozen against git."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.discipline.since import Stated
    from evalrepo.repository.repo import Repository
    from evalrepo.store.frozen import Verified
    from evalrepo.store.since import Since
    from evalrepo.world import World


ADD = "git add evalrepo.lock evalrepo.ledger"


@dataclass(frozen=True)
class Options:
    """The command line of `verify`."""

    staged: bool
    rev: str | None
    since: str | None
    push: bool
    pushed: tuple[str, ...]
    deep: bool
    records: bool
    format: str


@click.command("verify")
@click.argument("pushed", nargs=-1, metavar="[REMOTE [URL]]")
@click.option("--staged", is_flag=True, help="In a hook: what is about to be committed, as git hands it to the hook.")
@click.option("--rev", metavar="REV", help="A commit, against each of its parents; with --since the end of the range.")
@click.option("--since", metavar="REV", help="Every commit between REV and HEAD, each against each of its parents.")
@click.option("--push", is_flag=True, help="In a pre-push hook: exactly the commits that are pushed.")
@click.option("--deep", is_flag=True, help="Read every locked file's content and compare its SHA-256 too.")
@click.option("--records", is_flag=True, help="The results alone: none edited, removed, made up or left out.")
@click.option("--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, /, **given: Any) -> int:
    """Check frozen files, the lock and the ledger: what is staged (the default), a commit, or a range of commits.

    With --since, what a commit of the range did is told although later ones put it right: hooks can be skipped, and
    merges do not run them. Once it is put right it can be acknowledged in the ledger. It also tells of subjects that
    changed together with what measures them, of replace references and grafts, and of results that were edited,
    removed, moved, made up or left out. A REV of zeros is the beginning; --records tells of the results alone, and
    without --since of all of history.

    With --push, the arguments and the standard input are those of git's pre-push hook; pre-commit's variables are
    read where there is no such input.

    Exit 0: as frozen, and results as they were written. Exit 1: something was edited, added, removed, renamed or
    re-moded, or the lock changed without a thaw and a freeze in the ledger. Exit 2: it cannot answer; in a shallow
    clone, fetch the history first.
    """
    from evalrepo.repository.repo import Repository

    options = Options(**given)
    _refuse(options)
    repo = Repository.open(world, hook=options.staged)
    if options.records:
        from evalrepo.commands.auditing import show

        return show(repo, options.since, options.rev or "HEAD", options.format)
    if options.push:
        return _pushed(repo, world, options)
    if options.since is not None:
        return _told(_since(repo, options.since, options), options.format)
    return _state(repo, options)


def _since(repo: Repository, rev: str, options: Options) -> Since:
    """The range, and what became of results in it."""
    from evalrepo.commands.auditing import stated
    from evalrepo.repository.tree import uncollected
    from evalrepo.store.since import since

    head = repo.resolve(options.rev or "HEAD")
    with uncollected():
        found = since(repo, rev, head, deeply=options.deep)
        return replace(found, told=(*found.told, *stated(repo, found.start or None, head)))


def _refuse(options: Options) -> None:
    asked = [options.staged, options.rev is not None or options.since is not None, options.push]
    if sum(asked) > 1:
        names = [
            name
            for name, given in (
                ("--staged", options.staged),
                ("--rev", options.rev is not None),
                ("--since", options.since is not None),
                ("--push", options.push),
            )
            if given
        ]
        raise UsageError(f"{' and '.join(names)} ask for two different things", hint="give one of them")
    if options.pushed and not options.push:
        raise UsageError(
            f"verify takes no {options.pushed[0]}",
            hint="evalrepo verify checks all that is frozen; --since REV a range",
        )


def _state(repo: Repository, options: Options) -> int:
    from evalrepo.store.frozen import verify

    result = verify(repo, rev=options.rev, deeply=options.deep)
    loose = options.rev is None and _loose_lock(repo)
    click.echo(_json(result) if options.format == "json" else _text(result, loose=loose))
    return Exit.YES if result.intact else Exit.NO


def _pushed(repo: Repository, world: World, options: Options) -> int:
    from evalrepo.store.pushed import check, from_precommit, lines

    given = "" if sys.stdin.isatty() else sys.stdin.read()
    pushes = lines(given) or from_precommit(world.environ, repo.refs("refs/remotes/"))
    remote = (options.pushed or (world.environ.get("PRE_COMMIT_REMOTE_NAME", ""),))[0]
    ends = [_told(one, options.format) for one in check(repo, pushes, remote, deeply=options.deep)]
    if not ends:
        click.echo("nothing is pushed that holds commits")
    return max(ends) if ends else Exit.YES


def _told(result: Since, format_: str) -> int:
    click.echo(_since_json(result) if format_ == "json" else _since_text(result))
    return Exit.YES if result.intact else Exit.NO


def _json(result: Verified) -> str:
    from evalrepo.render.findings import finding_json

    data: dict[str, Any] = {
        "schema": 1,
        "intact": result.intact,
        "locked": result.locked,
        "thawed": list(result.thawed),
        "findings": [finding_json(f) for f in result.findings],
    }
    return json.dumps(data, indent=2)


def _since_json(result: Since) -> str:
    from evalrepo.render.findings import finding_json

    def one(stated: Stated) -> dict[str, Any]:
        told = stated.told
        more = {"commit": told.commit or None, "stands": stated.stands, "acknowledged": told.event or None}
        return {**finding_json(told.finding), **more}

    data: dict[str, Any] = {
        "schema": 1,
        "intact": result.intact,
        "start": result.start or None,
        "commits": result.commits,
        "locked": result.locked,
        "thawed": list(result.thawed),
        "findings": list(map(one, result.told)),
    }
    return json.dumps(data, indent=2)


def _loose_lock(repo: Repository) -> bool:
    """Whether a lock lies on the disk that git does not know: it freezes nothing yet."""
    from evalrepo.discipline.places import LOCK

    return (repo.top / LOCK).exists() and not repo.git("ls-files", "-z", "--", LOCK)


def _text(result: Verified, *, loose: bool) -> str:
    from evalrepo.render.findings import shown, summary

    intact = _frozen(result.locked)
    if loose:
        intact = f"{intact}: evalrepo.lock is here, but git does not know it\n  hint: {ADD}"
    return "\n".join([*map(shown, result.findings), intact if result.intact else summary(result.findings)])


def _since_text(result: Since) -> str:
    from evalrepo.render.findings import counted, shown, summary

    findings = [told.finding for told in result.told]
    start = f" since {result.start[:12]}" if result.start else " since the beginning"
    said = _frozen(result.locked) if result.intact else summary(findings)
    return "\n".join([*map(shown, findings), f"{counted(result.commits, 'commit')}{start}: {said}"])


def _frozen(locked: int) -> str:
    from evalrepo.render.findings import counted

    return f"{counted(locked, 'frozen file')}, as frozen" if locked else "nothing is frozen"
