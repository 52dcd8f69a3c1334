"""Result files over history: what commits did to them after the commit that added them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from evalrepo.discipline.told import Told
from evalrepo.errors import Finding, Place

FOLDER = "AgentsReport/evaluation"
_WRITTEN = re.compile(r"\d{4}-\d\d-\d\d_scenario-.+_[^/_]+-[^/_]+_[0-9a-z]{8}\.md")
_BY_HAND = re.compile(r"\d{4}-\d\d-\d\d_scenario-[^_/]+\.md")
_SHORT = 9


class Change(NamedTuple):
    """What one commit did to one path, against one of its parents ("" for the only one). Modes are six octal digits,
    ids those of blobs; mode `000000` and id "" stand for no file."""

    commit: str
    parent: str
    path: str
    old_mode: str
    new_mode: str
    old: str
    new: str


def judged(
    changes: Iterable[Change], brought: Callable[[Change], bool], now: Callable[[str], str] = lambda _: ""
) -> list[Told]:
    """RES007-RES009 of every change of a result file that stood at the commit's parent, but of those that put it back
    as it first was. Changes come parents first.

    `brought`: whether a merge's change is another parent's, which was judged at the commit that made it. `now`: the
    blob id of a path where the history ends, "" for none. Results that a person wrote by hand are warnings.
    """
    found: list[Told] = []
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.commit, change.parent), []).append(change)
    seen: set[tuple[str, str, str]] = set()
    first: dict[str, str] = {}
    for group in groups.values():
        added = {change.new: change.path for change in group if not change.old}
        for change in group:
            key = (change.commit, change.path, change.old)
            if change.old or not change.parent:
                first.setdefault(change.path, change.old or change.new)
            if not change.old or key in seen or not _is_result(change.path) or _put_back(change, first[change.path]):
                continue
            if not (change.parent and brought(change)):
                seen.add(key)
                found.append(_told(change, added, now))
    return found


def _put_back(change: Change, first: str) -> bool:
    return change.new == first and change.old != first


def gone_by_rewriting(path: str, base: str, *, edited: bool) -> Told:
    """RES007 or RES008 of a result that stood at a commit which the branch has left behind."""
    code, what = ("RES007", "was edited") if edited else ("RES008", "was removed")
    hint = f"git restore --source={base[:_SHORT]} --staged --worktree -- {path}, then commit"
    return Told(Finding(Place(path), code, f"rewritten away: {what}, and stood at {base[:_SHORT]}", hint), base)


def is_written(path: str) -> bool:
    """Whether a path is that of a result which the tool wrote."""
    return path.startswith(FOLDER + "/") and _WRITTEN.fullmatch(path.rpartition("/")[2]) is not None


def _is_result(path: str) -> bool:
    return is_written(path) or _BY_HAND.fullmatch(path.rpartition("/")[2]) is not None


def _told(change: Change, added: Mapping[str, str], now: Callable[[str], str]) -> Told:
    code, what = _what(change, added)
    short = change.commit[:_SHORT]
    back = "; it is as it was again" if now(change.path) == change.old else ""
    merge = f", a merge that leaves out {change.parent[:_SHORT]}'s" if change.parent else ""
    source = change.parent[:_SHORT] or f"{short}^"
    hint = f"git restore --source={source} --staged --worktree -- {change.path}, then commit" if not back else ""
    stays = f"evalrepo acknowledge {short}:{change.path} --why REASON"
    hint = f"{hint}; or, if it has to be so: {stays}" if hint else f"if that is all: {stays}"
    message = f"{what} by commit {short}{merge}{back}"
    return Told(Finding(Place(change.path), code, message, hint, warning=not is_written(change.path)), change.commit)


def _what(change: Change, added: Mapping[str, str]) -> tuple[str, str]:
    if not change.new:
        moved = added.get(change.old)
        return ("RES009", f"was moved to {moved}") if moved else ("RES008", "was removed")
    if change.new == change.old:
        return "RES007", f"was re-moded from {change.old_mode} to {change.new_mode}"
    if change.new_mode[:3] != change.old_mode[:3]:
        kind = {"120": "a symbolic link", "160": "a submodule"}.get(change.new_mode[:3], "another kind of file")
        return "RES007", f"was made {kind}"
    return "RES007", "was edited"
