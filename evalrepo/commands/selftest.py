"""`evalrepo selftest`: every conformance script must give exactly its expected verdict; no model is asked."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from evalrepo.errors import Exit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from evalrepo.records.record import CheckResult
    from evalrepo.repository.tree import Tree
    from evalrepo.running.conformance import Play, Proof
    from evalrepo.store import Loaded
    from evalrepo.world import World


@click.command("selftest")
@click.argument("ids", nargs=-1)
@click.option("--rev", default="WORKTREE", show_default=True, help="Revision, INDEX or WORKTREE.")
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Scripts at a time; default from cores and memory."
)
@click.option("--again", is_flag=True, help="Play proofs that held before as well.")
@click.option("--matrix", is_flag=True, help="A table: which verdicts each scenario's scripts gave. Plays all again.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(
    world: World, ids: tuple[str, ...], rev: str, jobs: int | None, again: bool, matrix: bool, output: str
) -> int:
    """Prove the checks of scenarios (ids, aliases, globs; default: all, the reserve included) without a model.

    Of a frozen reserve scenario verdicts and axes are shown, and what a check saw is not: thaw it to mend it.

    Exit: 0 every script gave its verdict and nothing is unproven, 1 otherwise, 2 the files cannot be used.
    """
    proofs, held = _proofs(world, ids, rev, jobs, again=again or matrix)
    wrong = [play for proof in proofs for play in proof.plays if not play.ok]
    gaps = [(proof.scenario, gap) for proof in proofs for gap in proof.gaps]
    if output == "json":
        from evalrepo.render.json import to_json

        click.echo(to_json({"schema": 1, "scenarios": _data(proofs)}), nl=False)
    else:
        if matrix:
            click.echo("\n".join(_matrix(proofs)) + "\n")
        _say(proofs, wrong, gaps, held)
    return Exit.NO if wrong or gaps else Exit.YES


def _proofs(
    world: World, ids: tuple[str, ...], rev: str, jobs: int | None, *, again: bool
) -> tuple[list[Proof], set[str]]:
    """The proofs, and the frozen reserve scenarios, of whose reps they say no more than verdicts."""
    from evalrepo.repository.repo import Repository
    from evalrepo.running.conformance import prove
    from evalrepo.running.jobs import default_jobs
    from evalrepo.running.session import begin, bench
    from evalrepo.store import load, usable

    repo = Repository.open(world)
    tree = repo.tree(rev)
    loaded = usable(load(tree, repo))
    chosen = _chosen(loaded, ids)
    session = begin(repo, tree, loaded)
    with bench(session, judged=False) as workbench:
        proofs = prove(
            workbench,
            [loaded.scenarios[i] for i in chosen],
            jobs=jobs or default_jobs(model_free=True),
            cancel=threading.Event(),
            memory=None if again else workbench.cache / "selftest",
        )
    held = _frozen(tree, loaded)
    return [_sealed(proof) if proof.scenario in held else proof for proof in proofs], held


def _frozen(tree: Tree, loaded: Loaded) -> set[str]:
    """Reserve scenarios that the lock holds."""
    from evalrepo.store import lock

    held = lock(tree) if loaded.of_set("reserve") else None
    lines = held.by_path() if held is not None else {}
    return {id_ for id_, one in loaded.of_set("reserve").items() if one.path in lines}


def _sealed(proof: Proof) -> Proof:
    """Without what the checks saw: verdicts, axes and kinds alone."""
    from evalrepo.formats.result import sealed_rep

    return replace(proof, plays=tuple(replace(play, rep=sealed_rep(play.rep)) for play in proof.plays))


def _chosen(loaded: Loaded, ids: Sequence[str]) -> list[str]:
    """Scenario ids in the files' order; a word that names nothing of the run-set names something of the reserve."""
    from evalrepo.store import select_ids
    from evalrepo.store.choose import match

    if not ids:
        return list(loaded.scenarios)
    own, held = list(loaded.of_set("run-set")), list(loaded.of_set("reserve"))
    of_reserve = [i for i in ids if not match(i, own) and match(i, held)]
    others = [i for i in ids if i not in of_reserve]
    chosen = set(select_ids(loaded, others)) if others else set()
    chosen |= set(select_ids(loaded, of_reserve, reserve=True)) if of_reserve else set()
    return [i for i in loaded.scenarios if i in chosen]


