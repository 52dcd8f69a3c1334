"""`evalrepo score`: scores by people."""

from __future__ import annotations

import os.path
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalrepo.commands import option
from evalrepo.errors import DataError, Exit, GitError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalrepo.commands.scoring import Scored
    from evalrepo.commands.sheets import Desk
    from evalrepo.errors import Finding
    from evalrepo.records.record import Record
    from evalrepo.repository.repo import Repository
    from evalrepo.running.keep import Landed
    from evalrepo.running.restate import Restated
    from evalrepo.world import World


@dataclass(frozen=True)
class Options:
    """The command line of `score`."""

    what: tuple[str, ...]
    rep: int | None
    by: str | None
    export: Path | None
    import_: Path | None
    editor: bool
    label: str | None
    join: bool
    commit: bool
    format: str


@click.command("score")
@click.argument("what", nargs=-1, metavar="[ID|RUN|PATH]…")
@click.option("--rep", type=click.IntRange(min=1), metavar="N", help="Only the rep of this number.")
@click.option("--by", metavar="NAME", help="Who scores; default: the person git knows.")
@click.option("--export", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE", help="Write cards to fill.")
@click.option(
    "--import", "import_", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE", help="Read them."
)
@click.option("--editor", is_flag=True, help="Fill the cards in $EDITOR.")
@click.option("--label", metavar="RUBRIC/QUESTION", help="Answer a judge's question instead, blind and shuffled.")
@click.option("--join", is_flag=True, help="Join scores that people gave the same reps in several clones.")
@option.no_commit
@option.text_or_json
@click.pass_obj
def command(world: World, /, **given: Any) -> int:
    """Give the metrics that are people's (`human`, and what nothing else could score) 0 to 3 and evidence.

    Words mean what they mean to `show`. Without --export, --import and --editor the reps are walked through at the
    terminal; each answer is kept at once, and a walk that stops goes on where it was. Evidence names a line of the
    log, a file or a quotation, and it is checked to be there. The scores make a new record, which supersedes the old
    one; both stay. A second person scores blind; where two differ the lower score counts, and how far they agree is
    shown.

    Exit: 0 recorded (or written), 1 a card cannot be used and nothing was recorded, 2 nothing can be scored, 130
    stopped.
    """
    from evalrepo.repository.repo import Repository

    options = Options(**given)
    _fits(options)
    repo = Repository.open(world)
    by = options.by or _person(repo)
    if options.import_ is not None:
        return _import(repo, options, by)
    if options.label is not None:
        from evalrepo.commands.labelling import label

        return label(repo, options.what, options.label, by, options.rep)
    from evalrepo.commands.sheets import Room

    if options.join:
        return _join(repo, options)
    at = Room(repo).desk(options.what, rep=options.rep)
    if options.export is not None:
        return _export(repo, at, options, by)
    return _edit(repo, at, options, by) if options.editor else _walk(repo, at, options, by)


def _fits(options: Options) -> None:
    ways = [options.export is not None, options.import_ is not None, options.editor, options.label is not None]
    if sum([*ways, options.join]) > 1:
        raise UsageError("--export, --import, --editor, --label and --join are five ways", hint="say one of them")
    if options.by and not options.by.isprintable():
        raise UsageError(f"--by {options.by!r} is no name", hint='--by "Ann Other"')
    if options.import_ is None and not options.what:
        raise UsageError("what is to be scored is not said", hint="evalrepo score RUN, or a scenario")
    if options.import_ is not None and (options.what or options.rep):
        raise UsageError("cards say themselves what they score", hint="evalrepo score --import FILE")


def _person(repo: Repository) -> str:
    identity = repo.identity()
    if identity is None:
        raise GitError("scores bear a person's name, and git knows none", hint='git config user.name "…", or --by NAME')
    return identity[0]


def _export(repo: Repository, at: Desk, options: Options, by: str) -> int:
    from evalrepo.commands.scoring import cards, readable
    from evalrepo.formats.scorecard import dump
    from evalrepo.render.findings import counted

    at = readable(at)
    text = dump(cards(at, by if options.by else ""), at.titles())
    assert options.export is not None
    if str(options.export) == "-":
        click.echo(text, nl=False)
        return Exit.YES
    path = repo.world.cwd / options.export
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}", hint="name another file") from None
    click.echo(f"{counted(len(at.sheets), 'card')} in {options.export}")
    click.echo(f"next: fill them, evalrepo score --import {options.export}")
    return Exit.YES


