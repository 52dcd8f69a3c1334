"""Whether the twins of today are new: their prompts against those of twins that earlier looks saw, out of history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from evalrepo.discipline.looks import Copy
from evalrepo.discipline.parity import NEAR, likeness
from evalrepo.discipline.places import LEDGER, RESERVE
from evalrepo.errors import GitError
from evalrepo.store.loading import load

if TYPE_CHECKING:
    from evalrepo.discipline.looks import Look
    from evalrepo.records.scenario import Scenario
    from evalrepo.repository.repo import Repository


def copies(
    repo: Repository, looks: Iterable[Look], twins: Mapping[str, str], now: Mapping[str, Scenario]
) -> dict[str, Copy]:
    """Digest of what a twin of these looks asked → the twin of today that repeats its prompts, for looks that saw no
    twin of today. `twins`: id → digest of today's; `now`: the same scenarios.

    A twin that history does not hold any more is taken for another one; in a shallow clone it cannot be told.
    """
    gone = [look for look in looks if look.twins and not look.saw(twins)]
    if not gone or not now:
        return {}
    added = _adding(repo) if any(look.event for look in gone) else {}
    found: dict[str, Copy] = {}
    for look in gone:
        before = _asked(repo, look, added)
        for id_, digest in look.twins.items():
            copy = _copy(id_, before.get(id_), now, cut=repo.shallow)
            if copy is not None:
                found.setdefault(digest, copy)
    return found


def _copy(id_: str, old: Scenario | None, now: Mapping[str, Scenario], *, cut: bool) -> Copy | None:
    if old is None:
        return Copy(", ".join(sorted(now)), id_, None) if cut else None
    share, new = max((likeness(one, old), name) for name, one in now.items())
    return Copy(new, id_, share) if share >= NEAR else None


def _adding(repo: Repository) -> dict[str, str]:
    """Ledger path → a commit that added it, on any branch and in what this clone remembers of rewritten ones."""
    out = repo.git(
        "log", "--all", "--reflog", "--diff-filter=A", "--no-renames", "--name-only", "-z", "--format=%x01%H", "--",
        LEDGER,
    ).decode("utf-8", "surrogateescape")  # fmt: skip
    found: dict[str, str] = {}
    for said in out.split("\x01")[1:]:
        commit, *paths = filter(None, re.split(r"[\0\n]+", said))
        found |= dict.fromkeys(paths, commit)
    return found


def _asked(repo: Repository, look: Look, added: Mapping[str, str]) -> dict[str, Scenario]:
    """The twins of a look as they stood when it was taken, or just before the commit that holds it."""
    commit = added.get(look.event, look.commit)
    wanted = {f"{RESERVE}/{id_.partition('/')[0]}.yaml" for id_ in look.twins}
    found: dict[str, Scenario] = {}
    for at in _there(repo, commit):
        loaded = load(repo.tree(at), repo, only=wanted).scenarios
        found = {id_: one.scenario for id_, one in loaded.items() if id_ in look.twins} | found
    return found


def _there(repo: Repository, commit: str) -> Iterator[str]:
    for rev in (commit, f"{commit}^") if commit else ():
        try:
            yield repo.resolve(rev)
        except GitError:
            return
