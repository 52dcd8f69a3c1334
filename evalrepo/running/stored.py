"""A recorded rep's transcript out of its run's reference, read again by its agent's module."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from evalrepo.agents.base import ReadError
from evalrepo.discipline.places import CONFIG
from evalrepo.errors import DataError, UsageError
from evalrepo.formats.yaml import config_file
from evalrepo.records.config import Agent, Tier
from evalrepo.registry import module
from evalrepo.running.keep import SNAPSHOT
from evalrepo.running.kept import OUTCOME, folder_of, parted, work_of
from evalrepo.running.tombstones import PRUNED, bring, is_tombstone
from evalrepo.sandbox.isolation import INSIDE

if TYPE_CHECKING:
    from evalrepo.records.record import Record, Rep
    from evalrepo.records.transcript import Transcript
    from evalrepo.repository.tree import Tree


@dataclass(frozen=True, slots=True)
class Lacking:
    """Why a transcript cannot be had, and what would bring it ("" when nothing does)."""

    why: str
    how: str = ""


SEALED = "the reserve's transcripts are sealed until it is retired"


def transcript_of(
    record: Record, rep: Rep, tree: Tree | None, agents: Mapping[str, Agent], *, opened: bool = False
) -> Transcript | Lacking:
    """The transcript of a rep of a record. `tree`: what the run's reference holds, None when it is not at hand;
    `agents`: today's, for a run whose own settings were not kept. A reserve's is sealed unless `opened`."""
    if record.set == "reserve" and not opened:
        return Lacking(SEALED, f"evalrepo show {record.run} --unseal --why REASON")
    if rep.transcript is None:
        return Lacking(f"it left no transcript{f': {rep.message}' if rep.message else ''}")
    if tree is None or is_tombstone(tree):
        why = PRUNED if tree is not None else "the reference of its run is not in this clone"
        return Lacking(why, bring(record.executed))
    root = folder_of(rep.transcript.path)
    files = {path.removeprefix(root): data for path, data in tree.read_many(list(tree.under(root)))}
    main = rep.transcript.path.removeprefix(root)
    if main not in files:
        return Lacking("the reference of its run does not hold it")
    if sha256(files[main]).hexdigest() != rep.transcript.sha256:
        return Lacking("the stored transcript is not the one that was recorded")
    return _read(record, rep, (main, files), settings_of(tree, record.agent, agents))


def files_of(rep: Rep, tree: Tree) -> tuple[str, ...]:
    """Paths in the work directory before and after the agent, as far as that was kept."""
    if rep.transcript is None:
        return ()
    path = folder_of(rep.transcript.path) + OUTCOME
    if path not in tree:
        return ()
    outcome = json.loads(tree.read(path))
    return tuple(sorted({*outcome["before"], *outcome["after"]}))


def _read(record: Record, rep: Rep, kept: tuple[str, Mapping[str, bytes]], settings: Agent) -> Transcript | Lacking:
    main, files = kept
    _, native = parted(files, main)
    try:
        played = module(record.agent, settings)
        found = played.read(settings, native, work_of(rep, files[main]) or INSIDE["work"])
    except UsageError:
        return Lacking(f"how the log of {record.agent} reads is not known", f"describe {record.agent} in evalrepo.yaml")
    except ReadError as error:
        return Lacking(f"it cannot be read: {error}")
    return replace(found, agent=record.agent, version=found.version or record.cli_version)


def settings_of(tree: Tree, name: str, agents: Mapping[str, Agent]) -> Agent:
    """The agent as the run had it, as it is today, or as it is built in."""
    place = SNAPSHOT + CONFIG
    if place in tree:
        with contextlib.suppress(DataError):  # of a newer evalrepo
            agents = {**agents, **config_file(tree.read(place), CONFIG).agents}
    return agents.get(name) or Agent(tiers={"any": Tier()})