def _import(repo: Repository, options: Options, by: str) -> int:
    assert options.import_ is not None
    name = str(options.import_)
    try:
        text = sys.stdin.read() if name == "-" else (repo.world.cwd / name).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{name}: cannot be read: {error}", hint="evalrepo score RUN --export FILE writes one"
        ) from None
    return _take(repo, text, "standard input" if name == "-" else name, options, by)


def _take(repo: Repository, text: str, name: str, options: Options, by: str) -> int:
    """Cards as text become records, all or none."""
    from evalrepo.commands.scoring import of_cards
    from evalrepo.formats.scorecard import parse

    found, findings = parse(text, name)
    if not findings and not any(card.filled for card in found):
        raise UsageError(f"{name} holds no filled card", hint="a score is 0 to 3 behind a metric, with its evidence")
    try:
        scored = of_cards(repo, found, by, name)
    except DataError as error:
        findings += error.findings
    if findings:
        return _refused(sorted(findings), options)
    return _record(repo, scored, options, left=sum(not card.filled for card in found))


def _refused(findings: Sequence[Finding], options: Options) -> int:
    """The findings, and exit 1: they are about what a person wrote."""
    from evalrepo.render.findings import finding_json, shown
    from evalrepo.render.json import to_json

    if options.format == "json":
        click.echo(to_json({"schema": 1, "records": [], "findings": [finding_json(f) for f in findings]}), nl=False)
    else:
        click.echo("\n".join(map(shown, findings)))
        click.echo("nothing was recorded")
    return Exit.NO


def _edit(repo: Repository, at: Desk, options: Options, by: str) -> int:
    from evalrepo.commands.scoring import cards, readable
    from evalrepo.formats.scorecard import dump

    at = readable(at)
    try:
        text = click.edit(dump(cards(at, by), at.titles()), extension=".txt")
    except click.ClickException as error:
        hint = f"set EDITOR, or: {_again(options)} --export cards.txt"
        raise UsageError(f"the editor did not do: {error.format_message()}", hint=hint) from None
    if text is None:
        click.echo("the editor changed nothing, and nothing was recorded")
        return Exit.YES
    kept = repo.home / "scores" / f"cards-{at.sheets[0].record.run}.txt"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text, "utf-8")
    code: int = Exit.NO
    try:
        code = _take(repo, text, str(kept), options, by)
    finally:
        if code == Exit.YES:
            kept.unlink()
        else:
            file = shlex.quote(os.path.relpath(kept, repo.world.cwd))
            click.echo(f"your cards are kept: mend {file}, then evalrepo score --import {file}")
    return code


def _join(repo: Repository, options: Options) -> int:
    """Records in which several people scored the same reps side by side become one."""
    from evalrepo.commands.scoring import joinable

    found = joinable(repo, options.what)
    if not found:
        click.echo("nothing to join: nobody scored these reps beside what stands")
        return Exit.YES
    return _land(repo, found, [], options)


def _walk(repo: Repository, at: Desk, options: Options, by: str) -> int:
    from evalrepo.commands.scoring import Scored, news, readable
    from evalrepo.commands.scoring_walk import Stopped, walk
    from evalrepo.store.drafts import Draft

    at = readable(at)
    made = {sheet.path: Draft(repo, _cell(sheet.record), by) for sheet in at.sheets}
    try:
        walk(at, [made[sheet.path] for sheet in at.sheets], by)
    except Stopped:
        click.echo(f"stopped; what was given is kept: {_again(options)} goes on")
        return Exit.INTERRUPTED
    by_path = {sheet.path: sheet.record for sheet in at.sheets}
    scored = [Scored(record, by, news(record, by, made[path].reps)) for path, record in by_path.items()]
    code = _record(repo, [one for one in scored if one.count], options)
    for draft in made.values():
        draft.drop()
    return code


