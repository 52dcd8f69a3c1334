"""Results on their branch: the message of their commit, and one commit for the results of one run or of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalrepo.errors import GitError
from evalrepo.repository.commit import Landing, land, settle

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.running.journal import Journal
    from evalrepo.running.story import Header, Story

UNCOMMITTED = "Evalrepo-Commit: none"
"""The trailer of a run's reference whose records are not committed, because nobody wanted it."""


def message(stories: Sequence[Story], files: int, *, landing: bool) -> str:
    """Of the commit of a run's reference, or of the one that lands the results of runs."""
    headers = [story.header for story in stories]
    reps = sum(len(story.counted) for story in stories)
    what = f"{reps} rep{'s' * (reps != 1)} of {files} cell{'s' * (files != 1)}"
    what += ", recorded again" * any(cell.origin is not None for header in headers for cell in header.cells)
    head = f"evalrepo: {what}" if landing else f"evalrepo run {headers[0].run}: {what}"
    runs = [f"Evalrepo-Run: {header.run}" for header in headers]
    none = [] if all(header.commit for header in headers) else [UNCOMMITTED]
    return "\n".join([head, "", *runs, *_subjects(stories), *none, ""])


def _subjects(stories: Sequence[Story]) -> dict[str, None]:
    return dict.fromkeys(
        f"Evalrepo-Subject: {'+'.join(cell.subjects)} {cell.digests.subject}"
        for story in stories
        for cell in (story.header.cells[n].header for n in sorted({key.cell for key in story.counted}))
    )


def on_branch(journal: Journal, header: Header) -> Landing:
    """Where a run's results go, with every step told to its journal first."""

    def tell(step: str, facts: Mapping[str, Any]) -> None:
        journal.append({"line": step, **facts})

    return Landing(name=header.run, branch=header.branch, tell=tell)


def land_results(repo: Repository, journal: Journal, stories: Sequence[Story], texts: Mapping[str, bytes]) -> str:
    """Commit results (repository path → bytes); the commit. `journal`, the first story's, is told of each step."""
    first = stories[0]
    on = on_branch(journal, first.header)
    if first.told:
        trouble = settle(repo, texts, on, first.told)
        if trouble:
            raise GitError(trouble, hint="when no git is at work here, remove it; then run again")
    return land(repo, texts, message(stories, len(texts), landing=True), on=on)
