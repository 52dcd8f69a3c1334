"""What is said, and refused, before the first rep: limits on money, and CLIs that the readers were not tested with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.running.budget import Budget
    from evalrepo.running.plan import Cell, Plan
    from evalrepo.running.session import Session


def untested(here: Session, plans: Iterable[Plan]) -> None:
    """One line for each agent whose reader was not tested with the version that is there."""
    from evalrepo.agents.tested import was_tested
    from evalrepo.registry import module

    agents = here.loaded.config.agents
    versions = {c.header.agent: c.header.cli_version for made in plans for c in made.cells if c.need}
    for name, version in versions.items():
        known = module(name, agents[name]).traits(agents[name]).tested
        if not was_tested(version, known):
            said = f"{name} {version or 'of unknown version'}: its log is read as that of {', '.join(known)} is"
            _say(f"note: {said}; with this version the reader was not tested (evalrepo doctor {name} tries it)")


def say_limits(here: Session, plans: Sequence[Plan], budget: Budget) -> None:
    """The limits of the run. UsageError for one in USD that is known to be of no use: what tokens cost is not recorded,
    and reps are not limited."""
    if not budget.limited:
        return
    if budget.max_usd is not None:
        for level, why in _unpriced(here, [c for made in plans for c in made.cells if c.need]):
            if why and budget.max_reps is None:
                raise UsageError(
                    f"--max-cost cannot be kept: {level} {why}", hint="--max-reps N limits the reps instead, or as well"
                )
            _say(f"note: {level} {why or 'has no recorded rep that says what one costs'}; {_rule(budget)}")
    _say(f"limit: {limits_text(budget)}; what is at work when it is reached goes on to its end")


def _rule(budget: Budget) -> str:
    if budget.max_reps is None:
        return "the run stops after the first rep that does not say what it cost"
    return "reps that do not say what they cost count for --max-reps alone"


def limits_text(budget: Budget) -> str:
    """`2.50 USD, 12 attempts`."""
    usd = [f"{budget.max_usd:.2f} USD"] if budget.max_usd is not None else []
    reps = [f"{budget.max_reps} attempt{'s' * (budget.max_reps != 1)}"] if budget.max_reps is not None else []
    return ", ".join([*usd, *reps])


def _unpriced(here: Session, cells: Sequence[Cell]) -> Iterator[tuple[str, str]]:
    """AGENT/TIER that somebody pays for and of which no rep at hand says its cost; and, where there are reps, that."""
    from evalrepo.commands.estimating import known_of
    from evalrepo.commands.finding_records import at_hand
    from evalrepo.registry import module
    from evalrepo.render.findings import counted

    agents = here.loaded.config.agents
    traits = {name: module(name, agents[name]).traits(agents[name]) for name in {c.header.agent for c in cells}}
    paid = [c for c in cells if not c.header.model_free and traits[c.header.agent].paid]
    silent = {f"{c.header.agent}/{c.header.tier}": None for c in paid if not traits[c.header.agent].priced}
    yield from ((level, "never says what it costs") for level in silent)
    paid = [c for c in paid if traits[c.header.agent].priced]
    held = at_hand(here.repo).select(dict.fromkeys(c.header.cell for c in paid)) if paid else {}
    found: dict[str, list[tuple[int, int]]] = {}
    for cell in paid:
        known = known_of(cell, held[cell.header.cell])
        found.setdefault(known.level, []).append((len(known.usd), len(known.seconds)))
    for level, counts in found.items():
        if not any(priced for priced, _ in counts):
            reps = sum(reps for _, reps in counts)
            yield level, f"has {counted(reps, 'recorded rep')} and none says what it cost" if reps else ""


def _say(text: str) -> None:
    from evalrepo.render.safe import wrapped

    click.echo("\n".join(wrapped(text, then="  ")), err=True)