def _cell(record: Record) -> str:
    return f"{record.executed} {record.scenario} {record.agent}/{record.tier}"


def _again(options: Options) -> str:
    rep = ["--rep", str(options.rep)] if options.rep else []
    by = ["--by", options.by] if options.by else []
    return shlex.join(["evalrepo", "score", *options.what, *rep, *by, *([] if options.commit else ["--no-commit"])])


def _record(repo: Repository, scored: Sequence[Scored], options: Options, *, left: int = 0) -> int:
    """One new record a cell, and what was made."""
    day = repo.world.timestamp()[:10]
    wanted = [found for one in scored if (found := _restated(one, day)).reps != found.old.reps]
    return _land(repo, wanted, scored, options, left=left)


def _land(
    repo: Repository, wanted: Sequence[Restated], scored: Sequence[Scored], options: Options, *, left: int = 0
) -> int:
    from evalrepo.commands.measuring import recovered
    from evalrepo.running.restate import restate

    recovered(repo)
    landed = restate(repo, wanted, commit=options.commit)
    records = {path: record for one in landed for path, record in one.records.items()}
    if options.format == "json":
        _say_json(records, scored)
    else:
        _say(records, scored, landed, left)
    return Exit.YES


def _restated(one: Scored, day: str) -> Restated:
    from evalrepo.running.restate import Restated, header_of
    from evalrepo.scoring.people import rated

    old = one.record
    last = {id(rep) for rep in old.last_attempts()}
    reps = tuple(rated(r, one.by, one.reps.get(r.rep, {}), day) if id(r) in last else r for r in old.reps)
    why = f"scored by {one.by}" + "".join(f"; {note}" for note in one.notes)
    return Restated(old, header_of(old), reps, why)


def _say(records: Mapping[str, Record], scored: Sequence[Scored], landed: Sequence[Landed], left: int) -> None:
    from evalrepo.render.findings import counted
    from evalrepo.render.safe import safe, wrapped

    if not records:
        click.echo("nothing to record: no score was given that is not recorded already")
        return
    for one in scored:
        back = f" ({one.taken_back} taken back)" if one.taken_back else ""
        what = f"{counted(one.count, 'score')}{back} of {counted(len(one.reps), 'rep')} by {one.by}"
        click.echo("\n".join(wrapped(f"{what}: {one.record.scenario}, supersedes run {one.record.run}", then="  ")))
    if left:
        click.echo(f"{counted(left, 'card')} without a score: left out")
    for path, record in records.items():
        click.echo(safe(path))
        for line in _agreement(record):
            click.echo("\n".join(wrapped(line, first="  ", then="    ")))
    commits = ", ".join(one.commit[:7] for one in landed if one.commit)
    click.echo(f"committed: {commits}" if commits else "kept in the run's ref, not committed")


def _say_json(records: Mapping[str, Record], scored: Sequence[Scored]) -> None:
    from evalrepo.render.json import to_json

    data = [
        {"path": path, "run": r.run, "supersedes": r.supersedes, "agreement": list(_agreement(r))}
        for path, r in records.items()
    ]
    click.echo(
        to_json({"schema": 1, "scores": sum(o.count for o in scored), "records": data, "findings": []}), nl=False
    )


def _agreement(record: Record) -> Iterator[str]:
    """How far every two people agree on what both scored."""
    from itertools import combinations

    from evalrepo.comparing.statistics import agreement, kappa
    from evalrepo.scoring.people import matrix, pairs, raters

    for one, other in combinations(raters(record.reps), 2):
        both = matrix(pairs(record, one, other))
        n = sum(map(sum, both))
        if n:
            same = round(agreement(both)[0] * n)
            found = kappa(both, "quadratic")
            said = f"weighted κ {found.value:.2f}" if found is not None else "κ unknown: all scores are the same"
            yield f"{one} and {other} agree on {same} of {n} scores ({said}); the lower score counts where they differ"