def _say(
    proofs: Sequence[Proof], wrong: Sequence[Play], gaps: Sequence[tuple[str, str]], held: Collection[str]
) -> None:
    from evalrepo.render.findings import counted
    from evalrepo.render.safe import safe

    broken = [play for play in wrong if play.got.startswith("ERROR")]
    for text in (*_broken(broken), *(line for play in wrong if play not in broken for line in _otherwise(play))):
        click.echo(text)
    unplayed = {play.scenario for play in broken}
    for scenario, gap in gaps:
        if scenario not in unplayed:
            click.echo(safe(f"{scenario}: {gap}"))
    sealed = [play.scenario for play in wrong if play.scenario in held]
    if sealed:
        names = ", ".join(dict.fromkeys(sealed))
        click.echo(
            safe(f"what checks saw of {names} stays in the reserve; to mend it: evalrepo thaw PATH --why REASON")
        )
    played = sum(len(p.plays) for p in proofs)
    known = sum(p.remembered for p in proofs)
    remembered = f", {counted(known, 'scenario')} proven before" if known else ""
    said = f"{counted(len(proofs), 'scenario')}, {counted(played, 'script')} played{remembered}"
    click.echo(f"{said}: {_ending(wrong, gaps)}")


def _matrix(proofs: Sequence[Proof]) -> list[str]:
    """A line a scenario: its scripts, how many passed, failed by which axes, and ended as which ERROR."""
    from evalrepo.render.text import table

    rows = []
    for proof in proofs:
        came = [play.got.split(" ", 1) for play in proof.plays]
        passed = sum(word == ["PASS"] for word in came)
        kinds = [_kinds(came, word) for word in ("FAIL", "ERROR")]
        bad = sum(not play.ok for play in proof.plays) + len(proof.gaps)
        rows.append((proof.scenario, str(len(came)), str(passed), *kinds, "no" if bad else "yes"))
    return table(rows, ("scenario", "scripts", "PASS", "FAIL", "ERROR", "ok"), shrink=0, least=10)


def _kinds(came: Sequence[Sequence[str]], word: str) -> str:
    """`5: A, B, outcome`."""
    mine = [rest for first, *rest in came if first == word]
    names = dict.fromkeys(name for rest in mine for some in rest for name in some.split(", "))
    return f"{len(mine)}: {' '.join(names)}" if mine else ""


def _broken(plays: Sequence[Play]) -> Iterator[str]:
    """Plays that the harness broke: each cause once, with the scripts that met it. Nothing else is known of them."""
    from evalrepo.render.safe import wrapped

    causes: dict[tuple[str, str, str], list[Play]] = {}
    for play in plays:
        causes.setdefault((play.scenario, play.got, play.rep.message), []).append(play)
    for (scenario, got, message), met in causes.items():
        scripts = ", ".join(f"{play.script} (expected {play.expected})" for play in met)
        yield from wrapped(f"{scenario}: {got}{': ' if message else ''}{message}", then="  ")
        yield from wrapped(f"{'script' if len(met) == 1 else 'scripts'} {scripts}", first="  ", then="    ")
        for result in met[0].rep.checks:
            if result.outcome in ("error", "ambiguous"):
                yield from wrapped(_seen(result), first="  ", then="    ")


def _otherwise(play: Play) -> Iterator[str]:
    """A play that gave another verdict, with what each check saw."""
    from evalrepo.render.safe import wrapped

    head = f"{play.scenario}: script {play.script}: expected {play.expected}, got {play.got}"
    yield from wrapped(head, then="  ")
    if play.rep.message:
        yield from wrapped(play.rep.message, first="  ", then="    ")
    for result in play.rep.checks:
        yield from wrapped(_seen(result), first="  ", then="    ")


def _seen(result: CheckResult) -> str:
    said = f": {result.evidence[0].text}" if result.evidence else ""
    return f"{result.outcome:9} {result.id}{said}"


def _ending(wrong: Sequence[Play], gaps: Sequence[tuple[str, str]]) -> str:
    from evalrepo.render.findings import counted

    broken = sum(play.got.startswith("ERROR") for play in wrong)
    if wrong:
        other = f"{len(wrong) - broken} gave another verdict; mend the check or the script"
        return f"{broken} could not be judged" + (f", {other}" if len(wrong) > broken else "") if broken else other
    missing = f"{counted(len(gaps), 'gap')}; add scripts under `conformance:`"
    return f"all as expected, {missing}" if gaps else "all as expected"


def _data(proofs: Sequence[Proof]) -> list[dict[str, Any]]:
    return [
        {
            "scenario": proof.scenario,
            "remembered": proof.remembered,
            "gaps": proof.gaps,
            "plays": [
                {"script": p.script, "expected": p.expected, "got": p.got, "rep": p.rep.model_dump(mode="json")}
                for p in proof.plays
            ],
        }
        for proof in proofs
    ]
