"""Model-free proof of the instrument: every conformance script must give exactly its expected verdict.

Beside that, each gating check but judges needs a script in which it passes and one in which it alone fails, and
each scenario a script without steps that does not pass. Plays are never recorded; a proof that held is remembered by
the digest of all that it rests on.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from evalrepo import __version__
from evalrepo.records.config import Agent, Tier
from evalrepo.records.record import ErrorKind, Outcome, Rep, Verdict
from evalrepo.records.scenario import moot
from evalrepo.records.steps import Conformance, ExpectError, ExpectFail
from evalrepo.registry import module
from evalrepo.repository.digests import digests
from evalrepo.running.bench import Bench, prepare
from evalrepo.running.rep import Attempt, execute

if TYPE_CHECKING:
    from evalrepo.records.scenario import Scenario
    from evalrepo.store import LoadedScenario

PLAYER = "scripted"


@dataclass(frozen=True, slots=True)
class Play:
    """One script played: what was expected, what came, and the rep to explain it."""

    scenario: str
    script: str
    expected: str
    got: str
    rep: Rep

    @property
    def ok(self) -> bool:
        """Exactly as expected."""
        return self.expected == self.got


@dataclass(frozen=True, slots=True)
class Proof:
    """A scenario's self-test. `gaps`: what no script shows. `remembered`: it held before and nothing changed since."""

    scenario: str
    plays: tuple[Play, ...] = ()
    gaps: tuple[str, ...] = ()
    remembered: bool = False

    @property
    def ok(self) -> bool:
        """Every script gave what it should."""
        return all(play.ok for play in self.plays)


def prove(
    bench: Bench,
    scenarios: Iterable[LoadedScenario],
    *,
    jobs: int,
    cancel: threading.Event,
    memory: Path | None = None,
    said: Callable[[Proof], None] = lambda _: None,
) -> list[Proof]:
    """Play every script of the scenarios. With `memory`, a directory, proofs that held are not played again."""
    proofs = []
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for loaded in scenarios:
            proof = _remembered(bench, loaded, memory)
            if proof is None:
                played = pool.map(lambda s, at=loaded: _play(bench, at, s, cancel), loaded.scenario.conformance or ())
                plays = tuple(played)
                proof = Proof(loaded.id, plays, gaps(loaded.scenario, plays))
                _remember(bench, proof, loaded, memory)
            said(proof)
            proofs.append(proof)
            if cancel.is_set():
                break
    return proofs


def _play(bench: Bench, loaded: LoadedScenario, script: Conformance, cancel: threading.Event) -> Play:
    tier = Tier(script=script.name)
    settings = bench.config.agents.get(PLAYER, Agent(tiers={script.name: tier}))
    cell = prepare(bench, unjudged(loaded.scenario), PLAYER, tier, settings)
    done = execute(replace(bench, court=None), cell, Attempt(1, 1, bench.world.timestamp()), "selftest", cancel)
    return Play(loaded.id, script.name, expected(script), verdict(done.rep), done.rep)


def expected(script: Conformance) -> str:
    """`PASS`, `FAIL A, B` or `ERROR kind`."""
    if isinstance(script.expect, ExpectFail):
        return f"FAIL {', '.join(sorted(script.expect.FAIL))}"
    return f"ERROR {script.expect.ERROR}" if isinstance(script.expect, ExpectError) else "PASS"


def verdict(rep: Rep) -> str:
    """A rep's verdict in the same words."""
    if rep.verdict is Verdict.FAIL:
        return f"FAIL {', '.join(sorted(rep.axes_failed))}"
    return f"ERROR {rep.error}" if rep.verdict is Verdict.ERROR else "PASS"


def unjudged(scenario: Scenario) -> Scenario:
    """The scenario as a script can prove it: nobody is asked, so what only a judge decides is left out."""
    judged = {c.id for c in scenario.checks if c.judge is not None and c.judge.resolves is None}
    if not judged:
        return scenario
    kept = (c.model_copy(update={"needs": None} if c.needs in judged else {}) for c in scenario.checks)
    return scenario.model_copy(update={"checks": tuple(c for c in kept if c.id not in judged)})


def gaps(scenario: Scenario, plays: Sequence[Play]) -> tuple[str, ...]:
    """What the scripts do not show, in words."""
    silent = moot(scenario)
    gating = [c for c in scenario.checks if c.gating and c.judge is None and c.id not in silent]
    outcomes = [{r.id: r.outcome for r in play.rep.checks if r.gating} for play in plays]
    found = [
        f"no script shows the check {check.id} pass"
        for check in gating
        if not any(o.get(check.id) is Outcome.PASS for o in outcomes)
    ]
    found += [
        f"no script shows the check {check.id} fail alone"
        for check in gating
        if not any([i for i, r in o.items() if r is Outcome.FAIL] == [check.id] for o in outcomes)
    ]
    empty = {s.name for s in scenario.conformance or () if not any(s.by_turn())}
    if not any(play.script in empty and play.got != "PASS" for play in plays):
        found.append("no script without steps shows that doing nothing does not pass")
    return tuple(found)


def _key(bench: Bench, loaded: LoadedScenario) -> str:
    """Everything that a proof rests on: the scenario's digests, its scripts, this version, the player."""
    settings = Agent(tiers={"x": Tier()})
    played = module(PLAYER, settings)
    parts = digests(
        bench.tree,
        bench.config,
        loaded.scenario,
        PLAYER,
        "x",
        cli=played.version(settings, bench.world),
        description={},
    )
    scripts = [s.model_dump(mode="json") for s in loaded.scenario.conformance or ()]
    about = [__version__, bench.isolation.level, list(parts.key()), scripts]
    return sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _remembered(bench: Bench, loaded: LoadedScenario, memory: Path | None) -> Proof | None:
    if memory is None:
        return None
    try:
        known = json.loads((memory / _key(bench, loaded)).read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(known, list) or not all(isinstance(gap, str) for gap in known):
        return None
    return Proof(loaded.id, (), tuple(known), remembered=True)


def _remember(bench: Bench, proof: Proof, loaded: LoadedScenario, memory: Path | None) -> None:
    """Only a proof that held; one that an interrupted play is part of is none. The memory may fail, the proof not."""
    interrupted = any(play.rep.error == ErrorKind.INTERRUPTED for play in proof.plays)
    if memory is None or not proof.ok or interrupted:
        return
    try:
        memory.mkdir(parents=True, exist_ok=True)
        (memory / _key(bench, loaded)).write_text(json.dumps(proof.gaps))
    except OSError:
        return
