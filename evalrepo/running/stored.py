"""A recorded rep's transcript out of its run's reference, read again by its agent's module."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from evalrepo.discipline.places import CONFIG
from evalrepo.errors import DataError
from evalrepo.formats.yaml import config_file
from evalrepo.records.config import Agent, Tier
from evalrepo.running.keep import SNAPSHOT
from evalrepo.running.kept import OUTCOME, folder_of
from evalrepo.running.opened import Lacking, files_below, open_rep, present

if TYPE_CHECKING:
    from evalrepo.records.record import Record, Rep
    from evalrepo.records.transcript import Transcript
    from evalrepo.repository.tree import Tree

__all__ = ["Lacking", "files_of", "settings_of", "transcript_of"]

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
    kept = present(tree, record.executed)
    if isinstance(kept, Lacking):
        return kept
    found = open_rep(record.agent, settings_of(kept, record.agent, agents), rep, files_below(kept, rep))
    if isinstance(found, Lacking):
        return found
    return replace(found.transcript, agent=record.agent, version=found.transcript.version or record.cli_version)


def files_of(rep: Rep, tree: Tree) -> tuple[str, ...]:
    """Paths in the work directory before and after the agent, as far as that was kept."""
    if rep.transcript is None:
        return ()
    path = folder_of(rep.transcript.path) + OUTCOME
    if path not in tree:
        return ()
    outcome = json.loads(tree.read(path))
    return tuple(sorted({*outcome["before"], *outcome["after"]}))


def settings_of(tree: Tree, name: str, agents: Mapping[str, Agent]) -> Agent:
    """The agent as the run had it, as it is today, or as it is built in."""
    place = SNAPSHOT + CONFIG
    if place in tree:
        with contextlib.suppress(DataError):  # of a newer evalrepo
            agents = {**agents, **config_file(tree.read(place), CONFIG).agents}
    return agents.get(name) or Agent(tiers={"any": Tier()})
