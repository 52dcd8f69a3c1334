"""`evalrepo selftest`: every conformance script must give exactly its expected verdict; no model is asked."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import click

from evalrepo.errors import Exit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalrepo.running.conformance import Play, Proof
    from evalrepo.world import World


@click.command("selftest")
@click.argument("ids", nargs=-1)
@click.option("--rev", default="WORKTREE", show_default=True, help="Revision, INDEX or WORKTREE.")
@click.option("--jobs", type=click.IntRange(min=1), help="Scripts at a time; default from cores and memory.")
@click.option("--again", is_flag=True, help="Play proofs that held before as well.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, ids: tuple[str, ...], rev: str, jobs: int | None, again: bool, output: str) -> int:
    """Prove the checks of scenarios (ids, aliases, globs; default: all, the reserve included) without a model.

    Exit: 0 every script gave its verdict and nothing is unproven, 1 otherwise, 2 the files cannot be used.
    """
    proofs = _proofs(world, ids, rev, jobs, again=again)
    wrong = [play for proof in proofs for play in proof.plays if not play.ok]
    gaps = [(proof.scenario, gap) for proof in proofs for gap in proof.gaps]
    if output == "json":
        click.echo(json.dumps(_data(proofs), indent=2))
    else:
        _say(proofs, wrong, gaps)
    return Exit.NO if wrong or gaps else Exit.YES


def _proofs(world: World, ids: tuple[str, ...], rev: str, jobs: int | None, *, again: bool) -> list[Proof]:
    from evalrepo.repository.repo import Repository
    from evalrepo.running.conformance import prove
    from evalrepo.running.jobs import default_jobs
    from evalrepo.running.session import begin, bench
    from evalrepo.store import load, select_ids, usable

    repo = Repository.open(world)
    tree = repo.tree(rev)
    loaded = usable(load(tree, repo))
    chosen = select_ids(loaded, ids) if ids else list(loaded.scenarios)
    session = begin(repo, tree, loaded)
    with bench(session, judged=False) as workbench:
        return prove(
            workbench,
            [loaded.scenarios[i] for i in chosen],
            jobs=jobs or default_jobs(model_free=True),
            cancel=threading.Event(),
            memory=None if again else workbench.cache / "selftest",
        )


def _say(proofs: Sequence[Proof], wrong: Sequence[Play], gaps: Sequence[tuple[str, str]]) -> None:
    from evalrepo.render.safe import safe

    for play in wrong:
        click.echo(safe(f"{play.scenario}: script {play.script}: expected {play.expected}, got {play.got}"))
        if play.rep.message:
            click.echo(safe(f"  {play.rep.message}"))
        for result in play.rep.checks:
            said = f": {result.evidence[0].text}" if result.evidence else ""
            click.echo(safe(f"  {result.outcome:9} {result.id}{said}"))
    for scenario, gap in gaps:
        click.echo(safe(f"{scenario}: {gap}"))
    played = sum(len(p.plays) for p in proofs)
    known = sum(p.remembered for p in proofs)
    remembered = f", {known} scenarios proven before" if known else ""
    click.echo(f"{len(proofs)} scenarios, {played} scripts played{remembered}: {_ending(wrong, gaps)}")


def _ending(wrong: Sequence[Play], gaps: Sequence[tuple[str, str]]) -> str:
    if wrong:
        return f"{len(wrong)} gave another verdict; mend the check or the script"
    return f"all as expected, {len(gaps)} gaps; add scripts under `conformance:`" if gaps else "all as expected"


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
