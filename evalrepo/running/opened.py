"""A recorded rep opened again: its transcript read by its agent's module, and the view of it that checks are asked of.

Whoever looks at a stored rep (a gate, a rescoring, an export, a person) comes through here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from evalrepo.agents.base import ReadError
from evalrepo.checks.view import View
from evalrepo.errors import UsageError
from evalrepo.records.names import fixture_path
from evalrepo.registry import module
from evalrepo.running.kept import Files, Fixture, Kept, Pool, folder_of, parted, work_of
from evalrepo.running.tombstones import PRUNED, bring, is_tombstone
from evalrepo.sandbox.isolation import INSIDE

if TYPE_CHECKING:
    from evalrepo.records.config import Agent
    from evalrepo.records.record import Rep
    from evalrepo.records.scenario import Fault, Scenario
    from evalrepo.records.transcript import Transcript
    from evalrepo.repository.tree import Tree


ANOTHER = "the stored transcript is not the one that was recorded"


@dataclass(frozen=True, slots=True)
class Lacking:
    """Why a rep cannot be opened, and what would change that ("" when nothing does). `wrong`: what is stored is not
    what was recorded, or cannot be read; otherwise it is merely not there."""

    why: str
    how: str = ""
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Before:
    """What was in the work directory before the agent: the fixture, and `pool`, files of the measured tree that may
    have been put there. `whole`: where nothing was kept of the sandbox, nothing but the fixture was in it."""

    fixture: Fixture = field(default_factory=dict)
    pool: Pool = dict
    whole: bool = False


def fixture_of(tree: Tree, scenario: Scenario) -> Fixture:
    """The fixture's files by path in the work directory, as a tree of the repository has them; read once a tree."""
    if scenario.fixture is None:
        return {}
    root = f"{fixture_path(scenario.fixture)}/"
    known: Fixture | None = tree.memo.get(("fixture files", root))
    if known is None:
        entries = tree.under(root)
        known = {p.removeprefix(root): (entries[p].mode, data) for p, data in tree.read_many(list(entries))}
        tree.memo["fixture files", root] = known
    return known


@dataclass(frozen=True)
class Opened:
    """A rep's transcript with all that was kept of it. `files` by path below its folder; `outcome`: what is known of
    the sandbox, None when nothing was kept; `work`: where the agent worked, None when that is not known."""

    transcript: Transcript
    files: Files
    outcome: Mapping[str, Any] | None
    work: str | None
    litter: tuple[str, ...]

    def seen(self, faults: Sequence[Fault], before: Before) -> Seen:
        """The rep as checks see it, without anything to ask beyond it."""
        kept = Kept(faults, before.fixture, self.outcome, self.files, whole=before.whole, pool=before.pool)
        view = View(
            self.transcript,
            kept.before,
            kept.after,
            kept.read,
            kept.original,
            litter=self.litter,
            fired=kept.fired,
        )
        return Seen(view, kept)


@dataclass(frozen=True)
class Seen:
    """A rep as checks see it; `kept` notes what they asked for and was not kept."""

    view: View
    kept: Kept


def present(tree: Tree | None, run: str) -> Tree | Lacking:
    """What a run's reference holds; why nothing can be opened by it, when it is not in this clone (None) or pruned."""
    if tree is None:
        return Lacking("the reference of its run is not in this clone", bring(run))
    return Lacking(PRUNED, bring(run)) if is_tombstone(tree) else tree


def files_below(tree: Tree, rep: Rep) -> dict[str, bytes]:
    """What a run's tree holds of a rep: path below its folder → content."""
    root = folder_of(rep.transcript.path) if rep.transcript is not None else ""
    return {path.removeprefix(root): data for path, data in tree.read_many(list(tree.under(root)))} if root else {}


def open_rep(name: str, agent: Agent, rep: Rep, files: Files) -> Opened | Lacking:
    """The rep of an agent with these settings. `files`: those of its folder in the run's ref, by path below it. Pure;
    never raises for what is stored."""
    if rep.transcript is None:
        return Lacking("no transcript of it was kept")
    main = rep.transcript.path.removeprefix(folder_of(rep.transcript.path))
    if main not in files:
        return Lacking("its transcript is not in the reference of its run")
    if sha256(files[main]).hexdigest() != rep.transcript.sha256:
        return Lacking(ANOTHER, wrong=True)
    outcome, native = parted(files, main)
    work = work_of(rep, files[main])
    try:
        played = module(name, agent)
        transcript = played.read(agent, native, work or INSIDE["work"])
    except UsageError:
        return Lacking(f"how the log of {name} reads is not known", f"describe {name} in evalrepo.yaml")
    except ReadError as error:
        return Lacking(f"the stored transcript cannot be read: {error}", wrong=True)
    return Opened(transcript, files, outcome, work, played.traits(agent).litter)


def seen(name: str, agent: Agent, rep: Rep, files: Files, faults: Sequence[Fault], before: Before) -> Seen | Lacking:
    """The same as checks see it: where the agent worked has to be known for that."""
    found = open_rep(name, agent, rep, files)
    if isinstance(found, Lacking):
        return found
    return found.seen(faults, before) if found.work is not None else Lacking("where the agent worked was not kept")
